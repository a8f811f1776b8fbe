"""Makes a log old: decisions and heartbeats by the million, about jobs that stay as many.

Arguments: bootstrap address, which author this is, and of how many. For each number on its input it
writes so many records, each a valid child of the one before it, and answers with a JSON line.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import count, cycle

from benchmarks.writer import Writer
from components.runtime.core.step import ROOT
from components.runtime.kafka.clients import partitions_of
from events.generated.records import (
    Body,
    ContainerHeartbeat,
    InputPartitions,
    JobConfigRejected,
    LayerVersions,
    ShardAddRequested,
    SyncStepDone,
    TaskSpec,
    TaskSpecsPublished,
    TierDefined,
)
from events.topics import BY_SHORT, CONTAINERS, JOURNAL, TIERS, partition_of
from events.wire.codec import Record, encode, headers_of
from turbine_client.identity import decision_id
from turbine_client.settings import Settings

JOBS, TASKS, SHARDS, CONTAINERS_MOST = 1_000, 4, 256, 100
TIER = "default"
LIST_BYTES = 16_000
"""Of one job: a config and its specs, as they are in a fleet."""
OF_TEN = (JOURNAL,) * 7 + (TIERS,) + (CONTAINERS,) * 2
"""Of ten records. The tiers' one partition is written by the first author alone."""
REFUSED_EACH = 10
"""One in so many of the journal's is a refusal, which the publisher tells the world."""


class Author:
    """Writes to its own share of the partitions, so that no chain has two authors."""

    def __init__(self, settings: Settings, number: int, authors: int) -> None:
        self._count = partitions_of(settings)[JOURNAL]
        self._writer = Writer(settings, **{"queue.buffering.max.messages": 500_000})
        self._last: dict[str, str] = {}
        self._numbers = count(1)
        self._first = number == 0
        mine = [p for p in range(self._count) if p % authors == number]
        jobs = [f"job-{n:04}" for n in range(JOBS)]
        self._jobs = [job for job in jobs if partition_of(job, self._count) in mine]
        names = [f"old-{n:03}" for n in range(CONTAINERS_MOST)]
        self._names = cycle(name for name in names if partition_of(name, self._count) in mine)
        self._lines = self._endless()
        for job in self._jobs:
            self._decide(JOURNAL, job, _specs_of(job))
        if self._first:
            self._decide(TIERS, f"{TIER}/placement", TierDefined(TIER, SHARDS, ("local",)))
        self._writer.settle()

    def write(self, records: int) -> None:
        """So many, and each is in the log."""
        for _ in range(records):
            next(self._lines)
        self._writer.settle()

    def _endless(self) -> Iterator[None]:
        jobs = cycle(self._jobs)
        for topic in cycle(OF_TEN):
            number = next(self._numbers)
            if topic == CONTAINERS:
                self._beat(next(self._names), number)
            elif topic == TIERS and self._first:
                moved = ShardAddRequested(
                    TIER, number % SHARDS, number, f"old-{number % 100:03}", 1, "plan", "fill"
                )
                self._decide(TIERS, f"{TIER}/placement", moved)
            else:
                job = next(jobs)
                self._decide(JOURNAL, job, _decision(job, number))
            yield

    def _decide(self, topic: str, key: str, body: Body) -> None:
        parent, kind, value = self._last.get(key, ROOT), type(body).__name__, encode(body)
        name = self._last[key] = decision_id(parent, key, kind, value)
        record = Record(key, name, kind, value, body, parent, source="author", tick_ms=1)
        partition = 0 if topic == TIERS else partition_of(key, self._count)
        self._write(topic, partition, record)

    def _beat(self, name: str, number: int) -> None:
        body = ContainerHeartbeat(name, 1, number, number, "serving", 3, "", 12)
        record = Record(name, "", "ContainerHeartbeat", encode(body), body)
        self._write(CONTAINERS, partition_of(name, self._count), record)

    def _write(self, topic: str, partition: int, record: Record) -> None:
        headers = headers_of(record, topic)
        self._writer.write(
            BY_SHORT[topic].name, partition, record.key, record.value, headers=headers
        )


def _decision(job: str, number: int) -> Body:
    if number % REFUSED_EACH:
        return SyncStepDone(job, f"{number}#1", 1, "copy")
    return JobConfigRejected(
        job=job,
        ingress="base",
        change_id=f"1.{number}",
        reason="stale",
        explanation="another change was first",
        path="",
        version=1,
        author="author",
        traceparent=None,
    )


def _specs_of(job: str) -> TaskSpecsPublished:
    specs = tuple(
        TaskSpec(task, ("run", job), (InputPartitions("clicks", (task,)),), f"/c/{job}/{task}")
        for task in range(TASKS)
    )
    return TaskSpecsPublished(
        job=job,
        plan_id="1#1",
        generation=1,
        part=1,
        parts=1,
        tasks=TASKS,
        versions=LayerVersions(1, 0, 0, 0),
        tier=TIER,
        operator="a.b:c",
        guarantee="exactly_once",
        specs=specs,
        config_json=json.dumps({"operator": "a.b:c", "tasks": TASKS, "padding": "x" * LIST_BYTES}),
    )


def main(bootstrap: str, number: int, authors: int) -> None:
    author = Author(Settings(bootstrap=bootstrap), number, authors)
    for line in sys.stdin:
        author.write(int(line))
        print(json.dumps({"records": int(line)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
