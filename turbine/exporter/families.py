"""What a view of the log and its tally say in families of metrics. Pure.

The exporter and the API serve the same. Labels are bounded: of jobs as many as are asked for have a
name of their own, by priority; what is worst among the others stands under `other`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from events.topics import CLOCK
from turbine.exporter.catalogue import OF_FLEET, Family
from turbine.read.answers.alert_kinds import BY_NAME, OTHER
from turbine.read.answers.fleet import totals
from turbine.read.answers.lines import JOB_STATES, JobLine, lines_of
from turbine.read.answers.tiers import Container, containers, uses_of
from turbine.read.state.move_reasons import REASONS
from turbine.read.state.shards import stage_of
from turbine.read.state.tally import BOUNDS_S, DECISIONS, DIRECTIONS, READ, RESULTS, Tally
from turbine.read.state.view import View

JOBS_MOST = 500
"""Jobs with a label of their own: each has about eight series."""
REASONS_MOST = 40
TIERS_MOST = 100

LETTERS = (
    "change-id-expired",
    "change-id-malformed",
    "change-id-too-far-ahead",
    "malformed-headers",
    "no-key",
    "no-value",
    "not-a-decision",
    "truncated",
    "unknown-record",
)
"""Reasons that have a series from the beginning: `increase` does not see the first of a new one."""

Key = tuple[str, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MetricOptions:
    """What is told beside the usual."""

    jobs_most: int = JOBS_MOST
    tasks_per_job: bool = False


@dataclass(frozen=True, slots=True)
class Beside:
    """What the process knows that tells of the log; None is not known."""

    version: str
    behind: int | None = None
    up: bool = True
    sse_clients: int | None = None


Values = dict[str, dict[Key, float]]


def families(
    view: View,
    tally: Tally,
    beside: Beside,
    asked: MetricOptions = MetricOptions(),
) -> Iterator[Metric]:
    """All of them, in the catalogue's order; one without values is named all the same."""
    jobs = lines_of(view)
    found: Values = {family.name: {} for family in OF_FLEET}
    for part in (
        _about_process(view, beside),
        _about_all(view, tally, jobs),
        _about_jobs(jobs, asked),
        _about_tiers(view),
        _about_capacity(view),
        _about_log(view, tally),
        _about_scaling(tally),
    ):
        for name, labels, value in part:
            found[name][labels] = value
    for family in OF_FLEET:
        yield _metric(family, found[family.name], tally)


Sample = tuple[str, Key, float]


def _about_process(view: View, beside: Beside) -> Iterator[Sample]:
    yield "turbine_build_info", (beside.version,), 1
    yield "turbine_projection_up", (), beside.up
    if beside.behind is not None:
        yield "turbine_projection_lag_events", (), beside.behind
    if beside.sse_clients is not None:
        yield "turbine_sse_clients", (), beside.sse_clients
    if view.now_ms:
        yield "turbine_clock_timestamp_seconds", (), view.now_ms / 1000


def _about_all(view: View, tally: Tally, jobs: list[JobLine]) -> Iterator[Sample]:
    states = Counter(one.state for one in jobs)
    for state in JOB_STATES:
        yield "turbine_jobs", (state,), states[state]
    found = totals(jobs)
    yield "turbine_tasks_wanted", (), found.tasks_wanted
    for name, share in (
        ("not_running", found.tasks_not_running),
        ("lagging", found.tasks_lagging),
        ("unhealthy", found.tasks_unhealthy),
    ):
        if found.tasks_wanted:
            yield f"turbine_tasks_{name}_ratio", (), share.count / found.tasks_wanted
    yield "turbine_config_drift_jobs", (), sum(not one.in_effect for one in jobs)
    oldest_ms = min((one.since_ms for one in tally.drifting.values()), default=view.now_ms)
    yield "turbine_reconcile_lag_seconds", (), max(0, view.now_ms - oldest_ms) / 1000
    held = ([each for each in one.overrides if each.layer == "oncall"] for one in jobs)
    overridden = [some for some in held if some]
    forever = sum(any(each.expires_ms is None for each in some) for some in overridden)
    yield "turbine_overrides", ("none",), forever
    yield "turbine_overrides", ("set",), len(overridden) - forever
    yield from _about_alerts(view)


