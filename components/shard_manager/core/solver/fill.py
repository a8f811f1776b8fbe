"""Many nearly empty containers are filled at once, by shards that others can spare. Pure."""

from __future__ import annotations

import numpy as np

from components.shard_manager.core.plan import Reason
from components.shard_manager.core.solver.board import NOBODY, Board
from components.shard_manager.core.solver.bulk_placement import place_many
from components.shard_manager.core.solver.ledger import Ledger, LedgerStep
from components.shard_manager.core.solver.prng import mixed
from components.shard_manager.core.solver.problem import Flags, Floats, Ints
from components.shard_manager.core.solver.scale import ONE

PASSES = 20
SPARES = 0.99 * ONE
"""Who has more, on the average of resources, can spare a shard."""


def fill(board: Board, ledger: Ledger) -> None:
    """Fills containers that have less than half of what they should have, if they are many.

    Random shards are taken: the largest first would leave what is hard to pack to the repair, and
    took six times as long to settle.
    """
    needy = _needy(board)
    if int(needy.sum()) < board.problem.settings.fill_min:
        return
    shed = _shed(board, needy)
    origins = board.target[shed]
    board.target[shed] = -1
    place_many(board, shed, needy)
    places = board.target[shed]
    board.target[shed] = origins
    scale = board.scale
    for shard, place in zip(shed.tolist(), places.tolist(), strict=True):
        if ledger.spent:
            return
        if place < 0 or board.frozen[shard] or not board.fits(shard, place):
            continue
        gain = _gain(board, shard, place)
        if gain is not None and ledger.allows([shard]):
            missing = np.maximum(scale.low[place] - board.ratios[place], 0.0)
            resource = int(missing.argmax())
            cost = float(scale.cost[shard])
            step = LedgerStep(
                ((shard, place),), Reason.FILL, gain, cost, -1, float(missing[resource])
            )
            ledger.take(step)


def _needy(board: Board) -> Flags:
    half = board.scale.inner_low / 2
    wanted = half > 0
    low = np.all((board.ratios < half) | ~wanted, axis=1)
    found: Flags = low & np.any(wanted, axis=1) & board.scale.open
    return found


def _shed(board: Board, needy: Flags) -> Ints:
    """Shards that their containers can spare, as much as the needy want: one each in a pass."""
    scale = board.scale
    middle = (scale.inner_low[needy] + scale.aim[needy]) / 2
    missing = np.maximum(middle - board.ratios[needy], 0.0) / scale.inverse[needy]
    wanted = float(np.rint(missing).sum()) / max(1, board.problem.resources)
    loads, taken = board.loads.copy(), board.frozen.copy()
    regions = np.bitwise_or.reduce(board.problem.region[needy])
    taken = taken | ((board.problem.allowed & regions) == 0)
    found: list[Ints] = []
    for number in range(PASSES):
        shards, owners = _spared(board, loads, needy, taken, number)
        amounts = scale.x[shards].sum(axis=1) / board.problem.resources
        enough = int(np.searchsorted(np.cumsum(amounts), wanted))
        shards, owners = shards[: enough + 1], owners[: enough + 1]
        loads[owners] -= scale.x[shards]
        taken[shards] = True
        found.append(shards)
        wanted -= float(amounts[: enough + 1].sum())
        if wanted <= 0 or not len(shards):
            break
    return np.concatenate(found) if found else NOBODY


def _spared(
    board: Board, loads: Floats, needy: Flags, taken: Flags, number: int
) -> tuple[Ints, Ints]:
    """One shard of chance of each container that has enough, if it stays inside without it."""
    scale = board.scale
    ratios = scale.ratios(loads)
    mean = ratios.sum(axis=1) / max(1, board.problem.resources)
    owners = np.flatnonzero(scale.open & ~needy & (mean > SPARES))
    shards = np.array([_any_of(board, owner, taken, number) for owner in owners.tolist()], np.int64)
    owners, shards = owners[shards >= 0], shards[shards >= 0]
    after = scale.ratios(loads[owners] - scale.x[shards], owners)
    stays = (after >= scale.inner_low[owners]).all(axis=1)
    owners, shards = owners[stays], shards[stays]
    # The fullest first: where the budget is small, they are relieved.
    order = np.argsort(-mean[owners], kind="stable")
    return shards[order], owners[order]


def _any_of(board: Board, owner: int, taken: Flags, number: int) -> int:
    held = board.held_by(owner)
    held = held[~taken[held]]
    return int(held[mixed(board.seed, owner, number) % len(held)]) if len(held) else -1


def _gain(board: Board, shard: int, place: int) -> float | None:
    """What the move gains, if neither end is worse for it."""
    scale = board.scale
    ends = np.array([int(board.target[shard]), place])
    moved = np.stack((-scale.x[shard], scale.x[shard]))
    change = board.beyond[ends] - scale.beyond(scale.ratios(board.loads[ends] + moved, ends), ends)
    return float(change.sum()) if (change >= 0).all() and change.any() else None
