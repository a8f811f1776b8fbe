"""Which families of metrics there are, what each says and by which labels. Pure.

Base units, `_total` on counters alone, every label with a bounded set of values. The page of the
docs, the board and the rules are checked against this.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Sort = Literal["gauge", "counter", "histogram"]


class Family(NamedTuple):
    """One family of metrics, as the exporter declares it."""

    name: str  # as it is asked for; a counter's ends with _total
    sort: Sort
    labels: tuple[str, ...]
    means: str


def gauge(name: str, means: str, *labels: str) -> Family:
    """A family of figures that rise and fall."""
    return Family(name, "gauge", labels, means)


def counter(name: str, means: str, *labels: str) -> Family:
    """A family of counts, which only rise."""
    return Family(name, "counter", labels, means)


OF_FLEET: tuple[Family, ...] = (
    gauge("turbine_build_info", "1, and which build says so.", "version"),
    gauge("turbine_jobs", "Jobs by how they stand.", "phase"),
    gauge("turbine_tasks", "Tasks by state, with those that ought to end.", "tier", "state"),
    gauge("turbine_job_tasks", "Tasks of each job; on demand.", "job", "state"),
    gauge("turbine_tasks_wanted", "Tasks that config expects of jobs that are not paused."),
    gauge(
        "turbine_tasks_not_running_ratio",
        "Of the tasks that should run, those that do not, or of which nobody hears.",
    ),
    gauge(
        "turbine_tasks_lagging_ratio",
        "Of the tasks that should run, those further behind than their job promises.",
    ),
    gauge(
        "turbine_tasks_unhealthy_ratio",
        "Of the tasks that should run, those that crash, or wait in quarantine for a person.",
    ),
    gauge(
        "turbine_job_lag_seconds",
        "How far the job's worst task is behind its input; absent where no task has told.",
        "job",
    ),
    gauge(
        "turbine_job_health",
        "1 where the condition holds, 0 where it does not, absent where nobody knows.",
        "job",
        "condition",
    ),
    gauge(
        "turbine_policy_mode", "1 for the policy and the mode in force.", "job", "policy", "mode"
    ),
    gauge(
        "turbine_overrides",
        "Jobs of which oncall overrides something: until an instant (set), or for ever (none).",
        "expiry",
    ),
    gauge("turbine_alerts", "Alerts that are open in the log.", "alert", "severity"),
    gauge("turbine_stragglers", "Jobs with a task that is slow for where it runs."),
    gauge("turbine_config_drift_jobs", "Jobs that run otherwise than is expected of them."),
    gauge(
        "turbine_reconcile_lag_seconds",
        "How long the oldest change waits that is not in effect; 0 where none waits.",
    ),
    gauge("turbine_containers", "Containers by state.", "tier", "state"),
    gauge("turbine_shards", "Shards by how far they are placed.", "tier", "stage"),
    gauge(
        "turbine_container_utilization_ratio",
        "Used of what a container has: of the fullest, the emptiest (max, min) and the mean.",
        "tier",
        "resource",
        "of",
    ),
    gauge(
        "turbine_tier_reserved_ratio",
        "Reserved: what jobs ask for, as a share of what the tier's containers have.",
        "tier",
        "resource",
    ),
    gauge(
        "turbine_tier_used_ratio",
        "Used: what tasks were seen to take, as the same share; absent where nobody has measured.",
        "tier",
        "resource",
    ),
    gauge("turbine_clock_timestamp_seconds", "The log's own time: the greatest tick read."),
    gauge(
        "turbine_projection_lag_events",
        "Records that lie in the log and are not in these figures yet.",
    ),
    gauge(
        "turbine_projection_up",
        "1 while the log can be read; with 0 the figures are those of the last reading.",
    ),
    gauge("turbine_sse_clients", "Browsers and programs that follow the API's stream."),
    counter(
        "turbine_events_total",
        "Records of the log; of decisions each type, with whether it stands or is void.",
        "topic",
        "type",
        "result",
    ),
    counter(
        "turbine_decisions_total",
        "Decisions by who made them; void ones lost a race and change nothing.",
        "component",
        "type",
        "result",
    ),
    counter(
        "turbine_scaling_actions_total",
        "Actions of the auto scaler and what became of them.",
        "direction",
        "result",
    ),
    counter(
        "turbine_scaling_declined_total",
        "Looks of the auto scaler that changed nothing, by the reason.",
        "reason",
    ),
    Family(
        "turbine_scaling_time_to_effect_seconds",
        "histogram",
        (),
        "From a scaling decision to the commit that brought it into effect.",
    ),
    counter("turbine_shard_moves_total", "Moves of shards that were begun.", "reason"),
    counter(
        "turbine_dead_letters_total",
        "Records that were put aside, because nobody can read them or they came too late.",
        "reason",
    ),
)
