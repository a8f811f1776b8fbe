"""What is known of one tier: its containers, and who holds each shard (Turbine IV-A, IV-C). Pure.

Decisions about shards come in the order of the tier's chain. What containers say of shards is kept
beside them, under its generation, so that neither waits for the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from immutables import Map

from events.codec import Read
from events.records import (
    Body,
    ClockTicked,
    ContainerFailedOver,
    ContainerFailOverRequested,
    ContainerHeartbeat,
    ContainerStarted,
    PlacementPlanned,
    ShardAdded,
    ShardAddRequested,
    ShardDropped,
    ShardDropRequested,
    ShardForceKilled,
    TierDefined,
)
from projections.lives import Life, Ticks, beat, fail_over, start
from projections.timing import Timing, timing_of

ADD, DROP, KILL = "add", "drop", "kill"
NO_TICKS = Ticks()

FOLDED_KINDS = frozenset(
    one.__name__
    for one in (
        ClockTicked,
        ContainerFailedOver,
        ContainerFailOverRequested,
        ContainerHeartbeat,
        ContainerStarted,
        PlacementPlanned,
        ShardAdded,
        ShardAddRequested,
        ShardDropped,
        ShardDropRequested,
        ShardForceKilled,
        TierDefined,
    )
)


class Grant(NamedTuple):
    """What was decided last about one shard: who is to hold it, or to give it up."""

    generation: int
    container: str
    epoch: int
    stage: str  # add, drop or kill
    deadline_ms: int | None
    to: str = ""  # who is to get it once it is dropped


class Told(NamedTuple):
    """What containers said of one shard: the greatest generations that were added and dropped."""

    added: int = 0
    dropped: int = 0


class Request(NamedTuple):
    """A fail-over that was decided, until its effect is read back."""

    decision_id: str
    container: str
    epoch: int
    explanation: str
    place: str
    offset: int | None


class Fleet(NamedTuple):
    """One tier."""

    tier: str
    defined: bool = False
    shards: int = 0
    regions: tuple[str, ...] = ()
    timing: Timing = Timing()
    ticks: Map[str, Ticks] = Map()
    lives: Map[str, Life] = Map()
    grants: Map[int, Grant] = Map()
    told: Map[int, Told] = Map()
    holdings: Map[str, Map[int, None]] = Map()  # container to the shards that were given to it
    open: Map[int, None] = Map()  # shards about which something is still to come
    requests: Map[str, Request] = Map()  # by decision
    plans: int = 0

    def clock_of(self, life: Life) -> Ticks:
        """The ticks by which the container's silence is measured."""
        return self.ticks.get(life.place, NO_TICKS)

    def silence_ms(self, life: Life) -> int:
        """How long nothing was heard of the container."""
        return life.silence_ms(self.clock_of(life), self.timing.gap_ms)

    def members(self) -> Iterator[Life]:
        """The tier's containers, by name."""
        for _, life in sorted(self.lives.items()):
            if life.tier == self.tier:
                yield life

    def given_up(self, shard: int) -> bool:
        """Does nobody hold the shard any more, for certain? Its last holder said so, or cannot
        serve it: another life of it began, which nothing of the last one outlives, or it was failed
        over and its lease has passed as well, if it did not hear of that."""
        grant = self.grants.get(shard)
        if grant is None or self.told.get(shard, Told()).dropped >= grant.generation:
            return True
        life = self.lives.get(grant.container)
        if life is None:
            return False
        if life.epoch > grant.epoch:
            return True
        return life.over >= grant.epoch and self.silence_ms(life) >= self.timing.silence_ms


def fold(row: Fleet | None, read: Read) -> Fleet:
    """The row after the record."""
    row = row or Fleet(read.record.key.partition("/")[0])
    body = read.record.body
    match body:
        case ClockTicked():
            ticks = row.ticks.get(read.place, NO_TICKS).moved(read.at_ms, row.timing.gap_ms)
            return row._replace(ticks=row.ticks.set(read.place, ticks))
        case ContainerStarted() | ContainerHeartbeat() | ContainerFailedOver():
            return _lived(row, body, read)
        case ShardAdded() | ShardDropped():
            return _said(row, body)
        case ContainerFailOverRequested():
            return _asked(row, body, read.record.id)
        case ShardForceKilled():
            return _taken(row, body.shard, KILL, read.at_ms + row.timing.kill_ms)
        case _:
            return apply(row, body)


