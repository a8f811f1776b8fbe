"""Where the API reads: views of a log that is followed, and facts from the log itself."""

from __future__ import annotations

import threading
from collections import OrderedDict

from turbine.read.moments import Moment
from turbine.read.sources.log import Log
from turbine.read.state.instants import position_at
from turbine.read.state.live import LiveLog
from turbine.read.state.view import View

PAST_KEPT = 4
"""Views of the past that are kept: what a person looks back at, one page after the other."""


class Reading:
    """What the log says, for the API. Asked from several threads at once."""

    def __init__(self, log: Log, views: LiveLog) -> None:
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
