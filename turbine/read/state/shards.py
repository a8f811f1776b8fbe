"""Containers and shards of a tier as they stand, in the words of a person on call. Pure."""

from __future__ import annotations

from typing import TypedDict

from projections.fleet import ADD, DROP, ShardGenerations, TierFleet
from projections.liveness import Life
from projections.shards import mask_of_shard, whole_mask

UNPLANNED = "no plan moves it yet"


class LeftShards(TypedDict):
    """What a container still holds."""

    left: int
    because: dict[str, list[int]]


def now_of(row: TierFleet) -> int:
    """The log's own time, as far as the row knows it."""
    return max((ticks.last_ms for ticks in row.ticks.values()), default=0)


# --- containers


def state_of(row: TierFleet, life: Life) -> str:
    """One word for how the container stands; what is worst comes first."""
    if not life.lives:
        return "gone"
    if life.name in row.silent or row.silence_ms(life) >= row.timing.silence_ms:
        return "silent"
    if row.quiet(life):
        return "unheard"
    if life.name in row.drains:
        return "draining" if row.holdings.get(life.name) else "drained"
    return "starting" if life.state == "unknown" else life.state


# --- shards


def stage_of(row: TierFleet, shard: int) -> str:
    """One word for how far the shard is."""
    grant = row.grants.get(shard)
    if grant is None:
        return "unplaced" if shard in row.unplaced else "waiting"
    told = row.told.get(shard, ShardGenerations())
    if told.dropped >= grant.generation:
        return "dropped"  # and on its way to another
    if row.given_up(shard):
        return "unplaced" if shard in row.unplaced else "lost"
    if grant.stage != ADD:
        return "dropping" if grant.stage == DROP else "killing"
    if told.added < grant.generation:
        return "adding"
    return "held" if row.held(shard) else "lost"


def regions_of(row: TierFleet, shard: int) -> list[str]:
    """Where the shard may be held; empty for anywhere."""
    mask = mask_of_shard(shard, max(1, row.each))
    if mask == whole_mask(row.regions):
        return []
    return [region for at, region in enumerate(row.regions) if mask & 1 << at]


# --- emptying


def why_left(row: TierFleet, name: str) -> LeftShards:
    """What a container still holds, by what it waits for."""
    shards = sorted(row.holdings.get(name, ()))
    planned = {move.shard for move in row.course.left()} if row.course is not None else set()
    found: dict[str, list[int]] = {}
    for shard in shards:
        found.setdefault(_what_for(row, shard, planned), []).append(shard)
    return {"left": len(shards), "because": found}


def _what_for(row: TierFleet, shard: int, planned: set[int]) -> str:
    stage = stage_of(row, shard)
    if stage in ("dropping", "killing"):
        return f"{stage} it, then it goes to {row.grants[shard].to}"
    if stage != "held":
        return f"it is {stage}"
    if not any(_may_get(row, life, shard) for life in row.members()):
        return "no other container that takes shards is in a region it may be in"
    return "planned, not begun yet" if shard in planned else UNPLANNED


def _may_get(row: TierFleet, life: Life, shard: int) -> bool:
    return row.takes(life.name) and life.region in (regions_of(row, shard) or [life.region])
