"""What becomes of plans that operators ask for: carried out as they stand, or refused. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator

from components.shard_manager.core.planning import next_plan
from events.generated.records import (
    Body,
    PlacementApplyRequested,
    PlacementPlanned,
    PlacementRejected,
)
from events.job_config.strict_json import Malformed
from projections.fleet import TierFleet
from projections.ingress import Ask
from projections.plans import NAME_MOST, Planned, in_parts, read_request, write_moves

TEXT_MOST = 2_000
"""Characters of an operator's reason that a plan repeats."""


def answer_requests(row: TierFleet, _: int) -> Iterator[Body]:
    """One at a time: what is said of one changes the world of the next."""
    for _key, one in sorted(row.ingress.items()):
        for ask in one.waiting:
            yield from _answered(row, ask)
            return


def _answered(row: TierFleet, ask: Ask) -> Iterator[Body]:
    body, limit = ask.body, NAME_MOST
    if not isinstance(body, PlacementApplyRequested):
        said = "more was asked for at once than can be kept; ask again later"
        if ask.passed:
            said = "its validity passed before it was answered; ask again"
        yield PlacementRejected(row.tier, ask.id, "", "overloaded", said)
        return
    if row.brake is not None and body.plan_id == row.brake.plan_id:
        yield from _planned(
            row, body, (), f"{body.author[:limit]} says that these containers are gone"
        )
        return
    try:
        moves = read_request(body.moves_json)
    except Malformed as bad:
        said = f"{bad}; make the plan again"
        yield PlacementRejected(row.tier, ask.id, body.plan_id[:limit], "invalid", said)
        return
    trouble = trouble_with(row, moves) if moves else ""
    if not moves:
        said = f"there is no plan {body.plan_id[:limit]} that waits to be confirmed"
        yield PlacementRejected(row.tier, ask.id, body.plan_id[:limit], "unknown-plan", said)
    elif trouble:
        said = f"the world moved since the plan was made: {trouble}; make it again"
        yield PlacementRejected(row.tier, ask.id, body.plan_id[:limit], "world-moved", said)
    else:
        asked = f"{body.author[:limit]} asked for it: {body.reason[:TEXT_MOST]}"
        yield from _planned(row, body, moves, asked)


def trouble_with(row: TierFleet, moves: tuple[Planned, ...]) -> str:
    """The first move that cannot be made as it was planned; "" where all can."""
    named: set[int] = set()
    for move in moves:
        grant = row.grants.get(move.shard)
        if move.shard >= row.shards:
            return f"the tier has no shard {move.shard}"
        if move.shard in named:
            return f"shard {move.shard} is to go to two containers"
        named.add(move.shard)
        if move.generation != (grant.generation if grant is not None else 0):
            return f"shard {move.shard} was given to another"
        if not row.takes(move.to):
            return f"{move.to} takes no shards now"
        if not row.fits(move.shard, move.to):
            return f"shard {move.shard} may not be in the region of {move.to}"
        if not row.given_up(move.shard) and not row.held(move.shard):
            return f"shard {move.shard} is being moved"
    return ""


def _planned(
    row: TierFleet, body: PlacementApplyRequested, moves: tuple[Planned, ...], said: str
) -> Iterator[PlacementPlanned]:
    told: dict[str, object] = {"change_id": body.change_id, "news": row.heeded}
    if not moves:
        told["confirms"] = body.plan_id[:NAME_MOST]
    parts = in_parts(moves)
    for number, part in enumerate(parts, 1):
        yield PlacementPlanned(
            tier=row.tier,
            plan_id=body.plan_id[:NAME_MOST] if moves else next_plan(row),
            trigger="operator",
            moves=len(moves),
            shards=row.shards,
            containers=sum(life.lives for life in row.members()),
            unplaced=len(row.unplaced),
            digest="",
            explanation=said,
            measures_json=json.dumps(told, separators=(",", ":")) if number == 1 else "{}",
            moves_json=write_moves(part),
            part=number,
            parts=len(parts),
        )
