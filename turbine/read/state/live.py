"""Follows the log, and answers what it says: now, at any instant, over a span of time.

Used from any thread; one of its own reads. A broker that is away ends nothing: what was read so far
is still told, with how far behind it is.
"""

from __future__ import annotations

import threading
import time  # noqa: TID251 - patience with a broker is real time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import structlog

from components.runtime.kafka.intake import Message
from components.runtime.kafka.surveying import Surveyor, TopicWatch
from turbine.read.sources.held import topics_of
from turbine.read.sources.log import Log
from turbine.read.sources.source import NoInstallation
from turbine.read.state.cache import Cache, Spoilt
from turbine.read.state.decisions import Decisions
from turbine.read.state.opening import check, open_cache
from turbine.read.state.past import view_at
from turbine.read.state.reader import ViewReader
from turbine.read.state.series import Series
from turbine.read.state.tally import Tally
from turbine.read.state.view import View
from turbine_client.errors import BrokerUnreachable
from turbine_client.reading import Follower, LogUnreadable
from turbine_client.settings import Settings

POLL_S = 0.2
MOST = 500
"""Messages of one poll: after each of them a view is made."""
AGAIN_S = 1.0
ENDS_S = 2.0
"""How old may be what is known of the log's end, for telling how far behind we are."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """How far reading has come."""

    ready: bool  # all has been read that there was at the start
    behind: int | None  # records that lie in the log and are not read; None: not known yet
    trouble: str  # why nothing more is read; "" while all is well
    since_ms: int  # by this machine's clock: since when there is trouble; 0 while all is well


class LiveLog:
    """The log of an installation as it is read, or one in a file once it was. `close` ends it."""

    def __init__(
        self,
        settings: Settings | None = None,
        directory: Path | None = None,
        *,
        log: Log | None = None,
    ) -> None:
        self.log = log or Log(settings)
        self.cache: Cache = open_cache(self.log, directory)
        self._reader = ViewReader(self.log, self.cache)
        self._moved = threading.Condition()
        self._view, self._tally = self._reader.view, self._reader.watcher.tally.copy()
        self._trouble, self._since_ms = "", 0
        self._ends: Mapping[str, int] = {}
        self._ids: Mapping[str, str] = {}  # of the topics that are read
        self._replaced = ""  # why the log is not the one that was read
        self._stop, self._ready = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="views", daemon=True)
        self._thread.start()

    # --- asking

    def view(self) -> View:
        """What the log says now, as far as it was read."""
        return self._view

    def tally(self) -> Tally:
        """What has happened so far, as far as it was read. Not the caller's to change."""
        return self._tally

    def ready(self, timeout_s: float = 0.0) -> bool:
        """Has all been read that there was at the start? Waits for it so long."""
        return self._ready.wait(timeout_s)

    def progress(self) -> ReadingProgress:
        """How far reading has come."""
        ends, at = self._ends, self._view.at
        behind = sum(max(0, end - at.get(where, 0)) for where, end in ends.items())
        known = behind if ends else None
        return ReadingProgress(self._ready.is_set(), known, self._trouble, self._since_ms)

    def wait(self, after: Mapping[str, int], timeout_s: float) -> View | None:
        """The view once it has read beyond that position; None where it has not in time."""

        def beyond() -> bool:
            return any(offset > after.get(at, 0) for at, offset in self._view.at.items())

        with self._moved:
            return self._view if self._moved.wait_for(beyond, timeout_s) else None

    def reach(self, end: Mapping[str, int], timeout_s: float) -> View | None:
        """The view once it has read up to that position; None where it has not in time."""

        def there() -> bool:
            at = self._view.at
            return all(at.get(where, 0) >= offset for where, offset in end.items())

        with self._moved:
            return self._view if self._moved.wait_for(there, timeout_s) else None

    def at(self, moment: int | Mapping[str, int]) -> View:
        """What the log said at an instant, or at a position."""
        if isinstance(moment, int):
            moment = self.log.source.times(self._reader.places, moment + 1)
        now, asked = self._view, {at: offset for at, offset in moment.items() if offset}
        return now if asked == now.at else view_at(self.log, asked, self.cache)

    def series(
        self, job: str, begin_ms: int, end_ms: int, buckets: int
    ) -> dict[str, list[float | None] | list[int]]:
        """What the job did over a span of time; None where nothing is known."""
        return self._reader.watcher.series.points(job, begin_ms, end_ms, buckets)

    @property
    def over_time(self) -> Series:
        """What all jobs did, as far as was read."""
        return self._reader.watcher.series

    @property
    def decisions(self) -> Decisions:
        """Where they lie, as far as was read."""
        return self._reader.watcher.decisions

    # --- reading

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._follow()
            except (BrokerUnreachable, LogUnreadable) as away:
                self._told(str(away))
                self._stop.wait(AGAIN_S)

    def _told(self, why: str) -> None:
        if why and why != self._trouble:
            log.warning("views wait", why=why)
        self._since_ms = 0 if not why else self._since_ms or time.time_ns() // 1_000_000
        self._trouble = why

    def _follow(self) -> None:
        reader = self._reader
        self._check()
        ends = self._ends = self.log.source.ends(reader.places)
        self._told("")
        for _ in reader.catch_up(ends):
            self._tell()
            if self._stop.is_set():
                return
        self._tell()
        self._ready.set()
        try:
            settings = self.log.settings
        except NoInstallation:  # a log in a file: nothing more comes
            self._stop.wait()
            return
        seen = reader.folding.seen
        starts = {at: max(end, seen.get(at, 0)) for at, end in ends.items()}
        follower = Follower(settings, starts)
        watch = TopicWatch(
            settings,
            self._standing,
            remedy="it is read anew",
            tell=self._told_of_other,
            ends=False,
        )
        try:
            self._go_on(follower)
        finally:
            watch.close()
            follower.close()

    def _standing(self) -> tuple[Mapping[str, str], Mapping[str, int]]:
        return self._ids, dict(self._reader.folding.seen)

    def _told_of_other(self, why: str) -> None:
        self._replaced = why

    def _check(self) -> None:
        """Whether the log is still the one that was read, after the broker was away."""
        seen = self._reader.folding.seen
        ends = self.log.source.ends(self._reader.places)
        try:
            check(self.cache, self.log)
            fits = all(offset <= ends.get(at, 0) for at, offset in seen.items())
        except Spoilt:
            fits = False
        ids, known = self._topics_now(), self._ids
        if self._replaced or not fits or (known and ids != known):
            self._begin_anew()
        self._ids, self._replaced = ids, ""

    def _topics_now(self) -> Mapping[str, str]:
        try:
            settings = self.log.settings
        except NoInstallation:  # a log in a file stays what it is
            return {}
        return Surveyor(settings).wait([], topics_of(self.log)).ids

    def _begin_anew(self) -> None:
        why = self._replaced or "the log is not the one that was read"
        log.warning("views begin anew", why=why)
        self.cache.throw_away(why)
        self._reader.leave()
        self._reader = ViewReader(self.log, self.cache)

    def _go_on(self, follower: Follower) -> None:
        due_s = time.monotonic() + ENDS_S
        while not self._stop.is_set():
            if self._replaced:
                raise LogUnreadable(self._replaced)
            if poll := follower.poll(POLL_S, MOST):
                self._take(poll)
            if time.monotonic() >= due_s:
                self._ends = self.log.source.ends(self._reader.places)
                self._told("")
                due_s = time.monotonic() + ENDS_S

    def _take(self, poll: list[Message]) -> None:
        self._reader.take(poll)
        self._tell()

    def _tell(self) -> None:
        tally = self._reader.watcher.tally.copy()  # the one of the reader goes on
        with self._moved:
            self._view, self._tally = self._reader.view, tally
            self._moved.notify_all()

    def close(self) -> None:
        """Ends the reading, and keeps what was read."""
        self._stop.set()
        self._thread.join()
        self._reader.close()
        self.cache.close()
