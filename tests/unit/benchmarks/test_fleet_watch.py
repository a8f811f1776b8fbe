"""What a benchmark of a whole tier reads out of the log, and what it would miss."""

from __future__ import annotations

from array import array

import pytest

from benchmarks.fleet_manager import most_mb, records_read
from benchmarks.fleet_watch import (
    Given,
    Told,
    fail_over_figures,
    held_by,
    rescued,
    upgrade_figures,
    within,
)
from components.runtime.core.step import ROOT
from components.runtime.kafka.intake import Message
from events.generated.records import (
    Body,
    ContainerFailOverRequested,
    ContainerHeartbeat,
    Generation,
    LayerVersions,
    ShardAdded,
    ShardAddRequested,
    ShardLoadsReported,
    TaskStarted,
    TierDefined,
)
from events.topics import CONTAINERS, TASKS, TIERS
from events.wire.codec import Record, encode, headers_of

METRICS = """
# HELP turbine_records_read Records read since the last assignment, by what became of them.
turbine_records_read{became="folded",component="shard-manager",partition="0"} 1.25e+03
turbine_records_read{became="void",component="shard-manager",partition="0"} 7.0
turbine_records_read{became="impossible",component="shard-manager",partition="0"} 5.0
turbine_records_read{became="repeated",component="shard-manager",partition="0"} 2.0
turbine_records_read{became="folded",component="job-service",partition="0"} 99.0
turbine_records_said_total{component="shard-manager",type="PlacementPlanned"} 3.0
"""


class Log:
    """Lets a `Told` hear records as the log has them."""

    def __init__(self) -> None:
        self.told, self._last = Told(), ROOT
        self._offset = 0

    def hear(self, topic: str, key: str, body: Body, at_ms: int, parent: str | None = None) -> None:
        decision = topic == TIERS
        name = f"d{self._offset}" if decision else ""
        parent = (parent or self._last) if decision else ""
        record = Record(key, name, type(body).__name__, encode(body), body, parent=parent)
        headers: list[tuple[str, bytes | None]] = [*headers_of(record, topic)]
        message = Message(topic, 0, self._offset, at_ms, key.encode(), record.value, headers)
        self._offset += 1
        if decision and parent == self._last:
            self._last = name
        self.told.hear(message)

    def decide(self, body: Body, at_ms: int, parent: str | None = None) -> None:
        self.hear(TIERS, "default/placement", body, at_ms, parent)

    def give(self, shard: int, generation: int, to: str, at_ms: int) -> None:
        self.decide(ShardAddRequested("default", shard, generation, to, 1, "", ""), at_ms)

    def add(self, shard: int, generation: int, name: str, at_ms: int) -> None:
        self.hear(CONTAINERS, name, ShardAdded(name, 1, "default", shard, generation), at_ms)

    def ask(self, name: str, at_ms: int) -> None:
        self.decide(ContainerFailOverRequested("default", name, 1, 60_000, "silent"), at_ms)

    def start(self, job: str, task: int, base: int, at_ms: int) -> None:
        body = TaskStarted(job, task, Generation(1, 1), "c1", 1, LayerVersions(base, 0, 0, 0))
        self.hear(TASKS, job, body, at_ms)


@pytest.fixture
def log() -> Log:
    log = Log()
    log.decide(TierDefined("default", 2, ("local",)), 1_000)
    log.give(0, 1, "c1", 2_000)
    log.give(1, 1, "c2", 2_100)
    log.add(0, 1, "c1", 3_000)
    log.add(1, 1, "c2", 3_100)
    return log


def test_all_is_placed_once_every_shard_was_given_and_added(log: Log) -> None:
    assert log.told.placed(2)
    assert not log.told.placed(3)
    assert log.told.defined_ms == 1_000


def test_a_shard_is_held_by_whom_it_was_given_to_last(log: Log) -> None:
    log.give(1, 2, "c1", 4_000)
    assert not log.told.placed(2)
    log.add(1, 1, "c2", 4_100)
    assert not log.told.placed(2)
    log.add(1, 2, "c1", 4_200)
    assert log.told.placed(2)


