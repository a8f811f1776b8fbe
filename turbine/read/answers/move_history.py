"""The moves of a tier's shards as its log tells them: asked, dropped, added, or left. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypedDict

from events.generated.records import (
    ContainerFailOverRequested,
    PlacementPlanned,
    ShardAdded,
    ShardAddRequested,
    ShardDropped,
    ShardDropRequested,
    ShardForceKilled,
)
from events.wire.codec import Read
from projections.fleet import ShardGenerations, TierFleet
from projections.plans import Planned, read_moves
from turbine.read.sources.log import Standing


class FailOverLine(TypedDict):
    """One time that a container was asked to be failed over."""

    at_ms: int
    epoch: int
    why: str
    outcome: str
    decision: str
    position: str


NEAR_MS = 600_000
"""Moves that are no further apart are looked at together: a look at the log has its price, too."""


class MoveHistory(NamedTuple):
    """One shard on its way from one container to another."""

    shard: int
    plan: str  # "" where no plan was needed: its container began another life
    origin: str  # "" where nothing held it
    to: str
    reason: str
    asked_ms: int
    decision: str  # id of the last decision of it
    position: str  # and where that lies
    leaving: int = 0  # the generation that is given up; 0 where nobody had to be asked
    coming: int = 0  # the generation that it gets; 0 while it is not given yet
    given_ms: int | None = None
    killed_ms: int | None = None
    dropped_ms: int | None = None
    added_ms: int | None = None
    added: bool = False  # known to be, although nobody may know any more when
    over: bool = False  # another move of the shard came after it

    @property
    def stage(self) -> str:
        """How far the move came, in a word."""
        if self.added:
            return "added"
        if self.over:
            return "unfinished"
        if self.coming:
            return "adding"
        if self.dropped_ms is not None:
            return "dropped"
        return "asked" if self.killed_ms is None else "killed"


def moves_of(chain: Iterable[Standing]) -> list[MoveHistory]:
    """The moves that a tier's standing decisions tell, in the order of their first words."""
    found: list[MoveHistory] = []
    last: dict[int, int] = {}  # shard to the place of its last move in the list
    for one in chain:
        body = one.read.record.body
        if not one.stands or not isinstance(
            body, ShardAddRequested | ShardDropRequested | ShardForceKilled
        ):
            continue
        at = last.get(body.shard)
        before = None if at is None else found[at]
        further = None if before is None else _further(before, body, one.read)
        if at is not None and further is not None:
            found[at] = further
        elif not isinstance(body, ShardForceKilled):
            if at is not None:
                found[at] = found[at]._replace(over=True)
            last[body.shard] = len(found)
            found.append(_begun(body, one.read))
    return found


def _further(
    move: MoveHistory, body: ShardAddRequested | ShardDropRequested | ShardForceKilled, read: Read
) -> MoveHistory | None:
    """The shard's last move after another decision; None where that is not about this move."""
    if not move.leaving or move.coming:
        return None
    move = move._replace(decision=read.record.id, position=f"{read.place}:{read.offset}")
    match body:
        case ShardForceKilled():
            return move._replace(killed_ms=read.at_ms)
        case ShardAddRequested() if body.plan_id in ("", move.plan):
            return move._replace(to=body.container, coming=body.generation, given_ms=read.at_ms)
        case _:
            return None


def _begun(body: ShardAddRequested | ShardDropRequested, read: Read) -> MoveHistory:
    move = MoveHistory(
        shard=body.shard,
        plan=body.plan_id,
        origin=body.container,
        to=body.container,
        reason=body.reason,
        asked_ms=read.at_ms,
        decision=read.record.id,
        position=f"{read.place}:{read.offset}",
    )
    if isinstance(body, ShardDropRequested):
        return move._replace(to=body.to_container, leaving=body.generation)
    return move._replace(origin=body.from_container, coming=body.generation, given_ms=read.at_ms)


def timed(moves: Sequence[MoveHistory], row: TierFleet, facts: Iterable[Read]) -> list[MoveHistory]:
    """The moves with what containers said of them, and what the row knows of the last ones."""
    dropped: dict[tuple[int, int], int] = {}
    added: dict[tuple[int, int], int] = {}
    for read in facts:
        body = read.record.body
        if isinstance(body, ShardDropped | ShardAdded) and body.tier == row.tier:
            known = dropped if isinstance(body, ShardDropped) else added
            known.setdefault((body.shard, body.generation), read.at_ms)
    return [_timed(move, row, dropped, added) for move in moves]


def _timed(
    move: MoveHistory,
    row: TierFleet,
    dropped: dict[tuple[int, int], int],
    added: dict[tuple[int, int], int],
) -> MoveHistory:
    told = row.told.get(move.shard, ShardGenerations())
    known_ms = added.get((move.shard, move.coming)) if move.coming else None
    last = not move.over and move.coming
    return move._replace(
        dropped_ms=dropped.get((move.shard, move.leaving)) if move.leaving else None,
        added_ms=known_ms,
        added=known_ms is not None or bool(last and told.added >= move.coming),
    )


def windows(moves: Sequence[MoveHistory], row: TierFleet) -> list[tuple[int, int]]:
    """Spans of the log's time in which containers spoke of these moves, if they did at all."""
    timing = row.timing
    patience_ms = timing.drop_ms + timing.kill_ms + timing.add_ms
    spans: list[tuple[int, int]] = []
    for move in sorted(moves, key=lambda one: one.asked_ms):
        until_ms = max(move.asked_ms, move.given_ms or 0) + patience_ms
        if spans and move.asked_ms <= spans[-1][1] + NEAR_MS:
            spans[-1] = (spans[-1][0], max(spans[-1][1], until_ms))
        else:
            spans.append((move.asked_ms - 1, until_ms))
    return spans


# --- plans


class MovePlan(NamedTuple):
    """A plan as it stands in the log."""

    plan_id: str
    at_ms: int
    position: str
    decision: str
    first: PlacementPlanned
    moves: tuple[Planned, ...]
    parts: int  # that were read


def plans_of(chain: Iterable[Standing]) -> dict[str, MovePlan]:
    """The tier's plans by their ids; of two with one id the later."""
    found: dict[str, MovePlan] = {}
    for one in chain:
        read, body = one.read, one.read.record.body
        if not one.stands or not isinstance(body, PlacementPlanned):
            continue
        moves = read_moves(body.moves_json)
        before = found.get(body.plan_id)
        if body.part > 1 and before is not None:
            moves = (*before.moves, *moves)
            found[body.plan_id] = before._replace(moves=moves, parts=body.part)
            continue
        where = f"{read.place}:{read.offset}"
        found[body.plan_id] = MovePlan(
            body.plan_id, read.at_ms, where, read.record.id, body, moves, body.part
        )
    return found


# --- fail-overs


def fail_overs_of(chain: Iterable[Standing], row: TierFleet, name: str) -> list[FailOverLine]:
    """When the container was asked to be failed over, why, and what came of it."""
    found: list[FailOverLine] = []
    for one in chain:
        body = one.read.record.body
        if not one.stands or not isinstance(body, ContainerFailOverRequested):
            continue
        if body.container != name:
            continue
        life = row.lives.get(name)
        done = life is not None and life.over >= body.epoch
        waits = one.read.record.id in row.requests
        found.append(
            {
                "at_ms": one.read.at_ms,
                "epoch": body.epoch,
                "why": body.explanation,
                "outcome": "failed over" if done else "asked" if waits else "it was heard again",
                "decision": one.read.record.id,
                "position": f"{one.read.place}:{one.read.offset}",
            }
        )
    return found
