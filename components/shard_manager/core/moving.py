"""Carries out what was planned: from one container to another, by way of nobody (Turbine IV-A)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from components.shard_manager.core.planning import begins
from events.generated.records import Body, ShardAddRequested, ShardDropRequested
from projections.fleet import ADD, ShardGrant, TierFleet
from projections.plans import PlanCourse, Planned

WHYS = {
    "illegal": "{origin} is in a region where it may not be",
    "drain": "{origin} is being emptied",
    "over": "{origin} has {beyond} of the mean {resource} more than the band allows",
    "under": "{to} has {beyond} of the mean {resource} less than the band allows",
    "swap": "it changes places with another shard: {origin} is out of band in {resource}",
    "fill": "{to} is nearly empty",
}


def hand_over(row: TierFleet, now_ms: int) -> Iterator[Body]:
    """Shards that were given up, to those who were to get them."""
    for shard in sorted(row.open):
        grant = row.grants.get(shard)
        heir = row.heir(shard)
        if grant is None or not heir or not row.given_up(shard):
            continue
        back = heir == grant.container
        said = "its container began another life" if back else f"{grant.container} has given it up"
        yield _add(row, now_ms, shard, heir, reason=said)


def carry_out(row: TierFleet, now_ms: int) -> Iterator[Body]:
    """The moves of the plan that may begin now, the urgent ones first."""
    course = row.course
    if course is None:
        return
    flights: Counter[str] | None = None
    for move in begins(row):
        grant = row.grants.get(move.shard)
        if not row.fits(move.shard, move.to):
            continue
        if row.given_up(move.shard):
            plan_id = course.plan_id
            yield _add(row, now_ms, move.shard, move.to, plan_id=plan_id, reason="nobody holds it")
        elif grant is not None and move.shard not in row.open and grant.container != move.to:
            flights = _flights(row) if flights is None else flights
            both = (grant.container, move.to)
            if all(flights[name] < row.placing.flights for name in both):
                flights.update(both)
                yield _drop(row, course, move, grant, now_ms)


def _flights(row: TierFleet) -> Counter[str]:
    """Moves under way, by the container that gives or gets."""
    found: Counter[str] = Counter()
    for shard in row.open:
        grant = row.grants.get(shard)
        if grant is not None:
            found[grant.container] += 1
            if grant.stage != ADD:
                found[grant.to] += 1
    return found


def _add(
    row: TierFleet, now_ms: int, shard: int, to: str, *, reason: str, plan_id: str = ""
) -> ShardAddRequested:
    grant = row.grants.get(shard)
    return ShardAddRequested(
        tier=row.tier,
        shard=shard,
        generation=1 + (grant.generation if grant is not None else 0),
        container=to,
        epoch=row.lives[to].epoch,
        plan_id=plan_id,
        reason=reason,
        deadline_ms=now_ms + row.timing.add_ms,
        from_container=grant.container if grant is not None else "",
    )


def _drop(
    row: TierFleet, course: PlanCourse, move: Planned, grant: ShardGrant, now_ms: int
) -> Body:
    return ShardDropRequested(
        tier=row.tier,
        shard=move.shard,
        generation=grant.generation,
        container=grant.container,
        epoch=grant.epoch,
        plan_id=course.plan_id,
        reason=reason_of(move, grant.container),
        deadline_ms=now_ms + row.timing.drop_ms,
        to_container=move.to,
    )


def reason_of(move: Planned, origin: str) -> str:
    """Why the shard moves, in one sentence."""
    beyond = f"{move.beyond / 10:g} %"
    why = WHYS.get(move.reason, "an operator asked for it").format(
        origin=origin, to=move.to, beyond=beyond, resource=move.resource or "load"
    )
    return f"{why}; next best was {move.next_best}" if move.next_best else why
