"""When somebody is called: alert rules for Prometheus, each with the page of its runbook. Pure.

Two kinds. What the log raises as an alert is passed on as it is, without another threshold. What
no component can say of itself (that it is silent, that the fleet as a whole is badly off) is a rule
here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from events.generated.records import Severity
from turbine.read.answers.alert_kinds import RAISED

RUNBOOKS = "docs/runbooks"
"""Where the pages are; another base is given to `turbine monitoring export`."""


class Rule(NamedTuple):
    """One alert of Prometheus."""

    name: str
    expr: str
    lasting: str  # how long it has to hold
    severity: Severity
    runbook: str  # name of its page
    summary: str


FLEET: tuple[Rule, ...] = (
    # The paper's fleet is well below these; a roll-out of everything is above them, for a moment.
    Rule(
        "TurbineTasksNotRunning",
        "turbine_tasks_not_running_ratio > 0.05",
        "10m",
        "critical",
        "tasks-not-running",
        "{{ $value | humanizePercentage }} of all tasks do not run",
    ),
    Rule(
        "TurbineJobNotRunning",
        # By its deadlines a plan takes no longer than 8 minutes.
        'turbine_job_health{condition="tasks_running"} == 0',
        "10m",
        "critical",
        "tasks-not-running",
        "tasks of {{ $labels.job }} should run and do not",
    ),
    Rule(
        "TurbineTasksLagging",
        "turbine_tasks_lagging_ratio > 0.05",
        "10m",
        "warning",
        "jobs-lagging",
        "{{ $value | humanizePercentage }} of all tasks lag more than their jobs promise",
    ),
    Rule(
        "TurbineTasksUnhealthy",
        "turbine_tasks_unhealthy_ratio > 0.02",
        "10m",
        "warning",
        "tasks-failing",
        "{{ $value | humanizePercentage }} of all tasks crash",
    ),
    Rule(
        "TurbineJobLagging",
        'turbine_job_health{condition="lag_within_slo"} == 0',
        "15m",
        "warning",
        "jobs-lagging",
        "{{ $labels.job }} lags more than it promises",
    ),
    Rule(
        "TurbineJobLagUnknown",
        'turbine_job_health{condition="lag_known"} == 0',
        "15m",
        "warning",
        "lag-unknown",
        "tasks of {{ $labels.job }} do not say how far behind they are",
    ),
    Rule(
        "TurbineContainerFull",
        'turbine_container_utilization_ratio{of="max",resource=~"memory_bytes|disk_bytes"} > 0.95',
        "15m",
        "warning",
        "container-full",
        "a container of {{ $labels.tier }} uses {{ $value | humanizePercentage }} of its"
        " {{ $labels.resource }}",
    ),
    Rule(
        "TurbineScalingReverted",
        'sum(increase(turbine_scaling_actions_total{result="reverted"}[1h])) > 3',
        "0m",
        "warning",
        "scaling-reverted",
        "{{ $value | humanize }} scaling actions were taken back within an hour",
    ),
    Rule(
        "TurbineOverrideForgotten",
        'turbine_overrides{expiry="none"} > 0',
        "24h",
        "info",
        "override-forgotten",
        "{{ $value }} jobs have an oncall override that never ends",
    ),
    Rule(
        "TurbinePolicyOff",
        'turbine_policy_mode{mode=~"off|observe"} == 1',
        "24h",
        "info",
        "policy-off",
        "the policy of {{ $labels.job }} has been in mode {{ $labels.mode }} for a day",
    ),
)

PLATFORM: tuple[Rule, ...] = (
    Rule(
        "TurbineClockStopped",
        "time() - turbine_clock_timestamp_seconds > 60",
        "1m",
        "critical",
        "clock-stopped",
        "no tick for {{ $value | humanizeDuration }}: nothing that waits for time is decided",
    ),
    Rule(
        "TurbineReconcileSlow",
        # A plan may take 8 minutes by its deadlines, stop 3 and start 5, and be tried again.
        "turbine_reconcile_lag_seconds > 1200",
        "5m",
        "warning",
        "reconcile-slow",
        "a change waits for {{ $value | humanizeDuration }} and is not in effect",
    ),
    Rule(
        "TurbineDeadLetters",
        "sum by (reason) (increase(turbine_dead_letters_total[15m])) > 0",
        "0m",
        "warning",
        "dead-letters",
        "records were put aside: {{ $labels.reason }}",
    ),
    Rule(
        "TurbineDecisionsVoid",
        'sum(rate(turbine_decisions_total{result="void"}[15m]))'
        " / sum(rate(turbine_decisions_total[15m])) > 0.2",
        "15m",
        "warning",
        "decisions-void",
        "{{ $value | humanizePercentage }} of all decisions lose to another instance's",
    ),
    Rule(
        "TurbineKeysFrozen",
        "sum by (component) (turbine_keys_frozen) > 0",
        "5m",
        "critical",
        "unreadable-decision",
        "{{ $labels.component }} cannot read decisions about {{ $value }} keys",
    ),
    Rule(
        "TurbineKeysHeldBack",
        "sum by (component) (turbine_keys_held_back) > 0",
        "10m",
        "warning",
        "keys-held-back",
        "{{ $labels.component }} waits for what others knew, about {{ $value }} keys",
    ),
    Rule(
        "TurbineFiguresBehind",
        "turbine_projection_lag_events > 10000 or turbine_projection_up == 0",
        "5m",
        "warning",
        "figures-behind",
        "the figures of the fleet are old: the exporter does not keep up, or has no broker",
    ),
    Rule(
        "TurbineFiguresMissing",
        "absent(turbine_jobs)",
        "5m",
        "critical",
        "figures-behind",
        "nobody serves the figures of the fleet: is the exporter running?",
    ),
)


def raised() -> Iterator[Rule]:
    """The alerts of the log, each under its own name."""
    for kind in RAISED:
        name = "Turbine" + "".join(word.capitalize() for word in kind.name.split("-"))
        expr = f'turbine_alerts{{alert="{kind.name}"}} > 0'
        summary = f"{{{{ $value }}}} open: {kind.means}"
        yield Rule(name, expr, "0m", kind.severity, kind.name, summary)


GROUPS: tuple[tuple[str, tuple[Rule, ...]], ...] = (
    ("turbine-log", tuple(raised())),
    ("turbine-fleet", FLEET),
    ("turbine-platform", PLATFORM),
)


def rules(base: str = RUNBOOKS) -> dict[str, Any]:
    """All groups, as Prometheus reads them."""
    return {
        "groups": [
            {"name": name, "rules": [_plain(rule, base) for rule in some]} for name, some in GROUPS
        ]
    }


def _plain(rule: Rule, base: str) -> dict[str, Any]:
    return {
        "alert": rule.name,
        "expr": rule.expr,
        "for": rule.lasting,
        "labels": {"severity": rule.severity},
        "annotations": {
            "summary": rule.summary,
            "runbook_url": f"{base.rstrip('/')}/{rule.runbook}.md",
        },
    }


def table(some: tuple[Rule, ...]) -> str:
    """As the page of the docs has them; `python -m turbine.exporter.page` writes it."""
    lines = ["| alert | when | for | severity | runbook |", "| --- | --- | --- | --- | --- |"]
    for rule in some:
        expr, page = rule.expr.replace("|", "\\|"), rule.runbook
        link = f"[{page}](runbooks/{page}.md)"
        lines.append(f"| {rule.name} | `{expr}` | {rule.lasting} | {rule.severity} | {link} |")
    return "\n".join(lines)
