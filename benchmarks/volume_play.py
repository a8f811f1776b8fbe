"""One partition of a fleet, played in memory on virtual time: all that its components write.

The job-keyed components are the real ones, and so is what keeps their rows and the publisher's.
Authors and tasks are scripted: each task reports each minute, a few jobs an hour are given another
size.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import sin
from random import Random
from typing import Any, NamedTuple

from components.auto_scaler.decide import component as auto_scaler
from components.job_service.decide import component as job_service
from components.publisher.agents import KEEP_S
from components.runtime.core.component import Component, places_of
from components.runtime.core.standing import Row, standing
from components.runtime.core.standing import places_of as published_of
from components.runtime.core.step import Stepper
from components.runtime.core.store import Keeper, Restored, RowEntry
from components.state_syncer.decide import component as state_syncer
from components.task_manager.fact_writer import fact
from components.task_service.decide import component as task_service
from events.generated.records import (
    ConfigChangeProposed,
    Generation,
    TaskLoadReported,
    TaskStarted,
    TaskStopped,
)
from events.topics import BY_SHORT, CHANGES, CLOCK, JOURNAL, LOADS, TASKS, place, rows_topic
from events.wire.codec import Read, Record, encode, headers_of
from turbine_client.identity import change_id

COMPONENTS: tuple[Component[Any], ...] = (job_service, state_syncer, task_service, auto_scaler)
SYNCER = 1
START_MS = 1_800_000_000_000
SECOND_MS, MINUTE_MS = 1_000, 60_000
SHARD, EPOCH, CONTAINER = 1, 1, "container-0001"
INPUT_PARTITIONS = 16
ROUNDS_MOST = 60
CONFIG = {
    "operator": "examples.counts:count",
    "inputs": [{"topic": "clicks", "partitions": INPUT_PARTITIONS}],
    "output": {"topic": "counts"},
    "package": {"name": "counts", "version": "1.0.0"},
    "checkpoint": {"root": "/checkpoints"},
    "resources": {"cpu_cores": 1, "memory_mb": 512},
    "slo": {"lag_seconds": 90},
}


class Written(NamedTuple):
    """One record as it goes to the broker; those of one turn go together."""

    topic: str  # short name
    key: bytes
    value: bytes | None
    headers: list[tuple[str, bytes | None]]
    kind: str
    turn: int

    @property
    def size(self) -> int:
        """Of the payload: key, value and headers."""
        named = sum(len(name) + len(value or b"") for name, value in self.headers)
        return len(self.key) + len(self.value or b"") + named


def written_as(topic: str, record: Record, turn: int = 0) -> Written:
    """The record as it goes to the broker."""
    headers: list[tuple[str, bytes | None]] = [*headers_of(record, topic)]
    return Written(topic, record.key.encode(), record.value, headers, record.kind, turn)


@dataclass(slots=True)
class _Job:
    name: str
    at_s: int  # the second of each minute in which its first task reports
    rate: float
    generation: int = 0
    tasks: int = 0
    said: int = 0


@dataclass(slots=True)
class Partition:
    """The partition `number` of a log, with all of its jobs."""

    number: int
    names: Sequence[str]
    tasks: int
    seed: int = 7
    now_ms: int = START_MS
    out: list[Written] = field(default_factory=list)
    turn: int = 0
    lines: dict[str, list[Read]] = field(default_factory=dict)
    _owners: list[Stepper[Any]] = field(init=False)
    _keepers: list[Keeper[Any]] = field(init=False)
    _at: list[dict[str, int]] = field(init=False)
    _publisher: Keeper[Row] = field(init=False)
    _jobs: dict[str, _Job] = field(init=False)
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = Random(f"{self.seed}/{self.number}")
        found = [sorted(places_of(one, [self.number])) for one in COMPONENTS]
        self._owners = [
            Stepper(one, at, lambda *_: True) for one, at in zip(COMPONENTS, found, strict=True)
        ]
        self._keepers = [Keeper(owner, 0, "build", Restored()) for owner in self._owners]
        self._at = [dict.fromkeys(at, 0) for at in found]
        chain: Stepper[Row] = Stepper(standing, published_of(self.number), lambda *_: True)
        self._publisher = Keeper(chain, 0, "build", Restored())
        draw = self._random
        self._jobs = {
            name: _Job(name, draw.randrange(60), self.tasks * draw.uniform(2_000, 3_000))
            for name in self.names
        }

    # --- the script

    def create(self) -> None:
        """All jobs, a second after the first tick."""
        self.second()
        for name in self.names:
            self.change(name, "base", {**CONFIG, "tasks": self.tasks})
        self.second()

    def change(self, name: str, layer: str, wish: object) -> None:
        """Somebody asks for it."""
        wanted = change_id(self.now_ms + MINUTE_MS, f"{name}-{layer}")
        body = ConfigChangeProposed(
            wanted, name, "ann", set_json=json.dumps(wish), reason="more to do"
        )
        record = Record(name, wanted, type(body).__name__, encode(body), body, source="ann")
        self._append(CHANGES[layer], record)

    def second(self, *, tick: bool = True) -> None:
        """One second of the fleet: a tick, reports, decisions, and rows that are due."""
        self.now_ms += SECOND_MS
        if tick:
            at = place(CLOCK, self.number)
            ticks = self.lines.setdefault(at, [])
            ticks.append(Read(at, CLOCK, len(ticks), self.now_ms, Record("", "", "", b"", None)))
        for body in self._reports():
            self._append(LOADS, fact(body.job, body, {}))
            self.turn += 1
        for _ in range(ROUNDS_MOST):
            if not self._round():
                break
        else:
            raise AssertionError("the fleet does not come to rest")
        self._keep()
        if (self.now_ms - START_MS) % int(KEEP_S * SECOND_MS) == 0:
            self._keep_published()

    def _reports(self) -> Iterator[TaskLoadReported]:
        second, draw = self.now_ms // SECOND_MS % 60, self._random
        for job in self._jobs.values():
            for task in range(job.tasks):
                # Tasks of a job run in several containers, each of which reports in its own time.
                if (job.at_s + 17 * task) % 60 == second:
                    job.said += 1
                    yield _report(job, task, self.now_ms, draw)

    def positions(self) -> dict[tuple[str, int], int]:
        """Up to where all was read, by a topic's full name and the partition."""
        lines = self.lines.values()
        return {(BY_SHORT[one[0].topic].name, self.number): len(one) for one in lines if one}

    # --- the log

    def _append(self, topic: str, record: Record) -> None:
        at = place(topic, self.number)
        lines = self.lines.setdefault(at, [])
        lines.append(Read(at, topic, len(lines), self.now_ms, record))
        self.out.append(written_as(topic, record, self.turn))

    def _round(self) -> bool:
        """Everybody reads what is new and says what follows; False where nothing was said."""
        before = len(self.out)
        for owner, positions in zip(self._owners, self._at, strict=True):
            for at in positions:
                for read in self.lines.get(at, [])[positions[at] :]:
                    if read.topic == CLOCK:
                        owner.tick(at, read.offset, read.at_ms)
                    else:
                        owner.read(read)
                positions[at] = len(self.lines.get(at, ()))
            for topic, record in owner.flush():
                self._append(topic, record)
            self.turn += 1
        self._follow()
        return len(self.out) > before

    def _follow(self) -> None:
        """Tasks run as the list of their job says."""
        for name, held in self._owners[SYNCER].held.items():
            row, job = held.row, self._jobs[name]
            listed = None if row is None else row.listed
            if listed is None or listed.generation == job.generation:
                continue
            before = Generation(job.generation, SHARD)
            for task in range(job.tasks):
                self._tell(TaskStopped(name, task, before, CONTAINER, EPOCH, "plan"), held.vector)
            both = Generation(listed.generation, SHARD)
            for task in range(listed.tasks):
                self._tell(TaskStarted(name, task, both, CONTAINER, EPOCH), held.vector)
            job.generation, job.tasks = listed.generation, listed.tasks

    def _tell(self, body: TaskStarted | TaskStopped, evidence: dict[str, int]) -> None:
        self._append(TASKS, fact(body.job, body, dict(evidence)))
        self.turn += 1

    def _keep(self) -> None:
        for owner, keeper in zip(self._owners, self._keepers, strict=True):
            self._keep_rows(owner, keeper.due())
        self.turn += 1

    def _keep_published(self) -> None:
        """The publisher's rows go along with what it says, all that changed."""
        owner = self._publisher.owner
        at = place(JOURNAL, self.number)
        for read in self.lines.get(at, [])[owner.seen.get(at, 0) :]:
            owner.read(read)
        if owner.changed:
            self._keep_rows(owner, self._publisher.entries())
            self.turn += 1

    def _keep_rows(self, owner: Stepper[Any], entries: Iterable[RowEntry]) -> None:
        topic = rows_topic(owner.component.name).short
        for entry in entries:
            headers: list[tuple[str, bytes | None]] = [("claim", b"0")]
            key = entry.key.encode()
            self.out.append(Written(topic, key, entry.value, headers, "row", self.turn))