def _about_alerts(view: View) -> Iterator[Sample]:
    """An alert that is not open is 0, so that a rule sees it come and go."""
    open_now = Counter[tuple[str, str]]()
    for one in view.alerts.values():
        open_now[one.kind if one.kind in BY_NAME else OTHER, one.severity] += 1
    usual = {(kind.name, str(kind.severity)) for kind in BY_NAME.values()}
    for labels in sorted(usual | open_now.keys()):
        yield "turbine_alerts", labels, open_now[labels]
    yield "turbine_stragglers", (), open_now["straggler", str(BY_NAME["straggler"].severity)]


# --- jobs


CONDITIONS = ("tasks_running", "lag_known", "lag_within_slo", "config_in_effect", "calm")
"""What has to hold for a job to be well; `calm` is that no alert about it is open."""


def conditions_of(line: JobLine) -> dict[str, bool | None]:
    """Which of `CONDITIONS` hold; None where nobody knows."""
    known = not line.unknown
    return {
        "tasks_running": not line.not_running,
        "lag_known": known,
        "lag_within_slo": not line.lagging if known or line.lagging else None,
        "config_in_effect": line.in_effect,
        "calm": not line.alerts,
    }


def named(jobs: Iterable[JobLine], most: int) -> Iterator[tuple[str, list[JobLine]]]:
    """Which jobs stand under which label. By priority and name, not by how they fare: a series that
    comes and goes with its trouble is no series."""
    ranked = sorted(jobs, key=lambda one: (-one.priority, one.job))
    for one in ranked[:most]:
        yield one.job, [one]
    if ranked[most:]:
        yield OTHER, ranked[most:]


def _about_jobs(jobs: list[JobLine], asked: MetricOptions) -> Iterator[Sample]:
    for label, some in named((one for one in jobs if one.state != "deleted"), asked.jobs_most):
        lags = [one.lag_seconds for one in some if one.lag_seconds is not None]
        if lags:
            yield "turbine_job_lag_seconds", (label,), max(lags)
        held = [conditions_of(one) for one in some]
        for condition in CONDITIONS:
            known = [one[condition] for one in held if one[condition] is not None]
            if known:
                yield "turbine_job_health", (label, condition), all(known)
        for policy, mode in sorted({(one.policy, one.mode) for one in some}):
            yield "turbine_policy_mode", (label, policy, mode), 1
        if asked.tasks_per_job:
            for state, count in sorted(_states(some).items()):
                yield "turbine_job_tasks", (label, state), count
    by_tier: dict[str, list[JobLine]] = {}
    for one in jobs:
        by_tier.setdefault(one.tier, []).append(one)
    for tier, theirs in _bounded(by_tier):
        for state, count in sorted(_states(theirs).items()):
            yield "turbine_tasks", (tier, state), count


def _states(jobs: Iterable[JobLine]) -> Counter[str]:
    found = Counter[str]()
    for one in jobs:
        found.update(one.tasks_by_state)
    return found


def _bounded(by_tier: Mapping[str, list[JobLine]]) -> Iterator[tuple[str, list[JobLine]]]:
    """A job's config may name any tier, so these are bounded, too."""
    ranked = sorted(by_tier, key=lambda tier: (-len(by_tier[tier]), tier))
    for tier in ranked[:TIERS_MOST]:
        yield tier, by_tier[tier]
    rest = [one for tier in ranked[TIERS_MOST:] for one in by_tier[tier]]
    if rest:
        yield OTHER, rest


# --- tiers


def _about_tiers(view: View) -> Iterator[Sample]:
    for tier, rows in _labelled(view.tiers):
        found = [one for row in rows for one in containers(row, gone=False)]
        for state, count in sorted(Counter(one.state for one in found).items()):
            yield "turbine_containers", (tier, state), count
        stages = Counter(stage_of(row, shard) for row in rows for shard in range(row.shards))
        for stage, count in sorted(stages.items()):
            yield "turbine_shards", (tier, stage), count
        yield from _about_use(tier, found)


