"""A job as every list shows it: one word for how it stands, its tasks, lag, overrides and alerts.

Unknown is None and never 0: a task that has not reported of late says nothing of its lag. Pure, but
for what is remembered of jobs that have not changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Annotated, Any, NamedTuple

from events.generated.records import TaskLoadReported
from events.job_config.config import Invalid, JobConfig, validate_config
from events.job_config.merge import origins
from events.sentences.scaling import Said as Word
from events.sentences.scaling import outline
from events.topics import LAYERS
from projections.jobs import Job
from projections.syncs import DELETED, RUNNING, Sync
from turbine.read.answers.alert_kinds import gravest
from turbine.read.answers.overrides import until, until_by_path
from turbine.read.filters import filter_of
from turbine.read.plain import made, means
from turbine.read.state.headline import (
    LOST,
    STATES,
    UNHEALTHY,
    UNHEARD,
    Count,
    Lives,
    StandingTask,
    count_of,
    lives_of,
    tasks_of,
)
from turbine.read.state.notes import FRESH_MS
from turbine.read.state.running import condition, standing
from turbine.read.state.view import AlertView, JobView, View

JOB_STATES = (
    "running",
    "paused",
    "syncing",
    "starting",
    "behind",
    "lagging",
    "failing",
    "quarantined",
    "deleted",
)
"""One word for how a job stands."""
STATES_WORST = ("quarantined", "failing", "behind", "syncing")
"""What is in the way of a job, the worst first."""
BY_STATE = f"By state: {', '.join(STATES)}. Unwanted ones, too."

_USUAL = JobConfig.model_construct()


@dataclass(frozen=True, slots=True)
class Override:
    """A value that does not come from the base."""

    path: str
    layer: str
    expires_ms: Annotated[int | None, means("When the layer says something else there.")]


@dataclass(frozen=True, slots=True)
class Gravest:
    """The alert to look at first."""

    alert: str
    severity: str
    cause: str


@dataclass(frozen=True, slots=True)
class JobLine:
    """A job in a list."""

    job: str
    state: Annotated[str, means(f"The gravest that is true of {', '.join(JOB_STATES)}.")]
    tasks: Annotated[int, means("By config; none of a job that is paused.")]
    running: int
    not_running: int
    lagging: Annotated[int, means("Tasks behind by more than slo.lag_seconds, of those that told.")]
    unhealthy: Annotated[int, means("Tasks that crash, or wait for a person.")]
    unknown: Annotated[int, means("Tasks without a report of late: nobody knows their lag.")]
    tasks_by_state: Annotated[dict[str, int], means(BY_STATE)]
    lag_seconds: Annotated[float | None, means("Of the worst task; null unless all have told.")]
    lag_records: int | None
    rate_in: Annotated[float | None, means("Records a second.")]
    slo_lag_seconds: Annotated[float, means("The lag that its config allows.")]
    policy: str
    mode: str
    tier: str
    priority: int
    in_effect: Annotated[bool, means("Is what is expected of it in effect?")]
    overrides: tuple[Override, ...]
    alerts: Annotated[int, means("Of those that are open about it.")]
    gravest: Annotated[Gravest | None, means("Of the alerts that are open about it.")]
    cause: Annotated[str, means("Why it is not as it should be, where the log tells.")]
    last: Annotated[str, means("What the auto scaler said last, in a few words.")]
    updated_ms: Annotated[int | None, means("When it was decided about last.")]


class LineConfig(NamedTuple):
    """What a job's expected config says that a line needs."""

    tier: str
    priority: int
    slo_ms: float
    policy: str
    mode: str


@lru_cache(maxsize=8192)
def wanted_of(expected_json: str) -> LineConfig:
    """The values of a config, or the usual ones where it is none."""
    found = validate_config(json.loads(expected_json), stood=True)
    config = _USUAL if isinstance(found, Invalid) else found
    return LineConfig(
        config.tier,
        config.priority,
        config.slo.lag_seconds * 1000,
        config.policy.name,
        config.policy.mode,
    )


# --- one line


