"""What tasks report against a generator that knows the truth: lag, rates, use, state."""

from __future__ import annotations

import json
import os
import threading
import time
import zlib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from confluent_kafka import Producer

from benchmarks.installation import cpu_of
from benchmarks.spark_fleet import SparkFleet, config_of, spark_fleet
from components.runtime.kafka.inputs import committed_of
from events.generated.records import PartitionLag, TaskLoadReported
from events.topics import LOADS
from spark_streaming.lag import LOOK_S
from tests.integration.kafka_tools import describe_group
from tests.integration.processes import processes_in, until
from tests.unit.turbine.lines import run
from turbine.read.sources.log import Log

pytestmark = [pytest.mark.broker, pytest.mark.slow]

NAME, EIGHTH = "solo", 125
"""All times an eighth: loads are told every 7.5 s."""
HELD, STEADY, INPUTS = "held", "steady", {"held": 4, "steady": 2}
TOPICS = {**INPUTS, "held-out": 4, "steady-out": 2}
FIRST = {0: 40, 1: 30, 2: 20, 3: 10}
SKEWED, SKEWED_S = {0: 500.0, 1: 50.0, 2: 5.0, 3: 0.0}, 6.0
EVEN, EVEN_S = {0: 100.0, 1: 50.0}, 20.0
VALUE = b"x" * 90
TOLD_MS = 2_000
"""From a look at the broker to the report's place in the log."""
FAR_MS = 300_000


@dataclass(slots=True)
class Spring:
    """Writes one topic, and knows what each partition holds and since when."""

    source: Producer
    topic: str
    written: Counter[int] = field(default_factory=Counter)
    bytes: int = 0
    first_ms: dict[int, tuple[float, float]] = field(default_factory=dict)  # last play: put, got
    begin_ms: float = 0.0
    end_ms: float = 0.0

    def put(self, counts: Mapping[int, int]) -> None:
        """So many more in each partition, each with a key that no other has."""
        for partition, count in counts.items():
            for _ in range(count):
                key = b"%d/%06d" % (partition, self.written[partition])
                self.source.produce(self.topic, VALUE, key, partition)
                self.written[partition] += 1
                self.bytes += len(key) + len(VALUE)

    def play(self, per_s: Mapping[int, float], seconds: float) -> None:
        """At these rates, evenly; returns when the broker has all of it."""
        sent = Counter[int]()
        began = time.monotonic()
        self.begin_ms = now_ms()
        passed = 0.0
        while passed < seconds:
            passed = min(seconds, time.monotonic() - began)
            due = {at: int(rate * passed) - sent[at] for at, rate in per_s.items()}
            put_ms = now_ms()
            self.put(due)
            sent.update(due)
            assert self.source.flush(60) == 0
            for at in [at for at, count in due.items() if count]:
                self.first_ms.setdefault(at, (put_ms, now_ms()))
            time.sleep(0.02)
        self.end_ms = now_ms()


def now_ms() -> float:
    return time.time() * 1000


@dataclass(frozen=True, slots=True)
class Told:
    """A report, and when the broker had it."""

    at_ms: int
    body: TaskLoadReported

    @property
    def rates(self) -> dict[int, float | None]:
        return {part.partition: part.records_in_per_s for part in self.body.partitions}


