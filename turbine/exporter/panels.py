"""What the board shows: from the paper's three numbers down to the control plane. Pure."""

from __future__ import annotations

from typing import Literal, NamedTuple

Unit = Literal["none", "short", "percentunit", "s", "ops"]


class Query(NamedTuple):
    """What is asked, and how the answer is called."""

    expr: str
    legend: str = ""


class Panel(NamedTuple):
    """One panel, `width` columns wide."""

    title: str
    about: str
    queries: tuple[Query, ...]
    width: int = 8
    unit: Unit = "short"
    sort: Literal["stat", "timeseries", "bargauge"] = "timeseries"
    bounds: tuple[float, float] | None = None  # from which on it is yellow, and red
    stacked: bool = False


def _stat(
    title: str, about: str, expr: str, unit: Unit, bounds: tuple[float, float] | None
) -> Panel:
    return Panel(title, about, (Query(expr),), 4, unit, "stat", bounds)


FLEET = (
    _stat(
        "Tasks not running",
        "Of the tasks that should run. Runbook: tasks-not-running.",
        "turbine_tasks_not_running_ratio",
        "percentunit",
        (0.01, 0.05),
    ),
    _stat(
        "Tasks lagging",
        "Of the tasks that should run, those further behind than their job promises."
        " Runbook: jobs-lagging.",
        "turbine_tasks_lagging_ratio",
        "percentunit",
        (0.01, 0.05),
    ),
    _stat(
        "Tasks unhealthy",
        "Of the tasks that should run, those that crash. Runbook: tasks-failing.",
        "turbine_tasks_unhealthy_ratio",
        "percentunit",
        (0.005, 0.02),
    ),
    _stat(
        "Open alerts",
        "That stand in the log until they are cleared.",
        'sum(turbine_alerts{severity!="info"})',
        "none",
        (1, 5),
    ),
    _stat(
        "Jobs drifting",
        "That run otherwise than is expected of them.",
        "turbine_config_drift_jobs",
        "none",
        (5, 50),
    ),
    _stat("Tasks wanted", "That should run.", "turbine_tasks_wanted", "none", None),
    Panel(
        "Jobs",
        "By how they stand.",
        (Query('turbine_jobs{phase!="deleted"}', "{{phase}}"),),
        stacked=True,
    ),
    Panel(
        "Tasks",
        "By state, over all tiers.",
        (Query("sum by (state) (turbine_tasks)", "{{state}}"),),
        stacked=True,
    ),
    Panel(
        "Alerts",
        "Each has a page among the runbooks, called as it is.",
        (Query("turbine_alerts > 0", "{{alert}} ({{severity}})"),),
        unit="none",
        sort="bargauge",
        bounds=(1, 5),
    ),
)

JOBS = (
    Panel(
        "Lag of the worst jobs",
        "How long the worst task of each needs for what it has not read yet.",
        (Query("topk(10, turbine_job_lag_seconds)", "{{job}}"),),
        12,
        "s",
    ),
    Panel(
        "Jobs by what does not hold",
        "Conditions are those of docs/monitoring.md.",
        (Query("count by (condition) (turbine_job_health == 0)", "{{condition}}"),),
        6,
        "none",
    ),
    Panel(
        "Jobs by the mode of their policy",
        "Off and observe change nothing: a forgotten one is an alert after a day.",
        (Query("sum by (mode) (turbine_policy_mode)", "{{mode}}"),),
        6,
        "none",
        stacked=True,
    ),
)

SCALING = (
    Panel(
        "Scaling",
        "Actions an hour, and what became of them.",
        (
            Query(
                "sum by (direction, result) (increase(turbine_scaling_actions_total[1h])) > 0",
                "{{direction}}, {{result}}",
            ),
        ),
        unit="none",
    ),
    Panel(
        "Looks that changed nothing",
        "An hour, by the reason; `turbine why-not JOB --action scale-up` tells of one job.",
        (
            Query(
                "topk(8, sum by (reason) (increase(turbine_scaling_declined_total[1h])))",
                "{{reason}}",
            ),
        ),
        unit="none",
    ),
    Panel(
        "From a decision to its effect",
        "Half of all, and nine of ten, of the last hour.",
        tuple(
            Query(
                f"histogram_quantile({part}, sum by (le)"
                " (rate(turbine_scaling_time_to_effect_seconds_bucket[1h])))",
                legend,
            )
            for part, legend in (("0.5", "half"), ("0.9", "nine of ten"))
        ),
        unit="s",
    ),
)