def _report(job: _Job, task: int, now_ms: int, draw: Random) -> TaskLoadReported:
    """As a container tells it: counts of a window that is a minute and some milliseconds."""
    window_ms = MINUTE_MS + draw.randrange(-40, 40)
    share = (1 + 0.5 * sin(now_ms / 4_000_000 + job.at_s)) * draw.uniform(0.9, 1.1) / job.tasks
    records = int(job.rate * share * 60)
    lag = draw.randrange(200)
    return TaskLoadReported(
        job=job.name,
        task=task,
        generation=Generation(job.generation, SHARD),
        epoch=EPOCH,
        count=job.said,
        window_ms=window_ms,
        records_in_per_s=1000 * records / window_ms,
        bytes_in_per_s=1000 * 312 * records / window_ms,
        records_out_per_s=1000 * records / window_ms,
        bytes_out_per_s=1000 * 187 * records / window_ms,
        lag_records=lag,
        lag_bytes=312 * lag,
        lag_ms=draw.randrange(900),
        cpu_cores=records / 60 / 8_000,
        memory_bytes=draw.randrange(150, 250) * 2**20,
        container=CONTAINER,
        busy_share=min(1.0, records / 60 / 4_000),
        tasks=job.tasks,
        threads=1,
    )


def play(one: Partition, seconds: int, rescales: Iterable[str] = ()) -> list[Written]:
    """What is written in so many seconds; these jobs get another size in them, one by one."""
    waiting = list(rescales)
    every = max(1, seconds // (len(waiting) + 1))
    one.out = []
    for second in range(seconds):
        if waiting and second % every == every - 1:
            one.change(waiting.pop(), "oncall", {"tasks": one.tasks + 1})
        one.second()
    return one.out
