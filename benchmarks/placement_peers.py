"""Other ways to place shards, and the least load that any of them must move."""

from __future__ import annotations

import heapq
from itertools import pairwise

import numpy as np

from components.shard_manager.core.solver.problem import (
    Flags,
    Floats,
    Indices,
    Ints,
    PlacementProblem,
)
from components.shard_manager.core.solver.static import static_target


def md5_mod(problem: PlacementProblem) -> Indices:
    """A hash of the number, among the containers that a shard may be on."""
    return static_target(problem, "bench")


def round_robin(problem: PlacementProblem) -> Indices:
    """One after another, for each set of regions."""
    target = np.full(problem.shards, -1, np.int32)
    for mask in np.unique(problem.allowed):
        shards = np.flatnonzero(problem.allowed == mask)
        places = np.flatnonzero(((problem.region & mask) != 0) & problem.open)
        target[shards] = np.resize(places, len(shards))
    return target


def largest_first(problem: PlacementProblem) -> Indices:
    """The largest first, each to the container that has least of the dominant resource: a heap."""
    shares, inverse = _shares(problem)
    order, dominant = np.argsort(-shares.max(axis=1), kind="stable"), shares.argmax(axis=1)
    target = np.full(problem.shards, -1, np.int32)
    loads = np.zeros((problem.containers, problem.resources))
    heaps: dict[tuple[int, int], list[tuple[float, int]]] = {}
    for mask in np.unique(problem.allowed).tolist():
        legal = ((problem.region & np.uint64(mask)) != 0) & problem.open
        for resource in range(problem.resources):
            heaps[mask, resource] = [(0.0, one) for one in np.flatnonzero(legal).tolist()]
    masks = problem.allowed.tolist()
    for shard in order.tolist():
        resource = int(dominant[shard])
        heap = heaps[masks[shard], resource]
        while True:  # what is on top may have grown by another heap's choice since
            known, container = heap[0]
            now = float(loads[container, resource])
            if now == known:
                break
            heapq.heapreplace(heap, (now, container))
        target[shard] = container
        loads[container] += shares[shard] * inverse[container]
        heapq.heapreplace(heap, (float(loads[container, resource]), container))
    return target


def best_fit(problem: PlacementProblem) -> Indices:
    """The largest first, each to the container whose fullest resource is then the least full."""
    shares, inverse = _shares(problem)
    legal = {
        mask: np.where(((problem.region & np.uint64(mask)) != 0) & problem.open, 0.0, np.inf)
        for mask in np.unique(problem.allowed).tolist()
    }
    target = np.full(problem.shards, -1, np.int32)
    loads = np.zeros((problem.resources, problem.containers))
    columns = np.ascontiguousarray(inverse.T)
    masks = problem.allowed.tolist()
    for shard in np.argsort(-shares.max(axis=1), kind="stable").tolist():
        full = legal[masks[shard]].copy()
        for resource in range(problem.resources):
            np.maximum(
                full, loads[resource] + shares[shard, resource] * columns[resource], out=full
            )
        best = int(full.argmin())
        target[shard] = best
        loads[:, best] += shares[shard] * columns[:, best]
    return target


def _shares(problem: PlacementProblem) -> tuple[Floats, Floats]:
    """Loads in parts of an average container's, and mean by own capacity."""
    capacity = problem.capacity[problem.open].astype(np.float64)
    shares = problem.loads * (len(capacity) / problem.loads.sum(axis=0))
    return shares, capacity.mean(axis=0) / problem.capacity


def ratios(problem: PlacementProblem, target: Indices) -> Floats:
    """[containers, resources]: use of each open container by the tier's mean; worked out from the
    raw numbers, not by what is measured."""
    shares, inverse = _shares(problem)
    held = target >= 0
    sums = [
        np.bincount(target[held], shares[held, resource], problem.containers)
        for resource in range(problem.resources)
    ]
    found: Floats = (np.stack(sums, axis=1) * inverse)[problem.open]
    return found


def windows(problem: PlacementProblem) -> tuple[Floats, Floats]:
    """Low and high of each open container, with head-room before the lower edge."""
    use = problem.loads.sum(axis=0) / problem.capacity[problem.open].sum(axis=0)
    band = problem.settings.band / 1000
    high = np.minimum(1 + band, (1 - problem.headroom[problem.open] / 1000)[:, None] / use)
    low = np.minimum(1 - band, high - band) * (problem.ramp[problem.open] / 1000)[:, None]
    return low, high


def out_of_band(problem: PlacementProblem, target: Indices) -> int:
    """Containers outside of their window in any resource."""
    found, (low, high) = ratios(problem, target), windows(problem)
    outside: Flags = (found > high) | (found < low)
    return int(outside.any(axis=1).sum())


def moved_share(problem: PlacementProblem, target: Indices) -> float:
    """Load of what is not where it was, by all load; the mean of the resources."""
    moved = target != problem.home
    return float((problem.loads[moved].sum(axis=0) / problem.loads.sum(axis=0)).mean())


def bound(problem: PlacementProblem) -> float:
    """The least share of the load that has to move for all to be in band, were shards divisible.

    A linear program: no plan can move less, and with whole shards none may move as little.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, vstack

    places = np.flatnonzero(problem.open)
    legal = (problem.allowed[:, None] & problem.region[places][None, :]) != 0
    shard, column = np.nonzero(legal)
    count = len(shard)
    shares, inverse = _shares(problem)
    whole = coo_array((np.ones(count), (shard, np.arange(count))), (problem.shards, count))
    weight = (shares / shares.sum(axis=0)).mean(axis=1)
    stays = problem.home[shard] == places[column]
    rows = [
        coo_array(
            (shares[shard, one] * inverse[places[column], one], (column, np.arange(count))),
            (len(places), count),
        )
        for one in range(problem.resources)
    ]
    use = vstack(rows)
    low, high = (edge.T.ravel() for edge in windows(problem))
    found = linprog(
        np.where(stays, 0.0, weight[shard]),
        A_ub=vstack([use, -use]),
        b_ub=np.concatenate((high, -low)),
        A_eq=whole,
        b_eq=np.ones(problem.shards),
        bounds=(0, None),
        method="highs-ipm",
    )
    if found.status:
        raise ValueError(f"the linear program has no answer: {found.message}")
    return float(found.fun)


def returns(homes: list[Indices]) -> int:
    """How often a shard came back to where it had been taken from, over a row of maps."""
    left: dict[int, set[int]] = {}
    count = 0
    for before, after in pairwise(homes):
        moved: Ints = np.flatnonzero(before != after)
        for shard in moved.tolist():
            count += int(after[shard]) in left.get(shard, ())
            left.setdefault(shard, set()).add(int(before[shard]))
    return count