@dataclass(slots=True)
class Bench:
    """One container with two jobs, what they are given, and what is measured beside them."""

    fleet: SparkFleet
    held: Spring
    steady: Spring
    playing: threading.Thread
    read_ms: tuple[float, float] = (0.0, 0.0)  # before and after what is held was committed
    used: list[tuple[float, float]] = field(default_factory=list)  # instant and CPU, both in ms

    def reports(self, job: str) -> list[Told]:
        """All of a job, in order."""
        found = Log(self.fleet.site.settings).read([LOADS], key=job)
        return [
            Told(one.at_ms, one.record.body)
            for one in found
            if isinstance(one.record.body, TaskLoadReported)
        ]

    def newest(self, job: str, after_ms: float) -> dict[int, Told]:
        """The last report of each task that has said something since."""
        return {one.body.task: one for one in self.reports(job) if one.at_ms > after_ms}

    def committed(self, job: str) -> dict[int, int]:
        spots = [(job, number) for number in range(INPUTS[job])]
        settings = self.fleet.site.settings
        [found] = committed_of(settings, {settings.job_group(job): spots}).values()
        return {at[1]: offset for at, offset in found.items()}

    def wait_for_first(self, asked_ms: float) -> None:
        """Notes between which instants, after it was asked for, the first records of what is held
        were committed."""
        before_ms, after_ms = asked_ms, 0.0

        def read() -> bool:
            nonlocal before_ms, after_ms
            looked_ms = now_ms()
            committed = self.committed(HELD)
            after_ms = now_ms()
            if not any(committed.values()):
                before_ms = looked_ms
            return committed == FIRST

        until(read, "the first records are read", 150, 0.1)
        self.read_ms = before_ms, after_ms

    def processes(self) -> list[int]:
        return [one for one in (self.fleet.engine(NAME), self.fleet.java(NAME)) if one is not None]

    def watch(self) -> None:
        """Notes what both processes of the engine have used, for as long as records come."""
        pids = self.processes()
        while self.playing.is_alive():
            self.used.append((now_ms(), 1000 * sum(cpu_of(pid) or 0.0 for pid in pids)))
            time.sleep(0.1)

    def used_ms(self, at_ms: float) -> float | None:
        """How much CPU that was up to an instant; None outside of what was watched."""
        at = bisect_right(self.used, (at_ms, 0.0))
        if not 0 < at < len(self.used):
            return None
        (a_ms, a), (b_ms, b) = self.used[at - 1], self.used[at]
        return a + (b - a) * (at_ms - a_ms) / (b_ms - a_ms)


