"""State on a real broker and real Spark, with the settings that a job has by itself: whatever stops
it, windowed counts are those of a brute force.

In each test every window gets half of its events before what happens, and half after it: a state
that was lost, or taken up twice, would show in each of them.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.spark_fleet import SparkFleet, config_of, spark_fleet
from events.generated.records import (
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
    TaskFailed,
    TaskStarted,
    TaskStopped,
)
from events.topics import JOURNAL, TASKS
from infra.waiting import until
from projections.syncs import DELETED, PAUSED, RUNNING, Sync
from tests.integration.processes import processes_in
from turbine.read.sources.log import Log
from turbine_client.publish import Accepted, Publisher
from turbine_client.settings import Settings
from turbine_client.verdicts import Rejected

pytestmark = [pytest.mark.broker, pytest.mark.slow]

JOB, PARTITIONS, KEYS = "counts", 4, 8
FIRST, SECOND = "first", "second"
TOPICS = {FIRST: PARTITIONS, SECOND: PARTITIONS, "counted": 4}
LEFT, RIGHT = "left", "right"
WINDOW_MS, STEP_MS, AHEAD_MS = 10_000, 100, 600_000
SOME = 300
"""Events at a time: their windows are three, and each is met by all keys."""


@dataclass(slots=True)
class Bench:
    """A fleet with one job that counts, what it was given, and what it wrote."""

    fleet: SparkFleet
    source: Producer
    reader: Consumer
    now_ms: int  # of the events' own time
    expected: Counter[tuple[str, int]] = field(default_factory=Counter)
    found: list[tuple[str, int, int]] = field(default_factory=list)

    # --- the job

    def config(self, **more: Any) -> dict[str, Any]:
        place = self.fleet.site.directory / "checkpoints"
        base = config_of(FIRST, PARTITIONS, "counted", 2, place)
        return {
            **base,
            "operator": "spark_streaming.operators.windows:counted",
            "arguments": arguments("1 minute"),
            "inputs": inputs(FIRST),
            **more,
        }

    def submit(self, **more: Any) -> None:
        self.fleet.submit(JOB, self.config(**more))

    def row(self) -> Sync:
        return Log(self.fleet.site.settings).syncs(job=JOB)[JOB]

    def stands(self, state: str) -> bool:
        row = self.row()
        return row.plan is None and row.running is not None and row.running.state == state

    def runs(self) -> bool:
        """Do all tasks run that should, under the newest list?"""
        row = self.row()
        if row.plan is not None or row.running is None or row.running.state != RUNNING:
            return False
        reports = [row.tasks.get(task) for task in range(row.running.tasks)]
        return row.listed is not None and all(
            one is not None
            and one.specs == row.listed.generation == row.running.generation
            and not one.failed
            and not one.stopped
            for one in reports
        )

    def said(self, kind: type) -> list[Any]:
        reads = Log(self.fleet.site.settings).read([JOURNAL, TASKS], key=JOB)
        return [one.record.body for one in reads if isinstance(one.record.body, kind)]

    def containers(self) -> dict[int, str]:
        """Of each task that should run, where it was started last."""
        running = self.row().running
        tasks = range(running.tasks if running is not None else 0)
        return {one.task: one.container for one in self.said(TaskStarted) if one.task in tasks}

    def layer(self, *, clear: bool) -> None:
        """What the scaler says when the tier has no room for the job, and when it has it again."""
        change = {"clear": ["paused"]} if clear else {"set": {"paused": True}}
        with Publisher(self.fleet.site.settings) as publisher:
            verdict = publisher.change(JOB, layer="scaler", **change)
        assert isinstance(verdict, Accepted), verdict

    # --- its events

    def put(self, topic: str = FIRST) -> None:
        """As many in each window of a while, the same instants each time until `close`."""
        for number in range(SOME):
            self._put(topic, f"k{number % KEYS}", number % PARTITIONS, number * STEP_MS)
        assert self.source.flush(30) == 0

    def _put(self, topic: str, key: str, partition: int, after_ms: int) -> None:
        at_ms = self.now_ms + after_ms
        value = json.dumps({"at_ms": at_ms})
        self.source.produce(topic, value, key=key, partition=partition)
        self.expected[key, at_ms - at_ms % WINDOW_MS] += 1

    def close(self) -> None:
        """One event so far ahead in each partition that all windows before it are over."""
        for partition in range(PARTITIONS):
            self._put(FIRST, f"end-{partition}", partition, AHEAD_MS)
        assert self.source.flush(30) == 0
        self.now_ms += 2 * AHEAD_MS

    def check(self) -> None:
        """Windows that are over are those of the brute force; each was written once."""
        self.close()
        over = {at: count for at, count in self.expected.items() if at[1] < self.now_ms - AHEAD_MS}
        wanted = sorted((*at, count) for at, count in over.items())
        failures = len(self.refusals())
        until(
            lambda: len(self.read()) >= len(wanted) or len(self.refusals()) > failures,
            "all windows are over",
            90,
            0.2,
        )
        assert self.refusals()[failures:] == []
        assert sorted(self.found) == wanted

    def refusals(self) -> list[str]:
        """Why tasks failed whose program does not run; an engine that was killed is no such."""
        failed = self.said(TaskFailed)
        return [one.explanation for one in failed if one.cause != "engine-died"]

    def read(self) -> list[tuple[str, int, int]]:
        """Key, window and count, of all that was written."""
        while (message := self.reader.poll(0.05)) is not None:
            assert message.error() is None, message.error()
            one = json.loads(message.value() or b"{}")
            begin_ms = round(1000 * datetime.fromisoformat(one["window_start"]).timestamp())
            self.found.append(((message.key() or b"").decode(), begin_ms, one["count"]))
        return self.found


def inputs(*topics: str) -> list[dict[str, Any]]:
    return [{"topic": one, "partitions": PARTITIONS, "format": "json"} for one in topics]


def arguments(late: str) -> list[str]:
    return ["--window", "10 seconds", "--time", "at_ms", "--late", late]


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with spark_fleet([LEFT, RIGHT], TOPICS, per_mille=250, heap_mb=640) as fleet:
        client = {"bootstrap.servers": fleet.site.settings.bootstrap}
        reader = Consumer({**client, "group.id": "test", "isolation.level": "read_committed"})
        reader.assign([TopicPartition("counted", p, 0) for p in range(TOPICS["counted"])])
        now_ms = int(time.time() * 1000)
        bench = Bench(fleet, Producer(client), reader, now_ms - now_ms % WINDOW_MS)
        bench.submit()
        yield bench
        reader.close()
        fleet.site.stop()
        until(lambda: not processes_in(fleet.places), "no process is left")


@pytest.fixture(autouse=True)
def _half_before(bench: Bench) -> None:
    """State is there before anything happens: events are read whose windows are not over."""
    until(bench.runs, "the job runs", 90, 0.2)
    bench.put()
    until(lambda: lag(bench) == 0, "they are read", 60, 0.2)


def lag(bench: Bench) -> int:
    """Records of both topics that the job's group has not committed."""
    address = {"bootstrap.servers": bench.fleet.site.settings.bootstrap}
    reader = Consumer(
        {**address, "group.id": Settings().job_group(JOB), "isolation.level": "read_committed"}
    )
    try:
        spots = [TopicPartition(FIRST, p) for p in range(PARTITIONS)]
        found = reader.committed(spots, timeout=20)
        ends = [reader.get_watermark_offsets(one, timeout=20)[1] for one in spots]
    finally:
        reader.close()
    return sum(end - max(0, one.offset) for one, end in zip(found, ends, strict=True))


