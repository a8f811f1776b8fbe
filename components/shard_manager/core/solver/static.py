"""Where shards go when their loads cannot be known: a hash of the number. The degraded mode of the
shard manager, which decides here too. Pure.
"""

from __future__ import annotations

import hashlib

import numpy as np

from components.shard_manager.core.plan import (
    Obstacle,
    PlacementPlan,
    Reason,
    ShardMove,
    Unplaced,
    moves_of,
)
from components.shard_manager.core.solver.board import kinds_of
from components.shard_manager.core.solver.problem import Indices, PlacementProblem


def static_target(problem: PlacementProblem, tier: str) -> Indices:
    """[shards]: a container among those that are alive in the shard's regions; -1 if none is.

    It looks at neither loads nor homes: whoever knows the containers finds the same. A container
    that drains gets shards only where there is no other.
    """
    found = np.full(problem.shards, -1, np.int32)
    masks, kinds = kinds_of(problem)
    for kind, mask in enumerate(masks):
        legal = (problem.region & mask) != 0
        places = np.flatnonzero(legal & problem.open)
        if not len(places):
            places = np.flatnonzero(legal & problem.alive)
        if len(places):
            shards = np.flatnonzero(kinds == kind)
            numbers = [_hash(tier, shard) % len(places) for shard in shards.tolist()]
            found[shards] = places[np.array(numbers, np.int64)]
    return found


def hashed_plan(problem: PlacementProblem, tier: str, *, urgent: bool) -> PlacementPlan:
    """What has no container, or one that is to be empty, goes where its number says; the rest
    stays, whatever it weighs."""
    home = problem.home
    homeless = home < 0
    drained = np.zeros_like(homeless)
    if not urgent:
        drained[~homeless] = problem.draining[home[~homeless]]
    hashed = static_target(problem, tier)
    takes = hashed >= 0
    takes[takes] = problem.open[hashed[takes]]
    moving = np.flatnonzero((homeless | drained) & takes).tolist()
    target = home.copy()
    target[moving] = hashed[moving]
    moves = [
        ShardMove(
            shard=shard,
            origin=int(home[shard]),
            target=int(hashed[shard]),
            reason=Reason.DRAIN if home[shard] >= 0 else Reason.ORPHAN,
            step=step,
            resource=-1,
            violation=0.0,
            gain=0.0,
            cost=0.0,
            runner_up=-1,
        )
        for step, shard in enumerate(moving)
    ]
    left = np.flatnonzero((homeless | drained) & ~takes).tolist()
    unplaced = tuple(Unplaced(shard, Obstacle.NO_CONTAINER, -1) for shard in left)
    return PlacementPlan(target, moves_of(moves), unplaced, (), 0)


def _hash(tier: str, shard: int) -> int:
    text = f"{tier}/{shard}".encode()
    return int.from_bytes(hashlib.md5(text, usedforsecurity=False).digest()[:8], "big")
