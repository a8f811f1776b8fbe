"""What runs of a job and what it still takes, in the words of a person on call. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from components.state_syncer.plan import way_of
from events.codec import Read
from events.records import Body, SyncFailed, TaskFailed, TaskStarted, TaskStopped
from projections.reports import Report, report_of
from projections.syncs import DELETED, RUNNING, Plan, Sync
from projections.waits import missing

Row = dict[str, Any]

STARTING = "starting"
"""Its config is in effect, and none of its tasks runs yet, though nothing has failed."""
FAILURES_KEPT = 5
"""Of each job: the last ones tell what is wrong now."""


class Seen(NamedTuple):
    """Where a task's last report is from."""

    container: str
    epoch: int  # the container's life
    at_ms: int


Spots = Mapping[int, tuple[Report, str, int]]
"""Of each task the last report, by which container, in which of its lives."""


class Sightings:
    """What records tell beside the rows: where each task was seen last, and what failed when.

    Given to `Log.syncs` as `heed`.
    """

    def __init__(self) -> None:
        self._tasks: dict[tuple[str, int], tuple[Report, str, int]] = {}
        self._failures: dict[str, list[tuple[SyncFailed, int]]] = {}

    @classmethod
    def of(
        cls,
        job: str,
        tasks: Spots,
        failures: Iterable[tuple[SyncFailed, int]],
    ) -> Sightings:
        """What was sighted of one job, where somebody else has kept it."""
        found = cls()
        found._tasks = {(job, task): seen for task, seen in tasks.items()}
        found._failures = {job: list(failures)}
        return found

    def __call__(self, read: Read, stands: bool) -> None:
        body: Body | None = read.record.body
        if isinstance(body, TaskStarted | TaskStopped | TaskFailed):
            at, seen = (read.record.key, body.task), report_of(body, read.at_ms)
            known = self._tasks.get(at)
            if known is None or known[0] < seen:
                self._tasks[at] = (seen, body.container, body.epoch)
        elif stands and isinstance(body, SyncFailed) and body.change_id is None:
            kept = self._failures.setdefault(read.record.key, [])
            kept.append((body, read.at_ms))
            del kept[:-FAILURES_KEPT]

    def seen(self, job: str, task: int, report: Report) -> Seen | None:
        """Where that report is from."""
        found = self._tasks.get((job, task))
        if found is None or found[0] != report:
            return None
        return Seen(found[1], found[2], report.at_ms)

    def failures(self, job: str) -> list[Row]:
        """The last plans without effect, the newest last."""
        return [failure_to_plain(body, at_ms) for body, at_ms in self._failures.get(job, ())]


def failure_to_plain(body: SyncFailed, at_ms: int) -> Row:
    """A plan without effect as JSON."""
    return {
        "at_ms": at_ms,
        "versions": body.versions.to_plain(),
        "step": body.name,
        "cause": body.cause,
        "explanation": body.explanation,
    }


def condition(sync: Sync) -> str:
    """One word for how the job stands."""
    if sync.quarantine is not None:
        return "quarantined"
    if sync.plan is not None:
        return "syncing"
    if way_of(sync) is None:
        return "in sync"
    return "failing" if sync.trouble is not None else "behind"


def state_of(sync: Sync) -> str:
    """What was last brought fully into effect: running, paused, deleted; "none" before that."""
    return "none" if sync.running is None else sync.running.state


def standing(
    sync: Sync | None, *, alive: bool, unhealthy: int = 0, lagging: int = 0, idle: bool = False
) -> str:
    """One word for how the job is, the gravest that is true: for lists, pages and metrics alike.

    What stands between expected and running comes first, then tasks that fail, that none runs, and
    tasks that lag. A job that lags is not "running" to who looks for what is wrong.
    """
    if sync is None:
        return "behind" if alive else DELETED
    word = condition(sync)
    if word != "in sync":
        return word
    if not alive:
        return DELETED
    state = state_of(sync)
    if state != RUNNING:
        return state
    if unhealthy:
        return "failing"
    return STARTING if idle else "lagging" if lagging else RUNNING


def sync_to_plain(sync: Sync, sightings: Sightings) -> Row:
    """A job's way from expected to running as JSON."""
    running, plan, trouble, quarantine = sync.running, sync.plan, sync.trouble, sync.quarantine
    return {
        "job": sync.name,
        "state": state_of(sync),
        "condition": condition(sync),
        "held": sync.held,
        "expected_versions": sync.versions.to_plain(),
        "running_versions": None if running is None else running.versions.to_plain(),
        "tasks": 0 if running is None or running.state == DELETED else running.tasks,
        "generation": None if running is None else running.generation,
        "running": {} if running is None else json.loads(running.config_json),
        "plan": None if plan is None else _plan(sync, plan),
        "failures": 0 if trouble is None else trouble.failures,
        "retry_ms": None if trouble is None else trouble.retry_ms,
        "quarantine": None
        if quarantine is None
        else {
            "versions": quarantine.versions.to_plain(),
            "step": quarantine.step,
            "cause": quarantine.cause,
            "explanation": quarantine.explanation,
        },
        "last_failures": sightings.failures(sync.name),
    }


def _plan(sync: Sync, plan: Plan) -> Row:
    return {
        "id": plan.id,
        "intent": plan.intent,
        "versions": plan.versions.to_plain(),
        "steps": list(plan.steps),
        "step": plan.step,
        "attempt": plan.attempt,
        "deadline_ms": plan.deadline_ms,
        "missing": [{"task": at, "why": why} for at, why in missing(sync, plan)],
    }
