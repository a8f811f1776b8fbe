"""Why a job lags: each cause by the signs that set it apart from the others."""

from __future__ import annotations

from typing import Any

import pytest

from components.auto_scaler.core.policies.turbine.causes import (
    DEPENDENCY,
    FROZEN,
    MEMORY,
    NO_METRICS,
    SKEW,
    STRAGGLER,
    STUCK,
    UNDER,
    blind,
    why_late,
)
from projections.scaling.newest import (
    CauseBounds,
    CauseSigns,
    seen,
)
from projections.scaling.seen import MINUTE_MS, Minute, Part

BOUNDS = CauseBounds()


def minute(at: int = 1, **more: Any) -> Minute:
    """A saturated job that falls behind."""
    given: dict[str, Any] = {
        "tasks": 8,
        "arrived": 900.0,
        "rate": 800.0,
        "lag": 6_000.0 * at,
        "lag_s": 8.0 * at,
        "busy": 1.0,
        "busy_most": 1.0,
    }
    return Minute(at_ms=at * MINUTE_MS, **(given | more))


def told(*minutes: Minute, could: float | None = 1.0) -> CauseSigns:
    known = CauseSigns()
    for one in minutes:
        known = seen(known, one, could, BOUNDS)
    return known


def parts(**odd: Any) -> tuple[Part, ...]:
    """Eight tasks with time to spare, of which the third is as told."""
    usual = [Part(task, 100.0, 0.6, 0.0, 0.0) for task in range(8)]
    usual[2] = usual[2]._replace(**odd)
    return tuple(usual)


def test_all_tasks_at_their_limit_are_too_few() -> None:
    assert why_late(told(minute(), minute(2)), BOUNDS) == (UNDER, None)


@pytest.mark.parametrize(
    ("more", "cause"),
    [({"oom": True}, MEMORY), ({"stuck": 1}, STUCK)],
    ids=["a task that ran out of memory", "a partition of which nothing is read"],
)
def test_what_a_minute_says_itself(more: dict[str, Any], cause: str) -> None:
    assert why_late(told(minute(**more)), BOUNDS) == (cause, None)


def test_tasks_that_are_busy_and_read_little_wait_for_another() -> None:
    once = told(minute(), could=0.4)
    assert why_late(once, BOUNDS)[0] == UNDER, "one such minute is noise"
    twice = seen(once, minute(2), 0.4, BOUNDS)
    assert why_late(twice, BOUNDS)[0] == DEPENDENCY
    over = seen(twice, minute(3), 0.9, BOUNDS)
    assert why_late(over, BOUNDS)[0] == UNDER


def test_one_slow_task_is_a_straggler() -> None:
    slow = parts(rate=40.0, busy=1.0, lag=9_000.0)
    assert why_late(told(minute(busy=0.65, parts=slow)), BOUNDS) == (STRAGGLER, 2)


def test_one_task_that_is_as_fast_as_the_others_and_late_gets_more() -> None:
    hot = parts(rate=167.0, busy=1.0, lag=9_000.0)
    assert why_late(told(minute(busy=0.65, parts=hot)), BOUNDS) == (SKEW, 2)


def test_where_many_are_late_it_is_none_of_single_ones() -> None:
    late = tuple(Part(task, 100.0, 1.0, 900.0, 9.0) for task in range(4))
    others = tuple(Part(task, 100.0, 0.6, 0.0, 0.0) for task in range(4, 8))
    assert why_late(told(minute(parts=late + others)), BOUNDS) == (UNDER, None)


def test_who_heard_nothing_lately_is_blind() -> None:
    assert blind(CauseSigns(), MINUTE_MS, BOUNDS) == NO_METRICS
    known = told(minute(5))
    assert blind(known, 7 * MINUTE_MS, BOUNDS) == ""
    assert blind(known, 8 * MINUTE_MS, BOUNDS) == NO_METRICS


@pytest.mark.parametrize("more", [{"heard": 0.9}, {"lag": None}, {"busy": None}])
def test_what_is_unknown_is_no_number(more: dict[str, Any]) -> None:
    assert blind(told(minute(**more)), MINUTE_MS, BOUNDS) == NO_METRICS


def test_numbers_that_do_not_change_at_all_are_frozen() -> None:
    same = [minute(at, lag=6_000.0, lag_s=8.0) for at in range(1, 5)]
    assert blind(told(*same[:3]), 3 * MINUTE_MS, BOUNDS) == ""
    assert blind(told(*same), 4 * MINUTE_MS, BOUNDS) == FROZEN
    idle = [one._replace(rate=0.0, arrived=0.0) for one in same]
    assert blind(told(*idle), 4 * MINUTE_MS, BOUNDS) == "", "who is idle has nothing new to tell"


def test_the_same_again_is_known_by_what_was_measured() -> None:
    """What came in is worked out from it, with another rounding each time; and who tells the same
    of another size tells it of the old one."""
    same = [minute(at, lag=6_000.0, lag_s=8.0) for at in range(1, 5)]
    rounded = [one._replace(arrived=900.0 + at * 1e-13) for at, one in enumerate(same)]
    assert blind(told(*rounded), 4 * MINUTE_MS, BOUNDS) == FROZEN
    resized = [*same[:2], *(one._replace(tasks=9, threads=2) for one in same[2:])]
    assert blind(told(*resized), 4 * MINUTE_MS, BOUNDS) == FROZEN
    other = [*same[:3], same[3]._replace(memory_mb=301.0)]
    assert blind(told(*other), 4 * MINUTE_MS, BOUNDS) == ""


def test_a_report_that_is_lost_hides_no_metrics_that_are_frozen() -> None:
    same = [minute(at, lag=6_000.0, lag_s=8.0) for at in range(1, 6)]
    lost = [*same[:2], same[2]._replace(heard=0.9, rate=700.0, lag=None, busy=None), *same[3:]]
    assert blind(told(*lost[:3]), 3 * MINUTE_MS, BOUNDS) == NO_METRICS
    assert blind(told(*lost), 5 * MINUTE_MS, BOUNDS) == FROZEN