def test_a_pause_and_what_comes_while_it_lasts(bench: Bench) -> None:
    with Publisher(bench.fleet.site.settings) as publisher:
        assert isinstance(publisher.pause(JOB, reason="lunch"), Accepted)
        until(lambda: bench.stands(PAUSED), "it stands still", 60, 0.1)
        bench.put()
        assert isinstance(publisher.resume(JOB, reason="lunch is over"), Accepted)
    bench.check()


def test_a_job_that_gives_way_to_others_and_comes_back(bench: Bench) -> None:
    bench.layer(clear=False)
    until(lambda: bench.stands(PAUSED), "it has given way", 60, 0.1)
    bench.put()
    bench.layer(clear=True)
    bench.check()


def test_another_version_of_the_package(bench: Bench) -> None:
    bench.submit(package={"name": "bench", "version": "2.0.0"})
    bench.put()
    bench.check()


def test_other_arguments(bench: Bench) -> None:
    bench.submit(arguments=arguments("2 minutes"))
    bench.put()
    bench.check()


@pytest.mark.parametrize("tasks", [4, 1, 2])
def test_another_number_of_tasks(bench: Bench, tasks: int) -> None:
    bench.submit(tasks=tasks)
    bench.put()
    bench.check()


def test_a_plan_that_fails_and_what_ran_before_runs_again(bench: Bench) -> None:
    """Its tasks were told to start, and cannot: another number of them, with other arguments."""
    before = len(bench.said(SyncFailed))
    bench.fleet.ask(JOB, bench.config(tasks=4, arguments=["--nothing", "1"]))
    until(lambda: len(bench.said(SyncFailed)) > before, "the plan has failed", 90, 0.1)
    failed = bench.said(SyncFailed)[-1]
    assert (failed.name, failed.cause) == ("start", "task-failed"), failed
    until(bench.runs, "what ran before runs again", 60, 0.1)
    running = bench.row().running
    assert running is not None
    assert running.tasks == 2
    bench.put()
    bench.check()
    bench.submit()


