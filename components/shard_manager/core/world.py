"""A tier's row as a problem to solve: loads, containers, homes, limits. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from components.shard_manager.core.solver.problem import (
    Flags,
    Indices,
    Ints,
    PlacementProblem,
    PlacementSettings,
)
from projections.fleet import TierFleet
from projections.liveness import Life
from projections.loads import HARD, RESOURCES, capacity_of
from projections.settings import MEASURED
from projections.shards import mask_of_shard

_COUNT = len(RESOURCES)
TOTAL_MOST = 2**51
"""Of one resource over a whole tier, in units: beyond it sums would not be exact."""
IDLE_SHARE = 1_000
"""All shards together count for this part of the tier's capacity beside what they use, so that
those that do nothing are shared out too, and do not weigh against those that do."""


@dataclass(frozen=True, slots=True)
class PlacementWorld:
    """A problem, and what its indices mean."""

    problem: PlacementProblem
    containers: tuple[str, ...]
    resources: tuple[str, ...]


def world_of(row: TierFleet, now_ms: int, *, urgent: bool = False) -> PlacementWorld:
    """Everything that lives, and every shard. Where it is urgent, a container that is silent for a
    while gets nothing; else it keeps what it has, and whoever carries out the plan waits for it."""
    lives = [life for life in row.members() if life.lives]
    at = {life.name: index for index, life in enumerate(lives)}
    capacity, named = _capacity(lives)
    home, movable = _homes(row, at, now_ms)
    loads, job = _loads(row, capacity, named)
    closed = [
        row.closed(life) or not row.region_bit(life) or (urgent and row.quiet(life))
        for life in lives
    ]
    problem = PlacementProblem(
        loads=loads,
        allowed=_allowed(row),
        home=home,
        capacity=capacity,
        region=np.array([row.region_bit(life) for life in lives], np.uint64),
        alive=np.ones(len(lives), np.bool_),
        headroom=np.full(len(lives), row.placing.headroom, np.int32),
        ramp=np.array([_ramp(row, life) for life in lives], np.int32),
        draining=np.array(closed, np.bool_),
        movable=movable,
        job=job,
        settings=_settings(row, named),
    )
    return PlacementWorld(problem, tuple(at), tuple(RESOURCES[one] for one in named))


def _settings(row: TierFleet, named: Sequence[int]) -> PlacementSettings:
    placing = row.placing
    return PlacementSettings(
        band=placing.band,
        moves_max=max(1, row.shards * placing.moves_max // 1000),
        load_max=placing.load_max,
        moves_per_job_max=placing.moves_per_job_max or None,
        hard=tuple(
            at
            for at, one in enumerate(named)
            if RESOURCES[one] in HARD and placing.mode == MEASURED
        ),
    )


def _capacity(lives: Sequence[Life]) -> tuple[Ints, list[int]]:
    """What each container has, of the resources that any of them names: one that does not name it
    has as little as any other."""
    known = [capacity_of(life.capacity) for life in lives]
    least = [min((one[at] or 0 for one in known if one[at]), default=0) for at in range(_COUNT)]
    named = [at for at in range(_COUNT) if least[at]]
    if not named:  # nobody says: all are alike
        return np.full((len(lives), 1), IDLE_SHARE, np.int64), [0]
    found = np.array([[one[at] or least[at] for at in named] for one in known], np.int64)
    return np.minimum(found, TOTAL_MOST // max(1, len(lives))), named


def _loads(row: TierFleet, capacity: Ints, named: Sequence[int]) -> tuple[Ints, Indices]:
    """What each shard uses; one that nobody has weighed yet, as the others do on average."""
    found = np.full((row.shards, len(named)), -1, np.int64)
    job = np.full(row.shards, -1, np.int32)
    jobs: dict[str, int] = {}
    weighed = [(shard, load) for shard, load in row.loads.items() if 0 <= shard < row.shards]
    where = np.array([shard for shard, _ in weighed], np.int64)
    for column, at in enumerate(named):
        amounts = [load.amounts[at] for _, load in weighed]
        found[where, column] = [-1 if amount is None else amount for amount in amounts]
    job[where] = [jobs.setdefault(load.job, len(jobs)) if load.job else -1 for _, load in weighed]
    # One absurd report must not make all sums inexact.
    np.minimum(found, TOTAL_MOST // max(1, row.shards) // 2, out=found)
    known = found >= 0
    counts = known.sum(axis=0)
    mean = np.where(known, found, 0).sum(axis=0) // np.maximum(counts, 1)
    idle = np.maximum(1, capacity.sum(axis=0) // (IDLE_SHARE * max(1, row.shards)))
    return np.where(known, found, mean) + idle, job


def _homes(row: TierFleet, at: dict[str, int], now_ms: int) -> tuple[Indices, Flags]:
    """Where each shard is, or goes; and whether it may be sent elsewhere now."""
    home = np.full(row.shards, -1, np.int32)
    movable = np.zeros(row.shards, np.bool_)
    for shard, grant in row.grants.items():
        name = grant.container
        if shard in row.open:
            # Whose load it is: that of the one who gets it, where it is on its way.
            name = "" if row.orphaned(shard) else row.heir(shard) or name
        home[shard] = at.get(name, -1)
        # One that was placed and never moved need not rest: else the first container of a tier,
        # which gets all, would keep it for as long after the others have come.
        rested = grant.generation == 1 or now_ms - grant.since_ms >= row.timing.rest_ms
        movable[shard] = rested and shard not in row.open
    return home, movable


def _allowed(row: TierFleet) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    masks = [mask_of_shard(one, row.each) for one in range(0, row.shards, max(1, row.each))]
    return np.repeat(np.array(masks, np.uint64), row.each)


def _ramp(row: TierFleet, life: Life) -> int:
    """How far the container is from new to one among many, in thousandths."""
    lived_ms = row.clock_of(life).sum_ms - life.since_ms
    return int(min(1000, max(0, lived_ms) * 1000 // row.timing.ramp_ms))
