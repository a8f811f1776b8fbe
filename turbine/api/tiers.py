"""`/tiers` and all that is below one: containers, shards, moves, and how evenly it is loaded."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from events.job_config.strict_json import shorten
from projections.fleet import TierFleet
from turbine.api.desk import Cursor, DeskView, Limit, Seen
from turbine.api.paging import Items, TierItems, TierPage, page
from turbine.api.problems import RequestRefused, told
from turbine.api.shapes import BalanceAnswer
from turbine.read.answers import tiers as of_tiers
from turbine.read.answers.moves import MoveLine, move_line
from turbine.read.answers.placement_preview import compared, spread_of

router = APIRouter(tags=["tiers"], responses=told(422, 503))
Name = Annotated[str, Path(max_length=200, description="Of a tier.")]


def tier_of(seen: DeskView, name: str) -> TierFleet:
    """The tier's row; a refusal where there is none."""
    found = seen.view.tiers.get(name)
    if found is None or not found.defined:
        raise RequestRefused(
            404,
            "no-such-tier",
            f"there is no tier {shorten(name)} at this position;"
            " `turbine tier create NAME --shards N` makes one",
            "path.tier",
        )
    return found


@router.get("/tiers", response_model=Items[of_tiers.Tier], summary="All tiers")
def tiers(seen: Seen) -> Any:
    """What each holds, what is left and lent, who waits and who was stopped."""
    return Items(tuple(of_tiers.tiers(seen.view)))


@router.get(
    "/tiers/{tier}/containers",
    response_model=TierItems[of_tiers.Container],
    summary="The containers of a tier",
    responses=told(404),
)
def containers(
    seen: Seen,
    tier: Name,
    gone: Annotated[bool, Query(description="Also those that hold nothing any more.")] = False,
) -> Any:
    """How they stand, what they hold, how full they are."""
    row = tier_of(seen, tier)
    return TierItems(tuple(of_tiers.containers(row, gone=gone)), tier)


@router.get(
    "/tiers/{tier}/shards",
    response_model=TierPage[of_tiers.Shard],
    summary="The shards of a tier",
    responses=told(404),
)
def shards(
    *,
    seen: Seen,
    tier: Name,
    moving: Annotated[bool, Query(description="Only those about which something is to come.")] = (
        False
    ),
    container: Annotated[str | None, Query(max_length=128)] = None,
    limit: Limit = 500,
    cursor: Cursor = None,
) -> Any:
    """Who holds each, how far its move is, what it uses."""
    row = tier_of(seen, tier)
    found = of_tiers.shards(row, container=container, moving=moving)
    items, after = page(found, lambda one: (one.shard,), (0,), limit, cursor)
    return TierPage(tuple(items), after, len(found), tier)


@router.get(
    "/tiers/{tier}/moves",
    response_model=TierItems[MoveLine],
    summary="The last moves of a tier's shards",
    responses=told(404),
)
def moves(seen: Seen, tier: Name, last: Annotated[int, Query(ge=1, le=1000)] = 50) -> Any:
    """From where to where, why, how far, how long."""
    tier_of(seen, tier)
    found = seen.desk.annals.moves(tier, last, seen.view)
    return TierItems(tuple(move_line(tier, move) for move in found), tier)


@router.get(
    "/tiers/{tier}/balance",
    response_model=BalanceAnswer,
    summary="How evenly a tier is loaded",
    responses=told(404),
)
def balance(seen: Seen, tier: Name) -> Any:
    """Each container's load as a share of the mean, and what the last plan found and wanted."""
    row = tier_of(seen, tier)
    last = seen.desk.annals.last_plan(tier, seen.view.at)
    spread = {} if last is None else spread_of(last.first.measures_json)
    return {
        "tier": tier,
        "items": [
            {"container": name, **one} for name, some in compared(row).items() for one in some
        ],
        "plan": None if last is None else last.plan_id,
        "plan_at_ms": None if last is None else last.at_ms,
        "explanation": None if last is None else last.first.explanation,
        "before": {name: one["before"] for name, one in spread.items()},
        "after": {name: one["after"] for name, one in spread.items()},
    }
