"""What a list says of each job, and what the fleet adds up to. Pure, but for what is remembered of
rows that have not changed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from events.config import JobConfig, Slo
from events.merge import origins
from events.records import TaskLoadReported
from events.topics import LAYERS
from projections.jobs import Job
from turbine.api.noted import Noted
from turbine.monitoring.alerts import gravest
from turbine.running import standing, tasks_to_plain
from turbine.scaled import policy_of
from turbine.views.view import AlertView, JobView, View

Row = dict[str, Any]

OFFENDERS_MAX = 20
UNHEALTHY = ("failed", "restarting")
STATES_WORST = ("quarantined", "failing", "behind", "syncing")
"""What is in the way of a job, the worst first."""
TIER, PRIORITY = (JobConfig.model_fields[name].default for name in ("tier", "priority"))
SLO_LAG_SECONDS = Slo.model_fields["lag_seconds"].default


class Lines:
    """The lines of all jobs; one is made anew when its job has changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[JobView, list[AlertView], Row]] = {}

    def of(self, view: View) -> list[Row]:
        """By name, deleted jobs too."""
        alerts = alerts_of(view)
        made: dict[str, tuple[JobView, list[AlertView], Row]] = {}
        for name, seen in view.jobs.items():
            if not seen.existed:
                continue
            known, open_now = self._known.get(name), alerts.get(name, [])
            if known is None or known[0] is not seen or known[1] != open_now:
                known = seen, open_now, line(seen, open_now)
            made[name] = known
        # Exchanged whole: another thread may be reading the one before.
        self._known = made
        return [row for _, _, row in made.values()]


def alerts_of(view: View) -> dict[str, list[AlertView]]:
    """The open ones by what they are about."""
    found: dict[str, list[AlertView]] = {}
    for one in view.alerts.values():
        found.setdefault(one.subject, []).append(one)
    return found


def line(seen: JobView, alerts: Sequence[AlertView]) -> Row:
    """A job as a list shows it, with the alerts that are open about it."""
    job, expected = seen.job, json.loads(seen.job.expected_json)
    policy, tasks = policy_of(expected), _tasks(seen, _slo_ms(expected))
    worst = min(alerts, key=gravest, default=None)
    return {
        "job": job.name,
        "state": standing(
            seen.sync, alive=job.alive, unhealthy=tasks["unhealthy"], lagging=tasks["lagging"]
        ),
        **tasks,
        "policy": str(policy["policy"]),
        "mode": str(policy["mode"]),
        "tier": str(expected.get("tier", TIER)),
        "priority": _whole(expected.get("priority"), PRIORITY),
        "overrides": _overrides(job),
        "alerts": len(alerts),
        "gravest": None
        if worst is None
        else {"alert": worst.kind, "severity": worst.severity, "cause": worst.cause},
        "updated_ms": seen.notes.updated_ms or None,
    }


def _slo_ms(expected: Mapping[str, Any]) -> float:
    slo = expected.get("slo")
    said = slo.get("lag_seconds") if isinstance(slo, dict) else None
    return 1000 * (said if isinstance(said, int | float) else SLO_LAG_SECONDS)


def _whole(said: object, usual: int) -> int:
    return said if isinstance(said, int) and not isinstance(said, bool) else usual


def _tasks(seen: JobView, slo_ms: float) -> Row:
    """How many tasks there are and how they are; lag and rate by their last reports."""
    listed = None if seen.sync is None else seen.sync.listed
    wanted = 0 if listed is None else listed.tasks
    states = Counter(
        str(task["state"])
        for task in (() if seen.sync is None else tasks_to_plain(seen.sync, Noted(seen)))
        if task["task"] < wanted
    )
    reports = [report for report, _ in seen.loads.values()]
    whole = wanted > 0 and len(reports) == wanted
    lags = [one.lag_ms for one in reports if one.lag_ms is not None]
    return {
        "tasks": wanted,
        "running": states["running"],
        "not_running": wanted - states["running"],
        "lagging": sum(lag > slo_ms for lag in lags),
        "unhealthy": sum(states[one] for one in UNHEALTHY),
        "lag_seconds": max(lags) / 1000 if whole and len(lags) == wanted else None,
        "lag_records": _sum(reports, "lag_records") if whole else None,
        "rate_in": _sum(reports, "records_in_per_s") if whole else None,
    }


