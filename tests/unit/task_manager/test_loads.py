"""Loads of tasks and shards: rates between two samples, peaks and means, unknown never 0."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from components.task_manager.core.catalogue import Catalogue, ShardCounts, Target
from components.task_manager.core.loads import PART_SHARDS, PARTITIONS_MOST, ContainerLoads, Sampled
from events.generated.records import PartitionLag, ShardLoad, TaskLoadReported
from events.wire.codec import VALUE_BYTES_MAX, encode
from projections.lists import TaskLists, apply
from tasks.core.protocol import Left
from tests.unit.task_manager.examples import JOB, published

MINUTE_MS = 60_000


def target(task: int = 0, shard: int = 7, *, tasks: int = 0, **more: int | None) -> Target:
    catalogue = Catalogue(ShardCounts("default", 1, ()))
    catalogue.put(apply(TaskLists(JOB), published(2, tasks or task + 1)))
    entry = catalogue.entries(0)[f"{JOB}/{task}"]
    program = entry.program._replace(spec=replace(entry.program.spec, **more))
    return entry._replace(program=program).at(shard, 3)


def counts(**more: int | None) -> dict[str, int | None]:
    zero = dict.fromkeys(("records_in", "bytes_in", "records_out", "bytes_out", "busy_us"), 0)
    return {**zero, "lag_records": None, "cpu_ms": None, "memory_bytes": None, **more}


def take(loads: ContainerLoads, now_ms: int, *sampled: tuple[Any, ...]) -> list[TaskLoadReported]:
    return list(loads.take([Sampled(*one) for one in sampled], now_ms))


def shard(loads: ContainerLoads, now_ms: int, names: list[str], number: int = 7) -> ShardLoad:
    [report] = loads.shards("default", {(number, 3): names}, now_ms)
    return report.loads[0]


def test_rates_are_between_two_samples() -> None:
    loads = ContainerLoads("c1", 4, 0)
    loads.begin(1, 0)
    used = counts(records_in=600, bytes_in=6_000, cpu_ms=30_000, busy_us=15_000_000)
    [first] = take(loads, MINUTE_MS, (1, target(), used))
    assert (first.records_in_per_s, first.bytes_in_per_s, first.cpu_cores) == (10, 100, 0.5)
    assert (first.busy_share, first.count, first.epoch) == (0.25, 1, 4)
    more = counts(records_in=1_200, bytes_in=6_000, cpu_ms=30_000)
    [second] = take(loads, 2 * MINUTE_MS, (1, target(), more))
    assert (second.records_in_per_s, second.bytes_in_per_s, second.cpu_cores) == (10, 0, 0)
    assert (second.count, second.window_ms) == (2, MINUTE_MS)


def test_unknown_is_none_and_never_0() -> None:
    loads = ContainerLoads("c1", 1, 0)
    loads.begin(1, 0)
    [one] = take(loads, 1_000, (1, target(), counts()))
    assert (one.lag_records, one.lag_bytes, one.cpu_cores, one.memory_bytes) == (None,) * 4
    assert (one.lag_ms, one.state_rows, one.state_bytes) == (None,) * 3
    assert (one.checkpoint_age_ms, one.partitions) == (None, ())


def test_lag_in_bytes_is_reckoned_by_what_records_have_had() -> None:
    loads = ContainerLoads("c1", 1, 0)
    loads.begin(1, 0)
    [one] = take(loads, 9, (1, target(), counts(records_in=10, bytes_in=1_000, lag_records=5)))
    assert (one.lag_records, one.lag_bytes) == (5, 500)
    [two] = take(loads, 18, (1, target(), counts(lag_records=0)))
    assert two.lag_bytes == 0
    [three] = take(loads, 27, (1, target(), counts(lag_records=5)))
    assert three.lag_bytes is None


def partitions(used: dict[str, int | None], *left: Left) -> TaskLoadReported:
    """The report of a first sample."""
    loads = ContainerLoads("c1", 1, 0)
    loads.begin(1, 0)
    [one] = take(loads, 9, (1, target(), used, left))
    return one


def test_partitions_are_told_the_worst_first_and_add_up() -> None:
    used = counts(
        records_in=3, bytes_in=10, lag_records=12, lag_ms=900, checkpoint_age_ms=40
    )  # a record has 3 1/3 bytes
    one = partitions(used, Left("a", 0, 0, 0), Left("a", 1, 5, None), Left("b", 0, 7, 900))
    assert one.partitions == (
        PartitionLag("b", 0, 7, 23, 900),
        PartitionLag("a", 1, 5, 16, None),
        PartitionLag("a", 0, 0, 0, 0),
    ), "and of none is known what was read"
    assert (one.lag_records, one.lag_bytes, one.lag_ms) == (12, 40, 900)  # each is rounded down
    assert one.checkpoint_age_ms == 40


def test_of_a_partition_that_nobody_knows_nothing_is_0() -> None:
    one = partitions(counts(), Left("a", 0, 0), Left("a", 1))
    assert one.partitions == (PartitionLag("a", 1), PartitionLag("a", 0, 0, 0, 0))
    assert (one.lag_records, one.lag_bytes, one.lag_ms) == (None, None, None)
    unread = partitions(counts(lag_records=5), Left("a", 0, 5))
    assert unread.partitions == (PartitionLag("a", 0, 5, None, None),), "no size was seen yet"
    idle = partitions(counts(lag_records=0), Left("a", 0, 0))
    assert (idle.lag_records, idle.lag_bytes, idle.lag_ms) == (0, 0, 0)


@pytest.mark.parametrize("more", [0, 1, 500])
def test_as_many_partitions_as_an_event_holds_are_told_and_all_are_counted(more: int) -> None:
    topic, most = "t" * 249, PARTITIONS_MOST + more
    left = [Left(topic, number, 10**12 + number, 10**12, number) for number in range(most)]
    total = sum(one.records or 0 for one in left)
    used = counts(records_in=1, bytes_in=10**3, lag_records=total, lag_ms=10**12)
    one = partitions(used, *left)
    assert [told.partition for told in one.partitions] == [*range(most - 1, more - 1, -1)]
    assert (one.lag_records, one.lag_bytes) == (total, total * 10**3)
    assert len(encode(one)) < VALUE_BYTES_MAX


def rates(one: TaskLoadReported) -> dict[tuple[str, int], float | None]:
    return {(part.topic, part.partition): part.records_in_per_s for part in one.partitions}


def test_what_is_read_is_told_by_partition_and_adds_up() -> None:
    loads = ContainerLoads("c1", 1, 0)
    loads.begin(1, 0)
    a, b = ("a", 0), ("b", 3)

    def read(now_ms: int, **of: int) -> TaskLoadReported:
        left = [Left(*a, 0, 0, of["a"]), Left(*b, 9, 9, of["b"])]
        [one] = take(loads, now_ms, (1, target(), counts(records_in=of["a"] + of["b"]), left))
        return one

    assert rates(read(2_000, a=200, b=100)) == {a: 100.0, b: 50.0}
    assert rates(read(6_000, a=200, b=140)) == {a: 0.0, b: 10.0}
    one = read(9_001, a=207, b=141)
    assert sum(rate or 0 for rate in rates(one).values()) == pytest.approx(one.records_in_per_s)


def test_of_a_partition_that_is_not_counted_the_rate_is_unknown_and_not_0() -> None:
    loads = ContainerLoads("c1", 1, 0)
    loads.begin(1, 0)
    a, b = ("a", 0), ("a", 1)
    for now_ms in (1_000, 2_000):
        [one] = take(
            loads,
            now_ms,
            (1, target(), counts(records_in=now_ms), [Left(*a, 1, 1, now_ms), Left(*b, 1, 1)]),
        )
        assert rates(one) == {a: 1_000.0, b: None}


def test_another_run_counts_its_partitions_anew() -> None:
    loads = ContainerLoads("c1", 1, 0)
    at = ("a", 0)
    loads.begin(1, 0)
    [one] = take(loads, 1_000, (1, target(), counts(records_in=500), [Left(*at, read=500)]))
    loads.begin(2, 1_500)
    [two] = take(loads, 2_500, (2, target(), counts(records_in=600), [Left(*at, read=600)]))
    assert (rates(one), rates(two)) == ({at: 500.0}, {at: 600.0})
    # Nobody has heard of its start: what it has read may be of any time.
    assert take(loads, 3_000, (3, target(), counts(records_in=9), [Left(*at, read=9)])) == []
    [three] = take(loads, 4_000, (3, target(), counts(records_in=19), [Left(*at, read=19)]))
    assert (rates(three), three.records_in_per_s) == ({at: 10.0}, 10.0)


def test_a_report_says_how_many_tasks_the_job_has_and_how_many_threads_the_task() -> None:
    loads = ContainerLoads("c1", 1, 0)
    loads.begin(1, 0)
    [one] = take(loads, 9, (1, target(1, tasks=7, threads=3), counts()))
    assert (one.task, one.tasks, one.threads) == (1, 7, 3)
    [two] = take(loads, 18, (1, target(), counts()))
    assert (two.tasks, two.threads) == (1, 1)


def test_another_run_of_a_task_counts_from_its_own_start() -> None:
    loads = ContainerLoads("c1", 1, 0)
    loads.begin(1, 0)
    take(loads, 1_000, (1, target(), counts(records_in=500)))
    loads.begin(2, 1_500)
    [one] = take(loads, 2_500, (2, target(), counts(records_in=100)))
    assert (one.records_in_per_s, one.window_ms, one.count) == (100, 1_000, 2)


def test_a_run_that_began_after_the_question_keeps_its_start() -> None:
    loads = ContainerLoads("c1", 1, 0)
    loads.begin(1, 0)
    loads.begin(2, 500)
    take(loads, 1_000, (1, target(), counts()))
    [_, one] = take(loads, 1_500, (1, target(), counts()), (2, target(1), counts(records_in=10)))
    assert (one.window_ms, one.records_in_per_s) == (1_000, 10)


def test_a_shard_uses_what_its_tasks_use_peaks_where_memory_is_enforced() -> None:
    loads = ContainerLoads("c1", 1, 0)
    free, bound = target(0), target(1, memory_bytes=10**9)
    for run in (1, 2):
        loads.begin(run, 0)
    for at, memory in ((1, 100), (2, 300)):
        used = counts(cpu_ms=500 * at, memory_bytes=memory, bytes_in=4_000 * at)
        take(loads, 1_000 * at, (1, free, used), (2, bound, used))
    one = shard(loads, 2_000, [f"{JOB}/0", f"{JOB}/1"])
    assert (one.cpu_cores, one.memory_bytes, one.network_bytes_per_s) == (1.0, 200 + 300, 8_000)
    assert (one.tasks, one.job, one.disk_bytes) == (2, JOB, None)


def test_disk_is_the_most_that_each_task_had() -> None:
    loads = ContainerLoads("c1", 1, 0)
    for run in (1, 2):
        loads.begin(run, 0)
    for at, disk in ((1, 70), (2, 50)):
        used = counts(disk_bytes=disk)
        take(loads, at, (1, target(0), used), (2, target(1), used))
    assert shard(loads, 2, [f"{JOB}/0", f"{JOB}/1"]).disk_bytes == 140


def test_an_empty_shard_is_known_to_use_nothing() -> None:
    one = shard(ContainerLoads("c1", 1, 0), 1_000, [])
    assert (one.tasks, one.cpu_cores, one.memory_bytes, one.disk_bytes) == (0, 0, 0, 0)
    assert (one.network_bytes_per_s, one.job) == (0, "")


def test_a_shard_with_a_task_that_nobody_sampled_is_unknown() -> None:
    loads = ContainerLoads("c1", 1, 0)
    loads.begin(1, 0)
    take(loads, 1_000, (1, target(), counts(cpu_ms=5, memory_bytes=5)))
    one = shard(loads, 1_000, [f"{JOB}/0", f"{JOB}/1"])
    assert (one.tasks, one.cpu_cores, one.memory_bytes, one.network_bytes_per_s) == (2, *[None] * 3)


def test_a_window_ends_with_its_report_and_reports_are_numbered() -> None:
    loads = ContainerLoads("c1", 1, 0)
    loads.begin(1, 0)
    take(loads, 1_000, (1, target(), counts(cpu_ms=500, memory_bytes=9)))
    assert shard(loads, 1_000, [f"{JOB}/0"]).cpu_cores == 0.5
    take(loads, 2_000, (1, target(), counts(cpu_ms=600, memory_bytes=7)))
    [report] = loads.shards("default", {(7, 3): [f"{JOB}/0"]}, 3_000)
    assert (report.number, report.window_ms) == (2, 2_000)
    assert (report.loads[0].cpu_cores, report.loads[0].memory_bytes) == (0.05, 7)


def test_many_shards_are_told_in_parts() -> None:
    held: dict[tuple[int, int], list[str]] = {(n, 1): [] for n in range(PART_SHARDS + 1)}
    parts = list(ContainerLoads("c1", 1, 0).shards("default", held, 5))
    assert [(one.part, one.parts, len(one.loads)) for one in parts] == [
        (1, 2, PART_SHARDS),
        (2, 2, 1),
    ]
    assert [one.shard for part in parts for one in part.loads] == list(range(PART_SHARDS + 1))
    [none] = ContainerLoads("c1", 1, 0).shards("default", {}, 5)
    assert (none.part, none.parts, none.loads) == (1, 1, ())


def test_a_shards_job_is_that_of_most_of_its_tasks() -> None:
    assert shard(ContainerLoads("c1", 1, 0), 9, ["b/0", "a/0", "b/1"]).job == "b"
    assert shard(ContainerLoads("c1", 1, 0), 9, ["b/0", "a/0"]).job == "a"
