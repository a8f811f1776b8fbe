"""Containers and shards of a tier as they stand, in the words of a person on call. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from projections.fleet import ADD, DROP, Fleet, Load, Told
from projections.lives import Life
from projections.loads import RESOURCES, UNITS, capacity_of
from projections.shards import mask_of_shard, whole_mask

Row = dict[str, Any]

UNDER_WAY = ("adding", "dropping", "killing", "dropped", "waiting")
"""Stages of a shard about which something is still to come."""
UNPLANNED = "no plan moves it yet"


def now_of(row: Fleet) -> int:
    """The log's own time, as far as the row knows it."""
    return max((ticks.last_ms for ticks in row.ticks.values()), default=0)


# --- containers


def state_of(row: Fleet, life: Life) -> str:
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


def container_to_plain(row: Fleet, life: Life) -> Row:
    """A container as JSON."""
    drain = row.drains.get(life.name)
    shards = sorted(row.holdings.get(life.name, ()))
    known = [load for shard in shards if (load := row.loads.get(shard)) is not None]
    clock = row.clock_of(life)
    lived_ms = max(0, clock.sum_ms - life.since_ms)
    return {
        "container": life.name,
        "tier": life.tier,
        "state": state_of(row, life),
        "drain": None if drain is None else {"author": drain.author, "reason": drain.reason},
        "region": life.region,
        "epoch": life.epoch,
        "shards": len(shards),
        "moving": sum(shard in row.open for shard in shards),
        "tasks": sum(load.tasks for load in known) if known else None,
        "load": _loads(life, known),
        "silence_ms": row.silence_ms(life) if life.lives else None,
        # By the ticks of its partition: a start has no instant of its own in the row.
        "since_ms": clock.last_ms - lived_ms if life.lives else None,
    }


def _loads(life: Life, known: list[Load]) -> dict[str, Row]:
    """What the container's shards use of what it has; unknown is None, never 0."""
    room = capacity_of(life.capacity)
    found: dict[str, Row] = {}
    for at, resource in enumerate(RESOURCES):
        amounts = [load.amounts[at] for load in known if load.amounts[at] is not None]
        used = sum(amount for amount in amounts if amount is not None) if amounts else None
        size = room[at]
        if used is None and size is None:
            continue
        found[resource] = {
            "used": None if used is None else used * UNITS[at],
            "capacity": None if size is None else size * UNITS[at],
            "share": round(used / size, 4) if used is not None and size else None,
        }
    return found


def containers_to_plain(row: Fleet, *, gone: bool) -> Iterator[Row]:
    """The tier's containers by name; of those that are gone, by default those that hold shards."""
    for life in row.members():
        if life.lives or gone or row.holdings.get(life.name):
            yield container_to_plain(row, life)


# --- shards


def stage_of(row: Fleet, shard: int) -> str:
    """One word for how far the shard is."""
    grant = row.grants.get(shard)
    if grant is None:
        return "unplaced" if shard in row.unplaced else "waiting"
    told = row.told.get(shard, Told())
    if told.dropped >= grant.generation:
        return "dropped"  # and on its way to another
    if row.given_up(shard):
        return "unplaced" if shard in row.unplaced else "lost"
    if grant.stage != ADD:
        return "dropping" if grant.stage == DROP else "killing"
    if told.added < grant.generation:
        return "adding"
    return "held" if row.held(shard) else "lost"


def shard_to_plain(row: Fleet, shard: int) -> Row:
    """A shard as JSON."""
    grant, load = row.grants.get(shard), row.loads.get(shard)
    return {
        "shard": shard,
        "tier": row.tier,
        "container": None if grant is None else grant.container,
        "to": None if grant is None or grant.stage == ADD else grant.to or None,
        "generation": 0 if grant is None else grant.generation,
        "stage": stage_of(row, shard),
        "since_ms": None if grant is None or not grant.since_ms else grant.since_ms,
        "deadline_ms": grant.deadline_ms if grant is not None and shard in row.open else None,
        "unplaced": row.unplaced.get(shard),
        "regions": regions_of(row, shard),
        "tasks": None if load is None else load.tasks,
        "job": None if load is None else load.job or None,
        "load": None if load is None else _amounts(load),
    }


def regions_of(row: Fleet, shard: int) -> list[str]:
    """Where the shard may be held; empty for anywhere."""
    mask = mask_of_shard(shard, max(1, row.each))
    if mask == whole_mask(row.regions):
        return []
    return [region for at, region in enumerate(row.regions) if mask & 1 << at]


def _amounts(load: Load) -> dict[str, float]:
    return {
        resource: amount * UNITS[at]
        for at, resource in enumerate(RESOURCES)
        if (amount := load.amounts[at]) is not None
    }


def shards_to_plain(
    row: Fleet, *, container: str | None = None, moving: bool = False
) -> Iterator[Row]:
    """The tier's shards by number; those of one container, those that move, or all."""
    wanted: Iterable[int] = range(row.shards)
    if container is not None:
        coming = {shard for shard, grant in row.grants.items() if grant.to == container}
        wanted = sorted(coming.union(row.holdings.get(container, ())))
    for shard in wanted:
        if not moving or shard in row.open:
            yield shard_to_plain(row, shard)


# --- emptying


def why_left(row: Fleet, name: str) -> Row:
    """What a container still holds, by what it waits for."""
    shards = sorted(row.holdings.get(name, ()))
    planned = {move.shard for move in row.course.left()} if row.course is not None else set()
    found: dict[str, list[int]] = {}
    for shard in shards:
        found.setdefault(_what_for(row, shard, planned), []).append(shard)
    return {"left": len(shards), "because": found}


def _what_for(row: Fleet, shard: int, planned: set[int]) -> str:
    stage = stage_of(row, shard)
    if stage in ("dropping", "killing"):
        return f"{stage} it, then it goes to {row.grants[shard].to}"
    if stage != "held":
        return f"it is {stage}"
    if not any(_may_get(row, life, shard) for life in row.members()):
        return "no other container that takes shards is in a region it may be in"
    return "planned, not begun yet" if shard in planned else UNPLANNED


def _may_get(row: Fleet, life: Life, shard: int) -> bool:
    return row.takes(life.name) and life.region in (regions_of(row, shard) or [life.region])
