"""What the policy `turbine` remembers of a job: what minutes taught, and what it decided. Pure."""

from __future__ import annotations

from typing import NamedTuple

from components.auto_scaler.core.done import Done, deed_of, done_after
from components.auto_scaler.core.policies.capacity import Curve
from components.auto_scaler.core.policies.causes import Seen
from components.auto_scaler.core.policies.demand import Usual
from components.auto_scaler.core.policies.sizing import size_of
from components.auto_scaler.core.seen import Job
from components.auto_scaler.core.verdict import Verdict

RESTART_S = 60.0
"""Of the first restart, until there was one."""
RESTART_MOST_S = 300.0
"""Of one restart: who was down for longer had been paused, or there was an outage."""
RESTART_LEAST_S = 10.0
"""What a restart counts for: what stood still before tasks reported again is not all of it."""
LAGS = 5
LOWS = 64
"""Of lags that are kept: as many minutes in a row, each worse than the one before."""
NEVER = 10**15


class Known(NamedTuple):
    """What it remembers of a job; all but `done` is of the job's minutes alone."""

    curve: Curve = Curve()
    arrived: tuple[float, ...] = ()
    lags_s: tuple[float, ...] = ()
    lag: float = 0.0
    seen: Seen = Seen()
    used_mb: float | None = None
    restart_s: float = RESTART_S
    down_s: float = 0.0  # of the restart that is under way
    lows: tuple[tuple[int, float], ...] = ()  # lags of which none since was less, with their times
    done: Done = Done()

    def decided(self, verdict: Verdict, job: Job, now_ms: int) -> Known:
        """With a verdict that is carried out."""
        done = done_after(self.done, deed_of(verdict), size_of(job), now_ms)
        return self if done == self.done else self._replace(done=done)

    def other(self, slo_s: float) -> bool:
        """Is its lag of a cause that more tasks do not mend, and was it never well since?"""
        since_ms = self.done.other_ms
        if since_ms is None:
            return False
        return not any(at_ms > since_ms and low <= slo_s / 2 for at_ms, low in self.lows)

    @property
    def stands_s(self) -> float:
        """From a decision until tasks run again, as far as is known."""
        return max(RESTART_LEAST_S, self.restart_s)

    def since(self, now_ms: int) -> int:
        """Milliseconds since the last change; very many before the first."""
        acted_ms = self.done.acted_ms
        return NEVER if acted_ms is None else now_ms - acted_ms


class Look(NamedTuple):
    """One look at a job."""

    memory: Known
    job: Job
    days: Usual
    now_ms: int
    minute_ms: int

    def ahead(self, minutes: int) -> float:
        """What usual days say of that time; 0 where they say nothing."""
        return self.days.most(self.now_ms, self.now_ms + minutes * self.minute_ms) or 0.0
