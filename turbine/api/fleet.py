"""`/fleet` and `/alerts`: the fleet at a glance, its worst offenders, and what needs a person."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fastapi import APIRouter

from projections.capacity import Capacity
from turbine.api.asking import Seen
from turbine.api.problems import told
from turbine.api.reading import Row
from turbine.api.rows import offenders, totals
from turbine.api.shapes import AlertsAnswer, FleetAnswer
from turbine.capacity import tier_to_plain
from turbine.shards import stage_of
from turbine.shards import state_of as container_state
from turbine.views.view import AlertView, View

ALERTS_MAX = 100

router = APIRouter(tags=["fleet"], responses=told(422, 503))


@router.get("/fleet", response_model=FleetAnswer, summary="The whole fleet at a glance")
def fleet(seen: Seen) -> Any:
    """Turbine's three numbers, the jobs to look at first, open alerts, and each tier."""
    view, lines = seen.view, seen.lines()
    return {
        "at_ms": view.at_ms,
        "now_ms": view.now_ms,
        "totals": totals(lines),
        "offenders": offenders(lines),
        "alerts": [one.to_plain() for one in open_alerts(view)[:ALERTS_MAX]],
        "tiers": [tier_line(view, name) for name in sorted(view.tiers)],
        "dead_letters": view.dead_letters,
    }


def open_alerts(view: View) -> list[AlertView]:
    """Those that stand, the newest first."""
    return sorted(view.alerts.values(), key=lambda one: (-one.since_ms, one.key))


def tier_row(view: View, name: str) -> Row:
    """A tier as `turbine get tiers -o json` shows it."""
    row = view.capacity.get(name) or Capacity(name)
    return tier_to_plain(row, view.defined[name], *view.reported.get(name, (None, None)))


def tier_line(view: View, name: str) -> Row:
    """A tier in few words."""
    fleet, row = view.tiers[name], tier_row(view, name)
    containers: Counter[str] = Counter(
        container_state(fleet, life)
        for life in fleet.members()
        if life.lives or fleet.holdings.get(life.name)
    )
    shards: Counter[str] = Counter(stage_of(fleet, shard) for shard in range(fleet.shards))
    names = ("tier", "state", "resources", "jobs", "jobs_waiting", "preempted")
    return {name: row[name] for name in names} | {
        "containers": dict(sorted(containers.items())),
        "shards": dict(sorted(shards.items())),
    }


@router.get("/alerts", response_model=AlertsAnswer, summary="Alerts, open and cleared of late")
def alerts(seen: Seen) -> Any:
    """All that stand, and the last that were cleared, the newest first."""
    return {
        "open": [one.to_plain() for one in open_alerts(seen.view)],
        "cleared": [one.to_plain() for one in seen.view.cleared[:ALERTS_MAX]],
    }