def test_another_input_and_back(bench: Bench) -> None:
    bench.submit(inputs=inputs(FIRST, SECOND))
    bench.put(SECOND)
    bench.put()
    bench.check()
    bench.put()
    bench.submit()
    bench.put()
    bench.check()


def test_arguments_that_lay_state_out_otherwise_fail_and_the_former_bring_it_back(
    bench: Bench,
) -> None:
    failures = len(bench.refusals())
    bench.fleet.ask(JOB, bench.config(arguments=[*arguments("1 minute"), "--sum", "at_ms"]))
    bench.put()
    until(lambda: len(bench.refusals()) > failures, "its tasks fail", 90, 0.2)
    bench.submit()
    until(bench.runs, "the former run", 90, 0.2)
    bench.check()


SESSIONS: dict[str, Any] = {
    "operator": "spark_streaming.operators.windows:sessionised",
    "arguments": ["--gap", "1 minute"],
}


def test_another_operator_is_refused_at_the_change(bench: Bench) -> None:
    plans, stops = len(bench.said(SyncPlanned)), len(bench.said(TaskStopped))
    with Publisher(bench.fleet.site.settings) as publisher:
        verdict = publisher.change(JOB, SESSIONS)
    assert isinstance(verdict, Rejected)
    assert (verdict.reason, verdict.path) == ("state-stays", "operator")
    assert verdict.explanation.startswith("operator: the job keeps state, and another operator")
    bench.put()
    bench.check()
    assert len(bench.said(SyncPlanned)) == plans, "nothing was planned"
    assert len(bench.said(TaskStopped)) == stops, "nobody was stopped"


@pytest.mark.parametrize("gone", [False, True])
def test_a_deletion_and_who_is_created_again(bench: Bench, gone: bool) -> None:
    """At once, or when nothing of it runs any more: it goes on with what the deleted job counted,
    and as nothing else."""
    with Publisher(bench.fleet.site.settings) as publisher:
        assert isinstance(publisher.delete(JOB, reason="by mistake"), Accepted)
        if gone:
            until(lambda: bench.stands(DELETED), "it is gone", 60, 0.1)
        verdict = publisher.change(JOB, bench.config(**SESSIONS), create=True)
    assert isinstance(verdict, Rejected)
    assert (verdict.reason, verdict.path) == ("state-stays", "operator")
    bench.put()
    bench.submit()
    bench.check()
    committed = bench.said(SyncCommitted)[-1]
    listed = bench.row().listed
    assert listed is not None
    assert committed.generation == listed.generation, "the commit names what runs"


def test_another_container(bench: Bench) -> None:
    """One ends without a word; its tasks go on in the other."""
    gone = bench.containers()[0]
    there = RIGHT if gone == LEFT else LEFT
    bench.fleet.site.processes[gone].stop()
    bench.put()
    until(lambda: set(bench.containers().values()) == {there}, "they are elsewhere", 90, 0.2)
    bench.check()


def test_state_is_given_up_by_a_reset_while_the_job_is_paused(bench: Bench) -> None:
    """The way that the refusal names. Last, as it gives up what the others count."""
    with Publisher(bench.fleet.site.settings) as publisher:
        assert isinstance(publisher.pause(JOB, reason="another program"), Accepted)
        until(lambda: bench.stands(PAUSED), "it stands still", 60, 0.1)
        assert isinstance(publisher.change(JOB, SESSIONS), Rejected)
        assert isinstance(publisher.reset(JOB, to="latest", reason="another program"), Accepted)
        assert isinstance(publisher.change(JOB, SESSIONS), Accepted)
        assert isinstance(publisher.resume(JOB, reason="another program"), Accepted)
    until(bench.runs, "it runs", 90, 0.2)
    assert bench.said(TaskStarted)[-1].keeps_state
    bench.put()
    until(lambda: lag(bench) == 0, "what comes is read", 60, 0.2)
