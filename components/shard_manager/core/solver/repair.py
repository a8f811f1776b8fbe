"""Containers that are out of band are brought back, the worst first, by few, cheap moves. Pure."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np

from components.shard_manager.core.plan import Cause, GivenUp, Reason
from components.shard_manager.core.solver.board import NOBODY, Board
from components.shard_manager.core.solver.candidates import (
    StepOffer,
    TrialMoves,
    best_of,
    foremost,
    leaves_room,
)
from components.shard_manager.core.solver.ledger import Ledger, LedgerStep
from components.shard_manager.core.solver.prng import mixed
from components.shard_manager.core.solver.problem import Floats, Ints
from components.shard_manager.core.solver.scale import ONE
from components.shard_manager.core.solver.swaps import swap

CANDIDATES = 8
"""Shards of a container that are compared in all places, chosen by what their leaving gains."""
DONORS = 16
"""Containers that one with too little is offered the shards of."""
COLUMNS = 512
"""Containers that a candidate is compared with; where there are more, a sample."""
TRIES = 8
"""So often nothing helped: then it is left as it is, and the plan says so."""

SWAPS_IN_VAIN_MAX = 400
"""In one plan. Where a tier has not the room to be in band, most containers would be tried."""


class _Worst:
    """The containers that are out of band, the worst first, and how often each was in vain."""

    __slots__ = ("_board", "_heap", "_later", "vain")

    def __init__(self, board: Board) -> None:
        self._board = board
        self._later: list[int] = []
        self.vain = [0] * board.problem.containers
        outside = board.scale.violations(board.ratios).max(axis=1, initial=0.0)
        outside[~board.scale.open] = 0.0
        found = np.flatnonzero(outside > 0).tolist()
        self._heap = [(-float(outside[container]), container) for container in found]
        heapq.heapify(self._heap)

    def push(self, container: int) -> None:
        worst = float(self._board.scale.violations(self._board.ratios[container], container).max())
        if worst > 0 and self._board.scale.open[container] and self.vain[container] < TRIES:
            heapq.heappush(self._heap, (-worst, container))

    def postpone(self, container: int) -> None:
        """Nothing helps now; when all others are done they will have changed."""
        self.vain[container] += 1
        self._later.append(container)

    def pop(self, *, again: bool) -> int | None:
        """The worst; those in vain only when there is no other, and only if `again` is true."""
        if not self._heap and again:
            later, self._later = self._later, []
            for container in later:
                self.push(container)
        return heapq.heappop(self._heap)[1] if self._heap else None


def repair(board: Board, ledger: Ledger, *, swaps_max: int = SWAPS_IN_VAIN_MAX) -> None:
    """Takes steps until no container is out of band, none can be helped, or the budget is spent.

    What is beyond the edges, squared and summed, falls with every step, and no step is at the
    expense of the container at its other end.
    """
    worst, in_vain = _Worst(board), 0
    while not ledger.spent:
        container = worst.pop(again=in_vain < swaps_max)
        if container is None:
            return
        violations = board.scale.violations(board.ratios[container], container)
        furthest = int(violations.argmax())
        if violations[furthest] <= 0:
            continue
        step = _best(board, container, len(ledger.steps))
        if step is None and in_vain < swaps_max:
            step = swap(board, container, worst.vain[container])
            in_vain += step is None
        if step is None:
            worst.postpone(container)
            continue
        shards = [shard for shard, _ in step.moves]
        if not ledger.allows(shards):
            # Its job has moved enough. Were the whole budget spent, the loop would end as well.
            board.frozen[shards] = True
            worst.push(container)
            continue
        ends = {int(board.target[shard]) for shard in shards}
        ends.update(to for _, to in step.moves)
        violation = float(violations[furthest])
        ledger.take(replace(step, violation=violation, resource=furthest))
        for end in sorted(ends):
            worst.push(end)


def _best(board: Board, container: int, turn: int) -> LedgerStep | None:
    """The best single move to or from a container."""
    found = [_out(board, container, turn), _into(board, container)]
    offers = [one for one in found if one is not None]
    return min(offers).step if offers else None


def _out(board: Board, container: int, turn: int) -> StepOffer | None:
    """The best move of a shard away from a container."""
    free = board.free_of(container)
    scale = board.scale
    after = scale.beyond(scale.ratios(board.loads[container] - scale.x[free], container), container)
    gain = board.beyond[container] - after
    chosen = foremost(gain / scale.cost[free], CANDIDATES)
    chosen = chosen[gain[chosen] > 0]
    if not len(chosen):
        return None
    shards = free[chosen]
    window = _window(board, turn)
    scores = board.scores(shards, window)
    own = int(board.columns[container]) - window.start
    if 0 <= own < scores.shape[1]:
        scores[:, own] = np.inf
    rows = np.arange(len(shards))
    best = scores.argmin(axis=1)
    legal = np.isfinite(scores[rows, best])
    others = board.order[window][best]
    trial = TrialMoves(shards, others, gain[chosen], after[chosen], legal)
    loads = board.loads[others] + scale.x[shards]
    offer = best_of(board, trial, loads, Reason.OVER)
    if offer is None:
        return None
    row = int(np.flatnonzero(shards == offer.step.moves[0][0])[0])
    scores[row, best[row]] = np.inf
    second = int(scores[row].argmin())
    if not np.isfinite(scores[row, second]):
        return offer
    runner_up = int(board.order[window][second])
    return offer._replace(step=replace(offer.step, runner_up=runner_up))


def _window(board: Board, turn: int) -> slice:
    """Columns to look at: all of them, or as many as are a sample."""
    count = board.problem.containers
    if count <= COLUMNS:
        return slice(0, count)
    start = mixed(board.seed, turn) % (count - COLUMNS + 1)
    return slice(start, start + COLUMNS)


def _into(board: Board, container: int) -> StepOffer | None:
    """The best move of a shard to a container that has too little of something."""
    scale = board.scale
    missing = np.maximum(scale.inner_low[container] - board.ratios[container], 0.0)
    if not missing.any():
        return None
    shards, owners = _offered(board, container, missing)
    if not len(shards):
        return None
    ratios = scale.ratios(board.loads[container] + scale.x[shards], container)
    after = scale.beyond(ratios, container)
    gain = board.beyond[container] - after
    fits = (board.used[container] + scale.raw[shards] <= scale.usable[container]).all(axis=1)
    fine = (gain > 0) & fits & leaves_room(board, ratios, container)
    trial = TrialMoves(shards, owners, gain, after, fine)
    return best_of(board, trial, board.loads[owners] - scale.x[shards], Reason.UNDER, container)


def _offered(board: Board, container: int, missing: Floats) -> tuple[Ints, Ints]:
    """Shards of the containers that have most of what is missing, and who owns each."""
    wealth = np.where(board.scale.open, board.ratios @ np.rint(missing / 2**6), -1.0)
    wealth[container] = -1.0
    donors = foremost(wealth, DONORS)
    held = [board.free_of(donor) for donor in donors.tolist() if wealth[donor] > 0]
    shards = np.concatenate(held) if held else NOBODY
    shards = shards[board.may_hold(shards, container)]
    return shards, board.target[shards].astype(np.int64)


def given_up(board: Board, *, spent: bool) -> list[GivenUp]:
    """The containers that remain out of band, and why."""
    found = []
    violations = board.scale.violations(board.ratios)
    violations[~board.scale.open] = 0.0
    for container in np.flatnonzero((violations > 0).any(axis=1)).tolist():
        resource = int(violations[container].argmax())
        amount = float(violations[container, resource]) / ONE
        cause = _cause(board, container, resource, spent=spent)
        found.append(GivenUp(container, cause, resource, amount))
    return found


def _cause(board: Board, container: int, resource: int, *, spent: bool) -> Cause:
    scale = board.scale
    held = board.held_by(container)
    alone = scale.ratios(scale.x[held], container)[:, resource]
    if (alone > scale.high[container, resource]).any():
        return Cause.ONE_SHARD
    if spent:
        return Cause.BUDGET
    over = board.ratios[container, resource] > scale.high[container, resource]
    return Cause.IMMOVABLE if over and board.frozen[held].all() else Cause.STUCK
