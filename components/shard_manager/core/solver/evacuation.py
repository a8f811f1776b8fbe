"""Places for shards that cannot stay where they are, one after another. Pure."""

from __future__ import annotations

import numpy as np

from components.shard_manager.core.plan import Obstacle, Reason, Unplaced
from components.shard_manager.core.solver.board import NOBODY, Board
from components.shard_manager.core.solver.bulk_placement import place_many
from components.shard_manager.core.solver.candidates import foremost, leaves_room
from components.shard_manager.core.solver.ledger import Ledger, LedgerStep, largest_first
from components.shard_manager.core.solver.prng import mixed
from components.shard_manager.core.solver.problem import Flags, Ints

CHOICE = 16
"""So many of the best containers are looked at for one that stays within its edges."""


def place_orphans_of(board: Board, ledger: Ledger, orphans: Ints) -> tuple[Ints, list[Unplaced]]:
    """Places shards that nothing holds: in bulk where they are many, else one by one.

    Returns those of the bulk, which are no steps of the ledger, and those that fit nowhere.
    """
    if len(orphans) <= board.problem.settings.orphans_many:
        shards = largest_first(board, orphans)
        return NOBODY, place_each(board, ledger, shards, Reason.ORPHAN)
    place_many(board, orphans, board.scale.open)
    board.refresh()
    _take_off(board, orphans)
    placed = board.target[orphans] >= 0
    left = largest_first(board, orphans[~placed])
    unplaced = place_each(board, ledger, left, Reason.ORPHAN)
    return orphans[placed], unplaced


def _take_off(board: Board, placed: Ints) -> None:
    """Off containers that are above a hard ceiling, of what was just placed the largest first."""
    full = np.flatnonzero((board.used > board.scale.usable).any(axis=1))
    new = np.zeros(board.problem.shards, bool)
    new[placed] = True
    for container in full.tolist():
        held = board.held_by(container)
        for shard in largest_first(board, held[new[held]]):
            above = board.used[container] > board.scale.usable[container]
            if not above.any():
                break
            if board.scale.raw[shard][above].any():
                board.put(shard, -1)


def place_each(board: Board, ledger: Ledger, shards: list[int], reason: Reason) -> list[Unplaced]:
    """Places the shards in this order; those for which there is no place are told."""
    unplaced = []
    for shard in shards:
        if reason is not Reason.ORPHAN and not ledger.allows([shard]):
            continue
        found = _place_for(board, shard)
        if isinstance(found, Unplaced):
            unplaced.append(found)
            continue
        container, runner_up = found
        cost = float(board.scale.cost[shard])
        step = LedgerStep(((shard, container),), reason, 0.0, cost, runner_up)
        ledger.take(step, urgent=reason is Reason.ORPHAN)
    return unplaced


def _place_for(board: Board, shard: int) -> tuple[int, int] | Unplaced:
    """The best container and the next; of equals the lowest index."""
    scores = board.scores(np.array([shard]))[0][board.columns]
    legal: Flags = np.isfinite(scores)
    for resource, amount in enumerate(board.scale.raw[shard].tolist()):
        full = board.used[:, resource] > board.scale.usable[:, resource] - amount
        scores[full] = np.inf
    best = int(scores.argmin()) if len(scores) else -1
    if best < 0 or not np.isfinite(scores[best]):
        return _obstacle(board, shard, legal)
    if not board.scale.x[shard].any():
        # All containers are alike to a shard without load: not all such go to the first.
        left = np.flatnonzero(np.isfinite(scores))
        at = mixed(board.seed, shard) % len(left)
        return int(left[at]), -1 if len(left) == 1 else int(left[at - 1])
    if not _harmless(board, shard, np.array([best]))[0]:
        some = foremost(-scores, CHOICE)
        some = some[np.isfinite(scores[some])]
        # A score sees balance and no edges: a new, empty container draws all until it has too much.
        best = int(some[_harmless(board, shard, some).argmax()])
    scores[best] = np.inf
    second = int(scores.argmin())
    return best, second if np.isfinite(scores[second]) else -1


def _harmless(board: Board, shard: int, containers: Ints) -> Flags:
    """Which of the containers have no more beyond their edges with the shard than without it."""
    scale = board.scale
    after = scale.ratios(board.loads[containers] + scale.x[shard], containers)
    found = scale.beyond(after, containers) <= board.beyond[containers]
    return found & leaves_room(board, after, containers)


def _obstacle(board: Board, shard: int, legal: Flags) -> Unplaced:
    if not legal.any():
        return Unplaced(shard, Obstacle.NO_CONTAINER, -1)
    raw, usable = board.scale.raw[shard], board.scale.usable[legal]
    refused = board.used[legal] + raw > usable
    resource = board.problem.settings.hard[int(refused.sum(axis=0).argmax())]
    alone = (raw > usable).any(axis=1).all()
    return Unplaced(shard, Obstacle.TOO_LARGE if alone else Obstacle.CEILING, resource)