def test_what_lost_a_race_does_not_count(log: Log) -> None:
    log.decide(ShardAddRequested("default", 1, 2, "c9", 1, "", ""), 4_000, "d0")
    assert log.told.given[1].container == "c2"
    assert log.told.void == 1


def test_beats_are_counted_by_when_they_came() -> None:
    log = Log()
    for at_ms in (30, 10, 20):
        log.hear(CONTAINERS, "c1", ContainerHeartbeat("c1", 1, 1, 1, "serving", 0, ""), at_ms)
    assert within(log.told.beats, 10, 30) == 2
    assert within(array("q"), 0, 10) == 0


def test_containers_are_weighed_once_each_has_reported() -> None:
    log = Log()
    for name, at_ms in (("c1", 10), ("c1", 20), ("c2", 30)):
        log.hear(CONTAINERS, name, ShardLoadsReported(name, 1, at_ms, 600_000, ()), at_ms)
    assert log.told.weighed == {b"c1", b"c2"}
    assert within(log.told.loads, 0, 30) == 2


def test_a_task_runs_a_version_from_its_first_start_at_it() -> None:
    log = Log()
    for task, base, at_ms in ((0, 1, 5), (0, 2, 7), (0, 2, 9), (1, 1, 6)):
        log.start("a", task, base, at_ms)
    assert log.told.at_version(1) == {("a", 0): 5, ("a", 1): 6}
    assert log.told.at_version(2) == {("a", 0): 7}


def test_an_upgrade_lasts_from_the_first_wish_to_the_last_task() -> None:
    total, each = upgrade_figures(
        {"a": 1_000, "b": 1_500}, {("a", 0): 2_000, ("a", 1): 3_000, ("b", 0): 2_500}
    )
    assert total == 2.0
    assert sorted(each) == [1.0, 2.0]


DEAD = frozenset({"c1", "c2"})


def test_lost_shards_are_rescued_when_others_say_that_they_have_them(log: Log) -> None:
    lost = held_by(log.told.given, DEAD)
    assert lost == {0: Given(1, "c1", 2_000), 1: Given(1, "c2", 2_100)}
    assert not rescued(log.told, lost)
    for shard in lost:
        log.give(shard, 2, "c3", 70_000)
    assert not rescued(log.told, lost)
    for shard in lost:
        log.add(shard, 2, "c3", 70_500)
    assert rescued(log.told, lost)
    assert held_by(log.told.given, DEAD) == {}


def test_a_fail_over_is_told_from_its_first_its_last_and_the_slowest_of_its_requests(
    log: Log,
) -> None:
    lost = held_by(log.told.given, DEAD)
    log.ask("c1", 64_000)
    log.ask("c1", 65_000)  # again, because the first found a heartbeat in between
    log.ask("c2", 67_000)
    log.give(0, 2, "c3", 67_500)
    log.give(1, 2, "c3", 68_000)
    log.add(1, 2, "c3", 68_100)
    log.add(0, 2, "c3", 68_400)
    assert fail_over_figures(log.told, lost, 4_000.0) == {
        "failover_place_s": 3.5,
        "failover_added_s": 4.4,
        "failover_place_from_last_s": 1.0,
        "failover_added_from_last_s": 1.4,
        "failover_place_from_first_s": 4.0,
        "failover_added_from_first_s": 4.4,
        "failover_detected_first_s": 60.0,
        "failover_detected_last_s": 63.0,
        "failover_containers": 2,
        "failover_shards": 2,
    }


def test_what_a_manager_read_is_taken_from_its_own_word() -> None:
    assert records_read(METRICS) == 1_250 + 7 + 2
    assert records_read("") == 0


def test_the_most_memory_is_taken_from_the_kernels_word() -> None:
    assert most_mb("VmPeak:\t 4096 kB\nVmHWM:\t  2048 kB\nVmRSS:\t 1024 kB\n") == 2.0
    assert most_mb("Name:\tpython\n") == 0.0
