"""Loads on one scale, windows for every container, and scores that are exact. Pure.

The same plan comes out on any machine: every number that a choice depends on is a whole number
below 2^53, held as a float, so that sums and products of matrices come out the same in whatever
order a library adds them up; the rest are single operations that IEEE 754 rounds one way. Loads and
ratios are counted in parts of 2^-20 of an average container; the features of a container that go
into a score, in parts of 2^-14. The bounds below keep the largest score under 2^53.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.shard_manager.core.solver.problem import (
    RESOURCES_MAX,
    Flags,
    Floats,
    PlacementProblem,
)

Index = int | slice | NDArray[np.signedinteger[Any]] | NDArray[np.bool_]

ONE = 2.0**20
"""The load of an average container, and the ratio of a container that has just its share."""
RATIO_MAX = 32 * ONE
"""Beyond it a ratio is as bad as can be. The square, 2^50, can be added 8 times."""
_SHARD_MAX = 64 * ONE
_COARSE = 2.0**6  # from parts of 2^-20 to parts of 2^-14
_INVERSE_MAX = 8 * ONE / _COARSE
_SCARCE = 2.0**10
"""The ratio of mean to own capacity, of a container that has none."""
_GUARD = 2.0**8
"""Loads are rounded to parts of ONE: a window that is so much narrower is kept in true units."""
_BELOW_AIM = 0.07 * ONE
"""How far under a low ceiling a container is aimed at, so that noise does not lift it over."""

SCORE_MAX = RESOURCES_MAX * (
    _SHARD_MAX * (2 * RATIO_MAX / _COARSE) + _SHARD_MAX**2 / ONE * _INVERSE_MAX
)
assert SCORE_MAX < 2**53, "scores would depend on the order of sums"


@dataclass(frozen=True, slots=True)
class SolverScale:
    """A problem in the units in which it is solved."""

    x: Floats  # [shards, resources], load in parts of an average container's
    cost: Floats  # [shards], what a move costs
    inverse: Floats  # [containers, resources], mean capacity by own
    low: Floats  # [containers, resources], the window that a container may not leave
    high: Floats
    inner_low: Floats  # the window that it is brought back into
    inner_high: Floats
    aim: Floats  # [containers, resources], the ratio that scores pull towards
    open: Flags  # [containers], may be given shards
    raw: Floats  # [shards, hard resources], in units of the resource
    usable: Floats  # [containers, hard resources], in the same

    def ratios(self, loads: Floats, containers: Index = slice(None)) -> Floats:
        """How the loads of some containers compare with the tier's mean; ONE is as the mean."""
        product = loads * self.inverse[containers]
        np.rint(product, out=product)
        return np.minimum(product, RATIO_MAX, out=product)

    def beyond(self, ratios: Floats, containers: Index = slice(None)) -> Floats:
        """Sum over resources of the squares of what is outside the inner window."""
        above = ratios - self.inner_high[containers]
        below = self.inner_low[containers] - ratios
        np.maximum(above, below, out=above)
        np.maximum(above, 0.0, out=above)
        found: Floats = np.einsum("...d,...d->...", above, above)
        return found

    def violations(self, ratios: Floats, containers: Index = slice(None)) -> Floats:
        """How far each resource is outside the real window; 0 or less inside."""
        above = ratios - self.high[containers]
        below = self.low[containers] - ratios
        return np.maximum(above, below, out=above)

    def pull(self, ratios: Floats, containers: Index = slice(None)) -> Floats:
        """How far above its aim each resource is, doubled, in parts of 2^-14."""
        found = ratios - self.aim[containers]
        found *= 2 / _COARSE
        return np.rint(found, out=found)

    def features(self, ratios: Floats, containers: Index = slice(None)) -> Floats:
        """What of a container goes into scores: [..., 2 x resources], in parts of 2^-14."""
        inverse = np.rint(self.inverse[containers] * (ONE / _COARSE))
        pull = self.pull(ratios, containers)
        return np.concatenate((pull, np.minimum(inverse, _INVERSE_MAX)), axis=-1)