def _labelled(rows: Mapping[str, T]) -> Iterator[tuple[str, list[T]]]:
    """By tier; those beyond the bound together."""
    names = sorted(rows)
    for name in names[:TIERS_MOST]:
        yield name, [rows[name]]
    if names[TIERS_MOST:]:
        yield OTHER, [rows[name] for name in names[TIERS_MOST:]]


def _about_use(tier: str, found: Iterable[Container]) -> Iterator[Sample]:
    shares: dict[str, list[float]] = {}
    for one in found:
        for resource, load in one.load.items():
            if load.share is not None and one.state != "gone":
                shares.setdefault(resource, []).append(load.share)
    name = "turbine_container_utilization_ratio"
    for resource, some in sorted(shares.items()):
        yield name, (tier, resource, "max"), max(some)
        yield name, (tier, resource, "min"), min(some)
        yield name, (tier, resource, "mean"), sum(some) / len(some)


def _about_capacity(view: View) -> Iterator[Sample]:
    for tier, reports in _labelled(view.reported):
        shares: dict[tuple[str, str], float] = {}
        for said, _ in reports:
            for resource, use in uses_of(said).items():
                for name, share in (("reserved", use.reserved_share), ("used", use.used_share)):
                    if share is not None:
                        at = name, resource
                        shares[at] = max(share, shares.get(at, 0.0))
        for (name, resource), share in sorted(shares.items()):
            yield f"turbine_tier_{name}_ratio", (tier, resource), share


# --- counters


def _about_log(view: View, tally: Tally) -> Iterator[Sample]:
    for labels, count in sorted(tally.events.items()):
        yield "turbine_events_total", labels, count
    topics = Counter[str]()
    for at, offset in view.at.items():
        topics[at.partition("/")[0]] += offset
    for topic, count in sorted(topics.items()):
        # Of facts nobody counts the types: the positions say how many there are.
        if topic not in DECISIONS and topic != CLOCK:
            yield "turbine_events_total", (topic, "any", READ), count
    for labels, count in sorted(tally.decisions.items()):
        yield "turbine_decisions_total", labels, count
    for reason in REASONS:
        yield "turbine_shard_moves_total", (reason,), tally.moves[reason]
    letters = Counter[str](dict.fromkeys(LETTERS, 0))
    for reason, count in sorted(view.letters.items()):
        letters[reason if reason in letters or len(letters) < REASONS_MOST else OTHER] += count
    for reason, count in letters.items():
        yield "turbine_dead_letters_total", (reason,), count


def _about_scaling(tally: Tally) -> Iterator[Sample]:
    usual = {(direction, result) for direction in DIRECTIONS.values() for result in RESULTS}
    for labels in sorted(usual | tally.actions.keys()):
        yield "turbine_scaling_actions_total", labels, tally.actions[labels]
    for reason, count in sorted(tally.declined.items()):
        yield "turbine_scaling_declined_total", (reason,), count


# --- as Prometheus has them


def _metric(family: Family, values: Mapping[Key, float], tally: Tally) -> Metric:
    match family.sort:
        case "histogram":
            return _histogram(family, tally)
        case "counter":
            counter = CounterMetricFamily(family.name, family.means, labels=family.labels)
            for labels, value in values.items():
                counter.add_metric(labels, value)
            return counter
        case _:
            gauge = GaugeMetricFamily(family.name, family.means, labels=family.labels)
            for labels, value in values.items():
                gauge.add_metric(labels, value)
            return gauge


def _histogram(family: Family, tally: Tally) -> Metric:
    found = HistogramMetricFamily(family.name, family.means)
    buckets, so_far = list[tuple[str, float]](), 0
    for bound, count in zip((*BOUNDS_S, None), tally.effects, strict=True):
        so_far += count
        buckets.append(("+Inf" if bound is None else str(float(bound)), so_far))
    found.add_metric((), buckets, tally.effects_ms / 1000)
    return found
