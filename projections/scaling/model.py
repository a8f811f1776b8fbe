"""What the minutes of a job teach: what it can read, what comes in, how long restarts take. Pure.

No setting and no config decides what is kept: the log's minutes alone do. It is a fact of the log,
which the policy `turbine` decides by.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

from events.job_config.policies.turbine import LOOK_BACK_MOST
from projections.scaling.capacity import BUSY_LEAST, Curve
from projections.scaling.decision_memory import Done
from projections.scaling.newest import CauseBounds, CauseSigns
from projections.scaling.newest import seen as seen_with
from projections.scaling.seen import Minute

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
FADES = 0.5
"""Of what was believed of restarts, with each that was shorter: a longer one counts at once."""
BOUNDS = CauseBounds()
Watch = Callable[[CauseSigns, Minute, float | None], tuple[CauseSigns, bool]]
"""What the newest minutes say with this one, and whether it is one that capacity is learnt from."""


class JobModel(NamedTuple):
    """What minutes taught of a job, and beside it what was decided."""

    curve: Curve = Curve()
    arrived: tuple[float, ...] = ()
    lags_s: tuple[float, ...] = ()
    lag: float = 0.0
    seen: CauseSigns = CauseSigns()
    used_mb: float | None = None
    restart_s: float = RESTART_S
    down_s: float = 0.0  # of the restart that is under way
    lows: tuple[tuple[int, float], ...] = ()  # lags of which none since was less, with their times
    done: Done = Done()

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


def watched(before: CauseSigns, minute: Minute, share: float | None) -> tuple[CauseSigns, bool]:
    """`share` is what busy tasks read, in parts of what they usually do. Who reads much less waits
    for another, and numbers that are told again are no measurement: however often they are told,
    nothing is learnt from either."""
    seen = seen_with(before, minute, share, BOUNDS)
    return seen, seen.same == 0 and share is not None and share >= BOUNDS.slow


def learn(memory: JobModel, threads: int, minute: Minute, watch: Watch = watched) -> JobModel:
    """With a minute more, in which so many threads ran in all."""
    curve, could = memory.curve, could_read(minute)
    share = None
    if could is not None:
        share = could / curve.reads(threads) if curve.known else 1.0
    seen, teaches = watch(memory.seen, minute, share)
    if could is not None and teaches:
        curve = curve.taught(threads, could, (minute.busy or 0.0) ** 2)
    down_s, restart_s = memory.down_s + minute.down_s, memory.restart_s
    if minute.down_s == 0 and down_s > 0:
        if down_s <= RESTART_MOST_S:
            restart_s = max(down_s, FADES * restart_s + (1 - FADES) * down_s)
        down_s = 0.0
    came = memory.arrived
    if minute.heard >= 1:  # of tasks that nobody heard of nothing is known
        arrived = minute.rate if minute.arrived is None else minute.arrived
        came = (*came[1 - LOOK_BACK_MOST :], arrived)
    used = [one for one in (memory.used_mb, minute.memory_mb) if one is not None]
    late_s = _behind_s(minute)
    lows = [one for one in memory.lows if one[1] < late_s]
    return memory._replace(
        curve=curve,
        arrived=came,
        lags_s=(*memory.lags_s[1 - LAGS :], late_s),
        lag=minute.lag or 0.0,
        seen=seen,
        used_mb=max(used, default=None),
        restart_s=restart_s,
        down_s=down_s,
        lows=(*lows[1 - LOWS :], (minute.at_ms, late_s)),
    )


def could_read(minute: Minute) -> float | None:
    """What would have been read in a minute of which tasks were busy throughout."""
    busy = minute.busy
    if minute.down_s > 0 or busy is None or busy < BUSY_LEAST or minute.rate <= 0:
        return None
    return minute.rate / busy


def _behind_s(minute: Minute) -> float:
    """Age of its oldest record; where nobody knows that, the time to read what is left; else no
    end: what is unknown is never none."""
    if minute.lag_s is not None:
        return minute.lag_s
    if minute.lag == 0:
        return 0.0
    return inf if minute.lag is None or minute.rate <= 0 else minute.lag / minute.rate
