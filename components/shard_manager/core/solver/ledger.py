"""The moves that a plan has so far, and what its budget still allows. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from components.shard_manager.core.plan import Reason, ShardMove
from components.shard_manager.core.solver.board import Board
from components.shard_manager.core.solver.scale import ONE


@dataclass(frozen=True, slots=True)
class LedgerStep:
    """What belongs together: one move, or the two of a swap. In the units of `Scale`."""

    moves: tuple[tuple[int, int], ...]  # shard, container
    reason: Reason
    gain: float
    cost: float
    runner_up: int = -1
    violation: float = 0.0
    resource: int = -1


Taken = tuple[LedgerStep, tuple[int, ...]]
"""A step that was carried out, and where each of its shards was before."""


class Ledger:
    """Carries out steps on a board and keeps them, as long as the budget lasts."""

    __slots__ = ("_board", "_bounded", "_jobs", "_load_left", "_moves_left", "spent", "steps")

    def __init__(self, board: Board, *, bounded: bool = True) -> None:
        settings = board.problem.settings
        self._board, self._bounded = board, bounded
        self._moves_left = (
            board.problem.shards if settings.moves_max is None else settings.moves_max
        )
        self._load_left = settings.load_max * int(board.scale.open.sum()) * ONE / 1000
        self._jobs: Counter[int] = Counter()
        self.spent = False
        self.steps: list[Taken] = []

    def allows(self, shards: Sequence[int]) -> bool:
        """Whether the budget has room for these moves; once it has not, the plan is at its end."""
        if not self._bounded:
            return True
        loads = sum(self._load_of(shard) for shard in shards)
        if len(shards) > self._moves_left or loads > self._load_left:
            self.spent = True
            return False
        most = self._board.problem.settings.moves_per_job_max
        if most is None:
            return True
        wanted = Counter(self._jobs_of(shards))
        return all(self._jobs[job] + more <= most for job, more in wanted.items())

    def take(self, step: LedgerStep, *, urgent: bool = False) -> None:
        """Carries out a step; an urgent one is not counted."""
        board = self._board
        shards = [shard for shard, _ in step.moves]
        self.steps.append((step, tuple(int(board.target[shard]) for shard in shards)))
        for shard, container in step.moves:
            board.put(shard, container)
            # One move a plan: what moves on would be a restart more for nothing, and the moves
            # could not be told in an order in which each of them is an improvement.
            board.frozen[shard] = True
        if self._bounded and not urgent:
            self._count(shards)

    def reopen(self, containers: Iterable[int]) -> bool:
        """Lets shards that came to these containers move on; and whether there are any."""
        board = self._board
        came = {shard for step, _ in self.steps for shard, _ in step.moves}
        held = [shard for one in containers for shard in board.held_by(one).tolist()]
        again = [shard for shard in held if shard in came]
        board.frozen[again] = False
        return bool(again)

    def _count(self, shards: Sequence[int]) -> None:
        board = self._board
        self._moves_left -= len(shards)
        self._load_left -= sum(self._load_of(shard) for shard in shards)
        most = board.problem.settings.moves_per_job_max
        if most is not None:
            for job in self._jobs_of(shards):
                self._jobs[job] += 1
                if self._jobs[job] >= most:
                    board.frozen[board.problem.job == job] = True

    def _load_of(self, shard: int) -> float:
        """On the average of resources; divided once, so that it is the same in any order."""
        x: list[float] = self._board.scale.x[shard].tolist()
        return sum(x) / max(len(x), 1)

    def _jobs_of(self, shards: Sequence[int]) -> list[int]:
        return [job for job in self._board.problem.job[list(shards)].tolist() if job >= 0]


def records_of(steps: Sequence[Taken]) -> list[ShardMove]:
    """The moves of the steps, in units of an average container."""
    return [
        ShardMove(
            shard=shard,
            origin=origin,
            target=container,
            reason=step.reason,
            step=number,
            resource=step.resource,
            violation=step.violation / ONE,
            gain=step.gain / ONE**2,
            cost=step.cost / ONE,
            runner_up=step.runner_up,
        )
        for number, (step, origins) in enumerate(steps)
        for (shard, container), origin in zip(step.moves, origins, strict=True)
    ]


def largest_first(board: Board, shards: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[int]:
    """Shards by their greatest load; the lowest index of equals first."""
    if not len(shards) or not board.problem.resources:
        return [int(shard) for shard in shards]
    order = np.argsort(-board.scale.x[shards].max(axis=1), kind="stable")
    return [int(shard) for shard in shards[order]]
