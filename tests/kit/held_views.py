"""Views of a log in memory that a test adds to: read on, in the asker's thread, whenever asked."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from turbine.read.sources.log import Log
from turbine.read.state.cache import Cache
from turbine.read.state.decisions import Decisions
from turbine.read.state.opening import open_cache
from turbine.read.state.past import view_at
from turbine.read.state.reader import ViewReader
from turbine.read.state.series import Series
from turbine.read.state.tally import Tally
from turbine.read.state.view import View


class HeldViews:
    """As `turbine.read.state.live.LiveLog`, without a thread of its own."""

    def __init__(self, log: Log, directory: Path | None = None) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._cache: Cache = open_cache(log, directory)
        self._reader = ViewReader(log, self._cache)

    @property
    def decisions(self) -> Decisions:
        """Where they lie."""
        return self._reader.watcher.decisions

    def view(self) -> View:
        """What the log says in the end."""
        reader = self._reader
        end = self._log.source.ends(reader.places)
        with self._lock:
            if any(offset > reader.view.at.get(at, 0) for at, offset in end.items()):
                for _ in reader.catch_up(end):
                    continue
            return reader.view

    def tally(self) -> Tally:
        """What has happened in all of it."""
        with self._lock:
            return self._reader.watcher.tally.copy()

    def at(self, moment: int | Mapping[str, int]) -> View:
        """What it said then."""
        if isinstance(moment, int):
            moment = self._log.source.times(self._reader.places, moment + 1)
        return view_at(self._log, moment, self._cache)

    def wait(self, after: Mapping[str, int], timeout_s: float) -> View | None:
        """The view, where it is beyond that position; a log that nobody follows is not waited for
        any longer than it takes to look."""
        del timeout_s
        found = self.view()
        return found if any(n > after.get(at, 0) for at, n in found.at.items()) else None

    def reach(self, end: Mapping[str, int], timeout_s: float) -> View | None:
        """The view, which reads as far as the log goes whenever it is asked."""
        del timeout_s
        found = self.view()
        return found if all(found.at.get(at, 0) >= n for at, n in end.items()) else None

    def series(
        self, job: str, begin_ms: int, end_ms: int, buckets: int
    ) -> Mapping[str, Sequence[float | None]]:
        """What a job did over a span of time."""
        return self._reader.watcher.series.points(job, begin_ms, end_ms, buckets)

    @property
    def over_time(self) -> Series:
        """What all jobs did, as far as was read."""
        return self._reader.watcher.series

    def close(self) -> None:
        """Leaves the log."""
        self._reader.leave()