def line_of(
    seen: JobView, lives: Lives, now_ms: int, alerts: tuple[AlertView, ...] = ()
) -> JobLine:
    """The line of a job at that instant, by what is known of the lives of containers."""
    job, wanted = seen.job, wanted_of(seen.job.expected_json)
    sync = seen.sync or Sync(job.name, alive=job.alive, expected_json=job.expected_json)
    tasks = list(tasks_of(sync, seen.sightings, lives))
    count = count_of(sync, tasks)
    fresh = _fresh(seen, tasks, now_ms)
    lags = {task: load.lag_ms for task, load in fresh.items() if load.lag_ms is not None}
    listed = 0 if sync.listed is None else sync.listed.tasks
    lagging = sum(lag > wanted.slo_ms for task, lag in lags.items() if task < count.wanted)
    whole = len(fresh) == listed
    worst = min(alerts, key=gravest, default=None)
    ill, idle = _ill(count), _idle(count)
    return made(
        JobLine,
        wanted,
        job=job.name,
        state=standing(sync, alive=job.alive, unhealthy=ill, lagging=lagging, idle=idle),
        tasks=count.wanted,
        running=count.running,
        not_running=count.lacking,
        lagging=lagging,
        unhealthy=count.unhealthy,
        unknown=max(0, count.wanted - sum(task < count.wanted for task in lags)),
        tasks_by_state=dict(sorted(count.states.items())),
        lag_seconds=max(lags.values()) / 1000 if lags and len(lags) == listed else None,
        lag_records=_sum(load.lag_records for load in fresh.values()) if whole else None,
        rate_in=_sum(load.records_in_per_s for load in fresh.values()) if whole else None,
        slo_lag_seconds=wanted.slo_ms / 1000,
        in_effect=condition(sync) == "in sync",
        overrides=overrides_of(job),
        alerts=len(alerts),
        gravest=None if worst is None else Gravest(worst.kind, worst.severity, worst.cause),
        cause=_cause(sync, tasks),
        last=_last(seen),
        updated_ms=seen.notes.updated_ms or None,
    )


def _fresh(
    seen: JobView, tasks: Iterable[StandingTask], now_ms: int
) -> dict[int, TaskLoadReported]:
    """The reports of late of tasks that run: who does not reads nothing, and the input goes on."""
    there = {task.task for task in tasks if task.state == RUNNING}
    return {
        task: load
        for task, (load, at_ms) in seen.loads.items()
        if task in there and is_fresh(at_ms, now_ms)
    }


def is_fresh(at_ms: int, now_ms: int) -> bool:
    """Does a report of that instant tell how its task does now?"""
    return now_ms - at_ms <= FRESH_MS


def _ill(count: Count) -> int:
    """Tasks for which a job is not "running": they fail, or their container is gone."""
    return count.unhealthy + count.states.get(LOST, 0) + count.states.get(UNHEARD, 0)


def _idle(count: Count) -> bool:
    """Does none of those run that should?"""
    return count.wanted > 0 and not count.running


def _sum(values: Iterable[Any]) -> Any:
    """Of no values as of one that is unknown nobody knows the sum."""
    known = list(values)
    return sum(known) if known and None not in known else None


def _cause(sync: Sync, tasks: Iterable[StandingTask]) -> str:
    """In a few words: of the quarantine, of a task that crashes, of the plan that failed last."""
    if sync.quarantine is not None:
        return f"{sync.quarantine.step}: {sync.quarantine.cause}"
    for task in tasks:
        if task.state in UNHEALTHY and task.report is not None and task.report.cause:
            return f"task {task.task}: {task.report.cause}"
    return "" if sync.trouble is None else f"{sync.trouble.name}: {sync.trouble.cause}"


def _last(seen: JobView) -> str:
    """What the scaler said last."""
    if not seen.words:
        return ""
    body = seen.words[-1].record.body
    return outline(body) if isinstance(body, Word) else ""


def overrides_of(job: Job) -> tuple[Override, ...]:
    """The values that a higher layer holds of a job that is there."""
    if not job.alive or all(layer.config_json == "{}" for layer in job.layers[1:]):
        return ()
    configs = [json.loads(layer.config_json) for layer in job.layers]
    ends = [until_by_path(layer) for layer in job.layers]
    return tuple(
        Override(path, LAYERS[layer], until(ends[layer], path))
        for path, layer in sorted(origins(configs).items())
        if layer > 0
    )


# --- all lines


def lines_of(view: View) -> list[JobLine]:
    """The lines of all jobs that ever were, by name."""
    alerts, lives = alerts_about(view), lives_of(view.tiers.values())
    return [
        line_of(seen, lives, now_of(view), alerts.get(name, ()))
        for name, seen in sorted(view.jobs.items())
        if seen.existed
    ]


def line_in(view: View, job: str) -> JobLine:
    """The line of one job of a view."""
    alerts, lives = alerts_about(view), lives_of(view.tiers.values())
    return line_of(view.jobs[job], lives, now_of(view), alerts.get(job, ()))


