"""Which families of metrics there are, what each says and by which labels. Pure.

Base units, `_total` on counters alone, every label with a bounded set of values. The page of the
docs, the board and the rules are checked against this.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Sort = Literal["gauge", "counter", "histogram"]


class Family(NamedTuple):
    """One family."""

    name: str  # as it is asked for; a counter's ends with _total
    sort: Sort
    labels: tuple[str, ...]
    means: str


OF_FLEET: tuple[Family, ...] = (
    Family("turbine_build_info", "gauge", ("version",), "1, and which build says so."),
    Family("turbine_jobs", "gauge", ("phase",), "Jobs by how they stand."),
    Family(
        "turbine_tasks", "gauge", ("tier", "state"), "Tasks by state, with those that ought to end."
    ),
    Family("turbine_job_tasks", "gauge", ("job", "state"), "Tasks of each job; on demand."),
    Family(
        "turbine_tasks_wanted",
        "gauge",
        (),
        "Tasks that config expects of jobs that are not paused.",
    ),
    Family(
        "turbine_tasks_not_running_ratio",
        "gauge",
        (),
        "Of the tasks that should run, those that do not, or of which nobody hears.",
    ),
    Family(
        "turbine_tasks_lagging_ratio",
        "gauge",
        (),
        "Of the tasks that should run, those further behind than their job promises.",
    ),
    Family(
        "turbine_tasks_unhealthy_ratio",
        "gauge",
        (),
        "Of the tasks that should run, those that crash, or wait in quarantine for a person.",
    ),
    Family(
        "turbine_job_lag_seconds",
        "gauge",
        ("job",),
        "How far the job's worst task is behind its input; absent where no task has told.",
    ),
    Family(
        "turbine_job_health",
        "gauge",
        ("job", "condition"),
        "1 where the condition holds, 0 where it does not, absent where nobody knows.",
    ),
    Family(
        "turbine_policy_mode",
        "gauge",
        ("job", "policy", "mode"),
        "1 for the policy and the mode in force.",
    ),
    Family(
        "turbine_overrides",
        "gauge",
        ("expiry",),
        "Jobs of which oncall overrides something: until an instant (set), or for ever (none).",
    ),
    Family("turbine_alerts", "gauge", ("alert", "severity"), "Alerts that are open in the log."),
    Family("turbine_stragglers", "gauge", (), "Jobs with a task that is slow for where it runs."),
    Family(
        "turbine_config_drift_jobs",
        "gauge",
        (),
        "Jobs that run otherwise than is expected of them.",
    ),
    Family(
        "turbine_reconcile_lag_seconds",
        "gauge",
        (),
        "How long the oldest change waits that is not in effect; 0 where none waits.",
    ),
    Family("turbine_containers", "gauge", ("tier", "state"), "Containers by state."),
    Family("turbine_shards", "gauge", ("tier", "stage"), "Shards by how far they are placed."),
    Family(
        "turbine_container_utilization_ratio",
        "gauge",
        ("tier", "resource", "of"),
        "Used of what a container has: of the fullest, the emptiest (max, min) and the mean.",
    ),
    Family(
        "turbine_tier_reserved_ratio",
        "gauge",
        ("tier", "resource"),
        "Reserved: what jobs ask for, as a share of what the tier's containers have.",
    ),
    Family(
        "turbine_tier_used_ratio",
        "gauge",
        ("tier", "resource"),
        "Used: what tasks were seen to take, as the same share; absent where nobody has measured.",
    ),
    Family(
        "turbine_clock_timestamp_seconds",
        "gauge",
        (),
        "The log's own time: the greatest tick read.",
    ),
    Family(
        "turbine_projection_lag_events",
        "gauge",
        (),
        "Records that lie in the log and are not in these figures yet.",
    ),
    Family(
        "turbine_projection_up",
        "gauge",
        (),
        "1 while the log can be read; with 0 the figures are those of the last reading.",
    ),
    Family(
        "turbine_sse_clients", "gauge", (), "Browsers and programs that follow the API's stream."
    ),
    Family(
        "turbine_events_total",
        "counter",
        ("topic", "type", "result"),
        "Records of the log; of decisions each type, with whether it stands or is void.",
    ),
    Family(
        "turbine_decisions_total",
        "counter",
        ("component", "type", "result"),
        "Decisions by who made them; void ones lost a race and change nothing.",
    ),
    Family(
        "turbine_scaling_actions_total",
        "counter",
        ("direction", "result"),
        "Actions of the auto scaler and what became of them.",
    ),
    Family(
        "turbine_scaling_declined_total",
        "counter",
        ("reason",),
        "Looks of the auto scaler that changed nothing, by the reason.",
    ),
    Family(
        "turbine_scaling_time_to_effect_seconds",
        "histogram",
        (),
        "From a scaling decision to the commit that brought it into effect.",
    ),
    Family("turbine_shard_moves_total", "counter", ("reason",), "Moves of shards that were begun."),
    Family(
        "turbine_dead_letters_total",
        "counter",
        ("reason",),
        "Records that were put aside, because nobody can read them or they came too late.",
    ),
)
OF_PROCESS: tuple[Family, ...] = (
    Family("turbine_build_info", "gauge", ("version",), "1, and which build says so."),
    Family(
        "turbine_records_said_total",
        "counter",
        ("component", "type"),
        "Records that the process wrote to the log.",
    ),
    Family(
        "turbine_records_unreadable_total",
        "counter",
        ("reason",),
        "Records that the process could not read, and put aside.",
    ),
    Family(
        "turbine_records_read",
        "gauge",
        ("component", "partition", "became"),
        "Records read since the last assignment, by what became of them.",
    ),
    Family(
        "turbine_keys_held_back",
        "gauge",
        ("component", "partition"),
        "Keys with records that wait for what their authors knew.",
    ),
    Family(
        "turbine_keys_frozen",
        "gauge",
        ("component", "partition"),
        "Keys with a decision that this build cannot read.",
    ),
    Family(
        "turbine_webhook_attempts_total",
        "counter",
        ("hook", "verdict"),
        "Attempts to tell a receiver, by what became of them.",
    ),
    Family("turbine_webhook_given_up_total", "counter", ("hook",), "Messages that were given up."),
    Family("turbine_webhook_waiting", "gauge", ("hook",), "Messages read and not yet done."),
    Family("turbine_webhook_down", "gauge", ("hook",), "1 while the receiver takes nothing."),
    Family(
        "turbine_audited_total",
        "counter",
        ("component", "verdict"),
        "Decisions that were made again.",
    ),
    Family("turbine_audit_lag_seconds", "gauge", (), "How far the audit is behind the clock."),
    Family("turbine_audit_waiting", "gauge", (), "Decisions that have no verdict of it yet."),
)
"""Of every component, which says it of itself with `--metrics-port`."""
