"""What a placement comes to: targets, the moves there and why, and what could not be. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from components.shard_manager.core.solver.problem import Floats, Indices


class Reason(IntEnum):
    """Why a shard moves, the most urgent first."""

    ORPHAN = 0  # nothing holds it: never placed, or its container is dead
    ILLEGAL = 1  # its container is in a region that it may not be in
    DRAIN = 2  # its container is being emptied
    OVER = 3  # its container has too much
    UNDER = 4  # the other container has too little
    SWAP = 5  # shards change places: no move of one alone would help
    FILL = 6  # many containers are nearly empty
    AFRESH = 7  # all was placed anew, whatever was where


@dataclass(frozen=True, slots=True)
class ShardMove:
    """One shard, from where to where, and why there."""

    shard: int
    origin: int  # -1 where nothing held it
    target: int
    reason: Reason
    step: int  # moves of one step belong together; only a swap has several
    resource: int  # in which the container that called for the move was furthest out; -1 for none
    violation: float  # how far beyond the edge it was, as a share of the tier's mean
    gain: float  # by how much the squares of what is beyond the edges fall
    cost: float  # load and restart, in loads of an average container
    runner_up: int  # the container that would have been next; -1 where none was compared


@dataclass(frozen=True, slots=True)
class ShardMoves:
    """All moves, the urgent ones first, a column for each field of `ShardMove`.

    A million moves are a few arrays; a million objects would take longer than the plan.
    """

    shard: Indices
    origin: Indices
    target: Indices
    reason: NDArray[np.uint8]
    step: Indices
    resource: Indices
    violation: Floats
    gain: Floats
    cost: Floats
    runner_up: Indices

    def __len__(self) -> int:
        return len(self.shard)

    def __getitem__(self, at: int) -> ShardMove:
        reason, step = Reason(int(self.reason[at])), int(self.step[at])
        return ShardMove(
            shard=int(self.shard[at]),
            origin=int(self.origin[at]),
            target=int(self.target[at]),
            reason=reason,
            step=step,
            resource=int(self.resource[at]),
            violation=float(self.violation[at]),
            gain=float(self.gain[at]),
            cost=float(self.cost[at]),
            runner_up=int(self.runner_up[at]),
        )

    def __iter__(self) -> Iterator[ShardMove]:
        return (self[at] for at in range(len(self)))


class Obstacle(IntEnum):
    """Why a shard can be nowhere."""

    NO_CONTAINER = 0  # none that is alive and not draining in the regions it may be in
    CEILING = 1  # there is one that could hold it, were others not there
    TOO_LARGE = 2  # larger than any of them


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A shard without a place, or one that stays where it should not be for want of another."""

    shard: int
    obstacle: Obstacle
    resource: int  # the one that refuses it at most containers; -1 where there is no container


class Cause(IntEnum):
    """Why a container is left out of band."""

    BUDGET = 0  # the plan ended before
    IMMOVABLE = 1  # it is over, and none of its shards may move now
    ONE_SHARD = 2  # a single shard is larger than what it should have
    STUCK = 3  # no move and no swap that was tried helps it without harm to another


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A container that stays out of band."""

    container: int
    cause: Cause
    resource: int
    violation: float


@dataclass(frozen=True, slots=True)
class PlacementPlan:
    """Where every shard should be, and the way there.

    Whoever carries out the first steps only has a map that is no worse than without them: first
    the shards that are where they cannot stay get fewer, then what is beyond the edges does.
    """

    target: Indices  # [shards]; -1 for one that fits nowhere
    moves: ShardMoves
    unplaced: tuple[Unplaced, ...]
    given_up: tuple[GivenUp, ...]
    postponed: int  # moves off containers that a shard should not be on, left out by the budget


def moves_of(records: list[ShardMove]) -> ShardMoves:
    """The moves as columns, an array for each field."""
    return ShardMoves(
        **{
            one.name: np.array([getattr(move, one.name) for move in records], _TYPES[one.name])
            for one in fields(ShardMoves)
        }
    )


def joined(some: ShardMoves, others: ShardMoves) -> ShardMoves:
    """One after the other; steps are counted on."""
    shift = int(some.step[-1]) + 1 if len(some) else 0
    columns = {
        one.name: np.concatenate((getattr(some, one.name), getattr(others, one.name)))
        for one in fields(ShardMoves)
    }
    columns["step"][len(some) :] += np.int32(shift)
    return ShardMoves(**columns)


_TYPES: dict[str, type[np.generic]] = {
    **dict.fromkeys(("shard", "origin", "target", "step", "resource", "runner_up"), np.int32),
    **dict.fromkeys(("violation", "gain", "cost"), np.float64),
    "reason": np.uint8,
}
