"""The tasks of a job: how each stands, what it reported last, and how it failed last. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

from events.generated.records import TaskLoadReported
from projections.syncs import Sync
from turbine.read.answers.lines import is_fresh, now_of
from turbine.read.plain import made, means
from turbine.read.state.headline import STATES, Lives, lives_of, tasks_of
from turbine.read.state.running import Sightings
from turbine.read.state.view import View

REPORTED = (
    *("records_in_per_s", "records_out_per_s", "bytes_in_per_s", "bytes_out_per_s"),
    *("lag_records", "lag_bytes", "cpu_cores", "memory_bytes", "state_bytes", "busy_share"),
)
"""What a task tells as its record has it."""


@dataclass(frozen=True, slots=True)
class TaskState:
    """How a task stands, in one word."""

    job: str
    task: int
    name: str
    state: Annotated[str, means(f"One of {', '.join(STATES)}.")]
    container: str | None
    generation: int | None
    shard_generation: int | None
    attempt: int | None
    since_ms: int | None
    cause: str
    explanation: str


@dataclass(frozen=True, slots=True)
class PartitionLine:
    """One input partition of a task, as it was reported."""

    topic: str
    partition: int
    lag_records: int | None
    lag_bytes: int | None
    lag_ms: int | None
    records_in_per_s: float | None


@dataclass(frozen=True, slots=True)
class TaskLine(TaskState):
    """One task: how it stands, and what it reported last."""

    reported_ms: int | None
    fresh: Annotated[bool, means("Was that of late? Else nobody knows how it does now.")]
    records_in_per_s: float | None
    records_out_per_s: float | None
    bytes_in_per_s: float | None
    bytes_out_per_s: float | None
    lag_records: int | None
    lag_bytes: int | None
    lag_seconds: float | None
    cpu_cores: float | None
    memory_bytes: int | None
    state_bytes: int | None
    busy_share: float | None
    partitions: tuple[PartitionLine, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """How a task failed, and when."""

    kind: str
    job: str
    task: int
    name: str
    at_ms: int
    container: str
    generation: int
    shard_generation: int
    attempt: int
    cause: str
    error_class: str
    explanation: str
    traceback: Annotated[str, means("Its last lines, 4 kB at most; empty where there is none.")]
    retry_ms: Annotated[int | None, means("When it is started again; null: it is not.")]


@dataclass(frozen=True, slots=True)
class Task(TaskLine):
    """One task, and how it failed last."""

    last_failure: Failure | None


def tasks(view: View, job: str) -> list[TaskLine]:
    """The tasks of a job of a view that should run, and those that run although they should not."""
    seen = view.jobs[job]
    if seen.sync is None:
        return []
    states = states_of(seen.sync, seen.sightings, lives_of(view.tiers.values()))
    loads = seen.loads
    return [reported(state, loads.get(state.task), now_of(view)) for state in states]


def task(view: View, job: str, number: int, failure: Failure | None) -> Task | None:
    """One task of a job of a view, also one that it has no more, by how it failed last; None: it
    has never had it."""
    found = next((one for one in tasks(view, job) if one.task == number), None)
    if found is None and failure is not None:
        load = view.jobs[job].loads.get(number)
        found = reported(former(failure), load, now_of(view))
    if found is None:
        return None
    return made(Task, found, last_failure=failure)


def former(failure: Failure) -> TaskState:
    """A task that the job has no more, by how it failed last."""
    return made(TaskState, failure, state="gone", since_ms=failure.at_ms)


def states_of(sync: Sync, sightings: Sightings, lives: Lives) -> Iterator[TaskState]:
    """How each task of a job stands."""
    for found in tasks_of(sync, sightings, lives):
        report, seen = found.report, found.seen
        yield TaskState(
            job=sync.name,
            task=found.task,
            name=f"{sync.name}/{found.task}",
            state=found.state,
            container=None if seen is None else seen.container,
            generation=None if report is None else report.specs,
            shard_generation=None if report is None else report.shard,
            attempt=None if report is None else report.attempt,
            since_ms=None if seen is None else seen.at_ms,
            cause="" if report is None else report.cause,
            explanation="" if report is None else report.explanation,
        )


def reported(state: TaskState, load: tuple[TaskLoadReported, int] | None, now_ms: int) -> TaskLine:
    """A task with what it reported last."""
    report, at_ms = load if load is not None else (None, None)
    if report is not None and not state.container:
        state = replace(state, container=report.container or None)

    def said(name: str) -> Any:
        return None if report is None else getattr(report, name)

    lag_ms = said("lag_ms")
    return made(
        TaskLine,
        state,
        reported_ms=at_ms,
        **{name: said(name) for name in REPORTED},
        fresh=at_ms is not None and is_fresh(at_ms, now_ms),
        lag_seconds=None if lag_ms is None else lag_ms / 1000,
        partitions=tuple(made(PartitionLine, one) for one in said("partitions") or ()),
    )
