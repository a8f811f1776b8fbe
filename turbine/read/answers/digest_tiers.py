"""What changed in a span of tiers' chains: moves by reason, containers lost. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    CapacityBorrowed,
    CapacityLent,
    ContainerFailOverRequested,
    DrainRequested,
    JobsPreempted,
    JobsRestored,
    PlacementPlanned,
    ShardAddRequested,
    ShardDropRequested,
    ShardForceKilled,
    UndrainRequested,
)
from events.sentences import sentence
from events.wire.codec import Read
from turbine.read.answers.journal import body_of
from turbine.read.sources.log import Standing
from turbine.read.state.move_reasons import reason_of

Row = dict[str, Any]

KINDS = frozenset(
    one.__name__
    for one in (
        AlertCleared,
        AlertRaised,
        CapacityBorrowed,
        CapacityLent,
        ContainerFailOverRequested,
        JobsPreempted,
        JobsRestored,
        PlacementPlanned,
        ShardAddRequested,
        ShardDropRequested,
        ShardForceKilled,
    )
)


@dataclass(slots=True)
class Turn:
    """All that is told of one tier, while it is read."""

    tier: str
    open: dict[str, Row] = field(default_factory=dict)
    cleared: list[Row] = field(default_factory=list)
    moves: Counter[str] = field(default_factory=Counter)
    killed: int = 0
    plans: int = 0
    events: list[Row] = field(default_factory=list)

    def changed(self) -> bool:
        """Did anything happen, or is anything still open?"""
        return any((self.open, self.cleared, self.moves, self.killed, self.plans, self.events))

    def to_plain(self) -> Row:
        """As JSON."""
        return {
            "tier": self.tier,
            "open": sorted(self.open.values(), key=lambda one: (one["at_ms"], one["alert"])),
            "cleared": self.cleared,
            "plans": self.plans,
            "moves": dict(sorted(self.moves.items(), key=lambda one: (-one[1], one[0]))),
            "killed": self.killed,
            "events": self.events,
        }


def turns(
    chain: Iterable[Standing], wishes: Iterable[Read], since_ms: int, until_ms: int
) -> list[Row]:
    """Every tier to which something happened, by name; wishes of operators under no tier's name,
    for they name a container alone."""
    found: dict[str, Turn] = {}
    for one in chain:
        body = body_of(one)
        if not one.stands or body is None or one.read.at_ms > until_ms:
            continue
        tier = one.read.record.key.partition("/")[0]
        turn = found.setdefault(tier, Turn(tier))
        within = one.read.at_ms >= since_ms
        if isinstance(body, AlertRaised | AlertCleared):
            _alert(turn, one.read, body, within=within)
        elif within:
            _tell(turn, one.read, body)
    asked = Turn("")
    for read in wishes:
        wish = read.record.body
        if isinstance(wish, DrainRequested | UndrainRequested):
            asked.events.append(_event(read, wish))
    rows = [turn.to_plain() for _, turn in sorted(found.items()) if turn.changed()]
    return rows + ([asked.to_plain()] if asked.changed() else [])


def _alert(turn: Turn, read: Read, body: AlertRaised | AlertCleared, *, within: bool) -> None:
    at: Row = {"at_ms": read.at_ms, "id": read.record.id, "text": sentence(body)}
    at |= {"alert": body.alert}
    if isinstance(body, AlertRaised):
        before = turn.open.get(body.alert)
        told = {"severity": body.severity, "cause": body.cause, "runbook": body.runbook}
        since = {} if before is None else {"at_ms": before["at_ms"]}
        turn.open[body.alert] = at | told | since
        return
    raised = turn.open.pop(body.alert, None)
    if within:
        since = {"raised_ms": None if raised is None else raised["at_ms"]}
        turn.cleared.append(at | since | {"explanation": body.explanation})


def _tell(turn: Turn, read: Read, body: Body) -> None:
    match body:
        case ShardDropRequested() | ShardAddRequested():
            if reason := reason_of(body):
                turn.moves[reason] += 1
        case ShardForceKilled():
            turn.killed += 1
        case PlacementPlanned():
            turn.plans += body.part == 1
        case (
            ContainerFailOverRequested()
            | JobsPreempted()
            | JobsRestored()
            | CapacityLent()
            | CapacityBorrowed()
        ):
            turn.events.append(_event(read, body))
        case _:
            return


def _event(read: Read, body: Body) -> Row:
    return {
        "at_ms": read.at_ms,
        "kind": read.record.kind,
        "id": read.record.id,
        "text": sentence(body),
    }
