"""Makes the log of a fleet's hour in memory: what authors ask, what the job service says of it.

The step itself decides, over a log that is a counter a place, so the decisions are a valid chain
with true evidence. Each partition is made for itself, as the log's partitions are.

As a program: bootstrap address, first partition, how many partitions to step by, seconds, start in
milliseconds. Writes every so-many-th partition to the broker, and then one JSON line of counts.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from benchmarks.configs import base_config, next_version
from benchmarks.writer import Writer
from components.job_service.decide import component
from components.runtime.core.component import Component, places_of
from components.runtime.core.step import Stepper
from events.generated.records import (
    Body,
    ClockTicked,
    ConfigChangeProposed,
    Generation,
    JobDeleteRequested,
    TaskLoadReported,
)
from events.topics import (
    CHANGES,
    CLOCK,
    LOADS,
    OPERATOR,
    USUAL_PREFIX,
    full_name,
    partition_of,
    place,
)
from events.wire.codec import Read, Record, encode, headers_of
from projections.jobs import Job
from turbine_client.identity import change_id
from turbine_client.settings import Settings

JOBS = 64
"""Of one partition: about a thousand in all of sixteen."""
TASKS = 4
ASKS_PER_S = (2, 3)
"""Taken in turns. With four loads, one tick and a decision for each, ten records a second."""
VALID_MS = 60_000
EXPIRES_MS = 120_000
# What is asked, out of a thousand: people are few, most of the rest is the scaler's and rollouts.
KINDS = {
    "rollout": 660,
    "scaler": 220,
    "oncall": 60,
    "stale": 30,
    "invalid": 15,
    "repeated": 10,
    "delete": 5,
}


@dataclass(frozen=True, slots=True)
class Line:
    """One message as it is to be written."""

    topic: str  # short name
    partition: int
    at_ms: int
    key: str
    value: bytes
    headers: list[tuple[str, bytes]]


class Recording:
    """One partition of all topics, second by second."""

    def __init__(
        self,
        partition: int,
        partitions: int,
        start_ms: int,
        component: Component[Job] = component,
    ) -> None:
        self.partition, self.start_ms = partition, start_ms
        self.rng = random.Random(partition)
        self.jobs = list(_jobs_of(partition, partitions))
        self.owner: Stepper[Job] = Stepper(component, places_of(component, [partition]), _true)
        self.kinds: Counter[str] = Counter()
        self._ends: dict[str, int] = defaultdict(int)
        self._numbers = count()
        self._last: tuple[str, Record] | None = None

    def lines(self, seconds: int) -> Iterator[Line]:
        """All messages, in the order of their times."""
        yield from self._asks([(job, "create") for job in self.jobs], self.start_ms)
        for second in range(seconds):
            at_ms = self.start_ms + 1000 * second
            wanted = ASKS_PER_S[second % len(ASKS_PER_S)]
            kinds = self.rng.choices([*KINDS], [*KINDS.values()], k=wanted)
            yield from self._asks([(self.rng.choice(self.jobs), kind) for kind in kinds], at_ms)
            yield from self._loads(second, at_ms + 500)
            yield from self._tick(second, at_ms + 900)
            yield from self._decisions(at_ms + 910)

    def _asks(self, wanted: list[tuple[str, str]], at_ms: int) -> Iterator[Line]:
        for job, kind in wanted:
            topic, record = self._ask(job, kind, at_ms)
            self._last = topic, record
            yield self._append(topic, record, at_ms)

    def _ask(self, job: str, kind: str, at_ms: int) -> tuple[str, Record]:
        if kind == "repeated" and self._last is not None:
            return self._last
        number = next(self._numbers)
        name = change_id(at_ms + VALID_MS, f"{self.partition}-{number}")
        if kind == "delete":
            gone = JobDeleteRequested(change_id=name, job=job, author="people", reason="gone")
            return OPERATOR, _record(gone, job, name)
        held = self.owner.held.get(job)
        alive = held is not None and held.row is not None and held.row.alive
        layer, change = "base", next_version(number)
        more: dict[str, Any] = {}
        match kind:
            case "scaler" if alive:
                layer, change = "scaler", {"tasks": self.rng.randint(1, 32)}
            case "oncall" if alive:
                layer, change = "oncall", {"tasks": 32}
                more = {"reason": "backlog", "expires_ms": at_ms + EXPIRES_MS}
            case "stale":
                more = {"expected_version": 1_000_000}
            case "invalid":
                change = {"tasks": "many"}
            case _ if not alive:
                change = base_config(number)
        body = ConfigChangeProposed(
            change_id=name, job=job, author=kind, set_json=json.dumps(change), **more
        )
        return CHANGES[layer], _record(body, job, name)

    def _loads(self, second: int, at_ms: int) -> Iterator[Line]:
        """Every task once a minute, spread over it."""
        for index in range(second % 60, JOBS * TASKS, 60):
            job, task = self.jobs[index // TASKS], index % TASKS
            rate = self.rng.uniform(100, 1000)
            body = TaskLoadReported(
                job=job,
                task=task,
                generation=Generation(1, 1),
                epoch=1,
                count=second // 60 + 1,
                window_ms=60_000,
                records_in_per_s=rate,
                bytes_in_per_s=rate * 200,
                records_out_per_s=rate / 10,
                bytes_out_per_s=rate * 20,
                lag_records=int(rate),
                lag_bytes=int(rate * 200),
                lag_ms=1000,
                cpu_cores=0.4,
                memory_bytes=300_000_000,
                container=f"container-{index % 40}",
            )
            name = f"{job}/{task}@{second}"
            yield self._line(LOADS, _record(body, job, name), at_ms)

    def _tick(self, second: int, at_ms: int) -> Iterator[Line]:
        body = ClockTicked(number=self.start_ms // 1000 + second)
        at = place(CLOCK, self.partition)
        self.owner.tick(at, self._ends[at], at_ms)
        yield self._line(CLOCK, _record(body, "clock", f"tick-{body.number}"), at_ms)

    def _decisions(self, at_ms: int) -> Iterator[Line]:
        """What the step says, until it has read all of it back and says no more."""
        while said := self.owner.flush():
            for topic, record in said:
                yield self._append(topic, record, at_ms)

    def _append(self, topic: str, record: Record, at_ms: int) -> Line:
        at = place(topic, self.partition)
        self.owner.read(Read(at, topic, self._ends[at], at_ms, record))
        return self._line(topic, record, at_ms)

    def _line(self, topic: str, record: Record, at_ms: int) -> Line:
        self._ends[place(topic, self.partition)] += 1
        self.kinds[record.kind] += 1
        headers = headers_of(record, topic)
        return Line(topic, self.partition, at_ms, record.key, record.value, headers)


def _jobs_of(partition: int, partitions: int) -> Iterator[str]:
    names = (f"job-{number}" for number in count())
    found = (name for name in names if partition_of(name, partitions) == partition)
    return (next(found) for _ in range(JOBS))


def _record(body: Body, key: str, name: str) -> Record:
    return Record(key, name, type(body).__name__, encode(body), body)


def _true(*_: object) -> bool:
    """Evidence of a log that is in our own hands."""
    return True


def main(bootstrap: str, first: int, step: int, seconds: int, start_ms: int) -> None:
    settings = Settings(bootstrap=bootstrap)
    writer, kinds = Writer(settings, **{"linger.ms": 20}), Counter[str]()
    for partition in range(first, settings.partitions, step):
        recording = Recording(partition, settings.partitions, start_ms)
        for one in recording.lines(seconds):
            at = (full_name(USUAL_PREFIX, one.topic), one.partition, one.key, one.value)
            writer.write(*at, headers=one.headers, at_ms=one.at_ms)
        kinds += recording.kinds
    writer.settle()
    print(json.dumps(kinds), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:6]))
