"""Which of several moves is the best, and which of many numbers are the greatest. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from components.shard_manager.core.plan import Reason
from components.shard_manager.core.solver.board import Board
from components.shard_manager.core.solver.ledger import LedgerStep
from components.shard_manager.core.solver.problem import Flags, Floats, Ints


class StepOffer(NamedTuple):
    """A step that helps; the lesser of two is the better one.

    What brings the container fully inside comes before what does not, and is ranked by cost; the
    rest by what it gains for its cost.
    """

    short: bool
    price: float
    step: LedgerStep


@dataclass(frozen=True, slots=True)
class TrialMoves:
    """Moves of one shard each, between the container that is helped and another."""

    shards: Ints
    others: Ints
    gain: Floats  # of the container that is helped
    after: Floats  # what is beyond its edges then
    legal: Flags


def best_of(
    board: Board, trial: TrialMoves, loads: Floats, reason: Reason, container: int = -1
) -> StepOffer | None:
    """The best of the moves that harm nobody; `loads` are the others' with the move made.

    The shards go to the container, or where it is -1 each to its other one.
    """
    scale = board.scale
    ratios = scale.ratios(loads, trial.others)
    harm = scale.beyond(ratios, trial.others) - board.beyond[trial.others]
    fine = trial.legal & (harm <= 0)
    if container < 0:
        after = board.used[trial.others] + scale.raw[trial.shards]
        fine &= (after <= scale.usable[trial.others]).all(axis=1)
    left = np.flatnonzero(fine)
    if not len(left):
        return None
    cost = scale.cost[trial.shards[left]]
    inside = trial.after[left] == 0
    gain = (trial.gain - harm)[left]
    if inside.any():
        at = int(np.where(inside, cost, np.inf).argmin())
        price = float(cost[at])
    else:
        at = int((gain / cost).argmax())
        price = -float(gain[at] / cost[at])
    shard, other = int(trial.shards[left[at]]), int(trial.others[left[at]])
    move = (shard, other if container < 0 else container)
    step = LedgerStep((move,), reason, float(gain[at]), float(cost[at]))
    return StepOffer(not bool(inside[at]), price, step)


def leaves_room(board: Board, ratios: Floats, containers: int | Ints) -> Flags:
    """Whether containers with these ratios have no more above their edges than they have now.

    What has too little of one resource could be given too much of another, and be the better for
    it on the whole. But nothing that has just come moves on in the same plan: it would stay so.
    """
    most = np.maximum(board.scale.inner_high[containers], board.ratios[containers])
    found: Flags = np.all(ratios <= most, axis=1)
    return found


def foremost(values: Floats, count: int) -> Ints:
    """Indices of the greatest values, the greatest first, the lowest index of equals first.

    Not `argpartition`: which of equal values it takes depends on the processor.
    """
    if len(values) > 8 * count:
        edge = np.partition(values, len(values) - count)[len(values) - count]
        some = np.flatnonzero(values >= edge)
        return some[np.argsort(-values[some], kind="stable")[:count]]
    return np.argsort(-values, kind="stable")[:count]
