"""What the newest minutes of a job say beside rates: told again, or slow throughout. Pure."""

from __future__ import annotations

from typing import NamedTuple

from projections.scaling.seen import Minute

SATURATED = 0.95
"""Of its time that a task works, from which on it has no more to give."""


class CauseBounds(NamedTuple):
    """What sets a cause apart from another."""

    old_minutes: int = 2  # a newest minute that is older is none
    same_minutes: int = 3  # in which each number is the same to the last digit
    slow: float = 0.6  # of what tasks usually read when they are busy
    few: float = 0.25  # of all tasks: more of them are not single ones that are slow or hot


class CauseSigns(NamedTuple):
    """What the newest minutes say beside rates."""

    newest: Minute | None = None
    same: int = 0  # minutes in a row that told the same again, to the last digit
    slow: int = 0  # minutes in a row in which all tasks read much less than they usually can
    told: tuple[float | None, ...] = ()  # numbers of the newest minute that all tasks told


def seen(
    before: CauseSigns, minute: Minute, could: float | None, bounds: CauseBounds
) -> CauseSigns:
    """With one more minute; `could` is what busy tasks read, in parts of what they usually do."""
    slow = could is not None and could < bounds.slow and (minute.busy or 0.0) >= SATURATED
    slow_for = before.slow + 1 if slow else 0
    if minute.heard < 1:  # nobody knows whether the others told the same again
        return before._replace(newest=minute, slow=slow_for)
    told = _told(minute)
    same = minute.rate > 0 and told == before.told
    return CauseSigns(minute, before.same + 1 if same else 0, slow_for, told)


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
