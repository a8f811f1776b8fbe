"""One job as the state syncer holds it, with tasks played by hand and lists published for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from components.state_syncer.decide import decide
from events.generated.records import (
    Body,
    Generation,
    JobConfigChanged,
    JobDeleted,
    LayerVersions,
    SyncPlanned,
    TaskFailed,
    TaskSpecsPublished,
    TaskStarted,
    TaskStopped,
)
from events.job_config.strict_json import canonical_json
from events.topics import JOURNAL, OPERATOR, TASKS
from events.wire.codec import Read, Record, encode
from projections.jobs import Job
from projections.jobs import fold as fold_job
from projections.syncs import Sync, SyncPlan, fold
from turbine_client.identity import change_id

NOW_MS = 1_000_000
SMALLEST: dict[str, Any] = {
    "operator": "examples.counts:count",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "counts", "version": "1.0.0"},
    "checkpoint": {"root": "/checkpoints"},
    "tasks": 2,
}


class Fleet:
    """What is told and what is asked, in the log's order; `said` is all that was decided."""

    def __init__(self, fold: Callable[..., Sync] = fold) -> None:
        self._fold = fold
        self.row, self.job = Sync("orders"), Job("orders")
        self.now_ms = NOW_MS
        self.said: list[Body] = []
        self._offsets = count()
        self._base = 0

    # --- the log

    def tell(self, topic: str, body: Body, name: str = "") -> None:
        """A record that is read. Who judges changes knows the same of what is kept as who plans."""
        offset = next(self._offsets)
        record = Record("orders", name or f"r{offset}", type(body).__name__, encode(body), body)
        read = Read(f"{topic}/0", topic, offset, self.now_ms, record)
        self.row, self.job = self._fold(self.row, read), fold_job(self.job, read)
        assert self.job.kept == self.row.kept

    def decide(self) -> list[Body]:
        """What is said now; it stands at once, and nothing is left to say."""
        said = list(decide(self.row, self.now_ms))
        for body in said:
            self.tell(JOURNAL, body)
        assert list(decide(self.row, self.now_ms)) == [], "it does not come to rest"
        self.said += said
        return said

    def kinds(self) -> list[str]:
        """What was said since the last look."""
        kinds = [type(body).__name__ for body in self.said]
        self.said.clear()
        return kinds

    # --- who asks

    def wants(self, **config: Any) -> None:
        """The job service accepts a base layer; what is None is taken out of it."""
        self._base += 1
        text = canonical_json({k: v for k, v in (SMALLEST | config).items() if v is not None})
        self.tell(
            JOURNAL,
            JobConfigChanged(
                job="orders",
                layer="base",
                change_id=f"9.{self._base}",
                version=self._base,
                versions=LayerVersions(self._base, 0, 0, 0),
                layer_json=text,
                expected_json=text,
                author="ann",
                reason="",
            ),
        )

    def deleted(self) -> None:
        self._base += 1
        versions = LayerVersions(self._base, 1, 1, 1)
        self.tell(JOURNAL, JobDeleted("orders", "9.d", versions, author="ann", reason=""))

    def asks(self, kind: type[Body], name: str = "ask") -> str:
        """An operator's request; its id."""
        make: Any = kind
        name = change_id(self.now_ms + 60_000, name)
        self.tell(OPERATOR, make(change_id=name, job="orders", author="ann", reason="why"), name)
        return name

    # --- who does it

    def lists(self, generation: int, tasks: int) -> None:
        """The task service's list stands."""
        plan = self.row.plan
        self.tell(
            JOURNAL,
            TaskSpecsPublished(
                job="orders",
                plan_id=plan.id if plan is not None else "",
                generation=generation,
                part=1,
                parts=1,
                tasks=tasks,
                versions=plan.versions if plan is not None else self.row.versions,
                tier="default",
                operator="examples.counts:count",
                guarantee="exactly_once",
                specs=(),
            ),
        )

    def started(
        self, generation: int, tasks: Iterable[int], *, keeps_state: bool | None = None
    ) -> None:
        for task in tasks:
            both = Generation(generation, 1)
            body = TaskStarted("orders", task, both, "c1", 1, keeps_state=keeps_state)
            self.tell(TASKS, body)

    def stopped(self, generation: int, tasks: Iterable[int]) -> None:
        for task in tasks:
            self.tell(
                TASKS, TaskStopped("orders", task, Generation(generation, 1), "c1", 1, "plan")
            )

    def failed(self, generation: int, task: int, pause_ms: int | None = None) -> None:
        body = TaskFailed(
            job="orders",
            task=task,
            generation=Generation(generation, 1),
            container="c1",
            epoch=1,
            cause="operator-error",
            explanation="division by zero",
            pause_ms=pause_ms,
        )
        self.tell(TASKS, body)

    # --- what is known

    @property
    def plan(self) -> SyncPlan:
        assert self.row.plan is not None
        return self.row.plan

    @property
    def planned(self) -> SyncPlanned:
        """The last plan that was made."""
        return next(body for body in reversed(self.said) if isinstance(body, SyncPlanned))

    def runs(self, **config: Any) -> Fleet:
        """The job was created and runs with two tasks at generation 2."""
        self.wants(**config)
        self.decide()
        self.lists(2, 2)
        self.started(2, range(2))
        self.decide()
        assert self.row.running is not None
        self.said.clear()
        return self
