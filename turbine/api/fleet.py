"""`/fleet` and `/alerts`: the fleet at a glance, its worst offenders, and what needs a person."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from turbine.api.asking import Filter, Seen
from turbine.api.problems import told
from turbine.read.answers import alerts as of_alerts
from turbine.read.answers import fleet as of_fleet

router = APIRouter(tags=["fleet"], responses=told(422, 503))


@router.get("/fleet", response_model=of_fleet.Fleet, summary="The whole fleet at a glance")
def fleet(
    seen: Seen,
    q: Filter = "",
    sort: Literal["worst", "lag", "rate", "tasks", "changed", "name"] = "worst",
    limit: Annotated[
        int, Query(ge=0, le=1000, description="Of the jobs, and of the containers.")
    ] = 0,
) -> Any:
    """Turbine's three numbers, the jobs to look at first, open alerts, and each tier."""
    return of_fleet.fleet(seen.view, seen.lines(), q, sort, limit)


@router.get("/alerts", response_model=of_alerts.Alerts, summary="Alerts, open and cleared of late")
def alerts(seen: Seen) -> Any:
    """All that stand, and the last that were cleared, the newest first."""
    return of_alerts.alerts(seen.view)
