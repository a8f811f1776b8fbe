"""Who holds what while a plan is worked out, and what follows from it for every container. Pure.

It changes in place: a plan is hundreds of moves on maps of a million shards.
"""

from __future__ import annotations

import numpy as np

from components.shard_manager.core.solver.prng import shuffled
from components.shard_manager.core.solver.problem import (
    Flags,
    Floats,
    Indices,
    Ints,
    PlacementProblem,
)
from components.shard_manager.core.solver.scale import scale_of, weights

NOBODY = np.zeros(0, np.int64)


class Board:
    """The map as it stands after the moves so far."""

    __slots__ = (
        "_added",
        "_banned",
        "_members",
        "_starts",
        "beyond",
        "columns",
        "features",
        "frozen",
        "kinds",
        "loads",
        "masks",
        "order",
        "problem",
        "ratios",
        "refused",
        "scale",
        "seed",
        "target",
        "used",
    )

    def __init__(self, problem: PlacementProblem, seed: int, home: Indices) -> None:
        self.problem, self.seed, self.scale = problem, seed, scale_of(problem)
        self.target = home.copy()
        self.frozen: Flags = ~problem.movable
        self.masks, self.kinds = kinds_of(problem)
        # Scores have a column for each container, in an order of chance: so many columns from
        # anywhere are then a sample, and no gather is needed.
        self.order = shuffled(problem.containers, seed)
        self.columns: Ints = np.empty_like(self.order)
        self.columns[self.order] = np.arange(problem.containers)
        self.refused: Floats = np.where(self.scale.open, 0.0, np.inf)[self.order]
        self._banned: dict[int, Floats] = {}
        self.refresh()

    def refresh(self) -> None:
        """Everything that follows from the targets, at once."""
        scale, count = self.scale, self.problem.containers
        held = np.flatnonzero(self.target >= 0)
        if len(held) == len(self.target):  # the common case is spared a copy of all loads
            by, x, raw = self.target, scale.x, scale.raw
        else:
            by, x, raw = self.target[held], scale.x[held], scale.raw[held]
        self.loads = _summed(by, x, count)
        self.used = _summed(by, raw, count)
        self.ratios = scale.ratios(self.loads)
        self.beyond = scale.beyond(self.ratios)
        features = scale.features(self.ratios)
        self.features: Floats = np.ascontiguousarray(features[self.order].T)
        # Sorted as 16-bit numbers, which NumPy does in linear time and keeps the order of equals.
        where = np.argsort(by.astype(np.uint16), kind="stable")
        self._members: Ints = held[where] if len(held) < len(self.target) else where
        sizes = np.bincount(by, minlength=count) if count else np.zeros(0, np.int64)
        self._starts: list[int] = [0, *np.cumsum(sizes).tolist()]
        self._added: dict[int, list[int]] = {}

    def held_by(self, container: int) -> Ints:
        """The shards of a container."""
        first: Ints = self._members[self._starts[container] : self._starts[container + 1]]
        first = first[self.target[first] == container]
        added = self._added.get(container)
        if not added:
            return first
        still = [shard for shard in added if self.target[shard] == container]
        return np.concatenate((first, np.array(still, np.int64)))

    def free_of(self, container: int) -> Ints:
        """Those of them that may be moved."""
        held = self.held_by(container)
        return held[~self.frozen[held]]

    def put(self, shard: int, container: int) -> None:
        """Moves a shard; the container is -1 where it is taken off the map."""
        origin = int(self.target[shard])
        self.target[shard] = container
        if origin >= 0:
            self._change(origin, -self.scale.x[shard], -self.scale.raw[shard])
        if container >= 0:
            self._change(container, self.scale.x[shard], self.scale.raw[shard])
            added = self._added.setdefault(container, [])
            before = self._members[self._starts[container] : self._starts[container + 1]]
            if shard not in added and shard not in before:
                added.append(shard)

    def _change(self, container: int, x: Floats, raw: Floats) -> None:
        loads = self.loads[container]
        loads += x
        self.used[container] += raw
        ratios = self.scale.ratios(loads, container)
        self.ratios[container] = ratios
        self.beyond[container] = self.scale.beyond(ratios, container)
        # The other half of the features does not change.
        pull = self.scale.pull(ratios, container)
        self.features[: len(pull), self.columns[container]] = pull

    def fits(self, shard: int, container: int) -> bool:
        """Whether no hard ceiling of the container is passed with the shard on it."""
        after = self.used[container] + self.scale.raw[shard]
        return bool((after <= self.scale.usable[container]).all())

    def may_hold(self, shards: Ints, container: int) -> Flags:
        """Which of the shards may be in the container's region."""
        found: Flags = (self.problem.allowed[shards] & self.problem.region[container]) != 0
        return found

    def banned(self, kind: int) -> Floats:
        """For each column 0, or infinity where shards of the kind may not be."""
        found = self._banned.get(kind)
        if found is None:
            away = (self.masks[kind] & self.problem.region) == 0
            found = np.where(away[self.order], np.inf, self.refused)
            self._banned[kind] = found
        return found

    def scores(self, shards: Ints, columns: slice = slice(None)) -> Floats:
        """[shards, columns]: the lower, the better the shard is there; infinite where it may not.

        Whether it fits is not looked at.
        """
        found: Floats = weights(self.scale.x[shards]) @ self.features[:, columns]
        for row, kind in enumerate(self.kinds[shards].tolist()):
            found[row] += self.banned(kind)[columns]
        return found


def kinds_of(problem: PlacementProblem) -> tuple[list[np.uint64], Indices]:
    """The different sets of regions that shards may be in, and for each shard which it is."""
    allowed = problem.allowed
    kinds = np.zeros(len(allowed), np.int32)
    masks: list[np.uint64] = []
    # Sets are few, and to look for each is faster than to sort all; where they are not, sort.
    left = allowed
    while len(left) and len(masks) < 16:
        mask = left[0]
        kinds[allowed == mask] = len(masks)
        masks.append(mask)
        left = left[left != mask]
    if len(left):
        found, inverse = np.unique(allowed, return_inverse=True)
        return list(found), inverse.astype(np.int32)
    return masks, kinds


def _summed(by: Indices, amounts: Floats, count: int) -> Floats:
    """[count, resources]: sums of amounts by the container that each belongs to."""
    found = np.zeros((count, amounts.shape[1]))
    for resource in range(amounts.shape[1]):
        if count:
            found[:, resource] = np.bincount(by, amounts[:, resource], count)
    return found
