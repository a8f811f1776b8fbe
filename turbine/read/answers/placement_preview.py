"""Where a tier's shards would be sent now, and how each container is judged for one. Pure.

Asks the shard manager's own functions about a row of the log; nothing is sent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from components.shard_manager.core.explaining import ContainerRating, explain
from components.shard_manager.core.moving import reason_of
from components.shard_manager.core.planning import plan_all, seed_of
from components.shard_manager.core.solver.scale import ONE, scale_of
from components.shard_manager.core.world import PlacementWorld, world_of
from projections.fleet import TierFleet
from projections.plans import Planned, read_moves, write_moves
from turbine.read.state.shards import now_of

Row = dict[str, Any]

DRAFT = "!"
"""Stands between the tier and the digest in the id of a plan that nobody has asked for yet."""
PLACED_ANYHOW = "nobody holds it"


class Draft(NamedTuple):
    """What the shard manager would plan now."""

    plan_id: str  # says which moves these are: whoever makes the same ones makes the same id
    moves: tuple[Planned, ...]
    explanation: str
    containers: int
    unplaced: int
    measures: Row


def draft_of(row: TierFleet, most: int | None = None) -> Draft:
    """The plan for the row; with `most`, of about so many moves beside those that cannot wait."""
    row = row if most is None else _restrained(row, most)
    parts = list(plan_all(row, now_of(row), "operator"))
    moves = tuple(move for part in parts for move in read_moves(part.moves_json))
    first = parts[0]
    return Draft(
        name_of(row.tier, moves),
        moves,
        first.explanation,
        first.containers,
        first.unplaced,
        json.loads(first.measures_json),
    )


def name_of(tier: str, moves: Sequence[Planned]) -> str:
    """The id of a plan by its moves."""
    return f"{tier}{DRAFT}{hashlib.sha256(write_moves(moves).encode()).hexdigest()[:12]}"


def _restrained(row: TierFleet, most: int) -> TierFleet:
    """With a smaller budget; a tier counts it in thousandths of its shards."""
    share = max(1, min(row.placing.moves_max, most * 1000 // max(1, row.shards)))
    return row._replace(placing=row.placing._replace(moves_max=share))


def draft_to_plain(row: TierFleet, draft: Draft) -> Row:
    """A draft as JSON; `spread` is the fullest and the emptiest container in thousandths of the
    tier's mean."""
    told = draft.measures
    return {
        "plan": draft.plan_id if draft.moves else None,
        "tier": row.tier,
        "at_ms": now_of(row),
        "explanation": draft.explanation,
        "containers": draft.containers,
        "shards": row.shards,
        "spread": _spread(told),
        "out_of_band": [
            {"container": name, "cause": cause, "resource": resource, "beyond": beyond}
            for name, cause, resource, beyond in told.get("out", [])
        ],
        "postponed": told.get("postponed", 0),
        "unplaced": draft.unplaced,
        "unplaced_shards": [{"shard": at, "why": why} for at, why in told.get("unplaced", [])],
        "moves": [_move(row, move) for move in draft.moves],
    }


def spread_of(measures_json: str) -> Row:
    """What a plan measured before and after, by resource; nothing where it measured none."""
    return _spread(json.loads(measures_json))


def _spread(told: Row) -> Row:
    return {
        resource: {
            "before": {"fullest": before_most, "emptiest": before_least},
            "after": {"fullest": after_most, "emptiest": after_least},
        }
        for resource, (before_most, before_least, after_most, after_least) in told.get(
            "spread", {}
        ).items()
    }


def _move(row: TierFleet, move: Planned) -> Row:
    grant = row.grants.get(move.shard)
    origin = grant.container if grant is not None else ""
    return {
        "shard": move.shard,
        "from": origin or None,
        "to": move.to,
        "reason": reason_of(move, origin) if move.reason else PLACED_ANYHOW,
    }


# --- how containers compare


def compared(row: TierFleet) -> dict[str, list[Row]]:
    """By container and resource: its load as a share of the tier's mean, and the window for it.

    By the shard manager's own estimates: a shard that nobody has weighed counts as the others do.
    """
    world = world_of(row, now_of(row))
    problem = world.problem
    if not problem.containers or not problem.shards:
        return {}
    scale = scale_of(problem)
    held = problem.home >= 0
    loads = np.zeros((problem.containers, problem.resources))
    np.add.at(loads, problem.home[held], scale.x[held])
    ratios = scale.ratios(loads)
    inside = scale.violations(ratios) <= 0
    return {
        name: [
            {
                "resource": resource,
                "of_mean": round(float(ratios[at, column]) / ONE, 3),
                "low": max(0.0, round(float(scale.low[at, column]) / ONE, 3)),
                "high": max(0.0, round(float(scale.high[at, column]) / ONE, 3)),
                "in_band": bool(inside[at, column]),
            }
            for column, resource in enumerate(world.resources)
        ]
        for at, name in enumerate(world.containers)
    }


def judged(row: TierFleet, shard: int) -> list[Row]:
    """Every container that lives, judged for one shard: its home, the possible, the rest."""
    world = world_of(row, now_of(row))
    if not world.problem.containers:
        return []
    return [_judged(world, one) for one in explain(world.problem, shard, seed_of(row))]


def _judged(world: PlacementWorld, one: ContainerRating) -> Row:
    return {
        "container": world.containers[one.container],
        "verdict": one.verdict.value,
        "resource": world.resources[one.resource] if one.resource >= 0 else None,
        "rank": one.rank or None,
        "of_mean": {
            resource: round(ratio, 3)
            for resource, ratio in zip(world.resources, one.ratios, strict=True)
        },
        "in_band": one.in_band,
    }
