"""The fold of one log as it goes on, with the frames that are kept of it. Of one thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from immutables import Map

from components.runtime.kafka.intake import Message
from events.topics import CONTAINERS
from events.wire.codec import Read
from turbine.read.sources.held import topics_of
from turbine.read.sources.log import Log
from turbine.read.sources.slices import in_time, sorted_by_time
from turbine.read.state.cache import Cache, Framed
from turbine.read.state.decisions import Decisions
from turbine.read.state.fold_start import FoldStart
from turbine.read.state.notes import Loads
from turbine.read.state.past import begun, known_by
from turbine.read.state.serialization import UNFIT
from turbine.read.state.series import Series
from turbine.read.state.tally import Tally
from turbine.read.state.view import JobView, View

FRAME_RECORDS = 1_500
"""Between two frames: what a view of the past has to read and fold at most."""


class Watcher:
    """Keeps beside the rows what they forget: where decisions lie, how many there were, and what
    jobs did when."""

    def __init__(self) -> None:
        self.decisions, self.series, self.tally = Decisions(), Series(), Tally()

    def decided(self, read: Read, stands: bool) -> None:
        """A decision, in the order of its chain."""
        self.decisions.add(read, stands)
        self.tally.take(read, stands)

    def loaded(self, job: str, at_ms: int, loads: Loads) -> None:
        """A task of the job has reported; `loads` is from before."""
        self.series.loaded(job, at_ms, loads)

    def started(self, at_ms: int) -> None:
        """A task that has run before runs again."""
        self.series.started(at_ms)

    def take_new(self) -> Any:
        """What has come since it was asked last."""
        return self.decisions.take_new(), self.series.take_new(), self.tally.kept()

    def put_back(self, kept: Iterator[Any]) -> None:
        """What `take_new` gave, one after the other."""
        for decisions, series, tally in kept:
            self.decisions.put_back([decisions])
            self.series.put_back([series])
            self.tally = Tally.of(tally)


class ViewReader:
    """Goes on from the last frame, or from the first record of all."""

    def __init__(self, log: Log, cache: Cache, every: int = FRAME_RECORDS) -> None:
        self.log, self.cache, self._every = log, cache, every
        self._append_times = log.source.append_times()
        self.places = log.places(topics_of(log))
        self.watcher = Watcher()
        self._begin()
        self._kept = self.folding.rest.records
        self._jobs: Map[str, JobView] = Map()
        self.view = self._view(list(cache.jobs(len(cache.frames))))

    def _begin(self) -> None:
        cache, possible = self.cache, self._append_times.possible
        self.folding = begun(self.log, possible, FoldStart(), self.watcher)
        if not cache.frames:
            return
        frame = cache.frames[-1]
        try:
            start = Framed(cache, frame, whole=True)
            folding = begun(self.log, known_by(frame, possible), start, self.watcher)
            self.watcher.put_back(cache.more())
        except (OSError, *UNFIT) as bad:
            cache.throw_away(f"its rows cannot be read: {type(bad).__name__}")
            self.watcher = Watcher()
            return
        self.folding = folding

    def _view(self, names: list[str]) -> View:
        jobs = self._jobs.mutate()
        for name in names:
            one = self.folding.job(name)
            if one is not None:
                jobs[name] = one
        self._jobs = jobs.finish()
        return self.folding.view(self._jobs)

    def catch_up(self, end: Mapping[str, int]) -> Iterator[None]:
        """Reads all up to there, in the order of its times; yields when a view is to be had."""
        for messages in in_time(self.log, self.folding.seen, end):
            for first in range(0, len(messages), self._every):
                self.take(messages[first : first + self._every])
                yield
        self._begin_again()

    def _begin_again(self) -> None:
        """Where the beginning of what containers said has expired, tiers rest on what their
        managers keep."""
        places = self.log.places([CONTAINERS]) if CONTAINERS in self.log.counts else []
        if any(self.log.source.starts(places).values()):
            for tier in sorted(self.folding.tiers):
                self.folding.begin(tier)

    def take(self, messages: list[Message]) -> None:
        """Takes the messages that were read next."""
        folding = self.folding
        folding.take(sorted_by_time(iter(messages)))
        self.watcher.series.settle(folding.loads)
        self.view = self._view(sorted(folding.changed()))
        if folding.rest.records - self._kept >= self._every:
            self._kept = folding.rest.records
            self.cache.keep(folding, self.watcher.take_new())

    def close(self) -> None:
        """Keeps what is left: the next start has nothing to read again."""
        if self.folding.rest.records > self._kept:
            self.cache.keep(self.folding, self.watcher.take_new())
        self.leave()

    def leave(self) -> None:
        """Leaves the log; nothing more is kept."""
        self._append_times.close()