def _sum(reports: Iterable[TaskLoadReported], name: str) -> Any:
    values = [getattr(one, name) for one in reports]
    return None if None in values else sum(values)


def _overrides(job: Job) -> list[Row]:
    configs = [json.loads(layer.config_json) for layer in job.layers]
    if not any(configs[1:]):
        return []
    return [
        {"path": path, "layer": LAYERS[at], "expires_ms": job.layers[at].expires_ms}
        for path, at in sorted(origins(configs).items())
        if at > 0
    ]


# --- the fleet


def totals(lines: Iterable[Row]) -> Row:
    """The three numbers, and what they are counted of."""
    rows = [row for row in lines if row["state"] != "deleted"]
    wanted = sum(row["tasks"] for row in rows)

    def share(name: str) -> Row:
        count = sum(row[name] for row in rows)
        return {"count": count, "percent": round(100 * count / wanted, 3) if wanted else 0.0}

    return {
        "jobs": len(rows),
        "tasks_wanted": wanted,
        "tasks_running": sum(row["running"] for row in rows),
        "tasks_not_running": share("not_running"),
        "tasks_lagging": share("lagging"),
        "tasks_unhealthy": share("unhealthy"),
        "jobs_by_state": dict(sorted(Counter(str(row["state"]) for row in rows).items())),
    }


def offenders(lines: Iterable[Row]) -> list[Row]:
    """The jobs that need to be looked at first, the worst first, each with why."""
    found = [
        row | {"why": why} for row in lines if row["state"] != "deleted" and (why := _why(row))
    ]
    return sorted(found, key=_badness)[:OFFENDERS_MAX]


def _why(row: Row) -> str:
    said = []
    if row["state"] in STATES_WORST:
        said.append(str(row["state"]))
    if row["unhealthy"]:
        said.append(f"{row['unhealthy']} of {row['tasks']} tasks fail")
    if row["not_running"] and row["state"] != "paused":
        said.append(f"{row['not_running']} of {row['tasks']} tasks do not run")
    if row["lagging"]:
        said.append(f"{row['lagging']} of {row['tasks']} tasks lag")
    if row["alerts"]:
        said.append(f"{row['alerts']} alert{'' if row['alerts'] == 1 else 's'}")
    return ", ".join(said)


def _badness(row: Row) -> tuple[Any, ...]:
    state = row["state"]
    rank = STATES_WORST.index(state) if state in STATES_WORST else len(STATES_WORST)
    return (
        min(rank, 2),  # to be syncing or behind is usual for a moment
        -row["unhealthy"],
        -row["not_running"],
        -row["lagging"],
        -row["alerts"],
        -row["priority"],
        row["job"],
    )


# --- orders of jobs


def order_of(sort: str) -> Any:
    """The key by which the list is sorted: what is most pressing first, then by name."""

    def key(row: Row) -> tuple[Any, ...]:
        match sort:
            case "lag":
                # Nobody knows whether more is left: after those who lag, before those who do not.
                lag = row["lag_seconds"]
                return (-(0.5 if lag is None else lag), row["job"])
            case "tasks":
                return (-row["tasks"], row["job"])
            case "state":
                return (*_badness(row)[:-1], row["job"])
            case _:
                return (0, row["job"])

    return key


LIKE = {"lag": (0.0, ""), "tasks": (0, ""), "state": (0, 0, 0, 0, 0, 0, ""), "name": (0, "")}
"""The form of each order's key."""