PLACEMENT = (
    Panel(
        "Use of containers",
        "The fullest, the emptiest and the mean of each tier: the band should be narrow.",
        (
            Query(
                'max by (tier, resource, of) (turbine_container_utilization_ratio{of!="mean"})',
                "{{tier}} {{resource}} {{of}}",
            ),
        ),
        12,
        "percentunit",
    ),
    Panel(
        "Reserved and used of each tier",
        "What jobs ask for, and what their tasks take, of what there is; reserved above 1 a tier is"
        " short (runbook tier-short).",
        (
            Query("turbine_tier_reserved_ratio", "{{tier}} {{resource}} reserved"),
            Query("turbine_tier_used_ratio", "{{tier}} {{resource}} used"),
        ),
        12,
        "percentunit",
        bounds=(0.9, 1.0),
    ),
    Panel(
        "Containers",
        "By state, over all tiers.",
        (Query("sum by (state) (turbine_containers)", "{{state}}"),),
        unit="none",
        stacked=True,
    ),
    Panel(
        "Shards that are not held",
        "Under way, lost, or without a place.",
        (Query('sum by (stage) (turbine_shards{stage!="held"})', "{{stage}}"),),
        unit="none",
        stacked=True,
    ),
    Panel(
        "Moves",
        "An hour, by the reason.",
        (
            Query(
                "sum by (reason) (increase(turbine_shard_moves_total[1h])) > 0",
                "{{reason}}",
            ),
        ),
        unit="none",
    ),
)

PLATFORM = (
    Panel(
        "The oldest change that is not in effect",
        "Runbook: reconcile-slow.",
        (Query("turbine_reconcile_lag_seconds", "waits"),),
        unit="s",
        bounds=(300, 1200),
    ),
    Panel(
        "Age of the log's clock",
        "Nothing that waits for time is decided while it stands. Runbook: clock-stopped.",
        (Query("time() - turbine_clock_timestamp_seconds", "since the last tick"),),
        unit="s",
        bounds=(10, 60),
    ),
    Panel(
        "Records not in these figures yet",
        "Runbook: figures-behind.",
        (Query("turbine_projection_lag_events", "behind"),),
        bounds=(1000, 10_000),
    ),
    Panel(
        "Decisions",
        "A second, by who makes them.",
        (
            Query(
                'sum by (component) (rate(turbine_decisions_total{result="stands"}[5m]))',
                "{{component}}",
            ),
        ),
        unit="ops",
        stacked=True,
    ),
    Panel(
        "Decisions that lost",
        "Of all: two instances that decide about the same jobs. Runbook: decisions-void.",
        (
            Query(
                'sum(rate(turbine_decisions_total{result="void"}[15m]))'
                " / sum(rate(turbine_decisions_total[15m]))",
                "void",
            ),
        ),
        unit="percentunit",
    ),
    Panel(
        "Dead letters",
        "An hour, by the reason. Runbook: dead-letters.",
        (
            Query(
                "sum by (reason) (increase(turbine_dead_letters_total[1h])) > 0",
                "{{reason}}",
            ),
        ),
        unit="none",
    ),
    Panel(
        "Keys that wait",
        "Held back for what others knew, or frozen by what this build cannot read."
        " Runbooks: keys-held-back, unreadable-decision.",
        (
            Query("sum by (component) (turbine_keys_held_back)", "{{component}} held back"),
            Query("sum by (component) (turbine_keys_frozen)", "{{component}} frozen"),
        ),
        unit="none",
    ),
    Panel(
        "Records",
        "A second, by topic.",
        (Query("sum by (topic) (rate(turbine_events_total[5m]))", "{{topic}}"),),
        unit="ops",
    ),
    Panel(
        "Builds",
        "More than one while a roll-out goes on.",
        (Query("count by (version) (turbine_build_info)", "{{version}}"),),
        unit="none",
    ),
)

ROWS: tuple[tuple[str, tuple[Panel, ...]], ...] = (
    ("The fleet", FLEET),
    ("Jobs", JOBS),
    ("Scaling", SCALING),
    ("Placement", PLACEMENT),
    ("The control plane", PLATFORM),
)
