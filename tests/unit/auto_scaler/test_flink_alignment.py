"""Alignment of Flink's autoscaler, held against the figures of its own tests."""

from __future__ import annotations

import pytest

from components.auto_scaler.core.policies.flink import formulas as f
from components.auto_scaler.core.policies.flink.alignment import Mode, VertexRoom, aligned

EVENLY: Mode = "legacy_evenly_spread"
MOST: Mode = "legacy_maximize_utilisation"


def scaled(
    tasks: int,
    groups: int,
    grown: float,
    mode: Mode = EVENLY,
    *,
    partitions: int | None = None,
    lower: int = 1,
    upper: int = f.INT_MAX,
) -> int:
    target = f.clamped(f.subtasks(grown, tasks), lower, upper, groups)
    if target == tasks:
        return target
    return aligned(VertexRoom(tasks, target, partitions, groups, lower, upper, keyed=True), mode)


@pytest.mark.parametrize(
    ("tasks", "groups", "grown", "then"),
    [
        (6, 36, 0.8, 6),
        (16, 128, 1.5, 32),
        (200, 720, 1.3, 360),
        (200, 720, float(f.INT_MAX), 720),
        (10, 128, 2.5, 32),
    ],
)
def test_key_groups(tasks: int, groups: int, grown: float, then: int) -> None:
    assert scaled(tasks, groups, grown) == then


@pytest.mark.parametrize(
    ("tasks", "groups", "grown", "limits", "then"),
    [
        (6, 720, 0.8, (1, 700), 5),
        (8, 720, 0.8, (8, 700), 8),
        (16, 128, 1.5, (1, f.INT_MAX), 32),
        (16, 128, 1.5, (60, f.INT_MAX), 64),
        (200, 720, 2, (1, 300), 240),
        (200, 720, float(f.INT_MAX), (1, 600), 360),
    ],
)
def test_key_groups_within_limits(
    tasks: int, groups: int, grown: float, limits: tuple[int, int], then: int
) -> None:
    assert scaled(tasks, groups, grown, lower=limits[0], upper=limits[1]) == then


@pytest.mark.parametrize(
    ("tasks", "dealt", "grown", "lower", "then"),
    [
        (6, (15, 128), 0.4, 1, 3),
        (7, (15, 128), 1.2, 1, 15),
        (20, (35, 30), 0.9, 1, 18),
        (22, (35, 30), 1.1, 20, 22),
        (80, (200, 128), 1.4, 1, 100),
        (24, (199, f.INT_MAX), 4, 1, 199),
        (10, (15, 720), 2, 1, 15),
    ],
)
def test_partitions(
    tasks: int, dealt: tuple[int, int], grown: float, lower: int, then: int
) -> None:
    partitions, groups = dealt
    assert scaled(tasks, groups, grown, partitions=partitions, lower=lower) == then


def test_the_older_mode_that_fills_tasks() -> None:
    assert scaled(10, 128, 2.5, MOST) == 26
    assert scaled(24, f.INT_MAX, 4, MOST, partitions=199) == 100


@pytest.mark.parametrize(("mode", "then"), [("balanced", 26), ("evenly_spread", 32), ("off", 24)])
def test_modes(mode: Mode, then: int) -> None:
    assert aligned(VertexRoom(16, 24, None, 128, keyed=True), mode) == then


@pytest.mark.parametrize(
    ("mode", "then"), [("balanced", 25), ("evenly_spread", 25), (EVENLY, 22), (MOST, 22)]
)
def test_only_the_older_modes_stand_in_the_way(mode: Mode, then: int) -> None:
    assert aligned(VertexRoom(22, 25, 35, 128, 20, 30), mode) == then


def test_only_the_older_modes_search_below_the_target() -> None:
    room = VertexRoom(5, 7, 12, 8)
    assert aligned(room, "evenly_spread") == 7
    assert aligned(room, EVENLY) == 6


@pytest.mark.parametrize("mode", ["balanced", "evenly_spread", EVENLY, MOST])
def test_what_is_not_dealt_out_is_not_aligned(mode: Mode) -> None:
    assert aligned(VertexRoom(16, 24, None, 128), mode) == 24
    assert aligned(VertexRoom(16, 24, 0, 128), mode) == 24


@pytest.mark.parametrize(
    ("tasks", "target", "partitions", "then"),
    [
        (4, 9, 15, 15),  # the overshoot that is known of it
        (200, 260, 720, 360),
        (20, 9, 15, 15),
        (10, 9, 15, 9),  # shrinking never goes beyond what there is
        (16, 12, 48, 12),
        (16, 13, 48, 16),  # and may come back to it
    ],
)
def test_balanced(tasks: int, target: int, partitions: int, then: int) -> None:
    assert aligned(VertexRoom(tasks, target, partitions, 720), "balanced") == then


def test_beyond_the_partitions_balanced_keeps_a_target_that_cannot_be_filled() -> None:
    assert aligned(VertexRoom(10, 20, 15, 128), "balanced") == 20
    assert aligned(VertexRoom(10, 20, 15, 128), EVENLY) == 15


def test_every_target_stays_within_its_region() -> None:
    for partitions in range(1, 30):
        for tasks in range(1, 25):
            for target in set(range(1, 25)) - {tasks}:
                room = VertexRoom(tasks, target, partitions, 128)
                for mode in ("balanced", "evenly_spread"):
                    size = aligned(room, mode)
                    most = max(target, partitions) if target > tasks else tasks
                    assert target <= size <= most
