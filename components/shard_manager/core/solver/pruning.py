"""Moves that turned out needless are taken back before anyone makes them. Pure."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from components.shard_manager.core.solver.board import Board
from components.shard_manager.core.solver.ledger import Taken
from components.shard_manager.core.solver.problem import Flags, Floats


class _History:
    """What each step changed at each container, so that a step can be left out of the story."""

    __slots__ = ("_board", "_changes", "_of", "steps")

    def __init__(self, board: Board, steps: list[Taken]) -> None:
        self._board = board
        self.steps: dict[int, Taken] = dict(enumerate(steps))
        self._of: defaultdict[int, list[int]] = defaultdict(list)
        for number in self.steps:
            for container in self._ends(number):
                self._of[container].append(number)
        self._changes: dict[int, dict[int, float]] = {}

    def _at(self, container: int) -> dict[int, float]:
        """By step, what it changes there. Most containers are never asked for."""
        found = self._changes.get(container)
        if found is None:
            found = self._changes[container] = dict(self._told(container, -1))
        return found

    def _ends(self, number: int) -> set[int]:
        step, origins = self.steps[number]
        return {*origins, *(to for _, to in step.moves)}

    def _told(self, container: int, without: int) -> list[tuple[int, float]]:
        """By how much each step changes what is beyond the container's edges."""
        scale = self._board.scale
        numbers = [one for one in self._of[container] if one in self.steps and one != without]
        more = np.array([self._more(container, one) for one in numbers])
        if not numbers:
            return []
        whole = self._board.loads[container] - self._all(container)
        loads: Floats = whole + np.vstack((np.zeros_like(whole), np.cumsum(more, axis=0)))
        beyond = scale.beyond(scale.ratios(loads, container), container)
        return list(zip(numbers, np.diff(beyond).tolist(), strict=True))

    def _all(self, container: int) -> Floats:
        found = np.zeros(self._board.problem.resources)
        for number in self._of[container]:
            if number in self.steps:
                found += self._more(container, number)
        return found

    def _more(self, container: int, number: int) -> Floats:
        step, origins = self.steps[number]
        found = np.zeros(self._board.problem.resources)
        for (shard, to), origin in zip(step.moves, origins, strict=True):
            found += self._board.scale.x[shard] * ((to == container) - int(origin == container))
        return found

    def leave_out(self, number: int) -> bool:
        """Leaves a step out, if every other one is still an improvement; and whether it did."""
        step, origins = self.steps[number]
        told = {one: dict(self._told(one, number)) for one in (origins[0], step.moves[0][1])}
        for other in {other for changes in told.values() for other in changes}:
            ends = self._ends(other)
            if sum(told.get(end, self._at(end))[other] for end in ends) > 0:
                return False
        self._changes.update(told)
        self._board.put(step.moves[0][0], origins[0])
        del self.steps[number]
        return True


def undo(board: Board, steps: list[Taken]) -> list[Taken]:
    """Without the moves of single shards whose both ends are in band without them as well."""
    alone = [number for number, (step, _) in enumerate(steps) if len(step.moves) == 1]
    # All at once first: to tell the story of every step takes far longer, and few are needless.
    needless = [
        number for number, fine in zip(alone, _in_band(board, steps, alone), strict=True) if fine
    ]
    if not needless:
        return steps
    history = _History(board, steps)
    for number in needless:
        step, origins = steps[number]
        if _in_band(board, steps, [number])[0] and board.fits(step.moves[0][0], origins[0]):
            history.leave_out(number)
    return [history.steps[number] for number in sorted(history.steps)]


def _in_band(board: Board, steps: list[Taken], numbers: list[int]) -> Flags:
    """Whether both ends would be in band without the step."""
    x = board.scale.x[[steps[number][0].moves[0][0] for number in numbers]]
    found = np.ones(len(numbers), bool)
    for ends, more in (
        (np.array([steps[number][1][0] for number in numbers], np.int64), x),
        (np.array([steps[number][0].moves[0][1] for number in numbers], np.int64), -x),
    ):
        ratios = board.scale.ratios(board.loads[ends] + more, ends)
        found &= (board.scale.violations(ratios, ends) <= 0).all(axis=1)
    return found
