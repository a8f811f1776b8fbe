"""When a tier is planned anew, and what the plan says (Turbine IV-B). Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

import numpy as np
from immutables import Map

from components.shard_manager.core.plan import Obstacle, PlacementPlan, Reason, ShardMove, Unplaced
from components.shard_manager.core.solver.solve import Mode, solve
from components.shard_manager.core.solver.static import hashed_plan
from components.shard_manager.core.world import PlacementWorld, world_of
from events.generated.records import PlacementPlanned
from projections.fleet import TierFleet
from projections.plans import Planned, in_parts, write_moves
from projections.settings import HASHED

UNPLACED_TOLD = 500
"""Of the shards that fit nowhere, those whose reason a plan's record gives; it counts all."""
NONE: Map[int, str] = Map()
OUT_TOLD = 50
WHYS = {
    Obstacle.NO_CONTAINER: "no container that takes shards is in a region it may be in",
    Obstacle.CEILING: "no container has enough free {resource}",
    Obstacle.TOO_LARGE: "it needs more {resource} than any container has",
}
"""Why a shard can be nowhere, in words."""


# --- when


def orphans(row: TierFleet, now_ms: int) -> frozenset[int]:
    """Shards that nobody holds or will hold, and that no plan under way has a place for."""
    lost = [shard for shard in row.open if row.orphaned(shard)]
    if not lost:
        return frozenset()
    planned = {move.shard for move in begins(row) if row.fits(move.shard, move.to)}
    # What fits nowhere is tried again when there is news, or after a while, not for ever.
    again = row.news > row.heeded or now_ms >= again_ms(row)
    if row.more_unplaced and not again:
        return frozenset()
    stuck = NONE if again else row.unplaced
    return frozenset(shard for shard in lost if shard not in planned and shard not in stuck)


def again_ms(row: TierFleet) -> int:
    """When places are looked for again for what fits nowhere, although there is no news: one that
    was silent may be heard again, which is none."""
    return row.tried_ms + row.timing.silence_ms


def begins(row: TierFleet) -> Iterator[Planned]:
    """The moves of the plan under way that may still be begun: the shard has not moved since."""
    for move in row.course.left() if row.course is not None else ():
        grant = row.grants.get(move.shard)
        if (grant.generation if grant is not None else 0) == move.generation:
            yield move


def balance_due(row: TierFleet, now_ms: int) -> str:
    """What calls for a look at all shards; "" for nothing. Not while anything is under way."""
    if not row.more_unplaced and any(shard not in row.unplaced for shard in row.open):
        return ""
    if row.balanced < row.news:
        return "news" if now_ms >= row.news_ms + row.timing.calm_ms else ""
    return "loads" if now_ms >= _look_ms(row) else ""


def balance_ms(row: TierFleet) -> int:
    """When a look at all shards is due, if nothing is under way then."""
    if row.balanced < row.news:
        return row.news_ms + row.timing.calm_ms
    return _look_ms(row)


def _look_ms(row: TierFleet) -> int:
    """When to look although there is no news. What the budget cut short goes on with the next
    plan's; what is out of band for other reasons is tried again once shards that moved have
    rested."""
    timing = row.timing
    pauses = {"postponed": timing.calm_ms, "out": timing.rest_ms}
    return row.planned_ms + min(timing.plan_ms, pauses.get(row.left, timing.plan_ms))


# --- what


def plan_orphans(row: TierFleet, now_ms: int, lost: int) -> Iterator[PlacementPlanned]:
    """Places for the shards that nobody holds, and no other move: they must not wait."""
    world = world_of(row, now_ms, urgent=True)
    plan = _solved(row, world, "urgent")
    yield from _told(row, world, plan, "orphans", f"{lost} shards have no container")


def plan_all(row: TierFleet, now_ms: int, trigger: str) -> Iterator[PlacementPlanned]:
    """Every container into band, by as few moves as that takes."""
    world = world_of(row, now_ms)
    plan = _solved(row, world, "repair")
    moves = len(plan.moves)
    said = f"{moves} moves bring all containers into band" if moves else "all is where it should be"
    if plan.given_up:
        said += f"; {len(plan.given_up)} containers stay out of it"
    if plan.postponed:
        said += f"; {plan.postponed} shards have to wait for the next plan"
    yield from _told(row, world, plan, trigger, said, whole=True)


def _solved(row: TierFleet, world: PlacementWorld, mode: Mode) -> PlacementPlan:
    if row.placing.mode == HASHED:
        return hashed_plan(world.problem, row.tier, urgent=mode == "urgent")
    return solve(world.problem, seed_of(row), mode=mode)


def seed_of(row: TierFleet) -> int:
    """Another one for every plan of a tier, and the same for whoever makes it again."""
    text = f"{row.tier}/{row.plans}".encode()
    return int.from_bytes(hashlib.md5(text, usedforsecurity=False).digest()[:4], "big")