def apply(row: Fleet, body: Body | None) -> Fleet:
    """After a decision, as it will be once it is read back."""
    match body:
        case TierDefined():
            timing = timing_of(body.settings_json)
            return row._replace(
                tier=body.tier,
                defined=True,
                shards=body.shards,
                regions=body.regions,
                timing=timing,
                open=Map(dict.fromkeys(range(body.shards))),
            )
        case PlacementPlanned():
            return row._replace(plans=row.plans + 1)
        case ShardAddRequested():
            grant = Grant(body.generation, body.container, body.epoch, ADD, body.deadline_ms)
            return _granted(row, body.shard, grant)
        case ShardDropRequested():
            return _taken(row, body.shard, DROP, body.deadline_ms, body.to_container)
        case ShardForceKilled():
            return _taken(row, body.shard, KILL, None)
        case _:
            return row


def _lived(
    row: Fleet, body: ContainerStarted | ContainerHeartbeat | ContainerFailedOver, read: Read
) -> Fleet:
    life = row.lives.get(body.container) or Life(body.container, read.place)
    ticks = row.clock_of(life)
    match body:
        case ContainerStarted():
            now = start(life, body, ticks)
        case ContainerHeartbeat():
            now = beat(life, body, read.offset, ticks)
        case _:
            now = fail_over(life, body)
            row = row._replace(requests=_without(row.requests, body.decision_id))
    if (now.epoch, now.over) != (life.epoch, life.over):
        # What it held has to be looked at: it holds it no longer, or will not once it is silent.
        held = row.holdings.get(life.name, Map[int, None]())
        row = row._replace(open=row.open.update(held))
    return row._replace(lives=row.lives.set(life.name, now))


def _said(row: Fleet, body: ShardAdded | ShardDropped) -> Fleet:
    """A fact counts under its generation, if the life that says it is not over."""
    life = row.lives.get(body.container)
    if body.tier != row.tier or (life is not None and body.epoch <= life.over):
        return row
    told = row.told.get(body.shard, Told())
    if isinstance(body, ShardAdded):
        told = told._replace(added=max(told.added, body.generation))
    else:
        told = told._replace(dropped=max(told.dropped, body.generation))
    row = row._replace(told=row.told.set(body.shard, told))
    return _settled(row, body.shard)


def _settled(row: Fleet, shard: int) -> Fleet:
    """A shard that is held as was decided needs no more looking at."""
    grant = row.grants.get(shard)
    told = row.told.get(shard, Told())
    if grant is not None and grant.stage == ADD and told.dropped < grant.generation <= told.added:
        life = row.lives.get(grant.container)
        if life is not None and life.lives and life.epoch == grant.epoch:
            return row._replace(open=_without(row.open, shard))
    return row._replace(open=row.open.set(shard, None))


def _granted(row: Fleet, shard: int, grant: Grant) -> Fleet:
    before = row.grants.get(shard)
    holdings = row.holdings
    if before is not None and before.container != grant.container:
        rest = _without(holdings.get(before.container, Map[int, None]()), shard)
        holdings = holdings.set(before.container, rest)
    mine = holdings.get(grant.container, Map[int, None]()).set(shard, None)
    row = row._replace(
        grants=row.grants.set(shard, grant), holdings=holdings.set(grant.container, mine)
    )
    return _settled(row, shard)


def _taken(row: Fleet, shard: int, stage: str, deadline_ms: int | None, to: str = "") -> Fleet:
    grant = row.grants.get(shard)
    if grant is None:
        return row
    grant = grant._replace(stage=stage, deadline_ms=deadline_ms, to=to or grant.to)
    return _settled(row._replace(grants=row.grants.set(shard, grant)), shard)


def _asked(row: Fleet, body: ContainerFailOverRequested, decision_id: str) -> Fleet:
    request = Request(
        decision_id,
        body.container,
        body.epoch,
        body.explanation,
        body.last_heartbeat_place,
        body.last_heartbeat_offset,
    )
    return row._replace(requests=row.requests.set(decision_id, request))


def _without(known: Map, key: object) -> Map:  # type: ignore[type-arg]  # of any keys and values
    return known.delete(key) if key in known else known
