"""Why a job lags: only one of the causes is mended by more of it. Pure.

More tasks on a dependency that does not answer make it worse, one hot key stays in one task, and
who does not know what happens should do nothing (Turbine V-A, V-D; StreamOps 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from projections.scaling.capacity import BUSY_LEAST
from projections.scaling.newest import SATURATED, CauseBounds, CauseSigns
from projections.scaling.seen import MINUTE_MS, Part

NO_METRICS, FROZEN, RESTART = "metrics-missing", "metrics-frozen", "restart"
STUCK, DEPENDENCY, STRAGGLER, SKEW = "stuck-partition", "dependency", "straggler", "skew"
MEMORY, UNDER, OVER = "memory", "under-capacity", "over-capacity"


def blind(known: CauseSigns, now_ms: int, bounds: CauseBounds, minute_ms: int = MINUTE_MS) -> str:
    """Why nobody can say how the job is; "" where one can."""
    newest = known.newest
    if newest is None or now_ms - newest.at_ms > bounds.old_minutes * minute_ms:
        return NO_METRICS
    if newest.heard < 1 or newest.lag is None or newest.busy is None:
        return NO_METRICS
    return FROZEN if known.same >= bounds.same_minutes else ""


def why_late(known: CauseSigns, bounds: CauseBounds) -> tuple[str, int | None]:
    """The cause of a lag, with the task that it is about."""
    newest = known.newest
    assert newest is not None, "who is blind does not ask"
    if newest.oom:
        return MEMORY, None
    if newest.stuck:
        return STUCK, None
    if known.slow >= 2:
        return DEPENDENCY, None
    single = _single(newest.parts, bounds)
    if single is not None:
        return single
    return UNDER, None


def _single(parts: Sequence[Part], bounds: CauseBounds) -> tuple[str, int] | None:
    """Few tasks that are late while the others have time: slow ones, or ones that get more."""
    late = [one for one in parts if _is_late(one)]
    if not late or len(late) > max(1.0, bounds.few * len(parts)) or len(parts) < 2:
        return None
    others = [one for one in parts if not _is_late(one)]
    if sum([one.busy or 0.0 for one in others]) / len(others) >= SATURATED:
        return None
    worst = max(late, key=lambda one: one.lag or 0.0)
    speeds = [speed for one in others if (speed := _speed(one)) is not None]
    own = _speed(worst)
    if own is not None and speeds and own < bounds.slow * median(speeds):
        return STRAGGLER, worst.task
    return SKEW, worst.task


def _is_late(one: Part) -> bool:
    return (one.busy or 0.0) >= SATURATED and (one.lag or 0.0) > one.rate


def _speed(one: Part) -> float | None:
    """Records a second of a task that is busy throughout."""
    if one.busy is None or one.busy < BUSY_LEAST:
        return None
    return one.rate / one.busy
