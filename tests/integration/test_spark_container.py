"""A container that runs Spark, on a real broker: each input once, whatever is killed or changed."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.spark_fleet import SparkFleet, children, config_of, spark_fleet
from components.runtime.kafka.intake import DeadLetter, take_in
from events.generated.records import TaskFailed, TaskLoadReported, TaskStarted
from events.topics import LOADS, TASKS, place
from infra.waiting import until
from tests.integration.processes import processes_in
from turbine_client.publish import Accepted, Publisher
from turbine_client.reading import read_span

pytestmark = [pytest.mark.broker, pytest.mark.slow]

NAME, INPUTS, PARTITIONS = "solo", 4, 4
TOPICS = {
    "numbers": INPUTS,
    "copies": INPUTS,
    "words": 2,
    "long": 2,
    "pieces": 1,
    **dict.fromkeys(("events", "windows", "alone", "wide"), 4),
}


@dataclass(slots=True)
class Bench:
    """One container, what went in, and what came out."""

    fleet: SparkFleet
    source: Producer
    client: dict[str, str]
    fed: int = 0
    seen: dict[str, list[tuple[bytes, bytes]]] = field(default_factory=dict)
    readers: dict[str, Consumer] = field(default_factory=dict)

    def config(self, **more: Any) -> dict[str, Any]:
        """A job that copies numbers, with tasks enough to be changed."""
        place_ = self.fleet.site.directory / "checkpoints"
        base = config_of("numbers", INPUTS, "copies", 2, place_)
        return {**base, "schedule": {"batch_interval_ms": 100}, **more}

    def feed(self, count: int = 400) -> None:
        """The next numbers."""
        for number in range(self.fed, self.fed + count):
            self.source.produce("numbers", b"%d" % number, partition=number % INPUTS)
        assert self.source.flush(30) == 0
        self.fed += count

    def put(self, topic: str, *values: object) -> None:
        """JSON values, all in one partition."""
        for value in values:
            self.source.produce(topic, json.dumps(value), key="k", partition=0)
        assert self.source.flush(30) == 0

    def out(self, topic: str) -> list[bytes]:
        """All values that are committed so far."""
        return [value for _, value in self.messages(topic)]

    def messages(self, topic: str) -> list[tuple[bytes, bytes]]:
        """The same, with their keys."""
        if topic not in self.readers:
            committed = {"group.id": "test", "isolation.level": "read_committed"}
            reader = self.readers[topic] = Consumer(self.client | committed)
            reader.assign([TopicPartition(topic, p, 0) for p in range(TOPICS[topic])])
        found = self.seen.setdefault(topic, [])
        while (message := self.readers[topic].poll(0.05)) is not None:
            assert message.error() is None, message.error()
            found.append((message.key() or b"", message.value() or b""))
        return found

    def engines(self) -> dict[int, str]:
        """Spark's Pythons by process number: the one that is shared, and those of single tasks."""
        found = children(self.fleet.supervisor(NAME))
        return {pid: name for pid, name in found.items() if name.startswith("engine")}

    def check(self) -> None:
        """Every number came out, and none twice."""
        until(lambda: len(self.out("copies")) >= self.fed, "all is copied", 60, 0.1)
        counts = Counter(int(one) for one in self.out("copies"))
        assert set(counts.values()) == {1}
        assert counts.keys() == set(range(self.fed))

    def said(self, topic: str) -> list[Any]:
        """Facts of a topic, each partition's in order."""
        spans = {place(topic, p): (0, None) for p in range(PARTITIONS)}
        found = []
        for poll in read_span(self.fleet.site.settings, spans):
            for message in poll:
                read = take_in(message, PARTITIONS, None)
                assert not isinstance(read, DeadLetter), read
                found.append(read.record.body)
        return found

    def facts(self, kind: type, job: str = "copy") -> list[Any]:
        """Of one kind, about one job."""
        topic = LOADS if kind is TaskLoadReported else TASKS
        return [one for one in self.said(topic) if isinstance(one, kind) and one.job == job]


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with spark_fleet([NAME], TOPICS, per_mille=250, heap_mb=640) as fleet:
        client = {"bootstrap.servers": fleet.site.settings.bootstrap}
        bench = Bench(fleet, Producer(client), client)
        fleet.submit("copy", bench.config())
        yield bench
        for reader in bench.readers.values():
            reader.close()
        fleet.site.stop()
        until(lambda: not processes_in(fleet.places), "no process is left")


