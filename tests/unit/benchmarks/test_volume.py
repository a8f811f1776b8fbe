"""What a fleet writes is counted whole, and carried over to a large one by plain arithmetic."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.volume import DAY_S, Cost, day_of
from benchmarks.volume_play import Partition, play
from benchmarks.volume_words import words
from components.runtime.core.store import KEEP_MS, POSITIONS
from events.generated.records import TaskLoadReported
from events.topics import CONTAINERS, JOURNAL, LOADS, TIERS
from events.wire.codec import decode

HOUR_S = 3_600
CLICKS = (LOADS, b"clicks")


@pytest.fixture(scope="module")
def hour() -> Partition:
    """Two jobs, the second of which is rescaled."""
    partition = Partition(0, ["clicks", "orders"], 3)
    partition.create()
    play(partition, 120)
    play(partition, HOUR_S, ["orders"])
    return partition


def test_each_task_reports_each_minute(hour: Partition) -> None:
    told = [decode(one.value or b"") for one in hour.out if (one.topic, one.key) == CLICKS]
    assert sum(isinstance(body, TaskLoadReported) and body.task == 0 for body in told) == 60


def test_a_rescale_is_carried_out(hour: Partition) -> None:
    kinds = Counter(one.kind for one in hour.out if one.key == b"orders")
    assert kinds["SyncCommitted"] >= 1
    assert (kinds["TaskStarted"], kinds["TaskStopped"]) >= (4, 3)


def test_rows_are_kept_every_ten_minutes_and_not_with_each_report(hour: Partition) -> None:
    rows = [one for one in hour.out if one.topic == "rows.auto-scaler.v1"]
    kept = Counter(one.key for one in rows if one.key != POSITIONS.encode())
    most = HOUR_S * 1_000 // KEEP_MS
    assert set(kept) == {b"clicks", b"orders"}
    assert most - 1 <= min(kept.values()) <= max(kept.values()) <= most + 1


def test_a_large_fleet_is_a_small_one_many_times() -> None:
    costs = {
        (LOADS, "TaskLoadReported"): Cost(60, 60 * 400.0),
        (CONTAINERS, "ContainerHeartbeat"): Cost(2, 1_000.0),
        (JOURNAL, "SyncCommitted"): Cost(10, 9_000.0),
        (JOURNAL, "SyncStepDone"): Cost(10, 5_000.0),
        ("rows.auto-scaler.v1", "row"): Cost(6, 60_000.0),
    }
    day = day_of(costs, ticks=4_000, times=10)
    assert day["loads"] == 30_000 / 60 * DAY_S * 400
    assert day["heartbeats"] == 3_000 / 5 * DAY_S * 500
    assert day["journal"] == 24 * 10 * 14_000
    assert day["outcomes"] == 24 * 10 * 9_000, "steps are nobody's business but ours"
    assert day["rows_auto-scaler"] == 24 * 10 * 60_000
    assert day["ticks"] == 4_000 * DAY_S
    assert day["shard_loads"] == day["moves"] == 0, "what was not measured is not made up"


def test_containers_say_one_of_each() -> None:
    kinds = Counter((one.topic, one.kind) for one in words(3, 33, 10))
    assert kinds == {
        (CONTAINERS, "ContainerHeartbeat"): 3,
        (CONTAINERS, "ShardLoadsReported"): 3,
        (CONTAINERS, "ShardAdded"): 3,
        (CONTAINERS, "ShardDropped"): 3,
        (TIERS, "ShardAddRequested"): 3,
        (TIERS, "ShardDropRequested"): 3,
    }
