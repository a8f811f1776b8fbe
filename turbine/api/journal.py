"""`/journal`, `/decisions/ID`, `/markers`: what was decided, newest first, and why."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from events.job_config.strict_json import shorten
from turbine.api.desk import BUCKETS_MAX, Cursor, Limit, Seen
from turbine.api.paging import position_of
from turbine.api.problems import RequestRefused, told
from turbine.api.shapes import DecisionsAnswer, MarkersAnswer
from turbine.api.spans import Since, Until, span_of
from turbine.read.answers.decision import Explanation, OpenRequest
from turbine.read.answers.journal import line_of
from turbine.read.state.decisions import DecisionFilter

DAY_MS = 24 * 3_600_000
router = APIRouter(tags=["decisions"], responses=told(422, 503))


@router.get("/journal", response_model=DecisionsAnswer, summary="All decisions, newest first")
def journal(
    *,
    seen: Seen,
    job: Annotated[str | None, Query(max_length=128)] = None,
    kind: Annotated[
        str | None,
        Query(max_length=1000, description="Kinds, or classes of them, separated by commas."),
    ] = None,
    component: Annotated[str | None, Query(max_length=128)] = None,
    void: Annotated[
        bool | None, Query(description="Only those that are void, or only those that stand.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Any:
    """About jobs and tiers; of one job, some kinds, one component."""
    kinds = None if kind is None else frozenset(kind.split(","))
    wanted = DecisionFilter(job, None, component, void, seen.view.at, kinds)
    annals = seen.desk.annals
    items, after = annals.page(wanted, limit, position_of(cursor, annals.knows))
    return {"items": [line_of(one) for one in items], "next": after or None}


@router.get(
    "/decisions/{id}",
    response_model=Explanation | OpenRequest,
    summary="What stands behind a decision",
    responses=told(404),
)
def why(
    seen: Seen,
    id: Annotated[  # noqa: A002 - the word of the contract
        str, Path(max_length=200, description="Of a decision, or of the change that was asked.")
    ],
) -> Any:
    """Its evidence, the request it answers, what it changed, and what became of it."""
    found = seen.desk.annals.explain(id, seen.view.at)
    if found is None:
        raise RequestRefused(
            404,
            "no-such-decision",
            f"no decision and no request has the id {shorten(id)}; GET journal lists all",
            "path.id",
        )
    return found


@router.get("/markers", response_model=MarkersAnswer, summary="What was decided when")
def markers(
    seen: Seen,
    since: Since = None,
    until: Until = None,
    buckets: Annotated[int, Query(ge=1, le=BUCKETS_MAX)] = 240,
) -> Any:
    """How many decisions that stand of each class lie in each bucket; the last day by default."""
    begin_ms, end_ms = span_of(seen, since, until, DAY_MS)
    wanted = DecisionFilter(void=False, upto=seen.view.at)
    return seen.desk.views.decisions.markers(begin_ms, end_ms, buckets, wanted)
