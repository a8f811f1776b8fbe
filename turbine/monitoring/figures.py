"""The figures of a fleet as a person on call and a metric count them, from one view. Pure.

Unknown is None and never 0: a task that has not reported says nothing of its lag.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple

from events.config import Invalid, JobConfig, validate_config
from events.sentences.scaling import Said as Word
from events.sentences.scaling import outline
from projections.jobs import ONCALL
from projections.syncs import DELETED, RUNNING, Sync
from turbine.headline import (
    LOST,
    UNHEALTHY,
    UNHEARD,
    Count,
    Lives,
    Task,
    count_of,
    lives_of,
    tasks_of,
)
from turbine.lag import FRESH_MS
from turbine.running import condition, standing
from turbine.views.view import AlertView, JobView, View

PHASES = (
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
CONDITIONS = ("tasks_running", "lag_known", "lag_within_slo", "config_in_effect", "calm")
"""What has to hold for a job to be well; `calm` is that no alert about it is open."""

_USUAL = JobConfig.model_construct()


Row = dict[str, Any]


class Wanted(NamedTuple):
    """What a job's expected config says that figures need."""

    tier: str
    priority: int
    slo_ms: float
    policy: str
    mode: str


@dataclass(frozen=True, slots=True)
class Figures:
    """One job."""

    job: str
    phase: str
    wanted: Wanted
    tasks: Mapping[str, int]  # by state, with those that ought not to be there
    size: int  # tasks that config expects to run
    running: int  # of those
    lag_ms: int | None  # of the worst task; None unless all have told
    lag_records: int | None
    rate_in: float | None  # records a second
    told: int  # tasks that reported of late
    lagging: int  # tasks, of those that have told
    unhealthy: int  # tasks that crash, or wait for a person
    drifting: bool
    overrides: int  # keys that oncall sets
    expires_ms: int | None  # when the last of these ends; None: some never do by themselves
    alerts: tuple[AlertView, ...]
    updated_ms: int
    word: str  # the last that was said of its size, or ""
    cause: str  # why it is not as it should be, where the log tells; else ""
    until_ms: float  # until when all this holds, if nothing else is said

    @property
    def lacking(self) -> int:
        """Tasks that should run, and do not."""
        return max(0, self.size - self.running)

    @property
    def conditions(self) -> dict[str, bool | None]:
        """Which of `CONDITIONS` hold; None where nobody knows."""
        known = self.told >= self.size
        return {
            "tasks_running": not self.lacking,
            "lag_known": known,
            "lag_within_slo": not self.lagging if known or self.lagging else None,
            "config_in_effect": not self.drifting,
            "calm": not self.alerts,
        }

    def to_plain(self) -> Row:
        """As JSON: what every list says of a job."""
        return {
            "job": self.job,
            "state": self.phase,
            "tasks": self.size,
            "running": self.running,
            "not_running": self.lacking,
            "lagging": self.lagging,
            "unhealthy": self.unhealthy,
            "tasks_by_state": dict(sorted(self.tasks.items())),
            "lag_seconds": None if self.lag_ms is None else self.lag_ms / 1000,
            "lag_records": self.lag_records,
            "rate_in": self.rate_in,
            "policy": self.wanted.policy,
            "mode": self.wanted.mode,
            "tier": self.wanted.tier,
        }

    @property
    def badness(self) -> tuple[int, int, int, float]:
        """The order of jobs, the greatest first."""
        grave = sum(100 if one.severity == "critical" else 1 for one in self.alerts)
        # In tenths of what is promised: who lags a little more or less is not to jump about.
        late = round((self.lag_ms or 0) / self.wanted.slo_ms, 1)
        held = 1000 * (self.phase == "quarantined")
        return grave + held, self.lacking + self.unhealthy, self.lagging, late


@dataclass(frozen=True, slots=True)
class Totals:
    """The paper's three numbers, over all tasks that should run (Turbine VII)."""

    jobs: int = 0
    tasks: int = 0
    running: int = 0
    not_running: int = 0
    lagging: int = 0
    unhealthy: int = 0
    unknown: int = 0  # tasks that have not reported: neither lagging nor not
    phases: Mapping[str, int] = field(default_factory=dict)  # jobs by how they stand
    states: Mapping[str, int] = field(default_factory=dict)  # tasks by theirs, unwanted ones too

    def share(self, count: int) -> float | None:
        """Of all tasks; None where there are none."""
        return count / self.tasks if self.tasks else None

    def to_plain(self) -> Row:
        """As JSON; percent to three places, and 0 where no task is wanted."""

        def share(count: int) -> Row:
            return {"count": count, "percent": round(100 * (self.share(count) or 0.0), 3)}

        return {
            "jobs": self.jobs,
            "tasks_wanted": self.tasks,
            "tasks_running": self.running,
            "tasks_not_running": share(self.not_running),
            "tasks_lagging": share(self.lagging),
            "tasks_unhealthy": share(self.unhealthy),
            "tasks_unknown": self.unknown,
            "jobs_by_state": self.phases,
            "tasks_by_state": self.states,
        }


