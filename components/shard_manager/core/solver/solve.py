"""The whole placement: urgent places first, then balance within the budget (Turbine IV-B). Pure."""

from __future__ import annotations

from typing import Literal

import numpy as np

from components.shard_manager.core.plan import (
    PlacementPlan,
    Reason,
    ShardMoves,
    Unplaced,
    joined,
    moves_of,
)
from components.shard_manager.core.solver.board import Board
from components.shard_manager.core.solver.evacuation import place_each, place_orphans_of
from components.shard_manager.core.solver.fill import fill
from components.shard_manager.core.solver.ledger import Ledger, largest_first, records_of
from components.shard_manager.core.solver.ordering import straightened
from components.shard_manager.core.solver.problem import Flags, Ints, PlacementProblem
from components.shard_manager.core.solver.pruning import undo
from components.shard_manager.core.solver.repair import given_up, repair
from components.shard_manager.core.solver.scale import ONE

Mode = Literal["repair", "afresh", "urgent"]

LEVEL_SWAPS_MAX = 40
"""Swaps tried in vain among shards that were just placed in bulk."""


def solve(problem: PlacementProblem, seed: int, *, mode: Mode = "repair") -> PlacementPlan:
    """Where every shard should be.

    `repair` keeps what is in band where it is, and moves the rest within the budget; `urgent`
    places what nothing holds and moves nothing else; `afresh` forgets where shards are and knows no
    budget: it moves nearly all. The same problem and seed give the same plan on any machine.
    """
    homeless = problem.home < 0
    homeless[~homeless] = ~problem.alive[problem.home[~homeless]]
    if mode == "afresh":
        homeless[:] = True
    home = np.where(homeless, np.int32(-1), problem.home)
    board = Board(problem, seed, home)
    ledger = Ledger(board)
    bulk, unplaced = place_orphans_of(board, ledger, np.flatnonzero(homeless))
    if mode != "urgent":
        if len(bulk):
            _level(board, bulk)
        unplaced += _balance(board, ledger)
    return _told(board, ledger, bulk, unplaced, mode)


def place_orphans(problem: PlacementProblem, seed: int) -> PlacementPlan:
    """Places for the shards that nothing holds, and no other move: it must not wait for balance."""
    return solve(problem, seed, mode="urgent")


def _level(board: Board, bulk: Ints) -> None:
    """Evens out what was placed in bulk. These shards have to start anyway: it costs nothing now,
    and is no step of the plan."""
    frozen = board.frozen
    board.frozen = np.ones_like(frozen)
    board.frozen[bulk] = False
    # Few of a container's shards are free here: most swaps that were tried would be in vain.
    repair(board, Ledger(board, bounded=False), swaps_max=LEVEL_SWAPS_MAX)
    board.frozen = frozen
    frozen[bulk] = True
    board.refresh()


def _balance(board: Board, ledger: Ledger) -> list[Unplaced]:
    """First off where shards should not be, then into band, as far as the budget goes."""
    unplaced: list[Unplaced] = []
    for reason, shards in _misplaced(board).items():
        unplaced += place_each(board, ledger, largest_first(board, shards), reason)
    forced = len(ledger.steps)
    fill(board, ledger)
    repair(board, ledger)
    ledger.steps[forced:] = undo(board, ledger.steps[forced:])
    _move_on(board, ledger)
    return unplaced


def _move_on(board: Board, ledger: Ledger) -> None:
    """A second round, in which shards that have just come may move on.

    A shard moves once in the first, so that every step is an improvement on the last. That may
    leave a container out of band that was filled just now, and nothing in it that may move.
    """
    out = [one.container for one in given_up(board, spent=ledger.spent)]
    steps, target = ledger.steps.copy(), board.target.copy()
    if not out or ledger.spent or not ledger.reopen(out):
        return
    repair(board, ledger)
    straight = straightened(board, ledger.steps)
    if straight is None:
        for shard in np.flatnonzero(board.target != target).tolist():
            board.put(shard, int(target[shard]))
        straight = steps
    ledger.steps = straight


def _misplaced(board: Board) -> dict[Reason, Ints]:
    """Shards that run where they should not."""
    problem = board.problem
    held = np.flatnonzero(board.target >= 0)
    by = board.target[held]
    illegal: Flags = (problem.allowed[held] & problem.region[by]) == 0
    drained = problem.draining[by] & ~illegal
    return {Reason.ILLEGAL: held[illegal], Reason.DRAIN: held[drained]}


def _told(
    board: Board, ledger: Ledger, bulk: Ints, unplaced: list[Unplaced], mode: Mode
) -> PlacementPlan:
    problem = board.problem
    if mode == "afresh":
        moves = _in_bulk(board, np.flatnonzero(board.target >= 0), Reason.AFRESH)
    else:
        moves = joined(_in_bulk(board, bulk, Reason.ORPHAN), moves_of(records_of(ledger.steps)))
        urgent = moves.reason == Reason.ORPHAN
        moves.origin[urgent] = problem.home[moves.shard[urgent]]
    left = 0
    if mode == "repair":
        stuck = {one.shard for one in unplaced}
        there = np.concatenate(list(_misplaced(board).values())).tolist()
        left = sum(shard not in stuck for shard in there)
    out = given_up(board, spent=ledger.spent) if mode != "urgent" else []
    return PlacementPlan(board.target, moves, tuple(unplaced), tuple(out), left)


def _in_bulk(board: Board, shards: Ints, reason: Reason) -> ShardMoves:
    """One step for each shard; no other container was looked at for all of them."""
    target, origin = board.target[shards], board.problem.home[shards]
    if reason is Reason.AFRESH:
        shards, origin, target = (one[target != origin] for one in (shards, origin, target))
    count = len(shards)
    return ShardMoves(
        shard=shards.astype(np.int32),
        origin=origin,
        target=target,
        reason=np.full(count, reason, np.uint8),
        step=np.arange(count, dtype=np.int32),
        resource=np.full(count, -1, np.int32),
        violation=np.zeros(count),
        gain=np.zeros(count),
        cost=board.scale.cost[shards] / ONE,
        runner_up=np.full(count, -1, np.int32),
    )