def test_each_input_comes_out_once(bench: Bench) -> None:
    bench.feed()
    bench.check()
    assert sorted({one.task for one in bench.facts(TaskStarted)}) == [0, 1]


@pytest.mark.parametrize("victim", ["python", "java"])
def test_who_is_killed_takes_the_other_along_and_nothing_is_lost(bench: Bench, victim: str) -> None:
    bench.feed()
    python, java = bench.fleet.engine(NAME), bench.fleet.java(NAME)
    assert python is not None
    assert java is not None
    os.kill(python if victim == "python" else java, signal.SIGKILL)
    until(lambda: not any(map(exists, (python, java))), "both are gone")
    bench.feed()
    bench.check()


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("tasks", [4, 1])
def test_another_number_of_tasks(bench: Bench, tasks: int) -> None:
    bench.feed()
    bench.fleet.submit("copy", bench.config(tasks=tasks))
    bench.feed()
    bench.check()
    newest = max(one.generation.specs for one in bench.facts(TaskStarted))
    started = {one.task for one in bench.facts(TaskStarted) if one.generation.specs == newest}
    assert started == set(range(tasks))


def test_a_query_over_json_values(bench: Bench) -> None:
    inputs = [{"topic": "words", "partitions": 2, "format": "json"}]
    sql = "SELECT key, upper(value:word::string) AS word FROM words WHERE value:size::int > 3"
    config = bench.config(operator={"sql": sql}, inputs=inputs, output={"topic": "long"}, tasks=1)
    bench.fleet.submit("long-words", config)
    bench.put("words", {"word": "spark", "size": 5}, {"word": "is", "size": 2}, "no object")
    bench.put("words", {"word": "turbine", "size": 7})
    until(lambda: len(bench.out("long")) >= 2, "both long words are there", 60, 0.1)
    assert [json.loads(one) for one in bench.out("long")] == [
        {"word": "SPARK"}, {"word": "TURBINE"}
    ]  # fmt: skip


WINDOW_MS, LATE_MS = 10_000, 4_000


@dataclass(slots=True)
class Events:
    """Events with times of their own, some late, and what windows over them must count."""

    bench: Bench
    begin_ms: int
    count: int = 0
    counted: Counter[tuple[str, int]] = field(default_factory=Counter)

    def put(self, count: int) -> None:
        """The next ones: ten a second of their own time, every seventh late."""
        for number in range(self.count, self.count + count):
            late_ms = LATE_MS if number % 7 == 0 else 0
            at_ms = self.begin_ms + 100 * number - min(late_ms, 100 * number)
            self._produce(f"k{number % 8}", number % INPUTS, at_ms)
            self.counted[f"k{number % 8}", at_ms - at_ms % WINDOW_MS] += 1
        assert self.bench.source.flush(30) == 0
        self.count += count

    def close(self) -> None:
        """One event so far ahead in each partition that all windows before it are over."""
        for partition in range(INPUTS):
            self._produce("end", partition, self.begin_ms + 100 * self.count + 600_000)
        assert self.bench.source.flush(30) == 0

    def _produce(self, key: str, partition: int, at_ms: int) -> None:
        value = json.dumps({"at_ms": at_ms})
        self.bench.source.produce("events", value, key=key, partition=partition)


def windows(bench: Bench) -> list[tuple[str, int, int]]:
    """Key, window and count, of all that was written."""
    found = []
    for key, text in bench.messages("windows"):
        one = json.loads(text)
        begin = datetime.fromisoformat(one["window_start"]).timestamp()
        found.append((key.decode(), round(begin * 1000), one["count"]))
    return found


