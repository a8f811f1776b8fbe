"""What keeps a job from running as it should: since when, why, by whom, and what to type. Pure.

The first question of a person on call. One answer, the gravest that is true, by the same word that
lists show of the job.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from events.generated.records import (
    JobDeleted,
    JobQuarantined,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
    SyncStepStarted,
)
from events.job_config.merge import origins
from events.sentences import in_full
from events.sentences.words import counted
from events.topics import LAYERS
from events.wire.codec import Read
from projections.fleet import TierFleet
from projections.jobs import Job
from projections.reports import Report
from projections.shards import mask_of
from projections.syncs import PAUSED, Sync
from projections.waits import missing
from turbine.read.answers.lines import JobLine
from turbine.read.answers.task_words import place_of
from turbine.read.sources.log import Standing
from turbine.read.state.headline import LOST, UNHEARD
from turbine_client.creating import perhaps

Row = Mapping[str, object]
Asked = Callable[[str], Read | None]
"""Finds what an operator asked for, by its id."""

WAITS_TOLD = 3


class Hindrance(NamedTuple):
    """What is in the way."""

    because: str
    since_ms: int | None = None
    todo: str = ""  # what to type
    id: str = ""  # of the decision that says so


def hindrance(
    job: Job,
    sync: Sync | None,
    line: JobLine,
    decisions: Sequence[Standing],
    asked: Asked,
    *,
    tiers: Mapping[str, TierFleet],
) -> Row:
    """The state with its reason, as JSON; a job that runs well has none."""
    found = _found(job, sync, line, [one for one in decisions if one.stands], asked)
    if tiers and sync is not None and job.alive and line.not_running and not sync.held:
        found = _with_vacancy(found, sync, tiers)
    return {
        "state": line.state,
        "tasks": line.tasks,
        "running": line.running,
        "because": found.because,
        "since_ms": found.since_ms,
        "todo": found.todo,
        "decision": found.id or None,
    }


def _found(
    job: Job, sync: Sync | None, line: JobLine, decisions: Sequence[Standing], asked: Asked
) -> Hindrance:
    name = job.name
    if line.state == "deleted":
        return _said(decisions, JobDeleted, f"turbine describe job {name}")
    if sync is None:
        return Hindrance("nobody has planned it yet; is the state syncer running?")
    match line.state:
        case "quarantined":
            todo = f"turbine release {name} --reason R, once that is put right"
            return _said(decisions, JobQuarantined, todo)
        case "paused":
            return _paused(job, sync, decisions, asked)
        case "syncing":
            return _syncing(sync, decisions)
        case "failing":
            return _failing(sync, line, decisions)
        case "starting":
            return _starting(line)
        case "behind" if not job.alive:
            return Hindrance("it is deleted, and what runs of it is not stopped yet")
        case "behind":
            return Hindrance(
                "its config is not in effect yet, and nobody has planned it; is the state syncer"
                " running?"
            )
        case "lagging":
            worst = line.lag_seconds
            late = "" if worst is None else f", the worst by {worst:,.0f} s"
            return Hindrance(
                f"{line.lagging} of {line.tasks} tasks are further behind than"
                f" slo.lag_seconds allows{late}",
                todo=f"turbine get lag {name}",
            )
        case _:
            return _running(line)


def _running(line: JobLine) -> Hindrance:
    if line.not_running:
        return Hindrance(
            f"{line.not_running} of {line.tasks} tasks do not run",
            todo=f"turbine get tasks --job {line.job}",
        )
    return Hindrance("")


def _with_vacancy(found: Hindrance, sync: Sync, tiers: Mapping[str, TierFleet]) -> Hindrance:
    """The same, and first of all that nobody is where its tasks are to run."""
    tier, allowed = place_of(sync.expected_json)
    fleet = tiers.get(tier)
    todo = f"turbine publish change {sync.name} --set tier=..., or `turbine get containers`"
    if fleet is None or not fleet.defined:
        said = f"there is no tier {tier}{perhaps(tier, tiers)}: correct `tier`"
    elif not any(life.lives for life in fleet.members()):
        said = (
            f"tier {tier} has no container: correct `tier`, or start containers with --tier {tier}"
        )
    elif not mask_of(fleet.regions, allowed):
        said = (
            f"tier {tier} has none of {', '.join(allowed)}: correct `allowed_regions`; it has"
            f" {', '.join(fleet.regions)}"
        )
        todo = f"turbine publish change {sync.name} --set allowed_regions=..."
    else:
        return found
    return found._replace(because=f"{said}; {found.because}", todo=todo)


def _said(decisions: Sequence[Standing], kind: type, todo: str) -> Hindrance:
    """By the last record of that kind."""
    one = _last(decisions, kind)
    if one is None:
        return Hindrance("", todo=todo)
    return Hindrance(in_full(one.read.record.body), one.read.at_ms, todo, one.read.record.id)


def _last(decisions: Sequence[Standing], *kinds: type) -> Standing | None:
    return next(
        (one for one in reversed(decisions) if isinstance(one.read.record.body, kinds)), None
    )


# --- paused


def _paused(job: Job, sync: Sync, decisions: Sequence[Standing], asked: Asked) -> Hindrance:
    """By an operator, or by a layer of its config; each is ended in its own way."""
    since_ms, decision = _since_paused(decisions)
    if sync.held:
        todo = f"turbine resume {job.name} --reason R"
        wish = _wish(decisions, asked)
        body: Any = None if wish is None else wish.record.body
        said = "an operator has paused it" if body is None else in_full(body)
        return Hindrance(said, since_ms, todo, decision)
    configs = [json.loads(layer.config_json) for layer in job.layers]
    at = origins(configs).get("paused")
    if at is None:
        return Hindrance("its config says so", since_ms, "", decision)
    layer = job.layers[at]
    by = f" by {layer.author}" if layer.author else ""
    why = f": {layer.reason}" if layer.reason else ""
    todo = f"turbine publish change {job.name} --layer {LAYERS[at]} --clear paused --reason R"
    return Hindrance(f"the {LAYERS[at]} layer pauses it{by}{why}", since_ms, todo, decision)


def _since_paused(decisions: Sequence[Standing]) -> tuple[int | None, str]:
    """The first of the last commits in a row that say so."""
    found: tuple[int | None, str] = None, ""
    for one in reversed(decisions):
        body = one.read.record.body
        if isinstance(body, SyncCommitted):
            if body.state != PAUSED:
                break
            found = one.read.at_ms, one.read.record.id
    return found


def _wish(decisions: Sequence[Standing], asked: Asked) -> Read | None:
    """Of the operator who paused it last."""
    for one in reversed(decisions):
        body = one.read.record.body
        paused = isinstance(body, SyncPlanned) and body.intent == "pause"
        paused = paused or (isinstance(body, SyncCommitted) and body.state == PAUSED)
        if paused and (change := getattr(body, "change_id", None)):
            return asked(change)
    return None


# --- on its way, or failing


def _syncing(sync: Sync, decisions: Sequence[Standing]) -> Hindrance:
    plan, began = sync.plan, _last(decisions, SyncStepStarted, SyncPlanned)
    assert plan is not None, "the state says so"
    since_ms = None if began is None else began.read.at_ms
    decision = "" if began is None else began.read.record.id
    waits = [f"{at} ({why})" for at, why in missing(sync, plan)]
    more = f" and {len(waits) - WAITS_TOLD} more" if len(waits) > WAITS_TOLD else ""
    tasks = f", for tasks {', '.join(waits[:WAITS_TOLD])}{more}" if waits else ""
    step = f"in step {plan.step}, {plan.at + 1} of {len(plan.steps)}" if plan.step else "to begin"
    planned = _last(decisions, SyncPlanned)
    what = plan.intent if planned is None else in_full(planned.read.record.body)
    todo = f"turbine get syncs --job {sync.name}"
    return Hindrance(f"it waits {step}{tasks}; the plan {what}", since_ms, todo, decision)


def _failing(sync: Sync, line: JobLine, decisions: Sequence[Standing]) -> Hindrance:
    """The plan that failed last; or, where the config is in effect, a task that fails, or one whose
    container is gone."""
    if sync.trouble is not None:
        return _said(decisions, SyncFailed, f"turbine logs {sync.name}")
    failed = sorted(_failed(sync.tasks))
    if not failed:
        return _unheard(line)
    at, report = failed[0]
    others = f", and {counted(len(failed) - 1, 'other')} too" if failed[1:] else ""
    again = "will not be started again" if report.final else "is started again"
    said = f"task {at} fails and {again}{others} ({report.cause}): {report.explanation}"
    return Hindrance(said, report.at_ms, f"turbine logs {sync.name}/{at}")


def _unheard(line: JobLine) -> Hindrance:
    """Nothing is heard of their container, or it is given up and no other runs them yet."""
    states, todo = line.tasks_by_state, f"turbine get tasks --job {line.job}"
    told = " and ".join(f"{states[one]} {one}" for one in (UNHEARD, LOST) if one in states)
    return Hindrance(
        f"of {counted(line.tasks, 'task')} {told}: nothing is heard of where they ran", todo=todo
    )


def _starting(line: JobLine) -> Hindrance:
    """Containers have not started them yet, or end those of an older list first."""
    told = " and ".join(f"{count} {state}" for state, count in line.tasks_by_state.items())
    return Hindrance(
        f"none of {counted(line.tasks, 'task')} runs yet ({told}), and nothing has failed",
        todo=f"turbine get tasks --job {line.job}",
    )


def _failed(tasks: Mapping[int, Report]) -> Iterator[tuple[int, Report]]:
    return ((at, report) for at, report in tasks.items() if report.failed and not report.stopped)
