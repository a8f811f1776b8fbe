"""Containers that run tasks on a real broker: nothing is lost or doubled, whatever is killed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.children import Supervised, python
from benchmarks.containers import define_tier
from benchmarks.installation import Installation, install
from benchmarks.spark_fleet import children
from components.runtime.kafka.intake import DeadLetter, take_in
from events.generated.records import (
    ContainerHeartbeat,
    ContainerStarted,
    TaskFailed,
    TaskLoadReported,
    TaskStarted,
    TaskStopped,
)
from events.topics import CONTAINERS, LOADS, TASKS, place
from projections.syncs import RUNNING
from tests.integration.processes import lives, processes_in, stands_still, until
from turbine.read.sources.log import Log
from turbine_client.publish import Publisher
from turbine_client.reading import read_span

pytestmark = [pytest.mark.broker, pytest.mark.slow]

PARTITIONS, INPUTS, SHARDS, TENTH = 4, 8, 8, 100
JOB, GROUP, NAMES = "tallies", "turbine-job.tallies", ("east", "west")
"""Its tasks' shards are odd and even, low and high: however shared out, both run some."""
WAITING = "the tier is not defined; waiting for it"
CONFIG = {
    "operator": "examples.counts:count",
    "inputs": [{"topic": "clicks", "partitions": INPUTS}],
    "output": {"topic": "counts"},
    "package": {"name": "counts", "version": "1.0.0"},
    "checkpoint": {"root": "/checkpoints"},
    "tasks": 4,
    "schedule": {"batch_interval_ms": 20},
}