def far_interval() -> int:
    """Batches begin at whole multiples of their interval, which each task stretches by a share of
    its own: one by which both tasks of the held job have their next batch after the test only."""
    for least in range(3_600_000, 1_800_000, -60_000):
        spans = [least + zlib.crc32(f"{HELD}/{task}".encode()) % (least // 2) for task in (0, 1)]
        if all(span - now_ms() % span > FAR_MS for span in spans):
            return least
    raise AssertionError("of thirty intervals none ends far enough from now")


def held_config(fleet: SparkFleet, interval_ms: int) -> dict[str, Any]:
    place = fleet.site.directory / "checkpoints"
    schedule = {"batch_interval_ms": interval_ms}
    return config_of(HELD, INPUTS[HELD], "held-out", 2, place, schedule=schedule)


def steady_config(fleet: SparkFleet) -> dict[str, Any]:
    """It keeps each key that it has seen, so its state has as many rows as its input."""
    return config_of(
        STEADY,
        INPUTS[STEADY],
        "steady-out",
        1,
        fleet.site.directory / "checkpoints",
        operator="spark_streaming.operators.doubles:deduplicated",
        arguments=["--within", "6 hours"],
        schedule={"batch_interval_ms": 200},
    )


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with spark_fleet([NAME], TOPICS, per_mille=EIGHTH, heap_mb=640) as fleet:
        client = {"bootstrap.servers": fleet.site.settings.bootstrap, "linger.ms": 0}
        held, steady = (Spring(Producer(client), topic) for topic in (HELD, STEADY))
        playing = threading.Thread(target=steady.play, args=(EVEN, EVEN_S), daemon=True)
        bench = Bench(fleet, held, steady, playing)
        held.put(FIRST)
        assert held.source.flush(30) == 0
        asked_ms = now_ms()
        versions = {HELD: fleet.ask(HELD, held_config(fleet, far_interval()))}
        bench.wait_for_first(asked_ms)
        versions[STEADY] = fleet.ask(STEADY, steady_config(fleet))
        for job, version in versions.items():
            until(lambda job=job, version=version: fleet.runs(job, version), f"{job} runs", 90)
        playing.start()
        threading.Thread(target=bench.watch, daemon=True).start()
        yield bench
        fleet.site.stop()
        until(lambda: not processes_in(fleet.places), "no process is left")


@pytest.fixture(autouse=True)
def _here(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = bench.fleet.site.settings
    monkeypatch.setenv("TURBINE_BOOTSTRAP", settings.bootstrap)
    monkeypatch.setenv("TURBINE_PARTITIONS", str(settings.partitions))


def read_of(told: Iterable[Told]) -> dict[int, float]:
    """How many records of each partition were read, by all these reports together."""
    found = defaultdict[int, float](float)
    for one in told:
        assert sum(rate or 0 for rate in one.rates.values()) == pytest.approx(
            one.body.records_in_per_s
        ), "what a task reads is what it reads of its partitions"
        for partition, rate in one.rates.items():
            assert rate is not None
            found[partition] += rate * one.body.window_ms / 1000
    return dict(found)


def lag_of(*line: str) -> list[dict[str, Any]]:
    ended = run("get", "lag", *line, "-o", "json")
    assert ended.code == 0, ended
    found: list[dict[str, Any]] = json.loads(ended.out)
    return found


def lagging(told: Iterable[Told]) -> list[tuple[Told, PartitionLag]]:
    """What is left of a partition, where anything is."""
    return [(one, part) for one in told for part in one.body.partitions if part.lag_records]


def as_old(spring: Spring, one: Told, part: PartitionLag) -> bool:
    """Is that the age of the first record that nobody has read?"""
    put_ms, got_ms = spring.first_ms[part.partition]
    least, most = one.at_ms - got_ms - TOLD_MS, one.at_ms - put_ms + 1000 * LOOK_S + TOLD_MS
    return part.lag_ms is not None and least <= part.lag_ms <= most


def test_what_nobody_reads_is_told_by_partition_to_the_record(bench: Bench) -> None:
    held = bench.held
    held.play(SKEWED, SKEWED_S)
    left = {at: held.written[at] - FIRST[at] for at in FIRST}
    size = len(VALUE) + len(b"0/000000")
    told: list[Told] = []

    def in_time() -> bool:
        """A report that a busy machine held up on its way is older than its place says."""
        told[:] = bench.newest(HELD, held.end_ms + TOLD_MS).values()
        return len(told) == 2 and all(as_old(held, one, part) for one, part in lagging(told))

    until(in_time, "both tell how old what they have not read is", 60, 0.2)
    parts = {part.partition: (one, part) for one in told for part in one.body.partitions}
    assert {at: part.lag_records for at, (_, part) in parts.items()} == left
    assert {at: part.lag_bytes for at, (_, part) in parts.items()} == {
        at: count * size for at, count in left.items()
    }
    assert parts[3][1].lag_ms == 0, "nothing is left of it"
    assert read_of(bench.reports(HELD)) == pytest.approx(FIRST), "what lies there was not read"
    for one in told:
        body = one.body
        assert (body.tasks, body.threads) == (2, 1)
        assert body.lag_records == sum(part.lag_records or 0 for part in body.partitions)
        assert body.lag_bytes == sum(part.lag_bytes or 0 for part in body.partitions)
        assert body.lag_ms == max(part.lag_ms or 0 for part in body.partitions)
        assert body.checkpoint_age_ms is not None
        committed_ms = one.at_ms - body.checkpoint_age_ms
        assert bench.read_ms[0] - TOLD_MS <= committed_ms <= bench.read_ms[1] + TOLD_MS


def test_kafkas_own_tool_and_get_lag_agree(bench: Bench) -> None:
    held = bench.held
    tool = describe_group(bench.fleet.site.settings, HELD)
    rows = lag_of(HELD, "--by", "partition")
    ours = {(row["topic"], row["partition"]): row for row in rows}
    assert {at: (row["committed"], row["end"], row["lag_records"]) for at, row in ours.items()} == {
        at: tuple(spot) for at, spot in tool.items()
    }
    assert {at[1]: spot.end for at, spot in tool.items()} == dict(held.written)
    assert rows[0]["partition"] == 0, "the worst first"
    by_task = lag_of(HELD, "--by", "task")
    assert sum(row["lag_records"] for row in by_task) == sum(spot.lag for spot in tool.values())
    [job] = lag_of(HELD)
    assert job["lag_records"] == sum(spot.lag for spot in tool.values())
    assert job["lag_bytes"] == sum(row["lag_bytes"] for row in rows)
    assert job["lag_ms"] >= max(row["lag_ms"] for row in by_task)


def test_time_passes_as_fast_for_what_lies_there_as_for_everybody(bench: Bench) -> None:
    """The age of one record, told again and again."""

    def told() -> list[Told]:
        found = [one for one in bench.reports(HELD) if one.at_ms > bench.held.end_ms + TOLD_MS]
        return [one for one in found if one.body.task == found[0].body.task]

    def agree(sooner: Told, later: Told) -> bool:
        older_ms = (later.body.lag_ms or 0) - (sooner.body.lag_ms or 0)
        return abs(older_ms - (later.at_ms - sooner.at_ms)) < TOLD_MS

    # One of two reports may have been held up on its way by a busy machine, and not all of them.
    until(lambda: any(agree(*two) for two in pairwise(told())), "it is told twice", 60, 0.2)
    later = told()[-1]
    assert (later.body.busy_share, later.body.records_in_per_s) == (0.0, 0.0)
    assert set(later.rates.values()) == {0.0}


def test_who_has_caught_up_is_behind_by_nothing(bench: Bench) -> None:
    bench.fleet.submit(HELD, held_config(bench.fleet, 100))
    until(lambda: bench.committed(HELD) == dict(bench.held.written), "all is read", 60, 0.1)
    since_ms = now_ms() + TOLD_MS
    until(lambda: len(bench.newest(HELD, since_ms)) == 2, "both tell", 60, 0.2)
    for one in bench.newest(HELD, since_ms).values():
        body = one.body
        assert (body.lag_records, body.lag_bytes, body.lag_ms) == (0, 0, 0)
        for part in body.partitions:
            assert (part.lag_records, part.lag_bytes, part.lag_ms) == (0, 0, 0)
    tool = describe_group(bench.fleet.site.settings, HELD)
    assert {spot.lag for spot in tool.values()} == {0}
    rows = lag_of(HELD, "--by", "partition")
    assert {row["lag_records"] for row in rows} == {0}
    assert None not in {row["records_in_per_s"] for row in rows}


def test_all_that_was_read_and_written_is_in_the_rates(bench: Bench) -> None:
    steady = bench.steady
    bench.playing.join(60)
    total = sum(steady.written.values())
    until(lambda: bench.committed(STEADY) == dict(steady.written), "all is read", 60, 0.2)
    since_ms = now_ms() + TOLD_MS
    until(lambda: bench.newest(STEADY, since_ms), "it is told", 60, 0.2)
    told = bench.reports(STEADY)

    def added_up(name: str) -> float:
        return sum(getattr(one.body, name) * one.body.window_ms / 1000 for one in told)

    assert added_up("records_in_per_s") == pytest.approx(total)
    assert added_up("bytes_in_per_s") == pytest.approx(steady.bytes)
    assert added_up("records_out_per_s") == pytest.approx(total)
    assert added_up("bytes_out_per_s") == pytest.approx(steady.bytes)
    assert read_of(told) == pytest.approx(dict(steady.written)), "each record counts once"
    assert {(one.body.tasks, one.body.threads) for one in told} == {(1, 1)}
    assert told[-1].body.state_rows == total
    assert (told[-1].body.state_bytes or 0) > total
    within = [
        one
        for one in told
        if one.at_ms - one.body.window_ms > steady.begin_ms + TOLD_MS and one.at_ms < steady.end_ms
    ]
    assert within, [(one.at_ms, one.body.window_ms) for one in told]
    for partition, rate in EVEN.items():  # a busy machine is late with one, and more is in the next
        assert median(one.rates[partition] for one in within) == pytest.approx(rate, rel=0.25)
    assert all(0 < (one.body.busy_share or 0) <= 1 for one in within)


def test_what_tasks_are_charged_is_what_their_processes_used(bench: Bench) -> None:
    rounds: dict[int, list[Told]] = {}
    for one in sorted(
        [*bench.reports(HELD), *bench.reports(STEADY)], key=lambda told: told.at_ms
    ):  # those that were told together lie together
        near = next((at for at in rounds if abs(at - one.at_ms) < TOLD_MS), one.at_ms)
        rounds.setdefault(near, []).append(one)
    page = os.sysconf("SC_PAGE_SIZE")
    compared = 0
    for at_ms, told in rounds.items():
        windows_ms = [one.body.window_ms for one in told]
        window_ms = max(windows_ms)
        begin, end = bench.used_ms(at_ms - window_ms), bench.used_ms(at_ms)
        whole = len(told) == 3 and window_ms - min(windows_ms) < TOLD_MS
        if not whole or begin is None or end is None:
            continue
        charged = sum(one.body.cpu_cores or 0.0 for one in told)
        assert charged == pytest.approx((end - begin) / window_ms, rel=0.2, abs=0.05)
        compared += 1
    assert compared, "no round of reports lies within what was watched"
    resident = 0
    for pid in bench.processes():
        resident += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * page
    newest = [*bench.newest(HELD, 0).values(), *bench.newest(STEADY, 0).values()]
    assert sum(one.body.memory_bytes or 0 for one in newest) == pytest.approx(resident, rel=0.25)