def test_state_moves_with_its_partitions_and_counts_are_exact(bench: Bench) -> None:
    """Windowed counts with late events, while tasks are two, four and one, and a process is killed,
    equal those of a brute force."""
    config = bench.config(
        operator="spark_streaming.operators.windows:counted",
        arguments=["--window", "10 seconds", "--time", "at_ms", "--late", "5 seconds"],
        inputs=[{"topic": "events", "partitions": INPUTS, "format": "json"}],
        output={"topic": "windows"},
    )
    bench.fleet.submit("windows", config)
    now_ms = int(time.time() * 1000)
    events = Events(bench, now_ms - now_ms % WINDOW_MS)
    events.put(400)
    until(lambda: len(windows(bench)) >= 8, "some windows are over", 60, 0.2)
    for tasks in (4, 1):
        events.put(200)
        bench.fleet.submit("windows", {**config, "tasks": tasks})
        events.put(200)
        os.kill(bench.fleet.engine(NAME) or 0, signal.SIGKILL)
        events.put(200)
    events.close()
    until(lambda: len(windows(bench)) >= len(events.counted), "all windows are over", 90, 0.2)
    assert sorted(windows(bench)) == sorted((*at, n) for at, n in events.counted.items())


def test_an_operator_that_cannot_run_is_told_with_its_cause(bench: Bench) -> None:
    config = bench.config(operator="no.such.module:run", output=None, tasks=1)
    config.pop("output")
    bench.fleet.ask("broken", config)
    until(lambda: bench.facts(TaskFailed, "broken"), "it is told", 60, 0.2)
    failed = bench.facts(TaskFailed, "broken")
    assert {(one.cause, one.pause_ms) for one in failed} == {("operator-error", None)}
    assert failed[0].explanation == (
        "operator no.such.module:run: there is no module no; install the job's package in the"
        " container, or correct the name"
    )


def test_files_hold_each_input_once(bench: Bench) -> None:
    from pyarrow import parquet

    root = bench.fleet.site.directory / "files"
    config = bench.config(guarantee="files", output={"path": str(root)}, tasks=1)
    bench.fleet.submit("filed", config)

    def held() -> list[int]:
        found = list[int]()
        for path in sorted(root.rglob("batch=*/*.parquet")):
            column = parquet.read_table(path, partitioning=None).column("value")
            found += [int(one) for one in column.to_pylist()]
        return sorted(found)

    bench.feed()
    until(lambda: held() == list(range(bench.fed)), "all numbers lie in files", 60, 0.2)


def test_a_batch_is_read_in_as_many_pieces_as_the_task_has_threads(bench: Bench) -> None:
    """However many partitions have records: two are read by one thread, and one by two."""
    sql = "SELECT key, value::int AS number, spark_partition_id() AS piece FROM wide"
    inputs = [{"topic": "wide", "partitions": 4, "format": "json"}]
    sent = 0

    def pieces(partitions: int) -> set[int]:
        """Of the next 400 records."""
        nonlocal sent
        for number in range(sent, sent + 400):
            bench.source.produce("wide", b"%d" % number, partition=number % partitions)
        assert bench.source.flush(30) == 0
        sent += 400
        until(lambda: len(bench.out("pieces")) >= sent, "all is read", 60, 0.1)
        rows = [json.loads(one) for one in bench.out("pieces")]
        assert sorted(one["number"] for one in rows) == list(range(sent))
        return {one["piece"] for one in rows[-400:]}

    for threads, found in ((2, {0, 1}), (1, {0})):
        config = bench.config(operator={"sql": sql}, inputs=inputs, output={"topic": "pieces"})
        bench.fleet.submit("pieces", {**config, "tasks": 1, "threads_per_task": threads})
        assert (pieces(1), pieces(4)) == (found, found)


def test_what_tasks_use_is_told(bench: Bench) -> None:
    def told() -> list[TaskLoadReported]:
        return [one for one in bench.facts(TaskLoadReported) if one.records_in_per_s]

    bench.feed()
    until(told, "of a task that copied", 60, 0.2)
    one = told()[-1]
    assert one.container == NAME
    assert one.bytes_in_per_s > 0
    assert (one.cpu_cores or 0) > 0
    assert (one.memory_bytes or 0) > 10_000_000
    assert one.busy_share is not None