@dataclass(slots=True)
class Fleet:
    """Two containers, one job, and what went in and came out."""

    site: Installation
    source: Producer
    sink: Consumer
    fed: int = 0
    out: list[dict[str, Any]] = field(default_factory=list)

    @property
    def places(self) -> Path:
        return self.site.directory / "places"

    def feed(self, records: int = 400) -> None:
        """So many more, in all partitions."""
        for at in range(self.fed, self.fed + records):
            self.source.produce("clicks", str(at), partition=at % INPUTS)
        assert self.source.flush(30) == 0
        self.fed += records

    def counted(self) -> int:
        """Records that committed outputs speak of, so far."""
        while (message := self.sink.poll(0.05)) is not None:
            assert message.error() is None, message.error()
            self.out.append(json.loads(message.value() or b"{}"))
        return sum(one["records"] for one in self.out)

    def check(self) -> None:
        """All that went in was counted, once each: no gap, no overlap, no more and no less."""
        try:
            until(lambda: self.counted() >= self.fed, "all is counted")
        except AssertionError as late:
            raise AssertionError(f"{late}; {self.evidence()}") from None
        assert self.counted() == self.fed
        reached = dict.fromkeys((f"clicks/{n}" for n in range(INPUTS)), 0)
        for one in self.out:
            for at, begin in one["from"].items():
                assert begin == reached[at], (at, one)
                reached[at] = one["to"][at]

    def evidence(self) -> str:
        """Whose fault it is: how far inputs go, tasks have committed, outputs were read."""
        spots = [TopicPartition("clicks", n) for n in range(INPUTS)]
        ends = [self.sink.get_watermark_offsets(one, 10)[1] for one in spots]
        reader = Consumer({"bootstrap.servers": self.site.settings.bootstrap, "group.id": GROUP})
        try:
            committed = str([one.offset for one in reader.committed(spots, 10)])
        except KafkaException as error:
            committed = error.args[0].str()
        said = [text(self.site, name)[-3_000:] for name in NAMES]
        return f"inputs end at {ends}, tasks are at {committed}; {said}"

    # --- processes

    def keep(self, name: str) -> None:
        address, home = self.site.settings.bootstrap, self.places / name
        command = python("turbine.ops.container", name, "--directory", home, "--bootstrap", address)
        self.site.processes[name] = Supervised(name, command, self.site.directory)

    def supervisor(self, name: str) -> int:
        pid = self.site.processes[name].pid
        assert pid is not None
        return pid

    def engine(self, name: str) -> int:
        return next(p for p, comm in children(self.supervisor(name)).items() if comm == "engine")

    def tasks(self, name: str) -> dict[str, int]:
        """The tasks that live on a container, with their processes."""
        with suppress(StopIteration, AssertionError):  # it is just being started
            return {comm: pid for pid, comm in children(self.engine(name)).items() if "/" in comm}
        return {}

    def busiest(self) -> str:
        """The container that runs the most tasks, if any does."""
        return max(NAMES, key=lambda name: len(self.tasks(name)))

    # --- the log

    def facts(self) -> list[Any]:
        """All that was said of tasks, in order."""
        return self.bodies(TASKS)

    def lives(self, name: str) -> int:
        """How many lives of a container have begun; each may have said so twice."""
        said = [one for one in self.bodies(CONTAINERS) if isinstance(one, ContainerStarted)]
        return len({one.epoch for one in said if one.container == name})

    def beats(self, name: str) -> int:
        said = [one for one in self.bodies(CONTAINERS) if isinstance(one, ContainerHeartbeat)]
        return sum(one.container == name for one in said)

    def bodies(self, topic: str) -> list[Any]:
        spans = {place(topic, p): (0, None) for p in range(PARTITIONS)}
        found = []
        for poll in read_span(self.site.settings, spans):
            for message in poll:
                read = take_in(message, PARTITIONS, None)
                assert not isinstance(read, DeadLetter), read
                found.append(read.record.body)
        return found

    def runs(self, **wanted: object) -> bool:
        """Does the job run with these fields, by the log?"""
        row = Log(self.site.settings).syncs(job=JOB).get(JOB)
        if row is None or row.running is None or row.running.state != RUNNING or row.plan:
            return False
        config = json.loads(row.running.config_json)
        return all(config.get(name) == value for name, value in wanted.items())

    def ask(self, **config: object) -> None:
        with Publisher(self.site.settings) as publisher:
            publisher.change(JOB, CONFIG | config, create=True, wait_s=0)
        until(lambda: self.runs(**config), f"it runs with {config}", 60, 0.2)

    @contextmanager
    def nobody_gives_up(self, name: str) -> Iterator[None]:
        """No container is failed over, however long the test takes on a busy machine."""
        manager = self.site.processes["shards"].pid or 0
        os.kill(manager, signal.SIGSTOP)
        try:
            yield
            before = self.beats(name)
            until(lambda: self.beats(name) > before, f"{name} is heard again")
        finally:
            os.kill(manager, signal.SIGCONT)


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    with install(partitions=PARTITIONS) as site:
        client = {"bootstrap.servers": site.settings.bootstrap}
        topics = [NewTopic("clicks", INPUTS), NewTopic("counts", 1)]
        admin = AdminClient(client)  # its futures end with it
        for done in admin.create_topics(topics).values():
            done.result()
        committed = {"group.id": "test", "isolation.level": "read_committed"}
        fleet = Fleet(site, Producer(client), Consumer(client | committed))
        fleet.sink.assign([TopicPartition("counts", 0, 0)])
        site.serve("clock")
        site.serve("job-service", "state-syncer", "task-service", instance="worker-0")
        for name in NAMES:
            fleet.keep(name)
        site.serve("shard-manager", instance="shards")
        for name in NAMES:
            until(lambda name=name: WAITING in text(site, name), f"{name} waits")
            until(lambda name=name: fleet.lives(name) == 1, f"{name} lives")
        define_tier(site.settings, SHARDS, TENTH)
        site.await_assigned()
        fleet.ask()
        yield fleet
        site.stop()
        fleet.sink.close()
        until(lambda: not processes_in(fleet.places), "no process is left")


def text(site: Installation, name: str) -> str:
    log = site.processes[name].log
    return log.read_text() if log.exists() else ""


def test_all_input_is_counted_once(fleet: Fleet) -> None:
    fleet.feed()
    fleet.check()
    assert {one["container"] for one in fleet.out} == set(NAMES)
    started = [one for one in fleet.facts() if isinstance(one, TaskStarted)]
    assert sorted(one.task for one in started) == [0, 1, 2, 3]


