"""The life of one job in good order, told by those who would have told it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import count
from typing import Any

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    Generation,
    InputPartitions,
    JobConfigChanged,
    JobDeleted,
    JobQuarantined,
    JobReleased,
    LayerVersions,
    PauseRequested,
    ReleaseRequested,
    ResumeRequested,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
    SyncStep,
    SyncStepDone,
    SyncStepStarted,
    TaskFailed,
    TaskLoadReported,
    TaskSpec,
    TaskSpecsPublished,
    TaskStarted,
    TaskStopped,
)
from events.job_config.strict_json import canonical_json
from events.wire.codec import Read, Record, encode
from simulation.checkers.history import ROOT, History
from turbine_client.identity import decision_id

Said = tuple[str, Body]
"""Where a record lies, and what it says."""
Script = tuple[Said, ...]

JOURNAL, TASKS, OPERATOR = "journal.v1/0", "tasks.v1/0", "operator.v1/0"
LOADS = "loads.v1/0"
PARTITIONS = 6
BASE: dict[str, Any] = {
    "operator": "examples.counts:count",
    "inputs": [{"topic": "clicks", "partitions": PARTITIONS}],
    "package": {"name": "counts", "version": "1.0.0"},
    "checkpoint": {"root": "/checkpoints"},
    "tasks": 2,
}


def place_of(body: Body) -> str:
    if isinstance(body, TaskStarted | TaskStopped | TaskFailed):
        return TASKS
    if isinstance(body, TaskLoadReported):
        return LOADS
    asks = isinstance(body, PauseRequested | ResumeRequested | ReleaseRequested)
    return OPERATOR if asks else JOURNAL


def written(script: Script, times: Iterable[int] = ()) -> History:
    """The log of what is said: every decision on all that was said before it, each at its instant,
    or a millisecond after the other."""
    log: dict[str, list[Read]] = {JOURNAL: [], TASKS: [], OPERATOR: [], LOADS: []}
    last = ROOT
    for at_ms, (place, body) in zip(times or count(1_000), script, strict=False):
        kind, value, offset = type(body).__name__, encode(body), len(log[place])
        if place == JOURNAL:
            name = decision_id(last, "orders", kind, value)
            evidence = {one: len(reads) for one, reads in log.items()}
            record = Record("orders", name, kind, value, body, last, evidence, tick_ms=at_ms)
            last = name
        else:
            name = getattr(body, "change_id", f"{place}:{offset}")
            record = Record("orders", name, kind, value, body)
        topic = place.partition("/")[0]
        log[place].append(Read(place, topic, offset, at_ms, record))
    return History(log, JOURNAL)


class Story:
    """A job's life, told by those who would have told it."""

    def __init__(self) -> None:
        self.script: list[Said] = []
        self.versions = LayerVersions(0, 0, 0, 0)
        self.config: dict[str, Any] = {}
        self.plan: Any = None
        self.running: Any = None
        self.generation = 0
        self.live = (0, 0)  # generation and number of the tasks that were listed last

    def say(self, body: Body) -> None:
        self.script.append((place_of(body), body))

    # --- who asks

    def wants(self, **fields: Any) -> None:
        self.versions = replace(self.versions, base=self.versions.base + 1)
        self.config = BASE | fields
        text = canonical_json(self.config)
        version = self.versions.base
        self.say(
            JobConfigChanged(
                job="orders",
                layer="base",
                change_id=f"9.{version}",
                version=version,
                versions=self.versions,
                layer_json=text,
                expected_json=text,
                author="ann",
                reason="",
            )
        )

    def deleted(self) -> None:
        self.versions = LayerVersions(self.versions.base + 1, 1, 1, 1)
        self.config = {}
        self.say(JobDeleted("orders", "9.d", self.versions, author="ann", reason=""))

    def asks(self, kind: type[Body], name: str) -> str:
        make: Any = kind
        self.say(make(change_id=f"900000.{name}", job="orders", author="ann", reason="why"))
        return f"900000.{name}"

    # --- the state syncer

    def plans(self, intent: str, *steps: str, change_id: str | None = None) -> None:
        self.generation += 2
        self.plan = SyncPlanned(
            job="orders",
            plan_id=f"{text_of(self.versions)}#{self.generation}",
            signature=f"{intent} {self.versions.base}",
            kind="complex",
            intent=intent,
            to_versions=self.versions,
            generation=self.generation,
            steps=tuple(map(SyncStep, steps)),
            expected_json=canonical_json(self.config),
            change_id=change_id,
            held=intent == "pause",
        )
        self.say(self.plan)

    def begins(self, step: str) -> None:
        at = [one.name for one in self.plan.steps].index(step)
        self.say(SyncStepStarted("orders", self.plan.plan_id, at, step, self.plan.generation))

    def finishes(self, step: str) -> None:
        at = [one.name for one in self.plan.steps].index(step)
        self.say(SyncStepDone("orders", self.plan.plan_id, at, step))

    def commits(self, state: str, change_id: str | None = None, *, simple: bool = False) -> None:
        plan = None if simple else self.plan
        json = canonical_json(self.config) if plan is None else plan.expected_json
        self.running = SyncCommitted(
            job="orders",
            plan_id=text_of(self.versions) if plan is None else plan.plan_id,
            kind="complex" if plan else "simple",
            versions=plan.to_versions if plan else self.versions,
            generation=plan.generation if plan else self.live[0],
            running_json="{}" if state == "deleted" else json,
            state=state,
            tasks=self.config.get("tasks", 0),
            change_id=change_id or (plan.change_id if plan else None),
            held=plan.held if plan else False,
        )
        self.plan = None
        self.say(self.running)

    def fails(self, failures: int, cause: str = "step-timeout") -> None:
        self.say(
            SyncFailed(
                job="orders",
                plan_id=self.plan.plan_id,
                signature=self.plan.signature,
                versions=self.plan.to_versions,
                step=0,
                name="stop",
                cause=cause,
                explanation="stop took too long",
                failures=failures,
            )
        )
        self.plan = None

    def refuses(self, change_id: str, cause: str) -> None:
        body = SyncFailed("orders", "", "", self.versions, 0, "", cause, "no", 0)
        self.say(replace(body, change_id=change_id))

    def fails_thrice(self) -> None:
        """A change for which the tasks never stop."""
        for failures in (1, 2, 3):
            self.plans("change", "stop", "start")
            self.begins("stop")
            plan_id, signature = self.plan.plan_id, self.plan.signature
            self.fails(failures)
        told = (plan_id, signature, self.versions, 0, "stop", "step-timeout", "stop took too long")
        self.say(JobQuarantined("orders", *told, 3))
        self.say(
            AlertRaised(
                subject="orders",
                alert="job-quarantined",
                severity="critical",
                cause=f"orders was not brought to {text_of(self.versions)}: stop took too long",
                runbook="docs/runbooks/job-quarantined.md",
                details_json='{"cause":"step-timeout","step":"stop"}',
            )
        )

    def releases(self, change_id: str | None = None) -> None:
        versions = None if change_id else self.versions
        self.say(JobReleased("orders", "it is tried again", change_id, versions))
        self.say(AlertCleared("orders", "job-quarantined", explanation="it was released"))

    # --- the task service

    def lists(self, parts: int = 1) -> None:
        """The tasks of the plan that starts them, or of what runs."""
        of: Any = self.plan or self.running
        tasks = self.config["tasks"]
        generation = self.plan.generation if self.plan else self.live[0]
        self.live = (generation, tasks)
        specs = [
            TaskSpec(
                task=task,
                argv=("--fast",),
                inputs=(InputPartitions("clicks", tuple(range(task, PARTITIONS, tasks))),),
                checkpoint=f"/checkpoints/orders/{task}",
            )
            for task in range(tasks)
        ]
        size = -(-tasks // parts)
        for part in range(parts):
            self.say(
                TaskSpecsPublished(
                    job="orders",
                    plan_id=of.plan_id,
                    generation=generation,
                    part=part + 1,
                    parts=parts,
                    tasks=tasks,
                    versions=of.to_versions if self.plan else of.versions,
                    tier="default",
                    operator="examples.counts:count",
                    guarantee="exactly_once",
                    specs=tuple(specs[part * size : (part + 1) * size]),
                    package=self.config["package"]["name"],
                    package_version=self.config["package"]["version"],
                )
            )

    def empties(self) -> None:
        self.say(empty_list(self.plan.plan_id, self.plan.generation - 1, self.plan.to_versions))

    # --- the tasks

    def started(self, tasks: Iterable[int]) -> None:
        for task in tasks:
            self.say(TaskStarted("orders", task, Generation(self.live[0], 1), "c1", 1))

    def retried(self, task: int) -> None:
        """It fails once, and runs at the second attempt."""
        generation = Generation(self.live[0], 1)
        self.say(TaskStarted("orders", task, generation, "c1", 1))
        self.say(TaskFailed("orders", task, generation, "c1", 1, "oom", "too much", pause_ms=9))
        self.say(TaskStarted("orders", task, generation, "c1", 1, attempt=2))

    def stopped(self, specs: int | None = None) -> None:
        for task in range(self.live[1]):
            generation = Generation(specs or self.live[0], 1)
            self.say(TaskStopped("orders", task, generation, "c1", 1, "plan"))

    # --- chapters

    def is_created(self) -> None:
        self.wants()
        self.plans("start", "start")
        self.begins("start")
        self.lists(parts=2)
        self.started([0])
        self.retried(1)
        self.finishes("start")
        self.commits("running")

    def gets_a_package(self) -> None:
        self.wants(package={"name": "counts", "version": "1.0.1"}, threads_per_task=1)
        self.commits("running", simple=True)
        self.lists()

    def gets_another_shape(self) -> None:
        self.wants(tasks=3)
        self.plans("change", "stop", "start")
        self.begins("stop")
        self.empties()
        self.stopped()
        self.finishes("stop")
        self.begins("start")
        self.wants(tasks=3, priority=7)
        self.lists()
        self.started(range(3))
        self.finishes("start")
        self.commits("running")
        self.commits("running", simple=True)
        self.lists()

    def is_paused_and_resumed(self) -> None:
        asked = self.asks(PauseRequested, "pause")
        self.plans("pause", "stop", change_id=asked)
        self.begins("stop")
        self.empties()
        self.stopped()
        self.finishes("stop")
        self.commits("paused")
        asked = self.asks(ResumeRequested, "resume")
        self.plans("resume", "start", change_id=asked)
        self.begins("start")
        self.lists()
        self.started(range(3))
        self.finishes("start")
        self.commits("running")
        self.refuses(self.asks(ResumeRequested, "again"), "not-paused")

    def stands_still_and_starts(self, *, listed: bool = True) -> None:
        """The plan in progress to its end; tasks that were told to stop need not be told again."""
        self.begins("stop")
        if listed:
            self.empties()
        self.stopped()
        self.finishes("stop")
        self.begins("start")
        self.lists()
        self.started(range(self.live[1]))
        self.finishes("start")
        self.commits("running")

    def is_listed_again_after_a_failure(self) -> None:
        """Three tasks were to be; that fails, and those that ran are told to run again."""
        tasks = self.config["tasks"]
        self.wants(tasks=3)
        self.plans("change", "stop", "start")
        self.begins("stop")
        self.empties()
        self.stopped()
        self.fails(1)
        self.config["tasks"], self.live = tasks, (self.live[0] + 3, tasks)
        self.lists()

    def fails_and_is_released(self) -> None:
        self.wants(tasks=4)
        self.plans("change", "stop", "start")
        self.begins("stop")
        self.wants(tasks=5)
        self.fails(0, "overtaken")
        self.fails_thrice()
        self.releases(self.asks(ReleaseRequested, "release"))
        self.fails_thrice()
        self.wants(tasks=3, priority=9)
        self.releases()
        self.commits("running", simple=True)

    def is_deleted_and_created_paused(self) -> None:
        self.deleted()
        self.plans("delete", "stop")
        self.begins("stop")
        self.empties()
        self.stopped()
        self.finishes("stop")
        self.commits("deleted")
        self.wants(paused=True)
        self.commits("paused", simple=True)


def text_of(versions: LayerVersions) -> str:
    return f"{versions.base}.{versions.provisioner}.{versions.scaler}.{versions.oncall}"


def empty_list(plan_id: str, generation: int, versions: LayerVersions) -> TaskSpecsPublished:
    return TaskSpecsPublished("orders", plan_id, generation, 1, 1, 0, versions, "", "", "", ())


@cache
def good() -> Script:
    """All that may befall a job, in good order."""
    story = Story()
    story.is_created()
    story.gets_a_package()
    story.gets_another_shape()
    story.is_paused_and_resumed()
    story.fails_and_is_released()
    story.is_deleted_and_created_paused()
    return tuple(story.script)
