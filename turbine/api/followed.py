"""The log as a command reads it that runs in the API: what the views hold is not folded again.

A fold of the log shows what was there when it was asked for, and so does this: the views are waited
for until they have read as far as the log went then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from events.wire.codec import Read
from projections.fleet import TierFleet
from projections.jobs import Job
from projections.syncs import Sync
from turbine.api.problems import RequestRefused
from turbine.read.sources.held import topics_of
from turbine.read.sources.log import Log
from turbine.read.sources.source import NoInstallation
from turbine.read.state.framed import FramedLog
from turbine.read.state.live import LiveLog
from turbine.read.state.view import View
from turbine_client.clients import knock
from turbine_client.identity import is_job_id
from turbine_client.reading import Asker

WAIT_S = 1.5
"""Views that are followed are a poll behind; who has to wait longer folds the log sooner itself."""
LULL_S = 0.5
"""After it, it is looked whether anything lies between what was read and the end at all."""


class Followed(FramedLog):
    """A log with a view of it, which has read as far as the log went when it was asked for."""

    def __init__(self, log: Log, view: View) -> None:
        # Not by the constructor above, which asks the broker for its topics.
        self.source, self.counts, self._view = log.source, log.counts, view

    def held(self) -> View:
        """The view of the whole log."""
        return self._view

    def jobs(self, *, end: Mapping[str, int] | None = None) -> dict[str, Job]:
        """As the view has them."""
        if end is not None:
            return super().jobs(end=end)
        return {name: one.job for name, one in sorted(self._view.jobs.items())}

    def job(self, name: str, *, end: Mapping[str, int] | None = None) -> Job | None:
        """As the view has it."""
        if end is not None:
            return super().job(name, end=end)
        found = self._view.jobs.get(name)
        return None if found is None else found.job

    def syncs(
        self,
        *,
        job: str | None = None,
        end: Mapping[str, int] | None = None,
        observer: Callable[[Read, bool], None] | None = None,
    ) -> dict[str, Sync]:
        """As the view has them, where nobody wants to be told of records."""
        if end is not None or observer is not None:
            return super().syncs(job=job, end=end, observer=observer)
        return {
            name: one.sync
            for name, one in sorted(self._view.jobs.items())
            if one.sync is not None and job in (None, name) and is_job_id(name)
        }

    def fleet(self, tier: str, *, end: Mapping[str, int] | None = None) -> TierFleet | None:
        """As the view has it."""
        return self._view.tiers.get(tier) if end is None else super().fleet(tier, end=end)


class Freshness:
    """Knows how far the log goes now, and has the views read that far. Asked from any thread."""

    def __init__(self, log: Log, views: LiveLog) -> None:
        self._log, self._views = log, views
        self._places = log.places(topics_of(log))
        self._lock = threading.Lock()
        self._asker: Asker | None = None
        self._bare: dict[str, int] = {}  # ends below which nothing more lies: marks, or it expired

    def log_now(self) -> Followed:
        """The log, and a view of all that it says by now; a refusal where that takes too long."""
        end = {at: offset for at, offset in self._ends().items() if self._bare.get(at) != offset}
        view = self._views.reach(end, LULL_S) or self._late(end)
        return Followed(self._log, view)

    def _ends(self) -> dict[str, int]:
        try:
            settings = self._log.settings
        except NoInstallation:  # a log in a file, or in memory
            return self._log.source.ends(self._places)
        silent = knock(settings)
        if silent:
            raise RequestRefused(503, "no-broker", f"its broker does not answer ({silent})")
        with self._lock:
            # One client for all: to make one takes longer than to ask it.
            if self._asker is None:
                self._asker = Asker(settings)
            return self._asker.ends(self._places)

    def _late(self, end: Mapping[str, int]) -> View:
        """The views have not come so far: nothing may lie there, or they are behind."""
        at = self._views.view().at
        left = {where: (at.get(where, 0), n) for where, n in end.items() if n > at.get(where, 0)}
        lies = (
            {one.place for poll in self._log.source.spans(left) for one in poll} if left else set()
        )
        self._bare |= {where: n for where, (_, n) in left.items() if where not in lies}
        wanted = {where: n for where, n in end.items() if where in lies}
        view = self._views.reach(wanted, WAIT_S)
        if view is None:
            raise RequestRefused(503, "behind", "it has not read the log to its end")
        return view

    def close(self) -> None:
        """Leaves the broker and stops following."""
        with self._lock:
            if self._asker is not None:
                self._asker.client.close()
                self._asker = None