def test_a_task_that_is_killed_starts_again(fleet: Fleet) -> None:
    fleet.feed()
    name, pid = next(iter(fleet.tasks(fleet.busiest()).items()))
    os.kill(pid, signal.SIGKILL)
    fleet.feed()
    task = int(name.rpartition("/")[2])

    def again() -> bool:
        return any(
            isinstance(one, TaskStarted) and (one.task, one.attempt) == (task, 2)
            for one in fleet.facts()
        )

    until(again, "its second start is in the log")
    # Another one may have failed by itself: a commit has a limit, and the broker may stall.
    told = [one for one in fleet.facts() if isinstance(one, TaskFailed) and one.task == task]
    failed = told[0]
    assert (failed.attempt, failed.cause) == (1, "killed")
    assert failed.pause_ms == 100  # a second, at a tenth
    fleet.check()


def test_an_engine_that_is_killed_takes_its_tasks_along_and_all_start_again(fleet: Fleet) -> None:
    fleet.feed()
    name = fleet.busiest()
    before = fleet.tasks(name)
    os.kill(fleet.engine(name), signal.SIGKILL)
    until(lambda: not any(map(lives, before.values())), "no task outlives its engine")
    fleet.feed()
    until(lambda: fleet.tasks(name).keys() == before.keys(), "all run again")
    died = [one for one in fleet.facts() if getattr(one, "cause", "") == "engine-died"]
    assert {f"{one.job}/{one.task}" for one in died} == before.keys()
    assert {one.container for one in died} == {name}
    fleet.check()


def test_a_change_that_is_copied_restarts_tasks_under_their_generation(fleet: Fleet) -> None:
    fleet.feed()
    fleet.ask(package={"name": "counts", "version": "1.0.1"})

    def newest() -> dict[int, TaskStarted]:
        return {one.task: one for one in fleet.facts() if isinstance(one, TaskStarted)}

    def taken_up() -> bool:
        return all(one.versions and one.versions.base == 2 for one in newest().values())

    until(taken_up, "each task was started at the new version")
    assert {one.generation.specs for one in newest().values()} == {2}
    assert not [one for one in fleet.facts() if isinstance(one, TaskStopped)]
    fleet.feed()
    fleet.check()


def test_tasks_of_a_supervisor_that_hangs_stand_still_past_its_lease(fleet: Fleet) -> None:
    name = fleet.busiest()
    pid, tasks, born = fleet.supervisor(name), fleet.tasks(name), fleet.lives(name)
    with fleet.nobody_gives_up(name):
        os.kill(pid, signal.SIGSTOP)
        try:
            until(lambda: all(map(stands_still, tasks.values())), "its tasks are frozen")
            fleet.feed()
        finally:
            os.kill(pid, signal.SIGCONT)
    fleet.check()
    assert fleet.tasks(name) == tasks, "they are the same processes"
    assert fleet.lives(name) == born


def test_a_container_that_was_failed_over_ends_when_it_wakes(fleet: Fleet) -> None:
    name = fleet.busiest()
    other = next(one for one in NAMES if one != name)
    pid, tasks, born = fleet.supervisor(name), fleet.tasks(name), fleet.lives(name)
    os.kill(pid, signal.SIGSTOP)
    try:
        fleet.feed()
        until(lambda: tasks.keys() <= fleet.tasks(other).keys(), "its tasks run elsewhere")
        fleet.check()
        assert all(map(stands_still, tasks.values()))
    finally:
        os.kill(pid, signal.SIGCONT)
    until(lambda: not any(map(lives, [pid, *tasks.values()])), "nothing of it is left")
    assert "was failed over" in text(fleet.site, name)
    until(lambda: fleet.lives(name) > born, "it begins another life")


