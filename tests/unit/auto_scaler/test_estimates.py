"""The formulas of Turbine V, on numbers that follow from its text."""

from math import inf, sqrt

import pytest

from components.auto_scaler.core.policies.common.estimates import (
    cpu_units,
    cpu_units_to_recover,
    deviates,
    drain_s,
    imbalance,
    lowered,
    mean,
    memory_of_task,
    raised,
    spread,
    tasks_for_memory,
    tasks_needed,
    threads_needed,
    time_lagged,
    usual,
    whole,
    whole_below,
)
from projections.scaling.seen import UNKNOWN, Profile


@pytest.mark.parametrize(
    ("lag", "rate", "seconds"),
    [
        (9000.0, 100.0, 90.0),
        (0.0, 0.0, 0.0),  # nothing to read, nothing read: not late
        (0.0, None, 0.0),
        (1.0, 0.0, inf),
        (None, 100.0, None),
        (9000.0, None, None),
    ],
)
def test_time_lagged_is_bytes_lagged_by_rate(
    lag: float | None, rate: float | None, seconds: float | None
) -> None:
    assert time_lagged(lag, rate) == seconds


def test_imbalance_is_the_standard_deviation_of_the_tasks_rates() -> None:
    assert imbalance([2, 4, 4, 4, 5, 5, 7, 9]) == 2.0
    assert spread([2, 4, 4, 4, 5, 5, 7, 9]) == 0.4
    assert imbalance([5, 5]) == 0.0
    assert imbalance([1, 2, 3]) == pytest.approx(sqrt(2 / 3))
    assert imbalance([5]) is None
    assert spread([]) is None
    assert spread([0, 0]) is None  # no rate has no parts


def test_equation_2_and_3() -> None:
    assert cpu_units(1000, p=10, k=2, n=50) == 1.0
    assert cpu_units(250, p=10, k=1, n=50) == 0.5
    assert cpu_units(0, p=10, k=1, n=50) == 0.0
    assert cpu_units(1, p=0, k=1, n=50) == inf
    assert cpu_units_to_recover(1000, 10, 2, 50, b=60_000, t=60) == 2.0
    assert cpu_units_to_recover(1000, 10, 2, 50, b=60_000, t=inf) == 1.0


def test_the_tasks_are_those_for_which_the_cpu_is_at_most_all() -> None:
    assert tasks_needed(1000, p=10, k=2) == 50
    assert tasks_needed(1001, p=10, k=2) == 51
    assert tasks_needed(0, p=10, k=2) == 0
    assert tasks_needed(1000, p=10, k=2, b=60_000, t=60) == 100
    assert threads_needed(1000, p=10, b=60_000, t=60) == 200
    assert tasks_needed(1.1 * 3, p=1.1, k=1) == 3  # 3.0000000000000004 in floats
    assert tasks_needed(1, p=0, k=1) == inf


@pytest.mark.parametrize(
    ("value", "up", "down"), [(2.5, 3, 2), (3.0, 3, 3), (0.0, 0, 0), (inf, inf, inf)]
)
def test_whole_numbers(value: float, up: float, down: float) -> None:
    assert whole(value) == up
    assert whole_below(value) == down
    assert whole_below(2.9999999999999996) == 3


def test_a_backlog_ends_by_what_is_left_of_the_capacity() -> None:
    assert drain_s(100, 6000, 200) == 60
    assert drain_s(100, 0, 50) == 0
    assert drain_s(100, 1, 100) == inf


def test_p_rises_to_the_mean_throughput() -> None:
    assert raised(10, 1200, k=2, n=50) == 12
    assert raised(None, 1200, k=2, n=50) == 12
    assert raised(20, 1200, k=2, n=50) == 20


def test_p_falls_to_between_x_by_n_and_p() -> None:
    assert lowered(20, 1200, k=2, n=50) == 16
    assert lowered(20, 1200, k=2, n=50, towards=1) == 12
    assert lowered(20, 1200, k=2, n=50, towards=0.25) == 18
    assert lowered(12, 1200, k=2, n=50) == 12
    assert lowered(10, 1200, k=2, n=50) == 10  # the traffic outgrew the estimate


def test_what_tasks_hold_is_divided_and_what_they_are_is_not() -> None:
    assert memory_of_task(1400, base=400, n=10, after=20) == 900
    assert memory_of_task(1400, base=400, n=10, after=5) == 2400
    assert memory_of_task(300, base=400, n=10, after=5) == 300


def test_tasks_for_memory() -> None:
    assert tasks_for_memory(1400, base=400, n=10, most=900) == 20
    assert tasks_for_memory(1400, base=400, n=10, most=901) == 20
    assert tasks_for_memory(1400, base=400, n=10, most=899) == 21
    assert tasks_for_memory(1400, base=400, n=10, most=400) == inf
    assert tasks_for_memory(400, base=400, n=10, most=400) == 1


def test_the_mean_is_of_what_is_known() -> None:
    assert mean([1.0, None, 3.0]) == 2.0
    assert mean([None]) is None
    assert mean([]) is None


def test_the_usual_is_the_mean_of_the_last_30_minutes_on_the_days_before() -> None:
    ten = 600_000
    days = Profile(ten, tuple(float(at) for at in range(144)), (None,) * 144, 14)
    assert usual(days, 4 * ten) == 2.0  # slots 1, 2 and 3
    assert usual(days, 4 * ten + 1) == 2.5  # 1 to 4: a part of a slot counts as one
    assert usual(days, 0) == pytest.approx((141 + 142 + 143) / 3)  # the evening before
    assert usual(days, 86_400_000 * 3 + 4 * ten) == 2.0
    assert usual(UNKNOWN, 4 * ten) is None


def test_a_deviation_is_significant_above_its_share() -> None:
    assert deviates(110, 100, 0.1) is False
    assert deviates(110.1, 100, 0.1) is True
    assert deviates(89.9, 100, 0.1) is True
    assert deviates(0, 0, 0.1) is False
    assert deviates(1, 0, 0.1) is True
    assert deviates(None, 100, 0.1) is None
    assert deviates(100, None, 0.1) is None
