"""`/fleet`, `/alerts`, `/digest`, `/diff`, `/platform`: the fleet at a glance and over time, what
needs a person, what changed, and how the control plane itself does.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from turbine.api.desk import (
    AT_MAX,
    BUCKETS_MAX,
    Cursor,
    Filter,
    Limit,
    Seen,
    view_of,
)
from turbine.api.digests import digest_of
from turbine.api.jobs import job_of
from turbine.api.paging import Page, page
from turbine.api.problems import told
from turbine.api.shapes import FleetSeriesAnswer
from turbine.api.spans import Since, Until, begin_of, known_then, span_of
from turbine.read.answers import alerts as of_alerts
from turbine.read.answers import diff as of_diff
from turbine.read.answers import fleet as of_fleet
from turbine.read.answers import platform as of_platform
from turbine.read.answers.digest import Digest
from turbine.read.state.together import together

DAY_MS = 24 * 3_600_000
SHIFT_MS = 8 * 3_600_000

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


@router.get("/platform", response_model=of_platform.Platform, summary="How the control plane does")
def platform(seen: Seen) -> Any:
    """Each component's last decision, how far running is from expected, what could not be read, and
    how far this server has read."""
    desk = seen.desk
    return of_platform.platform(seen.view, desk.log, desk.feed.readers)


@router.get("/fleet/series", response_model=FleetSeriesAnswer, summary="The fleet over time")
def fleet_series(
    seen: Seen,
    since: Since = None,
    until: Until = None,
    buckets: Annotated[int, Query(ge=1, le=BUCKETS_MAX)] = 144,
) -> Any:
    """What all jobs did together, by buckets of equal length; by default the last day, or since the
    first task reported, where that is less."""
    begin_ms, end_ms = span_of(seen, since, until, DAY_MS)
    if since is None:
        begin_ms = begin_of(seen, None, begin_ms, end_ms)
    found = together(seen.desk.views.over_time, begin_ms, end_ms, buckets)
    return {"end_ms": end_ms, **known_then(found, seen.view.at_ms)}


@router.get("/digest", response_model=Digest, summary="What changed, what needs you first")
def digest(seen: Seen, since: Since = None) -> Any:
    """Changes of config with their authors, scaling and whether it helped, alerts, moves and
    quarantine since a shift began; the last eight hours by default."""
    begin_ms, _ = span_of(seen, since, None, SHIFT_MS)
    return digest_of(seen.desk, seen.view, begin_ms)


@router.get(
    "/diff",
    response_model=Page[of_diff.ChangedSubject],
    summary="What differs from an earlier moment",
    responses=told(404),
)
def diff(
    *,
    seen: Seen,
    since: Annotated[str, Query(alias="from", max_length=AT_MAX)],
    job: Annotated[list[str] | None, Query(description="Of these jobs alone.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Any:
    """Jobs and tiers field by field, with who made each of them another, in which layer and why."""
    before = view_of(seen.desk, since, "from")
    found = of_diff.diff(seen.desk.log, before, seen.view, job or ())
    for name in {*(job or ())}.difference(subject.name for subject in found):
        job_of(seen, name)
    items, after = page(found, lambda one: (one.kind, one.name), ("", ""), limit, cursor)
    return Page(tuple(items), after, len(found))
