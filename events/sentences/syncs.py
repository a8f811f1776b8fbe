"""How running follows expected, in one sentence each: plans, steps, failures, quarantine. Pure."""

from __future__ import annotations

from typing import assert_never

from events.generated.records import (
    JobQuarantined,
    JobReleased,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
    SyncStepDone,
    SyncStepStarted,
    TaskSpecsPublished,
)
from events.job_config.reset import reset_of
from events.job_config.strict_json import Malformed
from events.sentences.asked import place
from events.sentences.words import brief, by, counted, joined, plain_of, version, why

Said = (
    JobQuarantined
    | JobReleased
    | SyncCommitted
    | SyncFailed
    | SyncPlanned
    | SyncStepDone
    | SyncStepStarted
    | TaskSpecsPublished
)
BEGUN = {
    "stop": "tells its tasks to stop",
    "hand-over": "has its state handed over",
    "start": "tells its tasks to start",
}
DONE = {
    "stop": "all its tasks have stopped",
    "hand-over": "its state is handed over",
    "start": "all its tasks have started",
}


def said(body: Said) -> str:
    """What the way from one config to the next has come to."""
    match body:
        case SyncPlanned():
            return _planned(body)
        case SyncStepStarted():
            begun = BEGUN.get(body.name, f"begins {brief(body.name)}")
            return f"{begun}, step {body.step + 1}"
        case SyncStepDone():
            done = DONE.get(body.name, f"{brief(body.name)} is done")
            unheard = _whole(plain_of(body.outcome_json).get("unheard", 0))
            but = f" but {unheard} of which nothing is heard" if unheard else ""
            return f"{done}{but}, step {body.step + 1} is done"
        case SyncCommitted():
            return _committed(body)
        case SyncFailed():
            return _failed(body)
        case JobQuarantined():
            return (
                f"quarantined after {counted(body.failures, 'failure')} of version"
                f" {version(body.versions)} at step {brief(body.name) or 'none'}"
                f"{why(body.explanation, body.cause)}"
            )
        case JobReleased():
            return f"released from quarantine{by(body.author)}{why(body.reason, body.explanation)}"
        case TaskSpecsPublished():
            return _listed(body)
        case _:
            assert_never(body)


def _planned(body: SyncPlanned) -> str:
    tries = f" (attempt {body.attempt})" if body.attempt > 1 else ""
    return f"{_way(body)}, version {version(body.to_versions)}{tries}"


def _way(body: SyncPlanned) -> str:
    """What is done, and what for."""
    was, then = _tasks(body)
    stops = any(one.name == "stop" for one in body.steps)
    stop = f"stops {counted(was, 'task')}" if stops and was is not None else "stops its tasks"
    run = "its tasks" if then is None else counted(then, "task")
    match body.intent:
        case "start":
            return f"starts {run}"
        case "resume":
            return f"starts {run} again after a pause"
        case "restart":
            return f"{'waits until all tasks stand still and ' if stops else ''}starts {run} again"
        case "pause":
            return f"{stop}, paused by {'an operator' if body.held else 'its config'}"
        case "delete":
            return f"{stop}, as the job is deleted"
        case "reset":
            return f"{stop if stops else f'starts {run}'} to read again from {_from(body)}"
        case "change":
            if not stops or was is None or then is None:
                return f"{f'{stop} to' if stops else 'is to'} run {run}{_changes(body)}"
            return f"{stop} to run {'them' if was == then else then}{_changes(body)}"
        case _:
            return f"{brief(body.intent) or 'goes on'} with {run}"


def _tasks(body: SyncPlanned) -> tuple[int | None, int | None]:
    """How many there were, and how many there are to be; None where it does not say."""
    expected = plain_of(body.expected_json)
    then = _whole(expected.get("tasks", 1)) if expected else None
    for one in body.differences:
        if one.path == "tasks":
            before = 1 if one.from_json is None else _number(one.from_json)
            return (before if body.from_versions else None), then
    return then, then


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _changes(body: SyncPlanned) -> str:
    """Which fields become others, the number of tasks aside."""
    paths = [brief(one.path, 40) for one in body.differences if one.path != "tasks"]
    return f" with new {joined(paths)}" if paths else ""


def _from(body: SyncPlanned) -> str:
    try:
        found = reset_of(body.reset_json)
    except Malformed:
        found = None
    return "another place" if found is None else place(found.to)


def _committed(body: SyncCommitted) -> str:
    at = version(body.versions)
    match body.state:
        case "running" if body.kind == "simple":
            tasks = counted(body.tasks, "task")
            # Whether they stand still all the same, as a deletion has told them to, it cannot say.
            return f"version {at} is in effect, and for it none of its {tasks} had to stop"
        case "running":
            return f"runs {counted(body.tasks, 'task')} with version {at}"
        case "paused":
            return f"paused by {'an operator' if body.held else 'its config'}, at version {at}"
        case "deleted":
            return f"nothing of it runs any more, it is deleted at version {at}"
        case _:
            return f"{brief(body.state)} with {counted(body.tasks, 'task')}, version {at}"


def _failed(body: SyncFailed) -> str:
    at = version(body.versions)
    if body.cause == "overtaken":
        return f"gave up the plan for version {at}{why(body.explanation)}"
    if not body.plan_id:
        return f"rejected what an operator asked, {brief(body.cause)}{why(body.explanation)}"
    where = f"at step {brief(body.name)}" if body.name else "before its first step"
    return (
        f"failed {where} on the way to version {at}, failure {body.failures}"
        f"{why(body.explanation, body.cause)}"
    )


def _listed(body: TaskSpecsPublished) -> str:
    part = f", part {body.part} of {body.parts}" if body.parts > 1 else ""
    if not body.tasks:
        return f"lists no task, so that all of them stop, generation {body.generation}{part}"
    code = f" ({brief(body.package, 40)} {brief(body.package_version, 40)})" if body.package else ""
    return (
        f"lists {counted(body.tasks, 'task')} of {brief(body.operator)}{code}, generation"
        f" {body.generation}{part}"
    )
