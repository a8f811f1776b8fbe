"""Why a job lags: only one of the causes is mended by more of it. Pure.

More tasks on a dependency that does not answer make it worse, one hot key stays in one task, and
who does not know what happens should do nothing (Turbine V-A, V-D; StreamOps 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from components.auto_scaler.core.policies.capacity import BUSY_LEAST
from components.auto_scaler.core.seen import MINUTE_MS, Minute, Part

NO_METRICS, FROZEN, RESTART = "metrics-missing", "metrics-frozen", "restart"
STUCK, DEPENDENCY, STRAGGLER, SKEW = "stuck-partition", "dependency", "straggler", "skew"
MEMORY, UNDER, OVER = "memory", "under-capacity", "over-capacity"

SATURATED = 0.95
"""Of its time that a task works, from which on it has no more to give."""


class Bounds(NamedTuple):
    """What sets a cause apart from another."""

    old_minutes: int = 2  # a newest minute that is older is none
    same_minutes: int = 3  # in which each number is the same to the last digit
    slow: float = 0.6  # of what tasks usually read when they are busy
    few: float = 0.25  # of all tasks: more of them are not single ones that are slow or hot


class Seen(NamedTuple):
    """What the newest minutes say beside rates."""

    newest: Minute | None = None
    same: int = 0  # minutes in a row that told the same again, to the last digit
    slow: int = 0  # minutes in a row in which all tasks read much less than they usually can
    told: tuple[float | None, ...] = ()  # numbers of the newest minute that all tasks told


def seen(before: Seen, minute: Minute, could: float | None, bounds: Bounds) -> Seen:
    """With one more minute; `could` is what busy tasks read, in parts of what they usually do."""
    slow = could is not None and could < bounds.slow and (minute.busy or 0.0) >= SATURATED
    slow_for = before.slow + 1 if slow else 0
    if minute.heard < 1:  # nobody knows whether the others told the same again
        return before._replace(newest=minute, slow=slow_for)
    told = _told(minute)
    same = minute.rate > 0 and told == before.told
    return Seen(minute, before.same + 1 if same else 0, slow_for, told)


def _told(minute: Minute) -> tuple[float | None, ...]:
    """What tasks measured. What came in is worked out from it, and the size is no measurement: who
    says the same of another size tells it of the old one."""
    return (
        minute.rate,
        minute.lag,
        minute.lag_s,
        minute.busy,
        minute.busy_most,
        minute.memory_mb,
    )


def blind(known: Seen, now_ms: int, bounds: Bounds, minute_ms: int = MINUTE_MS) -> str:
    """Why nobody can say how the job is; "" where one can."""
    newest = known.newest
    if newest is None or now_ms - newest.at_ms > bounds.old_minutes * minute_ms:
        return NO_METRICS
    if newest.heard < 1 or newest.lag is None or newest.busy is None:
        return NO_METRICS
    return FROZEN if known.same >= bounds.same_minutes else ""


def why_late(known: Seen, bounds: Bounds) -> tuple[str, int | None]:
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


def _single(parts: Sequence[Part], bounds: Bounds) -> tuple[str, int] | None:
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
