"""A log in memory, said record by record: for figures and tests that need a fleet and no broker."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from components.runtime.core.component import Component
from components.runtime.core.step import ROOT
from components.runtime.kafka.intake import Message
from events.generated.records import (
    Body,
    ClockTicked,
    Generation,
    InputPartitions,
    JobConfigChanged,
    LayerVersions,
    SyncCommitted,
    SyncPlanned,
    SyncStep,
    TaskLoadReported,
    TaskSpec,
    TaskSpecsPublished,
    TaskStarted,
)
from events.topics import BY_SHORT, CLOCK, JOURNAL, LOADS, TASKS, TIERS, partition_of, place
from events.wire.codec import Record, encode, headers_of
from turbine.read.sources.held import HeldSource
from turbine_client.identity import decision_id

NOW = 1_800_000_000_000
PARTITIONS = 4
CHAINED = (JOURNAL, TIERS)


class SpokenLog(HeldSource):
    """A source of `turbine.read.sources.log.Log`; what is said later has a later instant."""

    since_ms = 0
    at_hand = True

    def __init__(self, partitions: int = PARTITIONS, now_ms: int = NOW) -> None:
        counts = {
            short: topic.partitions or partitions
            for short, topic in BY_SHORT.items()
            if topic.kind != "rows"
        }
        super().__init__((), counts)
        self._partitions = counts
        self._last: dict[tuple[str, str], str] = {}
        self.now_ms = now_ms

    def lacks(self, component: Component[Any]) -> str:
        """It has all that was said."""
        del component
        return ""

    def check(self, at_ms: int, what: str) -> None:
        """Any instant will do."""

    # --- saying

    def say(
        self,
        topic: str,
        key: str,
        body: Body,
        *,
        source: str = "",
        cause: str = "",
        parent: str | None = None,
        at_ms: int | None = None,
    ) -> str:
        """A record at the end of its place; its id. A decision's parent is the last one about its
        key, unless another is named: then it is void."""
        value, chain = encode(body), (topic, key)
        record_id = getattr(body, "change_id", "") or ""
        if topic in CHAINED:
            given = self._last.get(chain, ROOT) if parent is None else parent
            record_id = decision_id(given, key, type(body).__name__, value)
            if parent is None:
                self._last[chain] = record_id
            parent = given
        record = Record(
            key,
            record_id,
            type(body).__name__,
            value,
            body,
            parent=parent or "",
            tick_ms=self.now_ms,
            source=source,
            cause=cause,
            logic="1" if topic in CHAINED else "",
        )
        self.put(topic, key.encode(), value, headers_of(record, topic), at_ms)
        return record_id

    def put(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: list[tuple[str, bytes]],
        at_ms: int | None = None,
    ) -> None:
        """Any message."""
        self.now_ms = max(self.now_ms + 1, at_ms or 0)
        number = 0 if key is None else partition_of(key.decode(), self._partitions[topic])
        offset = self.ends([place(topic, number)])[place(topic, number)]
        self.add([Message(topic, number, offset, at_ms or self.now_ms, key, value, [*headers])])

    def tick(self, at_ms: int | None = None) -> None:
        """A tick of the clock."""
        body = ClockTicked(1)
        record = Record("clock", "tick", "ClockTicked", encode(body), body)
        self.put(CLOCK, b"clock", record.value, headers_of(record, CLOCK), at_ms)

    # --- jobs

    def expect(self, job: str, config: Mapping[str, Any], version: int = 1) -> str:
        """The job's base layer is that from now on."""
        text = json.dumps(config)
        body = JobConfigChanged(
            job,
            "base",
            f"{self.now_ms + 60_000}.{job}.{version}",
            version,
            LayerVersions(version, 0, 0, 0),
            text,
            text,
            "ana",
            "because",
        )
        return self.say(JOURNAL, job, body, source="job-service", cause=body.change_id)

    def run(self, job: str, config: Mapping[str, Any], tasks: int, version: int = 1) -> None:
        """The job runs as that from now on, with all its tasks."""
        self.list(job, config, tasks, version)
        for at in range(tasks):
            self.start(job, at, version)

    def list(self, job: str, config: Mapping[str, Any], tasks: int, version: int = 1) -> None:
        """The job is to run as that from now on."""
        text, versions = json.dumps(config), LayerVersions(version, 0, 0, 0)
        plan = f"{job}-{version}"
        steps = (SyncStep("start", tuple(range(tasks))),)
        planned = SyncPlanned(job, plan, "sig", "complex", "run", versions, version, steps, text)
        self.say(JOURNAL, job, planned, source="state-syncer")
        self.say(
            JOURNAL,
            job,
            SyncCommitted(job, plan, "complex", versions, version, text, "running", tasks),
            source="state-syncer",
        )
        specs = tuple(
            TaskSpec(at, ("run",), (InputPartitions("clicks", (at,)),), "/checkpoints")
            for at in range(tasks)
        )
        listed = TaskSpecsPublished(
            job, plan, version, 1, 1, tasks, versions, "default", "o.o:o", "exactly_once", specs
        )
        self.say(JOURNAL, job, listed, source="task-service")

    def start(self, job: str, task: int, version: int = 1) -> None:
        """The task runs."""
        body = TaskStarted(job, task, Generation(version, 1), f"container-{task % 2}", 1)
        self.say(TASKS, job, body, source=body.container)

    def load(self, job: str, task: int, *, version: int = 1, count: int = 1, **told: Any) -> None:
        """The task reports."""
        usual: dict[str, Any] = {
            "records_in_per_s": 100.0,
            "bytes_in_per_s": 1000.0,
            "records_out_per_s": 50.0,
            "bytes_out_per_s": 500.0,
            "lag_records": 10,
            "lag_bytes": 100,
            "lag_ms": 500,
            "cpu_cores": 0.25,
            "memory_bytes": 2**20,
        }
        body = TaskLoadReported(
            job,
            task,
            Generation(version, 1),
            1,
            count,
            60_000,
            container=f"container-{task % 2}",
            **(usual | told),
        )
        self.say(LOADS, job, body, source=body.container)
