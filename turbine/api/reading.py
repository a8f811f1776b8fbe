"""Where the API reads: views of a log that is followed or held, and facts from the log itself."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Protocol

from turbine.read.moments import Moment
from turbine.read.sources.log import Log
from turbine.read.state.decisions import Decisions
from turbine.read.state.instants import position_at
from turbine.read.state.series import Series
from turbine.read.state.tally import Tally
from turbine.read.state.view import View

Vector = Mapping[str, int]

PAST_KEPT = 4
"""Views of the past that are kept: what a person looks back at, one page after the other."""


class Views(Protocol):
    """Tells what the log says, now and then, as `turbine.read.state.live.LiveLog` does."""

    @property
    def decisions(self) -> Decisions:
        """Where they lie, as far as was read."""

    @property
    def over_time(self) -> Series:
        """What all jobs did, as far as was read."""

    def view(self) -> View:
        """Now, as far as it was read."""

    def tally(self) -> Tally:
        """What has happened so far, as far as it was read."""

    def at(self, moment: int | Mapping[str, int]) -> View:
        """At an instant, or at a position."""

    def wait(self, after: Mapping[str, int], timeout_s: float) -> View | None:
        """The view once it has read beyond that position; None where it has not in time."""

    def reach(self, end: Mapping[str, int], timeout_s: float) -> View | None:
        """The view once it has read up to that position; None where it has not in time."""

    def series(
        self, job: str, begin_ms: int, end_ms: int, buckets: int
    ) -> Mapping[str, Sequence[float | None]]:
        """What a job did over a span of time; None where nothing is known."""


class Reading:
    """What the log says, for the API. Asked from several threads at once."""

    def __init__(self, log: Log, views: Views) -> None:
        self.log, self.views = log, views
        self._past: OrderedDict[tuple[tuple[str, int], ...], View] = OrderedDict()
        self._lock = threading.Lock()  # one reads the past, the others wait for what it finds

    def view(self, moment: Moment | None, what: str = "at") -> View:
        """What the log says at the moment that `what` named; now, for None."""
        if moment is None:
            return self.views.view()
        topics = {at.rpartition("/")[0] for at in self.views.view().at}
        end = position_at(self.log, moment, topics.intersection(self.log.counts), what)
        named = tuple(sorted(end.items()))
        with self._lock:
            found = self._past.pop(named, None) or self.views.at(end)
            self._past[named] = found
            while len(self._past) > PAST_KEPT:
                self._past.popitem(last=False)
        return found
