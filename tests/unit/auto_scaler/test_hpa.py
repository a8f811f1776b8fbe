"""The HPA's tolerance, windows and rates, on both sides of each limit."""

from __future__ import annotations

import pytest

from components.auto_scaler.core.policies.keda.hpa import (
    DOWN,
    UP,
    Behavior,
    Rate,
    Stamped,
    down_limit,
    moved,
    plain_limit,
    recommended,
    stabilized,
    up_limit,
)

NOW = 1_000_000


@pytest.mark.parametrize(
    ("total", "replicas", "expected"),
    [
        (100, 10, 10),
        (110, 10, 10),  # exactly at the tolerance
        (111, 10, 12),
        (90, 10, 10),
        (89, 10, 9),
        (0, 10, 0),
        (5, 0, 1),
        (0, 0, 0),
    ],
)
def test_the_metric_alone(total: int, replicas: int, expected: int) -> None:
    assert recommended(total, 10, replicas) == expected


def test_the_dead_zone_near_the_maximum() -> None:
    """64 partitions at 3000 each: 58 replicas become 64, and 59 to 63 stay as they are."""
    assert recommended(64 * 3000, 3000, 58) == 64
    assert [recommended(64 * 3000, 3000, n) for n in range(59, 64)] == [59, 60, 61, 62, 63]


@pytest.mark.parametrize(
    ("desired", "current", "history", "expected"),
    [
        (8, 4, (), 8),
        (2, 4, (), 2),
        (2, 4, ((NOW - 299_999, 4),), 4),
        (2, 4, ((NOW - 300_000, 4),), 2),  # as old as the window: out of it
        (2, 4, ((NOW - 1, 3),), 3),
        (2, 4, ((NOW - 1, 9),), 4),  # the window holds down, and never lifts
    ],
)
def test_the_window_down(
    desired: int, current: int, history: tuple[Stamped, ...], expected: int
) -> None:
    assert stabilized(desired, current, history, NOW) == expected


@pytest.mark.parametrize(("at", "expected"), [(NOW - 59_999, 5), (NOW - 60_000, 8)])
def test_the_window_up(at: int, expected: int) -> None:
    assert stabilized(8, 4, ((at, 5),), NOW, up_s=60) == expected


def test_what_moved_in_a_period() -> None:
    changes = ((NOW - 60_000, 9), (NOW - 59_999, 3), (NOW - 1, -2))
    assert moved(changes, NOW, 60) == (3, 2)


@pytest.mark.parametrize(("current", "most"), [(1, 5), (3, 7), (4, 8), (10, 20)])
def test_up_by_four_or_by_double(current: int, most: int) -> None:
    assert up_limit(current, (), NOW) == most


def test_what_was_added_in_the_period_counts() -> None:
    assert up_limit(8, ((NOW - 14_999, 4),), NOW) == 8
    assert up_limit(8, ((NOW - 15_000, 4),), NOW) == 16


def test_which_rate_counts_on_the_way_up() -> None:
    assert up_limit(3, (), NOW, UP._replace(select="min")) == 6
    assert up_limit(3, (), NOW, UP._replace(select="disabled")) == 3
    assert up_limit(9, ((NOW, 8),), NOW, UP._replace(select="min")) == 9  # never below


def test_which_rate_counts_on_the_way_down() -> None:
    rates = (Rate("pods", 4, 60), Rate("percent", 10, 60))
    assert down_limit(80, (), NOW) == 0
    assert down_limit(80, (), NOW, Behavior(300, "max", rates)) == 72
    assert down_limit(80, (), NOW, Behavior(300, "min", rates)) == 76
    assert down_limit(80, (), NOW, DOWN._replace(select="disabled")) == 80
    assert down_limit(11, (), NOW, Behavior(300, "max", rates[1:])) == 9  # 9.9, cut off


def test_what_was_removed_in_the_period_counts() -> None:
    behavior = Behavior(300, "max", (Rate("pods", 4, 60),))
    assert down_limit(76, ((NOW - 1, -4),), NOW, behavior) == 76
    assert down_limit(76, ((NOW - 60_000, -4),), NOW, behavior) == 72


@pytest.mark.parametrize(("current", "most"), [(0, 4), (1, 4), (2, 4), (3, 6)])
def test_without_a_behavior(current: int, most: int) -> None:
    assert plain_limit(current) == most
