"""How running follows expected: what is in effect, the plan under way, and what failed. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from events.generated.records import SyncFailed
from projections.syncs import Sync, SyncPlan
from projections.waits import missing
from turbine.read.answers.lines import JobLine
from turbine.read.plain import JsonObject, means
from turbine.read.state.running import condition, state_of
from turbine.read.state.view import View


@dataclass(frozen=True, slots=True)
class Missing:
    """A task for which a step waits."""

    task: int
    why: str


@dataclass(frozen=True, slots=True)
class PlanLine:
    """A plan that is on its way."""

    id: str
    intent: str
    versions: dict[str, int]
    steps: tuple[str, ...]
    step: str
    attempt: int
    deadline_ms: int | None
    missing: tuple[Missing, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """Why a config was given up."""

    versions: dict[str, int]
    step: str
    cause: str
    explanation: str


@dataclass(frozen=True, slots=True)
class PlanFailure:
    """A plan that had no effect, and why."""

    at_ms: int
    versions: dict[str, int]
    step: str
    cause: str
    explanation: str


@dataclass(frozen=True, slots=True)
class SyncLine:
    """How far a job's running config has followed its expected one."""

    job: str
    state: Annotated[str, means("As every list has it.")]
    tasks: Annotated[int, means("By config; none of a job that is paused.")]
    tasks_running: int
    in_effect: Annotated[str, means("The last brought about: running, paused, deleted, none.")]
    condition: Annotated[str, means("Its config: in sync, syncing, behind, failing, quarantined.")]
    held: Annotated[bool, means("Has an operator paused it?")]
    expected_versions: dict[str, int]
    running_versions: dict[str, int] | None
    generation: int | None
    running: Annotated[JsonObject, means("The config in effect; empty where none is.")]
    plan: PlanLine | None
    failures: Annotated[int, means("Of its plan, one after the other.")]
    retry_ms: int | None
    quarantine: Held | None
    last_failures: Annotated[tuple[PlanFailure, ...], means("The newest last.")]


def syncs(view: View, lines: Iterable[JobLine]) -> list[SyncLine]:
    """These jobs of a view, without those of which the state syncer has nothing."""
    found = ((view.jobs[line.job], line) for line in lines)
    return [
        sync_line(seen.sync, line.state, line.tasks, line.running, seen.notes.failures)
        for seen, line in found
        if seen.sync is not None
    ]


def sync_line(
    sync: Sync,
    state: str,
    tasks: int,
    tasks_running: int,
    failures: Iterable[tuple[SyncFailed, int]] = (),
) -> SyncLine:
    """One job, of which it is known how it stands."""
    running, trouble, held = sync.running, sync.trouble, sync.quarantine
    return SyncLine(
        job=sync.name,
        state=state,
        tasks=tasks,
        tasks_running=tasks_running,
        in_effect=state_of(sync),
        condition=condition(sync),
        held=sync.held,
        expected_versions=sync.versions.to_plain(),
        running_versions=None if running is None else running.versions.to_plain(),
        generation=None if running is None else running.generation,
        running={} if running is None else json.loads(running.config_json),
        plan=None if sync.plan is None else _plan(sync, sync.plan),
        failures=0 if trouble is None else trouble.failures,
        retry_ms=None if trouble is None else trouble.retry_ms,
        quarantine=None
        if held is None
        else Held(held.versions.to_plain(), held.step, held.cause, held.explanation),
        last_failures=tuple(
            PlanFailure(at_ms, body.versions.to_plain(), body.name, body.cause, body.explanation)
            for body, at_ms in failures
        ),
    )


def _plan(sync: Sync, plan: SyncPlan) -> PlanLine:
    return PlanLine(
        id=plan.id,
        intent=plan.intent,
        versions=plan.versions.to_plain(),
        steps=tuple(plan.steps),
        step=plan.step,
        attempt=plan.attempt,
        deadline_ms=plan.deadline_ms,
        missing=tuple(Missing(task, why) for task, why in missing(sync, plan)),
    )
