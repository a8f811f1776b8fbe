"""Shards on their way from one container to another. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from projections.fleet import TierFleet
from projections.plans import Planned
from turbine.read.answers.move_history import MoveHistory, MovePlan
from turbine.read.plain import made, means, plain

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class MoveLine:
    """A shard on its way."""

    tier: str
    shard: int
    plan: Annotated[str | None, means("Null where its container began another life.")]
    origin: Annotated[str | None, means("Null: no container.", serialization_alias="from")]
    to: str | None
    stage: Annotated[str, means("asked, killed, dropped, adding, added or unfinished.")]
    reason: str
    asked_ms: int
    killed_ms: Annotated[int | None, means("When its tasks did not stop in time.")]
    dropped_ms: int | None
    given_ms: int | None
    added_ms: int | None
    took_ms: int | None
    decision: Annotated[str, means("Id of the last one about it.")]
    position: str


def move_line(tier: str, move: MoveHistory) -> MoveLine:
    """One move of a tier."""
    took_ms = None if move.added_ms is None else max(0, move.added_ms - move.asked_ms)
    return made(
        MoveLine,
        move,
        tier=tier,
        plan=move.plan or None,
        origin=move.origin or None,
        to=move.to or None,
        took_ms=took_ms,
    )


# --- plans


def plan_to_plain(plan: MovePlan, moves: Sequence[MoveHistory], row: TierFleet) -> Row:
    """A plan as JSON, with how far each of its moves came."""
    begun = {move.shard: move for move in moves if move.plan == plan.plan_id}
    first = plan.first
    rows = [_planned(row, plan, one, begun.get(one.shard)) for one in plan.moves]
    stages: dict[str, int] = {}
    for one in rows:
        stages[one["stage"]] = stages.get(one["stage"], 0) + 1
    confirmed = row.brake is None or row.brake.plan_id != plan.plan_id or row.brake.released
    return {
        "plan": plan.plan_id,
        "tier": first.tier,
        "at_ms": plan.at_ms,
        "trigger": first.trigger,
        "explanation": first.explanation,
        "held": first.held and not confirmed,
        "shards": first.shards,
        "containers": first.containers,
        "unplaced": first.unplaced,
        "measures": json.loads(first.measures_json),
        "stages": stages,
        "moves": rows,
        "decision": plan.decision,
        "position": plan.position,
    }


def _planned(row: TierFleet, plan: MovePlan, one: Planned, begun: MoveHistory | None) -> Row:
    """A move of a plan: how far it came, or why it was not begun."""
    if begun is not None:
        found: Row = plain(move_line(row.tier, begun))
        return found
    grant = row.grants.get(one.shard)
    if (grant.generation if grant is not None else 0) != one.generation:
        stage = "overtaken"  # it was given to another since
    elif row.course is not None and row.course.plan_id == plan.plan_id:
        stage = "waiting"
    else:
        stage = "left out"  # a newer plan took its place
    return {
        "tier": row.tier,
        "shard": one.shard,
        "plan": plan.plan_id,
        "from": grant.container if grant is not None else None,
        "to": one.to,
        "stage": stage,
        "reason": one.reason,
    }
