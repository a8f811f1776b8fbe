"""Shards that went on in the same plan move once, in an order in which each move helps. Pure."""

from __future__ import annotations

from dataclasses import replace

from components.shard_manager.core.plan import Reason
from components.shard_manager.core.solver.board import Board
from components.shard_manager.core.solver.ledger import LedgerStep, Taken


def straightened(board: Board, steps: list[Taken]) -> list[Taken] | None:
    """The steps with one move for each shard, from where it was to where it went at last.

    Those off where a shard cannot stay come first. Of the others each is made as soon as it helps,
    and those that only help together are one step at the end. None where these do not help: then
    the board is in between, and it is for the caller to put it back.
    """
    shards = [shard for step, _ in steps for shard, _ in step.moves]
    if len(set(shards)) == len(shards):
        return steps
    first: dict[int, int] = {}
    for step, origins in steps:
        for (shard, _), origin in zip(step.moves, origins, strict=True):
            first.setdefault(shard, origin)
    final = {shard: int(board.target[shard]) for shard in first}
    kept = [_to(step, final, first) for step, _ in steps if step.reason <= Reason.DRAIN]
    placed = {shard for step, _ in kept for shard, _ in step.moves}
    for shard, origin in first.items():
        if shard not in placed:
            board.put(shard, origin)
    waiting = _whole(steps, final, first, placed)
    while True:
        late: list[Taken] = []
        for one in waiting:
            (kept if _made(board, one) else late).append(one)
        if not late:
            return kept
        if len(late) == len(waiting):
            break
        waiting = late
    whole = _together(late)
    return [*kept, whole] if _made(board, whole) else None


def _to(step: LedgerStep, final: dict[int, int], first: dict[int, int]) -> Taken:
    """The step with where its shards came from and where they went."""
    shards = [shard for shard, _ in step.moves]
    moves = tuple((shard, final[shard]) for shard in shards)
    return replace(step, moves=moves), tuple(first[shard] for shard in shards)


def _whole(
    steps: list[Taken], final: dict[int, int], first: dict[int, int], placed: set[int]
) -> list[Taken]:
    """Each shard's last step, with all of the way; shards that came back are left out."""
    last = {shard: at for at, (step, _) in enumerate(steps) for shard, _ in step.moves}
    found = []
    for at, (step, _) in enumerate(steps):
        mine = [one for one, _ in step.moves if last[one] == at and one not in placed]
        moves = tuple((one, final[one]) for one in mine if final[one] != first[one])
        if moves:
            found.append(_to(replace(step, moves=moves), final, first))
    return found


def _made(board: Board, taken: Taken) -> bool:
    """Makes a step unless it is for the worse; and whether it did."""
    step, origins = taken
    ends = sorted({*origins, *(to for _, to in step.moves)})
    before = sum(float(board.beyond[end]) for end in ends)
    for shard, to in step.moves:
        board.put(shard, to)
    gain = before - sum(float(board.beyond[end]) for end in ends)
    fits = all(bool((board.used[end] <= board.scale.usable[end]).all()) for end in ends)
    if gain >= 0 and fits:
        return True
    for (shard, _), origin in zip(step.moves, origins, strict=True):
        board.put(shard, origin)
    return False


def _together(late: list[Taken]) -> Taken:
    """One step that makes the moves of several, and where each came from."""
    moves = tuple(move for step, _ in late for move in step.moves)
    origins = tuple(origin for _, some in late for origin in some)
    cost = sum(step.cost for step, _ in late)
    return replace(late[0][0], moves=moves, reason=Reason.SWAP, cost=cost), origins
