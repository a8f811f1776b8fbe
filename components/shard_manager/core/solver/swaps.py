"""Two shards change places, where no single move helps a container. Pure."""

from __future__ import annotations

import numpy as np

from components.shard_manager.core.plan import Reason
from components.shard_manager.core.solver.board import Board
from components.shard_manager.core.solver.candidates import foremost
from components.shard_manager.core.solver.ledger import LedgerStep
from components.shard_manager.core.solver.problem import Flags, Floats, Ints
from components.shard_manager.core.solver.scale import Index, SolverScale

PARTNERS, PARTNERS_MAX = 8, 256
SIDE, SIDE_MAX = 12, 20


def swap(board: Board, container: int, level: int) -> LedgerStep | None:
    """The best exchange with containers that have least of what this one has too much of.

    With every level, the number of earlier tries in vain, the search is twice as wide.
    """
    scale = board.scale
    ratios = board.ratios[container]
    over = np.maximum(ratios - scale.inner_high[container], 0.0)
    under = np.maximum(scale.inner_low[container] - ratios, 0.0)
    direction = np.rint((over - under) / 2**6)  # so that a product of ratios with it is exact
    own = board.free_of(container)
    if not len(own) or not direction.any():
        return None
    side = min(SIDE_MAX, SIDE + 2 * level)
    own = own[foremost(scale.x[own] @ direction, side)]
    poverty = np.where(scale.open, -(board.ratios @ direction), -np.inf)
    poverty[container] = -np.inf
    partners = foremost(poverty, min(PARTNERS_MAX, PARTNERS << level))
    theirs, owners = [], []
    for partner in partners[np.isfinite(poverty[partners])].tolist():
        free = board.free_of(partner)
        free = free[board.may_hold(free, container)]
        least = free[foremost(-(scale.x[free] @ direction), side)]
        theirs.append(least)
        owners.append(np.full(len(least), partner))
    if not theirs:
        return None
    return _best_exchange(board, container, own, np.concatenate(theirs), np.concatenate(owners))


def _best_exchange(
    board: Board, container: int, own: Ints, theirs: Ints, owners: Ints
) -> LedgerStep | None:
    """Of all pairs [own, theirs] the one that gains most for its cost and harms nobody."""
    scale = board.scale
    shift = scale.x[own][:, None, :] - scale.x[theirs][None, :, :]
    after = scale.beyond(scale.ratios(board.loads[container] - shift, container), container)
    harm = scale.beyond(scale.ratios(board.loads[owners] + shift, owners), owners)
    harm -= board.beyond[owners]
    gain = board.beyond[container] - after - harm
    fine = (after < board.beyond[container]) & (harm <= 0)
    fine &= _legal(board, container, own, theirs, owners)
    if not fine.any():
        return None
    cost = scale.cost[own][:, None] + scale.cost[theirs][None, :]
    # As with single moves: what brings it fully inside first, by cost.
    inside = fine & (after == 0)
    worth = np.where(inside, -cost, -np.inf) if inside.any() else np.where(fine, gain / cost, 0.0)
    row, column = divmod(int(worth.argmax()), len(theirs))
    moves = (int(own[row]), int(owners[column])), (int(theirs[column]), container)
    return LedgerStep(moves, Reason.SWAP, float(gain[row, column]), float(cost[row, column]))


def _legal(board: Board, container: int, own: Ints, theirs: Ints, owners: Ints) -> Flags:
    """Regions of our shards at their owners, and hard ceilings at both ends."""
    problem, scale = board.problem, board.scale
    regions = (problem.allowed[own][:, None] & problem.region[owners][None, :]) != 0
    shift = scale.raw[own][:, None, :] - scale.raw[theirs][None, :, :]
    # An end that is above its ceiling already may come down; it must not go up.
    here = _fits(board.used[container] - shift, scale, container) | np.all(shift >= 0, axis=2)
    there = _fits(board.used[owners] + shift, scale, owners) | np.all(shift <= 0, axis=2)
    found: Flags = regions & here & there
    return found


def _fits(used: Floats, scale: SolverScale, containers: Index) -> Flags:
    found: Flags = np.all(used <= scale.usable[containers], axis=2)
    return found
