"""Tiers to place: containers of several shapes and regions, shards with long tails, and drift."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from components.shard_manager.core.solver.problem import Ints, PlacementProblem, PlacementSettings

RESOURCES = ("cpu", "memory", "disk", "network")
MEMORY = 1
REGIONS = (0.40, 0.35, 0.25)
UTILISATION = (0.60, 0.65, 0.45, 0.40)
SHAPES = (
    (16_000, 64_000, 1_000_000, 10_000),
    (24_000, 64_000, 1_000_000, 12_500),
    (24_000, 128_000, 2_000_000, 17_500),
    (32_000, 128_000, 1_500_000, 20_000),
)
"""Millicores, megabytes, megabytes, megabits a second; two resources' ratios differ by up to 2."""
LARGEST = 0.45
"""Of one shard, as a share of what an average container holds."""


def instance(
    shards: int, containers: int, seed: int, settings: PlacementSettings | None = None
) -> PlacementProblem:
    """A tier from nothing: 30 % of the shards may be in one region only, 10 % in two."""
    chance = np.random.default_rng(seed)
    region = np.repeat(np.arange(3), _parts(containers))
    capacity = np.array(SHAPES, np.int64)[chance.integers(0, len(SHAPES), containers)] * 1000
    headroom = chance.integers(100, 201, containers)
    headroom[chance.random(containers) < 0.05] = 300
    return PlacementProblem(
        loads=_loads(chance, shards, containers, capacity),
        allowed=_allowed(chance, shards),
        home=np.full(shards, -1, np.int32),
        capacity=capacity,
        region=np.left_shift(np.uint64(1), region.astype(np.uint64)),
        alive=np.ones(containers, bool),
        headroom=headroom.astype(np.int32),
        ramp=np.full(containers, 1000, np.int32),
        draining=np.zeros(containers, bool),
        movable=np.ones(shards, bool),
        job=np.full(shards, -1, np.int32),
        settings=settings or PlacementSettings(hard=(MEMORY,)),
    )


def _parts(containers: int) -> list[int]:
    first, second = (round(containers * share) for share in REGIONS[:2])
    return [first, second, containers - first - second]


def _loads(chance: np.random.Generator, shards: int, containers: int, capacity: Ints) -> Ints:
    """Log-normal and correlated, but for the disk, of which one in a hundred has a tenth."""
    common = chance.normal(0, 0.6, shards)
    raw = np.empty((shards, 4))
    for resource in (0, 1, 3):
        raw[:, resource] = np.exp(common + chance.normal(0, 0.5, shards))
    raw[:, 2] = np.minimum(chance.pareto(1.5, shards) + 1, 100)
    wanted = capacity.sum(axis=0) * np.array(UTILISATION)
    largest = LARGEST * wanted / containers
    loads = np.minimum(raw * (wanted / raw.sum(axis=0)), largest)
    found: Ints = np.rint(loads).astype(np.int64)
    return found


def _allowed(
    chance: np.random.Generator, shards: int
) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Pins are spread as capacity is, or no placement could be in band."""
    masks = np.full(shards, 0b111, np.uint64)
    drawn = chance.random(shards)
    where = chance.choice(3, shards, p=REGIONS)
    one = drawn < 0.30
    masks[one] = np.left_shift(np.uint64(1), where[one].astype(np.uint64))
    two = (drawn >= 0.30) & (drawn < 0.40)
    masks[two] = 0b111 ^ np.left_shift(np.uint64(1), where[two].astype(np.uint64))
    return masks


def drifted(
    problem: PlacementProblem,
    home: np.ndarray[tuple[int], np.dtype[np.int32]],
    seed: int,
    *,
    dead: int = 3,
    share: float = 0.05,
    spread: float = 0.7,
) -> PlacementProblem:
    """Some loads have changed and some containers are dead; those dead before are back, empty."""
    chance = np.random.default_rng(seed)
    changed = chance.random(problem.shards) < share
    # A mean of one: a tier that grew with every epoch would be full after some.
    factor = np.exp(chance.normal(-(spread**2) / 2, spread, int(changed.sum())))
    loads = problem.loads.copy()
    total = loads.sum(axis=0)
    largest = LARGEST * total / problem.containers
    loads[changed] = np.rint(np.minimum(loads[changed] * factor[:, None], largest))
    alive = np.ones(problem.containers, bool)
    alive[chance.choice(problem.containers, dead, replace=False)] = False
    return replace(problem, loads=loads, home=home, alive=alive)
