"""Shards on their way from one container to another. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from projections.fleet import TierFleet
from projections.plans import Planned
from turbine.read.answers.move_history import MoveHistory, MovePlan
from turbine.read.plain import JsonObject, made, means


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


@dataclass(frozen=True, slots=True)
class WaitingMove:
    """A move of a plan that was not begun."""

    tier: str
    shard: int
    plan: str
    origin: Annotated[str | None, means("Null: no container.", serialization_alias="from")]
    to: str
    stage: Annotated[str, means("waiting, overtaken, or left out for a newer plan.")]
    reason: str


@dataclass(frozen=True, slots=True)
class PlacementPlanLine:
    """A plan, with how far each of its moves came."""

    plan: str
    tier: str
    at_ms: int
    trigger: str
    explanation: str
    held: Annotated[bool, means("It waits to be confirmed.")]
    shards: int
    containers: int
    unplaced: int
    measures: JsonObject
    stages: Annotated[dict[str, int], means("Moves by how far they came.")]
    moves: tuple[MoveLine | WaitingMove, ...]
    decision: str
    position: str


def plan_line(plan: MovePlan, moves: Sequence[MoveHistory], row: TierFleet) -> PlacementPlanLine:
    """The plan as it is told, by the moves of its tier."""
    begun = {move.shard: move for move in moves if move.plan == plan.plan_id}
    first = plan.first
    lines = tuple(
        move_line(row.tier, begun[move.shard]) if move.shard in begun else _waiting(row, plan, move)
        for move in plan.moves
    )
    confirmed = row.brake is None or row.brake.plan_id != plan.plan_id or row.brake.released
    return made(
        PlacementPlanLine,
        first,
        plan=plan.plan_id,
        at_ms=plan.at_ms,
        held=first.held and not confirmed,
        measures=json.loads(first.measures_json),
        stages=dict(Counter(line.stage for line in lines)),
        moves=lines,
        decision=plan.decision,
        position=plan.position,
    )


def _waiting(row: TierFleet, plan: MovePlan, move: Planned) -> WaitingMove:
    """Why the move was not begun."""
    grant = row.grants.get(move.shard)
    if (grant.generation if grant is not None else 0) != move.generation:
        stage = "overtaken"  # it was given to another since
    elif row.course is not None and row.course.plan_id == plan.plan_id:
        stage = "waiting"
    else:
        stage = "left out"  # a newer plan took its place
    origin = grant.container if grant is not None else None
    return WaitingMove(row.tier, move.shard, plan.plan_id, origin, move.to, stage, move.reason)