def now_of(view: View) -> int:
    """The log's own time: its greatest tick, or where there is none its last record."""
    return view.now_ms or view.at_ms


def alerts_about(view: View) -> dict[str, tuple[AlertView, ...]]:
    """The alerts that are open, by what they are about."""
    found: dict[str, list[AlertView]] = {}
    for alert in view.alerts.values():
        found.setdefault(alert.subject, []).append(alert)
    return {subject: tuple(some) for subject, some in found.items()}


class SourcedLine(NamedTuple):
    """A line with what it was made of."""

    seen: JobView
    alerts: tuple[AlertView, ...]
    since_ms: int
    until_ms: float  # when a report in it is no longer fresh
    line: JobLine

    def holds(self, seen: JobView, alerts: tuple[AlertView, ...], now_ms: int) -> bool:
        """Would it be the same, of these?"""
        same = self.seen is seen and self.alerts == alerts
        return same and self.since_ms <= now_ms <= self.until_ms


class JobLines:
    """The lines of all jobs; one is made anew when its job has changed, or what is heard of any
    container."""

    def __init__(self) -> None:
        self._known: tuple[Lives, dict[str, SourcedLine]] = {}, {}

    def of(self, view: View) -> list[JobLine]:
        """By name, deleted jobs too."""
        alerts, lives = alerts_about(view), lives_of(view.tiers.values())
        then, before = self._known
        before = before if then == lives else {}
        now_ms, made = now_of(view), dict[str, SourcedLine]()
        for name, seen in sorted(view.jobs.items()):
            if not seen.existed:
                continue
            known, about = before.get(name), alerts.get(name, ())
            if known is None or not known.holds(seen, about, now_ms):
                line = line_of(seen, lives, now_ms, about)
                known = SourcedLine(seen, about, now_ms, _until(seen, now_ms), line)
            made[name] = known
        # Exchanged whole: another thread may be reading the one before.
        self._known = lives, made
        return [known.line for known in made.values()]


def _until(seen: JobView, now_ms: int) -> float:
    """Until when its line holds, if nothing else is said."""
    told = (at_ms for _, at_ms in seen.loads.values())
    return min((at_ms + FRESH_MS for at_ms in told if is_fresh(at_ms, now_ms)), default=inf)


# --- some of them, in an order


def some_of(
    lines: Iterable[JobLine],
    query: str,
    states: Sequence[str] | None = None,
    *,
    deleted: bool = False,
) -> list[JobLine]:
    """The jobs that are asked for; those that are deleted only where their state is, too.
    BadFilter where nobody can tell what is asked for."""
    meant = filter_of(query)
    deleted = deleted or f"state={DELETED}" in query.lower()

    def shown(line: JobLine) -> bool:
        return line.state in states if states is not None else line.state != DELETED or deleted

    return [line for line in lines if shown(line) and meant(line)]


def badness(line: JobLine) -> tuple[Any, ...]:
    """The order of jobs by how much they need somebody, the worst first."""
    rank = STATES_WORST.index(line.state) if line.state in STATES_WORST else len(STATES_WORST)
    return (
        min(rank, 2),  # to be syncing or behind is usual for a moment
        -line.unhealthy,
        -line.not_running,
        -line.lagging,
        -line.alerts,
        -line.priority,
        line.job,
    )


def _late(line: JobLine) -> tuple[Any, ...]:
    # Nobody knows whether more is left: after those who lag, before those who do not.
    return (-(0.5 if line.lag_seconds is None else line.lag_seconds), line.job)


ORDERS: Mapping[str, Callable[[JobLine], tuple[Any, ...]]] = {
    "worst": badness,
    "state": badness,
    "lag": _late,
    "rate": lambda line: (1.0 if line.rate_in is None else -line.rate_in, line.job),
    "tasks": lambda line: (-line.tasks, line.job),
    "changed": lambda line: (-(line.updated_ms or 0), line.job),
    "name": lambda line: (0, line.job),
}
"""The keys by which lists stand: what is most pressing first, equals by name."""
LIKE: Mapping[str, tuple[Any, ...]] = {
    "worst": (0, 0, 0, 0, 0, 0, ""),
    "state": (0, 0, 0, 0, 0, 0, ""),
    "lag": (0.0, ""),
    "rate": (0.0, ""),
    "tasks": (0, ""),
    "changed": (0, ""),
    "name": (0, ""),
}
"""The form of each order's key."""