def weights(x: Floats) -> Floats:
    """What of a shard goes into scores: its load and the square of it.

    `weights @ features` grows as the sum over resources of capacity x ratio^2 does if the shard is
    put there. It is linear in what is known of a container, so that shards x containers is one
    product of matrices. A score by the greatest ratio, as most best-fit rules have it, leaves a
    tenth of the containers out of band: it does not look at the other resources.
    """
    capped = np.minimum(x, _SHARD_MAX)
    return np.concatenate((capped, np.rint(capped * capped / ONE)), axis=-1)


def increments(x: Floats, inverse: Floats) -> Floats:
    """By how much a feature rises where a load is added; `inverse` as features have it."""
    return np.rint(x * inverse * (2 / ONE))


def scale_of(problem: PlacementProblem) -> SolverScale:
    """The problem in common units; head-room, drain and ramp have become windows."""
    opened = problem.open
    count = int(opened.sum())
    loads = problem.loads.astype(np.float64)
    capacity = problem.capacity.astype(np.float64)
    total, room = loads.sum(axis=0), capacity[opened].sum(axis=0)
    # A resource that nobody needs or that nobody has is not balanced; hard ceilings still hold.
    counts = (total > 0) & (room > 0)
    factor = np.where(counts, count * ONE / np.where(counts, total, 1.0), 0.0)
    hard = list(problem.settings.hard)
    raw = loads[:, hard]
    x = np.multiply(loads, factor, out=loads)
    np.rint(x, out=x)
    mean = np.where(counts, room / max(count, 1), 1.0)
    has = capacity > 0
    inverse = np.where(has, mean / np.where(has, capacity, 1.0), _SCARCE)
    inverse = np.where(counts, np.minimum(inverse, _SCARCE), 1.0)
    kept: Floats = 1000.0 - problem.headroom[:, None].astype(np.float64)
    used = np.where(counts, total / np.where(counts, room, 1.0), 0.0)
    # By counting: a product of fractions would depend on the order of its sum.
    average = count * ONE * int(counts.sum()) / max(problem.shards * problem.resources, 1)
    cost = x.sum(axis=1) / max(problem.resources, 1) + problem.settings.restart_cost * np.rint(
        average
    )
    return SolverScale(
        x,
        cost,
        inverse,
        *_windows(problem, kept, used, counts),
        opened,
        raw,
        (
            problem.capacity[:, hard] * (1000 - problem.headroom.astype(np.int64))[:, None] // 1000
        ).astype(np.float64),
    )


def _windows(
    problem: PlacementProblem, kept: Floats, used: Floats, counts: Flags
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Low, high, inner low, inner high, aim of every container and resource."""
    band = problem.settings.band * ONE / 1000
    share = np.where(counts, kept / 1000 / np.where(counts, used, 1.0), 2.0) * ONE
    ceiling = np.rint(np.minimum(ONE + band, np.minimum(share, RATIO_MAX)))
    # Head-room goes before the lower edge, and the window is never narrower than the band.
    ramp = problem.ramp[:, None].astype(np.float64) / 1000
    floor = np.rint(np.minimum(ONE - band, ceiling - band) * ramp)
    # Not ramped: what has to move anyway, or to start, may well go to a new container.
    aim = np.rint(np.minimum(ONE, ceiling - _BELOW_AIM))
    ceiling[~problem.open] = 0.0
    # Nothing is ever taken to a container that is closed, nor is it missed there.
    floor = np.where(problem.open[:, None] & counts, floor, -ONE)
    settle = np.rint(min(problem.settings.settle * ONE / 1000, band / 4))
    guard = min(_GUARD, settle)
    inner_low = np.where(floor > 0, floor + settle, -ONE)
    inner_high = np.maximum(ceiling - settle, 0.0)
    return floor + guard, ceiling - guard, inner_low, inner_high, aim