def test_another_number_of_tasks(fleet: Fleet) -> None:
    """Every old task has stopped in the log before the first new one starts (III-B)."""
    fleet.feed()
    fleet.ask(tasks=3)
    fleet.feed()
    fleet.check()
    words = [one for one in fleet.facts() if isinstance(one, TaskStarted | TaskStopped)]
    newest = max(one.generation.specs for one in words)
    begin = next(at for at, one in enumerate(words) if one.generation.specs == newest)
    stopped = [one for one in words[:begin] if isinstance(one, TaskStopped)]
    assert {one.task for one in stopped if one.cause == "plan"} == {0, 1, 2, 3}
    running = {task for name in NAMES for task in fleet.tasks(name)}
    assert running == {f"{JOB}/{n}" for n in range(3)}


@pytest.mark.parametrize("victim", ["supervisor", "guard"])
def test_who_is_killed_leaves_nothing_behind(fleet: Fleet, victim: str) -> None:
    fleet.feed()
    name = fleet.busiest()
    pid, born = fleet.supervisor(name), fleet.lives(name)
    kin = list(children(pid).items())
    kin += [one for child, _ in kin for one in children(child).items()]
    assert len(kin) >= 3, "a guard, an engine and a task"
    guard = next(one for one, comm in kin if comm == "guard")
    os.kill(pid if victim == "supervisor" else guard, signal.SIGKILL)
    until(lambda: not any(lives(one) for one in [pid, *(one for one, _ in kin)]), "all gone")
    fleet.feed()
    until(lambda: fleet.lives(name) > born, "it lives again")
    fleet.check()


def test_without_anybody_who_decides_tasks_run_and_are_restarted(fleet: Fleet) -> None:
    """Each holds the full lists, and the log renews its lease (IV-D)."""
    deciders = [fleet.site.processes[one].pid for one in ("shards", "worker-0")]
    for pid in deciders:
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
    try:
        name = fleet.busiest()
        tasks = fleet.tasks(name)
        os.kill(next(iter(tasks.values())), signal.SIGKILL)
        fleet.feed()
        fleet.check()
        until(lambda: fleet.tasks(name).keys() == tasks.keys(), "all run again")
    finally:
        for pid in deciders:
            os.kill(pid or 0, signal.SIGCONT)


def test_a_log_that_is_away_costs_a_pause_and_no_restart(fleet: Fleet) -> None:
    broker = fleet.site.broker_pid
    assert broker is not None
    pids = {name: fleet.supervisor(name) for name in NAMES}
    until(lambda: sum(len(fleet.tasks(name)) for name in NAMES) == 3, "all run")
    tasks = [pid for name in NAMES for pid in fleet.tasks(name).values()]
    os.kill(broker, signal.SIGSTOP)
    try:
        until(lambda: all(map(stands_still, tasks)), "all tasks are frozen")
    finally:
        os.kill(broker, signal.SIGCONT)
    fleet.feed()
    fleet.check()
    assert {name: fleet.supervisor(name) for name in NAMES} == pids


def test_what_tasks_use_is_told(fleet: Fleet) -> None:
    def told() -> list[TaskLoadReported]:
        found = [one for one in fleet.bodies(LOADS) if isinstance(one, TaskLoadReported)]
        return [one for one in found if one.records_in_per_s and one.tasks == 3]

    fleet.feed()
    until(told, "of a task, one of three, that counted")
    one = told()[-1]
    assert one.container in NAMES
    assert one.job == JOB
    assert one.bytes_out_per_s > 0
    assert (one.memory_bytes or 0) > 1_000_000
    assert one.lag_ms == (0 if one.lag_records == 0 else None), "nobody looks how old it is"
    assert one.threads == 1
    rates = [part.records_in_per_s or 0 for part in one.partitions]
    assert sum(rates) == pytest.approx(one.records_in_per_s)


def test_a_container_that_is_told_to_end_gives_up_its_shards_first(fleet: Fleet) -> None:
    name = fleet.busiest()
    other = next(one for one in NAMES if one != name)
    fleet.feed()
    fleet.site.processes[name].stop()
    until(lambda: len(fleet.tasks(other)) == 3, "the other one runs all tasks")
    assert not processes_in(fleet.places / name)
    fleet.check()
