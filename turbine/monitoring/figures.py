"""The figures of a fleet as a person on call and a metric count them, from one view. Pure.

Unknown is None and never 0: a task that has not reported says nothing of its lag.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from events.config import Invalid, JobConfig, validate_config
from events.sentences.scaling import Said as Word
from events.sentences.scaling import outline
from projections.jobs import ONCALL
from projections.syncs import DELETED
from turbine.lag import FRESH_MS
from turbine.running import Sightings, condition, standing, tasks_to_plain
from turbine.views.view import AlertView, JobView, View

PHASES = (
    "running",
    "paused",
    "syncing",
    "behind",
    "lagging",
    "failing",
    "quarantined",
    "deleted",
)
"""One word for how a job stands."""
STATES = ("running", "waiting", "restarting", "failed", "stopping", "stopped")
"""Of tasks, as `turbine get tasks` says them."""
CRASHING = ("restarting", "failed")
CONDITIONS = ("tasks_running", "lag_known", "lag_within_slo", "config_in_effect", "calm")
"""What has to hold for a job to be well; `calm` is that no alert about it is open."""

_USUAL = JobConfig.model_construct()


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
    tasks: Mapping[str, int]  # by state
    size: int  # tasks that should run
    running: int  # of those
    lag_ms: int | None  # of the worst task; None unless all have told
    lag_records: int | None
    rate_in: float | None  # records a second
    told: int  # tasks that reported of late
    lagging: int  # tasks, of those that have told
    unhealthy: int  # tasks that crash
    drifting: bool
    overrides: int  # keys that oncall sets
    expires_ms: int | None  # when these end; None: never by themselves
    alerts: tuple[AlertView, ...]
    updated_ms: int
    word: str  # the last that was said of its size, or ""
    cause: str  # why it is not as it should be, where the log tells; else ""

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

    def share(self, count: int) -> float | None:
        """Of all tasks; None where there are none."""
        return count / self.tasks if self.tasks else None


def figures_of(view: View) -> list[Figures]:
    """Every job that ever was, by name."""
    alerts: dict[str, list[AlertView]] = {}
    for one in view.alerts.values():
        alerts.setdefault(one.subject, []).append(one)
    return [
        _figures(one, view.now_ms or view.at_ms, tuple(alerts.get(name, ())))
        for name, one in sorted(view.jobs.items())
        if one.existed
    ]


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


def _figures(one: JobView, now_ms: int, alerts: tuple[AlertView, ...]) -> Figures:
    sync, wanted = one.sync, wanted_of(one.job.expected_json)
    size = 0 if sync is None or sync.listed is None else sync.listed.tasks
    tasks = [] if sync is None else list(tasks_to_plain(sync, Sightings()))
    loads = [load for load, at_ms in one.loads.values() if now_ms - at_ms <= FRESH_MS]
    lags = [load.lag_ms for load in loads if load.lag_ms is not None]
    ours = Counter(row["state"] for row in tasks if row["task"] < size)
    oncall = one.job.layers[ONCALL]
    lagging, unhealthy = sum(lag > wanted.slo_ms for lag in lags), sum(ours[x] for x in CRASHING)
    return Figures(
        job=one.job.name,
        phase=standing(sync, alive=one.job.alive, unhealthy=unhealthy, lagging=lagging),
        wanted=wanted,
        tasks=Counter(row["state"] for row in tasks),
        size=size,
        running=ours["running"],
        lag_ms=max(lags) if lags and len(lags) == size else None,
        lag_records=_sum(load.lag_records for load in loads) if len(loads) == size else None,
        rate_in=_sum(load.records_in_per_s for load in loads) if len(loads) == size else None,
        told=len(lags),
        lagging=lagging,
        unhealthy=unhealthy,
        drifting=sync is None or condition(sync) != "in sync",
        overrides=len(json.loads(oncall.config_json)) if one.job.alive else 0,
        expires_ms=oncall.expires_ms,
        alerts=alerts,
        updated_ms=one.notes.updated_ms,
        word=_word(one),
        cause=_cause(one, tasks),
    )


def _sum(values: Iterable[Any]) -> Any:
    """Of no values as of one that is unknown nobody knows the sum."""
    known = list(values)
    return sum(known) if known and None not in known else None


def _cause(one: JobView, tasks: Iterable[Mapping[str, Any]]) -> str:
    """In a few words: of the quarantine, of a task that crashes, of the plan that failed last."""
    sync = one.sync
    if sync is None:
        return ""
    if sync.quarantine is not None:
        return f"{sync.quarantine.step}: {sync.quarantine.cause}"
    for row in tasks:
        if row["state"] in CRASHING and row["cause"]:
            return f"task {row['task']}: {row['cause']}"
    return "" if sync.trouble is None else f"{sync.trouble.name}: {sync.trouble.cause}"


def _word(one: JobView) -> str:
    """What the scaler said last, in a few words."""
    if not one.words:
        return ""
    body = one.words[-1].record.body
    return outline(body) if isinstance(body, Word) else ""
