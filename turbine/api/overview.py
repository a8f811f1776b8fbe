"""`/fleet/series`, `/digest` and `/diff`: a fleet over time, and what changed in it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from turbine.api.asking import (
    AT_MAX,
    BUCKETS_MAX,
    Cursor,
    Limit,
    Seen,
    check_span,
    time_of,
    view_of,
)
from turbine.api.digests import digest_of
from turbine.api.jobs import job_of
from turbine.api.paging import Page, page
from turbine.api.problems import told
from turbine.api.shapes_overview import FleetSeriesAnswer
from turbine.api.spans import begin_of, known_then
from turbine.read.answers import diff as of_diff
from turbine.read.answers.digest import Digest
from turbine.read.state.together import together

DAY_MS = 24 * 3_600_000
SHIFT_MS = 8 * 3_600_000

router = APIRouter(tags=["fleet"], responses=told(422, 503))
Since = Annotated[str | None, Query(alias="from", max_length=100)]
Until = Annotated[str | None, Query(alias="to", max_length=100)]


@router.get("/fleet/series", response_model=FleetSeriesAnswer, summary="The fleet over time")
def fleet_series(
    seen: Seen,
    since: Since = None,
    until: Until = None,
    buckets: Annotated[int, Query(ge=1, le=BUCKETS_MAX)] = 144,
) -> Any:
    """What all jobs did together, by buckets of equal length; by default the last day, or since the
    first task reported, where that is less."""
    end_ms = time_of(until, seen.desk.now_ms(), "to", seen.view.last_ms)
    usual_ms = begin_of(seen, None, max(0, end_ms - DAY_MS), end_ms)
    begin_ms = time_of(since, seen.desk.now_ms(), "from", usual_ms)
    check_span(begin_ms, end_ms)
    found = together(seen.desk.reading.views.over_time, begin_ms, end_ms, buckets)
    return {"end_ms": end_ms, **known_then(found, seen.view.at_ms)}


@router.get("/digest", response_model=Digest, summary="What changed, what needs you first")
def digest(seen: Seen, since: Since = None) -> Any:
    """Changes of config with their authors, scaling and whether it helped, alerts, moves and
    quarantine since a shift began; the last eight hours by default."""
    end_ms = seen.view.last_ms
    begin_ms = time_of(since, seen.desk.now_ms(), "from", max(0, end_ms - SHIFT_MS))
    check_span(begin_ms, end_ms)
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
    found = of_diff.diff(seen.desk.reading.log, before, seen.view, job or ())
    for name in {*(job or ())}.difference(subject.name for subject in found):
        job_of(seen, name)
    items, after = page(found, lambda one: (one.kind, one.name), ("", ""), limit, cursor)
    return Page(tuple(items), after, len(found))
