"""What one container knows of itself: whether its life goes on, and which shards are its. Pure.

Told from the log alone, by the same folds as the shard manager's: a heartbeat counts once it is
read back, in the partition in which a fail-over of this life would lie before it.
"""

from __future__ import annotations

from typing import NamedTuple

from immutables import Map

from events.generated.records import (
    ContainerFailedOver,
    ContainerHeartbeat,
    ContainerReassigned,
    ContainerStarted,
    ShardAddRequested,
    ShardDropRequested,
    ShardForceKilled,
    TierDefined,
)
from events.wire.codec import Read
from projections.liveness import Life, Ticks, beat, fail_over, start
from projections.timing import Timing, timing_of

FOLDED_KINDS = frozenset(
    one.__name__
    for one in (
        ContainerFailedOver,
        ContainerHeartbeat,
        ContainerReassigned,
        ContainerStarted,
        ShardAddRequested,
        ShardDropRequested,
        ShardForceKilled,
        TierDefined,
    )
)
_NO_TICKS = Ticks()


class DesiredShard(NamedTuple):
    """What is wanted of this container about one shard."""

    generation: int
    wanted: bool
    at_once: bool = False  # killed, without waiting for its tasks to stop in order
    passed: bool = False  # somebody else has it since


class Tenancy(NamedTuple):
    """Which tier has the container, by the greatest number of what was said of that."""

    number: int
    tier: str
    decision_id: str = ""
    explanation: str = ""


class ContainerHold(NamedTuple):
    """One life of one container."""

    container: str
    epoch: int
    defined: bool = False
    timing: Timing = Timing()
    life: Life | None = None
    lease_ms: int | None = None  # until when it holds, by the holder's own clock
    wishes: Map[int, DesiredShard] = Map()
    tenancy: Tenancy | None = None  # None: it was never lent

    @property
    def over(self) -> bool:
        """This life was failed over, or another one has begun: it will never hold again."""
        life = self.life
        return life is not None and (life.over >= self.epoch or life.epoch > self.epoch)

    def leaves(self, tier: str) -> bool:
        """Does it belong to another tier than this life's, and is nothing wanted of it here?"""
        away = self.tenancy is not None and self.tenancy.tier != tier
        return away and not any(wish.wanted for wish in self.wishes.values())

    def holds(self, now_ms: int) -> bool:
        """May its tasks have effects now, by the holder's own clock?"""
        return not self.over and self.lease_ms is not None and now_ms < self.lease_ms


def fold(row: ContainerHold, read: Read) -> ContainerHold:
    """The row after a record about this container, or about the tier's shards."""
    body = read.record.body
    match body:
        case ContainerStarted() | ContainerHeartbeat() | ContainerFailedOver():
            return _lived(row, body, read) if body.container == row.container else row
        case ContainerReassigned():
            return row._replace(tenancy=tenancy_of(row.tenancy, body))
        case TierDefined():
            return define(row, body)
        case ShardAddRequested() | ShardDropRequested() | ShardForceKilled():
            return _wished(row, body)
        case _:
            return row


def define(row: ContainerHold, body: TierDefined) -> ContainerHold:
    """The row once it is known how long things take: that is told once, and no lease grows."""
    if row.defined:
        return row
    return row._replace(defined=True, timing=timing_of(body.settings_json))


def tenancy_of(known: Tenancy | None, body: ContainerReassigned) -> Tenancy:
    """After another word about which tier has the container."""
    if known is not None and body.number <= known.number:
        return known
    return Tenancy(body.number, body.tier, body.decision_id, body.explanation)


def _lived(
    row: ContainerHold,
    body: ContainerStarted | ContainerHeartbeat | ContainerFailedOver,
    read: Read,
) -> ContainerHold:
    life = row.life or Life(row.container, read.place)
    match body:
        case ContainerStarted():
            return row._replace(life=start(life, body, _NO_TICKS))
        case ContainerFailedOver():
            return row._replace(life=fail_over(life, body))
    now = beat(life, body, read.offset, _NO_TICKS)
    if now.beat != read.offset or body.epoch != row.epoch:
        return row._replace(life=now)
    # From the sending: whatever happened on the way, the manager cannot have counted less.
    lease_ms = body.sent_ms + row.timing.lease_ms
    if row.lease_ms is not None:  # the holder's clock may begin anywhere, below 0 as well
        lease_ms = max(lease_ms, row.lease_ms)
    return row._replace(life=now, lease_ms=lease_ms)


def _wished(
    row: ContainerHold, body: ShardAddRequested | ShardDropRequested | ShardForceKilled
) -> ContainerHold:
    wish = row.wishes.get(body.shard)
    if wish is not None and wish.generation > body.generation:
        return row
    if isinstance(body, ShardAddRequested):
        if (body.container, body.epoch) == (row.container, row.epoch):
            return row._replace(
                wishes=row.wishes.set(body.shard, DesiredShard(body.generation, True))
            )
        if wish is None:
            return row
        # It is another's: what runs here of the shard has to stop, and is told by its generation.
        ours = DesiredShard(wish.generation, False, at_once=True, passed=True)
        return row._replace(wishes=row.wishes.set(body.shard, ours))
    if wish is None or wish.generation != body.generation:
        return row
    killed = isinstance(body, ShardForceKilled)
    return row._replace(
        wishes=row.wishes.set(body.shard, DesiredShard(body.generation, False, killed))
    )