def test_a_task_with_a_process_of_its_own_dies_alone(bench: Bench) -> None:
    """And outlives the process that the others share."""
    memory = {"memory_mb": 900}
    config = bench.config(output={"topic": "alone"}, tasks=1, isolation="process", resources=memory)
    bench.fleet.submit("alone", config)
    own = next(pid for pid, name in bench.engines().items() if name != "engine")

    def others() -> set[tuple[str, int]]:
        jobs = ("copy", "windows", "filed")
        return {(job, one.attempt) for job in jobs for one in bench.facts(TaskFailed, job)}

    before = others()
    os.kill(own, signal.SIGKILL)
    until(lambda: bench.facts(TaskFailed, "alone"), "its end is told", 60, 0.1)
    [failed] = bench.facts(TaskFailed, "alone")
    assert (failed.cause, failed.explanation) == (
        "engine-died",
        "its engine: it ended by signal 9",
    )
    assert others() == before
    until(lambda: len(bench.facts(TaskStarted, "alone")) == 2, "it runs again", 60, 0.1)
    heir = next(pid for pid, name in bench.engines().items() if name != "engine")
    os.kill(bench.fleet.engine(NAME) or 0, signal.SIGKILL)
    until(lambda: others() != before, "the others have failed", 60, 0.1)
    bench.feed()
    until(lambda: len(bench.out("alone")) >= bench.fed, "all came out", 60, 0.1)
    assert len(bench.out("alone")) == bench.fed
    assert heir in bench.engines()
    assert len(bench.facts(TaskStarted, "alone")) == 2


# --- what an operator wants to be read anew


def reset(bench: Bench, job: str, to: str) -> None:
    with Publisher(bench.fleet.site.settings) as publisher:
        verdict = publisher.reset(job, to=to, reason="the output was wrong")
    assert isinstance(verdict, Accepted), verdict


def times(bench: Bench) -> Counter[int]:
    """How often each number came out."""
    return Counter(int(one) for one in bench.out("copies"))


def test_a_reset_reads_each_input_once_more_whoever_is_killed(bench: Bench) -> None:
    bench.feed()
    bench.check()
    reset(bench, "copy", "earliest")
    bench.feed(4_000)
    os.kill(bench.fleet.engine(NAME) or 0, signal.SIGKILL)
    old = bench.fed - 4_000
    until(lambda: sum(times(bench).values()) >= bench.fed + old, "all is copied again", 60, 0.2)
    bench.feed()
    until(lambda: times(bench).keys() == set(range(bench.fed)), "it goes on", 60, 0.2)
    counts = times(bench)
    assert {counts[one] for one in range(old)} == {2}
    # Of what was fed meanwhile the tasks had read some before they stopped, and no more than once.
    assert {counts[one] for one in range(old, bench.fed)} <= {1, 2}


def test_a_reset_by_offsets_moves_what_it_names_and_refuses_what_is_not_there(bench: Bench) -> None:
    before = times(bench)
    reset(bench, "copy", '{"numbers":{"1":1000000}}')
    until(lambda: bench.facts(TaskFailed), "it is told", 60, 0.2)
    failed = bench.facts(TaskFailed)[-1]
    last = bench.fed // INPUTS
    assert (failed.cause, failed.pause_ms) == ("reset-out-of-range", None)
    assert failed.explanation == (
        f"numbers/1 has the offsets 0 to {last}, and the reset asks for 1000000; reset the job to"
        " one that it has, then release it"
    )
    reset(bench, "copy", f'{{"numbers":{{"1":{last - 3}}}}}')
    again = {bench.fed - 3 - INPUTS * at for at in range(3)}
    until(lambda: sum(times(bench).values()) >= sum(before.values()) + 3, "three more", 60, 0.2)
    assert times(bench) - before == Counter(dict.fromkeys(again, 1))


def test_a_job_that_is_read_anew_begins_without_its_state(bench: Bench) -> None:
    """State from before would count each event twice, or drop all of them as late."""
    once = Counter(windows(bench))
    assert len(once) > 8
    assert set(once.values()) == {1}
    reset(bench, "windows", "earliest")
    until(lambda: len(windows(bench)) >= 2 * len(once), "all windows again", 90, 0.2)
    assert Counter(windows(bench)) == dict.fromkeys(once, 2)
