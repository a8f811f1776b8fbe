"""Very many shards placed at once: each on the best of a group of containers. Pure.

The largest first, in lock step: containers are dealt into disjoint groups, and every step puts one
shard on each group. A step is a handful of operations on small arrays, and because the groups are
disjoint what it finds is what one shard after another would have found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.shard_manager.core.solver.board import Board
from components.shard_manager.core.solver.prng import mixed, shuffled, strided
from components.shard_manager.core.solver.problem import Flags, Floats, Ints
from components.shard_manager.core.solver.scale import increments, weights

BLOCKS = 16
BLOCK_MIN = 2000
"""Shards are placed by blocks of like size; within one, those with fewest places to go first."""
STEPS = 16
"""After so many the groups are dealt anew, or the best of a small group would fill up."""


@dataclass(frozen=True, slots=True)
class _Queue:
    """Shards of one kind, and the containers they may be on."""

    shards: Ints
    containers: Ints


def place_many(board: Board, shards: Ints, eligible: Flags) -> None:
    """Puts the shards, which nothing holds, on the eligible containers; sets targets only.

    Those that may be on none of them keep -1. Hard ceilings are not looked at: the caller takes off
    what is above one. `board.refresh()` is due when all is done.
    """
    x = board.scale.x
    largest = np.zeros(len(shards), np.float32)
    for resource in range(x.shape[1]):
        np.maximum(largest, x[shards, resource].astype(np.float32), out=largest)
    _deal(board, shards[largest == 0], eligible)
    # The upper half of a positive float sorts like it, to 1 %, and as a 16-bit number in linear
    # time. Sizes below one part cannot occur: loads are whole parts.
    size = (~(largest.view(np.uint32) >> 16)).astype(np.uint16)
    order = np.argsort(size, kind="stable")
    ranked = shards[order[: int((largest > 0).sum())]]
    blocks = max(1, min(BLOCKS, len(ranked) // BLOCK_MIN))
    tables = _Tables(board)
    for number, block in enumerate(np.array_split(ranked, blocks)):
        queues = _queues(board, block, eligible)
        for turn, wave in enumerate(_waves(board, queues)):
            _run(board, tables, wave, mixed(board.seed, number, turn))


def _deal(board: Board, shards: Ints, eligible: Flags) -> None:
    """Shards without load, one after another round the containers; any score would be a tie."""
    for kind, queue in _queues(board, shards, eligible).items():
        order = queue.containers[shuffled(len(queue.containers), mixed(board.seed, kind))]
        board.target[queue.shards] = np.resize(order, len(queue.shards))


def _queues(board: Board, shards: Ints, eligible: Flags) -> dict[int, _Queue]:
    """By kind; those that have fewest containers first."""
    kinds = board.kinds[shards]
    found: dict[int, _Queue] = {}
    for kind, mask in enumerate(board.masks):
        here = shards[kinds == kind]
        if len(here):
            places = np.flatnonzero(eligible & ((board.problem.region & mask) != 0))
            if len(places):
                found[kind] = _Queue(here, places)
    return dict(sorted(found.items(), key=lambda one: (len(one[1].containers), one[0])))


def _waves(board: Board, queues: dict[int, _Queue]) -> list[list[_Queue]]:
    """Kinds that share no region are placed in the same steps, which are then fewer."""
    waves: list[tuple[int, list[_Queue]]] = []
    for kind, queue in queues.items():
        mask = int(board.masks[kind])
        for at, (taken, wave) in enumerate(waves):
            if not taken & mask:
                wave.append(queue)
                waves[at] = taken | mask, wave
                break
        else:
            waves.append((mask, [queue]))
    return [wave for _, wave in waves]


class _Tables:
    """What the rounds read and write for all containers, with one more that always loses."""

    __slots__ = ("dummy", "features", "loads")

    def __init__(self, board: Board) -> None:
        count, resources = board.loads.shape
        self.dummy = count
        self.loads = np.vstack((board.loads, np.zeros((1, resources))))
        self.features = np.empty((count + 1, 2 * resources))
        self.features[:count] = board.scale.features(board.ratios)
        self.features[count] = 2.0**23

    def add(self, board: Board, containers: Ints, x: Floats) -> None:
        for resource in range(x.shape[1]):
            more = np.bincount(containers, x[:, resource], self.dummy + 1)
            self.loads[:, resource] += more
        ratios = board.scale.ratios(self.loads[:-1])
        self.features[:-1, : x.shape[1]] = board.scale.pull(ratios)


def _run(board: Board, tables: _Tables, wave: list[_Queue], seed: int) -> None:
    """Places one wave, `STEPS` steps at a time."""
    size = board.problem.settings.group
    groups = [max(1, len(queue.containers) // size) for queue in wave]
    steps = max(-(-len(queue.shards) // many) for queue, many in zip(wave, groups, strict=True))
    shards = np.hstack(_level(wave, groups, steps))
    for at in range(0, steps, STEPS):
        dealt = np.concatenate(
            [
                _dealt(queue.containers, many, size, tables.dummy, mixed(seed, at, number))
                for number, (queue, many) in enumerate(zip(wave, groups, strict=True))
            ]
        )
        _play(board, tables, dealt, shards[at : at + STEPS])


def _level(wave: list[_Queue], groups: list[int], steps: int) -> list[Ints]:
    """[steps, groups] of shards for each queue, all as long as the longest."""
    laid = [_laid(queue.shards, many) for queue, many in zip(wave, groups, strict=True)]
    return [np.pad(one, ((0, steps - len(one)), (0, 0)), constant_values=-1) for one in laid]


def _laid(shards: Ints, groups: int) -> Ints:
    """[steps, groups]: row by row; -1 where there are no more."""
    padded = np.full(-(-len(shards) // groups) * groups, -1, np.int64)
    padded[: len(shards)] = shards
    return padded.reshape(-1, groups)


def _dealt(containers: Ints, groups: int, size: int, dummy: int, seed: int) -> Ints:
    """[groups, size] of containers in an order of chance; what is over sits out this time."""
    order = containers[strided(len(containers), seed)][: groups * size]
    if len(order) < groups * size:
        order = np.concatenate((order, np.full(groups * size - len(order), dummy)))
    return order.reshape(groups, size)


def _play(board: Board, tables: _Tables, dealt: Ints, shards: Ints) -> None:
    """One round: `shards` is [steps, groups]."""
    groups, size = dealt.shape
    resources = tables.loads.shape[1]
    x = board.scale.x[shards.ravel()]
    x[shards.ravel() < 0] = 0.0
    pulls = weights(x).reshape(*shards.shape, -1, 1)
    doubled = x.reshape(*shards.shape, -1)
    features = tables.features[dealt]
    flat = features.reshape(groups * size, -1)
    base = np.arange(0, groups * size, size)
    winners = np.empty(shards.shape, np.int64)
    for step in range(len(shards)):
        best = np.matmul(features, pulls[step])[:, :, 0].argmin(axis=1)
        best += base
        winners[step] = best
        rows = flat[best]
        rows[:, :resources] += increments(doubled[step], rows[:, resources:])
        flat[best] = rows
    chosen = dealt.ravel()[winners.ravel()]
    tables.add(board, chosen, x)
    real = shards.ravel() >= 0
    board.target[shards.ravel()[real]] = chosen[real]
