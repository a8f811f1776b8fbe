"""What changed in a span of tiers' chains: moves by reason, containers lost. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated

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
from events.topics import OPERATOR
from events.wire.codec import Read
from turbine.read.answers.digest_events import EndedAlert, OpenAlert, TierEvent, alert, event
from turbine.read.answers.journal import body_of
from turbine.read.plain import made, means
from turbine.read.sources.log import Log, Standing
from turbine.read.state.move_reasons import reason_of

WISHES = frozenset({"DrainRequested", "UndrainRequested"})

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


@dataclass(frozen=True, slots=True)
class TierDigest:
    """What happened to a tier."""

    tier: Annotated[str, means("Empty: what operators asked of containers.")]
    open: tuple[OpenAlert, ...]
    cleared: tuple[EndedAlert, ...]
    plans: int
    moves: Annotated[dict[str, int], means("By their reason.")]
    killed: Annotated[int, means("Shards whose tasks did not stop in time.")]
    events: tuple[TierEvent, ...]


@dataclass(slots=True)
class Turn:
    """All that is told of one tier, while it is read."""

    tier: str
    open: dict[str, OpenAlert] = field(default_factory=dict)
    cleared: list[EndedAlert] = field(default_factory=list)
    moves: Counter[str] = field(default_factory=Counter)
    killed: int = 0
    plans: int = 0
    events: list[TierEvent] = field(default_factory=list)

    def told(self) -> TierDigest | None:
        """Nothing where nothing happened, and nothing is still open."""
        if not any((self.open, self.cleared, self.moves, self.killed, self.plans, self.events)):
            return None
        return made(
            TierDigest,
            self,
            open=tuple(sorted(self.open.values(), key=lambda one: (one.at_ms, one.alert))),
            cleared=tuple(self.cleared),
            moves=dict(sorted(self.moves.items(), key=lambda one: (-one[1], one[0]))),
            events=tuple(self.events),
        )


def turns(
    chain: Iterable[Standing], asked: Iterable[Read], since_ms: int, until_ms: int
) -> list[TierDigest]:
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
            alert(turn.open, turn.cleared, one.read, body, within=within)
        elif within:
            _tell(turn, one.read, body)
    wished = Turn("")
    for read in asked:
        wish = read.record.body
        if isinstance(wish, DrainRequested | UndrainRequested):
            wished.events.append(event(TierEvent, read, wish, kind=read.record.kind))
    told = [turn.told() for _, turn in [*sorted(found.items()), ("", wished)]]
    return [turn for turn in told if turn is not None]


def wishes(log: Log, since_ms: int, end: Mapping[str, int]) -> Iterator[Read]:
    """What operators asked of containers since then."""
    if OPERATOR in log.counts:
        start = log.at(since_ms - 1, [OPERATOR])
        yield from log.read([OPERATOR], kinds=WISHES, start=start, end=end)


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
            turn.events.append(event(TierEvent, read, body, kind=read.record.kind))
        case _:
            return