def next_plan(row: TierFleet) -> str:
    """The name of the tier's next plan."""
    return f"{row.tier}#{row.plans + 1}"


def planned_of(row: TierFleet, world: PlacementWorld, plan: PlacementPlan) -> list[Planned]:
    """The moves as the log has them. The plan may name shards that are still held by a life that
    ends: they are begun when it is over."""
    return [_planned(row, world, move) for move in plan.moves]


def _planned(row: TierFleet, world: PlacementWorld, move: ShardMove) -> Planned:
    grant, names = row.grants.get(move.shard), world.containers
    one = Planned(move.shard, grant.generation if grant is not None else 0, names[move.target])
    if move.reason in (Reason.ORPHAN, Reason.AFRESH):
        return one
    return one._replace(
        reason=move.reason.name.lower(),
        resource=world.resources[move.resource] if move.resource >= 0 else "",
        beyond=round(move.violation * 1000),
        next_best=names[move.runner_up] if move.runner_up >= 0 else "",
    )


def _told(
    row: TierFleet,
    world: PlacementWorld,
    plan: PlacementPlan,
    trigger: str,
    said: str,
    *,
    whole: bool = False,
) -> Iterator[PlacementPlanned]:
    moves = planned_of(row, world, plan)
    if not whole:  # what was planned before goes on afterwards
        urgent = {move.shard for move in moves}
        moves += [move for move in begins(row) if move.shard not in urgent]
    parts = in_parts(moves)
    for number, part in enumerate(parts, 1):
        yield PlacementPlanned(
            tier=row.tier,
            plan_id=next_plan(row),
            trigger=trigger,
            moves=len(moves),
            shards=row.shards,
            containers=len(world.containers),
            unplaced=len(_homeless(world, plan)),
            digest=digest_of(world.containers, plan),
            explanation=said,
            measures_json=_measures(row, world, plan, whole=whole) if number == 1 else "{}",
            moves_json=write_moves(part),
            part=number,
            parts=len(parts),
        )


def digest_of(containers: Sequence[str], plan: PlacementPlan) -> str:
    """The hash of where every shard is to be."""
    names = "\n".join(containers).encode()
    return hashlib.sha256(names + b"\0" + plan.target.astype("<i4").tobytes()).hexdigest()[:16]


def _measures(row: TierFleet, world: PlacementWorld, plan: PlacementPlan, *, whole: bool) -> str:
    measures: dict[str, object] = {"news": row.news, "solved": True}
    if not whole and next(begins(row), None) is not None:
        assert row.course is not None
        measures["continues"] = row.course.plan_id
    homeless = _homeless(world, plan)
    measures["unplaced"] = [
        [one.shard, why_not(world, one.obstacle, one.resource)] for one in homeless[:UNPLACED_TOLD]
    ]
    if whole:
        measures["all"] = True
        measures["spread"] = _spread(world, plan)
    if len(homeless) > UNPLACED_TOLD:
        measures["more_unplaced"] = True
    if len(plan.unplaced) > len(homeless):  # held where they should not be, for want of a place
        measures["stuck"] = len(plan.unplaced) - len(homeless)
    if plan.given_up:
        measures["out"] = [
            [
                world.containers[one.container],
                one.cause.name.lower(),
                world.resources[one.resource] if one.resource >= 0 else "",
                round(one.violation * 1000),
            ]
            for one in plan.given_up[:OUT_TOLD]
        ]
    if plan.postponed:
        measures["postponed"] = plan.postponed
    return json.dumps(measures, sort_keys=True, separators=(",", ":"))


def _homeless(world: PlacementWorld, plan: PlacementPlan) -> list[Unplaced]:
    return [one for one in plan.unplaced if world.problem.home[one.shard] < 0]


def why_not(world: PlacementWorld, obstacle: Obstacle, resource: int) -> str:
    """Why a shard can be nowhere."""
    name = world.resources[resource] if 0 <= resource < len(world.resources) else ""
    return WHYS[obstacle].format(resource=name)


def _spread(world: PlacementWorld, plan: PlacementPlan) -> dict[str, list[int]]:
    """By resource: the fullest and the emptiest container, before and after, in thousandths of the
    mean share of capacity in use."""
    problem = world.problem
    found: dict[str, list[int]] = {}
    for at, name in enumerate(world.resources):
        both: list[int] = []
        for where in (problem.home, plan.target):
            held = where >= 0
            weights = problem.loads[held, at].astype(np.float64)
            used = np.bincount(where[held], weights=weights, minlength=problem.containers)
            room = problem.capacity[:, at].astype(np.float64)
            total, size = float(used.sum()), float(room.sum())
            if not total or not problem.containers:
                both += [0, 0]
                continue
            ratios = used * size * 1000 / (np.maximum(room, 1) * total)
            both += [int(ratios.max()), int(ratios.min())]
        found[name] = both
    return found
