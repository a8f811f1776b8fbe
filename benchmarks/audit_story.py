"""Makes the log of a fleet's day in memory: the job-keyed components themselves decide.

Authors roll out versions, task managers do at once what lists say, and every task reports its load
once a minute; job service, state syncer, task service and auto scaler are driven by the one step
over a clock that nobody waits for. A partition is made for itself, as the log's partitions are.

As a program: bootstrap address, partitions, first one, how many to step by, and a `Script` in JSON.
Writes every so-many-th partition to the broker, and then one JSON line of counts.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from benchmarks.configs import base_config, next_version
from benchmarks.recorded import Line
from benchmarks.writer import Writer
from components.auto_scaler.decide import component as auto_scaler
from components.job_service.decide import component as job_service
from components.runtime.core.component import Component, places_of
from components.runtime.core.step import Stepper
from components.state_syncer.decide import component as state_syncer
from components.task_service.decide import component as task_service
from events.generated.records import (
    Body,
    ClockTicked,
    ConfigChangeProposed,
    Generation,
    TaskLoadReported,
    TaskStarted,
    TaskStopped,
)
from events.topics import (
    CHANGES,
    CLOCK,
    JOURNAL,
    LOADS,
    TASKS,
    USUAL_PREFIX,
    full_name,
    partition_of,
    place,
)
from events.wire.codec import Read, Record, encode, headers_of
from projections.syncs import Sync
from turbine_client.identity import change_id
from turbine_client.settings import Settings

COMPONENTS: tuple[Component[Any], ...] = (job_service, state_syncer, task_service, auto_scaler)
VALID_MS = 60_000
MINUTE_S = 60
DAY_S = 86_400
SHARD = 1
PER_TASK = 400.0
"""Records a second that one task reads."""


@dataclass(frozen=True, slots=True)
class Script:
    """What happens in each partition."""

    jobs: int
    seconds: int
    rollouts_per_s: float
    loads: bool
    start_ms: int
    tasks: int = 4
    tick_s: int = 1


class Hands:
    """The task managers: tasks run as the newest list says, without delay."""

    def __init__(self) -> None:
        self.running: dict[str, dict[int, int]] = defaultdict(dict)  # job: task to generation
        self._over: set[tuple[str, int, int]] = set()

    def follow(self, job: str, row: Sync) -> Iterator[Body]:
        """What tasks say on the newest list."""
        listed, running = row.listed, self.running[job]
        if listed is None:
            return
        for task, generation in sorted(running.items()):
            if task >= listed.tasks or generation != listed.generation:
                del running[task]
                yield self._stopped(job, task, generation)
        for task in range(listed.tasks):
            if task not in running:
                running[task] = listed.generation
                yield TaskStarted(job, task, Generation(listed.generation, SHARD), "c1", 1)
        if row.live is None:
            return
        for task in range(row.live.tasks if listed.tasks == 0 else 0):
            if (job, task, row.live.generation) not in self._over:
                yield self._stopped(job, task, row.live.generation)

    def _stopped(self, job: str, task: int, generation: int) -> TaskStopped:
        self._over.add((job, task, generation))
        return TaskStopped(job, task, Generation(generation, SHARD), "c1", 1, "plan")


class Story:
    """One partition of all topics, second by second."""

    def __init__(self, partition: int, partitions: int, script: Script) -> None:
        self.partition, self.script = partition, script
        self.rng = random.Random(partition)
        names = (f"job-{number}" for number in count())
        found = (name for name in names if partition_of(name, partitions) == partition)
        self.jobs = [next(found) for _ in range(script.jobs)]
        self.kinds: Counter[str] = Counter()
        at = [partition]
        self.owners: list[Stepper[Any]] = [
            Stepper(one, places_of(one, at), _true) for one in COMPONENTS
        ]
        self._hands = Hands()
        self._ends: dict[str, int] = defaultdict(int)
        self._numbers, self._loads = count(), Counter[str]()
        self._touched: dict[str, None] = {}
        self._rate = {
            job: self.rng.uniform(0.1, 0.6) * script.tasks * PER_TASK for job in self.jobs
        }

    def lines(self) -> Iterator[Line]:
        """All messages, in the order of their times."""
        script, due = self.script, 0.0
        yield from self._tick(0, script.start_ms)
        for number, job in enumerate(self.jobs):
            config = {**base_config(number), "tasks": script.tasks}
            yield from self._ask(job, config, script.start_ms)
        for second in range(0, script.seconds, script.tick_s):
            at_ms = script.start_ms + 1000 * second
            due += script.rollouts_per_s * script.tick_s
            while due >= 1:
                due -= 1
                number = next(self._numbers)
                yield from self._ask(self.rng.choice(self.jobs), next_version(number), at_ms + 100)
            if script.loads:
                yield from self._report(second, at_ms + 500)
            yield from self._tick(second, at_ms + 900)
            yield from self._settle(at_ms + 910)

    def _ask(self, job: str, change: dict[str, Any], at_ms: int) -> Iterator[Line]:
        name = change_id(at_ms + VALID_MS, f"{self.partition}-{next(self._numbers)}")
        told = json.dumps(change)
        body = ConfigChangeProposed(change_id=name, job=job, author="rollout", set_json=told)
        yield self._append(CHANGES["base"], _record(body, job, name), at_ms)

    def _tick(self, second: int, at_ms: int) -> Iterator[Line]:
        body = ClockTicked(number=self.script.start_ms // 1000 + second)
        at = place(CLOCK, self.partition)
        for owner in self.owners:
            owner.tick(at, self._ends[at], at_ms)
        yield self._line(CLOCK, _record(body, "clock", f"tick-{body.number}"), at_ms)

    def _settle(self, at_ms: int) -> Iterator[Line]:
        """All that is said until nobody has more to say, and what tasks do about it."""
        while True:
            said = [one for owner in self.owners for one in owner.flush()]
            for topic, record in said:
                yield self._append(topic, record, at_ms)
            touched, self._touched = self._touched, {}
            syncer, told = self.owners[1], 0
            syncer.settle()
            for job in touched:
                row = syncer.held[job].row
                for body in self._hands.follow(job, row) if row is not None else ():
                    told += 1
                    name = f"task-{self.partition}-{next(self._numbers)}"
                    yield self._append(TASKS, _record(body, job, name), at_ms)
            if not said and not told:
                return

    def _report(self, second: int, at_ms: int) -> Iterator[Line]:
        """Each job's tasks once a minute, spread over it; by day there is more to read."""
        tick = self.script.tick_s
        first, step = second % MINUTE_S, MINUTE_S
        wave = 1 + 0.5 * math.sin(2 * math.pi * second / DAY_S)
        for index in (
            i for s in range(first, first + tick) for i in range(s, len(self.jobs), step)
        ):
            job = self.jobs[index]
            running = self._hands.running[job]
            for task, generation in sorted(running.items()):
                rate = self._rate[job] * wave * self.rng.uniform(0.97, 1.03) / len(running)
                yield self._append(LOADS, self._load(job, task, generation, rate), at_ms)

    def _load(self, job: str, task: int, generation: int, rate: float) -> Record:
        name = f"{job}/{task}@{generation}"
        self._loads[name] += 1
        busy = min(1.0, rate / PER_TASK)
        body = TaskLoadReported(
            job=job,
            task=task,
            generation=Generation(generation, SHARD),
            epoch=1,
            count=self._loads[name],
            window_ms=60_000,
            records_in_per_s=rate,
            bytes_in_per_s=rate * 200,
            records_out_per_s=rate / 10,
            bytes_out_per_s=rate * 20,
            lag_records=int(rate * busy),
            lag_ms=int(1000 * busy),
            cpu_cores=0.5 * busy,
            memory_bytes=300_000_000,
            busy_share=busy,
            tasks=len(self._hands.running[job]),
            threads=1,
            container=f"container-{task % 40}",
        )
        return _record(body, job, f"{name}-{self._loads[name]}")

    def _append(self, topic: str, record: Record, at_ms: int) -> Line:
        at = place(topic, self.partition)
        read = Read(at, topic, self._ends[at], at_ms, record)
        for owner in self.owners:
            if at in owner.places:
                owner.read(read)
        if topic == JOURNAL:
            self._touched[record.key] = None
        return self._line(topic, record, at_ms)

    def _line(self, topic: str, record: Record, at_ms: int) -> Line:
        self._ends[place(topic, self.partition)] += 1
        self.kinds[record.kind] += 1
        headers = headers_of(record, topic)
        return Line(topic, self.partition, at_ms, record.key, record.value, headers)


def _record(body: Body, key: str, name: str) -> Record:
    return Record(key, name, type(body).__name__, encode(body), body)


def _true(*_: object) -> bool:
    """Evidence of a log that is in our own hands."""
    return True


def main(bootstrap: str, partitions: int, first: int, step: int, script: Script) -> None:
    writer, kinds = Writer(Settings(bootstrap=bootstrap), **{"linger.ms": 20}), Counter[str]()
    for partition in range(first, partitions, step):
        story = Story(partition, partitions, script)
        for one in story.lines():
            at = (full_name(USUAL_PREFIX, one.topic), one.partition, one.key, one.value)
            writer.write(*at, headers=one.headers, at_ms=one.at_ms)
        kinds += story.kinds
    writer.settle()
    print(json.dumps(kinds), flush=True)


if __name__ == "__main__":
    whole, mine, by = map(int, sys.argv[2:5])
    main(sys.argv[1], whole, mine, by, Script(**json.loads(sys.argv[5])))
