"""What a list says of each job, and what the fleet adds up to. Pure, but for what is remembered of
rows that have not changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from events.merge import origins
from events.topics import LAYERS
from projections.jobs import Job
from projections.syncs import DELETED
from turbine.headline import HELD, LOST, UNHEARD, Lives, lives_of
from turbine.monitoring.alerts import gravest
from turbine.monitoring.figures import Figures, alerts_of, figure_of, totals_of
from turbine.overrides import until, until_by_path
from turbine.views.view import AlertView, JobView, View

Row = dict[str, Any]

OFFENDERS_MAX = 20
STATES_WORST = ("quarantined", "failing", "behind", "syncing")
"""What is in the way of a job, the worst first."""


class Line(NamedTuple):
    """A job's figures and how a list shows them, with what they were made of."""

    seen: JobView
    alerts: tuple[AlertView, ...]
    since_ms: int
    figures: Figures
    row: Row

    def holds(self, seen: JobView, alerts: tuple[AlertView, ...], now_ms: int) -> bool:
        """Would it be the same, of these?"""
        same = self.seen is seen and self.alerts == alerts
        return same and self.since_ms <= now_ms <= self.figures.until_ms


class Lines:
    """The lines of all jobs; one is made anew when its job has changed, or what is heard of any
    container."""

    def __init__(self) -> None:
        self._known: tuple[Lives, dict[str, Line]] = {}, {}

    def of(self, view: View) -> list[Line]:
        """By name, deleted jobs too."""
        alerts, lives = alerts_of(view), lives_of(view.tiers.values())
        then, before = self._known
        before = before if then == lives else {}
        now_ms, made = view.now_ms or view.at_ms, dict[str, Line]()
        for name, seen in sorted(view.jobs.items()):
            if not seen.existed:
                continue
            known, about = before.get(name), alerts.get(name, ())
            if known is None or not known.holds(seen, about, now_ms):
                found = figure_of(seen, lives, now_ms, about)
                known = Line(seen, about, now_ms, found, line(seen, found))
            made[name] = known
        # Exchanged whole: another thread may be reading the one before.
        self._known = lives, made
        return list(made.values())


def line(seen: JobView, one: Figures) -> Row:
    """A job as a list shows it."""
    worst = min(one.alerts, key=gravest, default=None)
    return one.to_plain() | {
        "priority": one.wanted.priority,
        "overrides": _overrides(seen.job),
        "alerts": len(one.alerts),
        "gravest": None
        if worst is None
        else {"alert": worst.kind, "severity": worst.severity, "cause": worst.cause},
        "updated_ms": one.updated_ms or None,
    }


def _overrides(job: Job) -> list[Row]:
    configs = [json.loads(layer.config_json) for layer in job.layers]
    if not any(configs[1:]):
        return []
    ends = [until_by_path(layer) for layer in job.layers]
    return [
        {"path": path, "layer": LAYERS[at], "expires_ms": until(ends[at], path)}
        for path, at in sorted(origins(configs).items())
        if at > 0
    ]


# --- the fleet


def totals(lines: Iterable[Line]) -> Row:
    """The three numbers, and what they are counted of."""
    return totals_of(one.figures for one in lines).to_plain()


def offenders(lines: Iterable[Line]) -> list[Row]:
    """The jobs that need to be looked at first, the worst first, each with why."""
    living = [one.row for one in lines if one.figures.phase != DELETED]
    found = [row | {"why": why} for row in living if (why := _why(row))]
    return sorted(found, key=_badness)[:OFFENDERS_MAX]


def _why(row: Row) -> str:
    said = []
    if row["state"] in STATES_WORST:
        said.append(str(row["state"]))
    states = row["tasks_by_state"]
    if failing := row["unhealthy"] - states.get(HELD, 0):
        said.append(f"{failing} of {row['tasks']} tasks fail")
    if row["not_running"]:
        words = [f"{states[one]} {one}" for one in (UNHEARD, LOST) if one in states]
        more = f" ({', '.join(words)})" if words else ""
        said.append(f"{row['not_running']} of {row['tasks']} tasks do not run{more}")
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