def figures_of(view: View) -> list[Figures]:
    """Every job that ever was, by name."""
    alerts, lives = alerts_of(view), lives_of(view.tiers.values())
    return [
        figure_of(one, lives, view.now_ms or view.at_ms, alerts.get(name, ()))
        for name, one in sorted(view.jobs.items())
        if one.existed
    ]


def figure_in(view: View, one: JobView) -> Figures:
    """One job of a view."""
    alerts, lives = alerts_of(view), lives_of(view.tiers.values())
    return figure_of(one, lives, view.now_ms or view.at_ms, alerts.get(one.job.name, ()))


def alerts_of(view: View) -> dict[str, tuple[AlertView, ...]]:
    """Those that are open, by what they are about."""
    found: dict[str, list[AlertView]] = {}
    for one in view.alerts.values():
        found.setdefault(one.subject, []).append(one)
    return {subject: tuple(some) for subject, some in found.items()}


def totals_of(jobs: Iterable[Figures]) -> Totals:
    """Their sums."""
    living = [one for one in jobs if one.phase != DELETED]
    return Totals(
        jobs=len(living),
        tasks=sum(one.size for one in living),
        running=sum(one.running for one in living),
        not_running=sum(one.lacking for one in living),
        lagging=sum(one.lagging for one in living),
        unhealthy=sum(one.unhealthy for one in living),
        unknown=sum(max(0, one.size - one.told) for one in living),
        phases=dict(sorted(Counter(one.phase for one in living).items())),
        states=dict(sorted(sum((Counter(one.tasks) for one in living), Counter()).items())),
    )


@lru_cache(maxsize=8192)
def wanted_of(expected_json: str) -> Wanted:
    """What the config says, or what is usual where it is none."""
    found = validate_config(json.loads(expected_json))
    config = _USUAL if isinstance(found, Invalid) else found
    return Wanted(
        config.tier,
        config.priority,
        config.slo.lag_seconds * 1000,
        config.policy.name,
        config.policy.mode,
    )


def figure_of(
    one: JobView, lives: Lives, now_ms: int, alerts: tuple[AlertView, ...] = ()
) -> Figures:
    """One job at that instant, by what is known of the lives of containers."""
    job, wanted = one.job, wanted_of(one.job.expected_json)
    sync = one.sync or Sync(job.name, alive=job.alive, expected_json=job.expected_json)
    tasks = list(tasks_of(sync, one.sightings, lives))
    count = count_of(sync, tasks)
    # Who runs no more reads nothing, and its last word says nothing of now: the input goes on.
    there = {task.task for task in tasks if task.state == RUNNING}
    told = {at: found for at, found in one.loads.items() if at in there}
    fresh = {at: found for at, found in told.items() if now_ms - found[1] <= FRESH_MS}
    lags = {at: load.lag_ms for at, (load, _) in fresh.items() if load.lag_ms is not None}
    loads, oncall = [load for load, _ in fresh.values()], job.layers[ONCALL]
    listed = 0 if sync.listed is None else sync.listed.tasks
    lagging = sum(lag > wanted.slo_ms for at, lag in lags.items() if at < count.wanted)
    return Figures(
        job=job.name,
        phase=standing(
            sync, alive=job.alive, unhealthy=_ill(count), lagging=lagging, idle=_idle(count)
        ),
        wanted=wanted,
        tasks=count.states,
        size=count.wanted,
        running=count.running,
        lag_ms=max(lags.values()) if lags and len(lags) == listed else None,
        lag_records=_sum(load.lag_records for load in loads) if len(loads) == listed else None,
        rate_in=_sum(load.records_in_per_s for load in loads) if len(loads) == listed else None,
        told=sum(at < count.wanted for at in lags),
        lagging=lagging,
        unhealthy=count.unhealthy,
        drifting=condition(sync) != "in sync",
        overrides=len(json.loads(oncall.config_json)) if job.alive else 0,
        expires_ms=oncall.ended_ms if oncall.lasting_json == "{}" else None,
        alerts=alerts,
        updated_ms=one.notes.updated_ms,
        word=_word(one),
        cause=_cause(sync, tasks),
        until_ms=min((at_ms + FRESH_MS for _, at_ms in fresh.values()), default=inf),
    )


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


def _cause(sync: Sync, tasks: Iterable[Task]) -> str:
    """In a few words: of the quarantine, of a task that crashes, of the plan that failed last."""
    if sync.quarantine is not None:
        return f"{sync.quarantine.step}: {sync.quarantine.cause}"
    for one in tasks:
        if one.state in UNHEALTHY and one.report is not None and one.report.cause:
            return f"task {one.task}: {one.report.cause}"
    return "" if sync.trouble is None else f"{sync.trouble.name}: {sync.trouble.cause}"


def _word(one: JobView) -> str:
    """What the scaler said last, in a few words."""
    if not one.words:
        return ""
    body = one.words[-1].record.body
    return outline(body) if isinstance(body, Word) else ""
