"""A container's life in the log: it says that it lives, and reads that back.

Its producer and its consumer are its own: whatever else is slow, heartbeats are not late for it.
"""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from components.task_manager import last_lives as lives
from components.task_manager.fact_writer import fact
from components.task_manager.last_lives import PastLife
from events.generated.records import (
    Body,
    ContainerHeartbeat,
    ContainerReassigned,
    ContainerStarted,
    ContainerState,
    Position,
    ResourceAmount,
)
from events.topics import CONTAINERS, partition_of, place
from events.wire.codec import Read
from projections.hold import FOLDED_KINDS, Tenancy, tenancy_of
from tasks.deadline import own_ms
from turbine_client.clients import producer
from turbine_client.reading import Follower, ends_now, read_span, times_now
from turbine_client.settings import Settings

POLL_MOST = 500


class ContainerIdentity(NamedTuple):
    """A container as it presents itself."""

    name: str
    tier: str
    region: str
    capacity: tuple[ResourceAmount, ...]
    logs_url: str = ""  # where it answers for what its tasks print
    logs_key: str = ""


class Pulse:
    """One life. Used from one thread."""

    def __init__(self, settings: Settings, partitions: int, member: ContainerIdentity) -> None:
        self._settings, self._count, self._member = settings, partitions, member
        self._key = member.name.encode()
        self._partition = partition_of(member.name, partitions)
        self.place = place(CONTAINERS, self._partition)
        self._end = ends_now(settings, [self.place])[self.place]
        self._emitter = Emitter(producer(settings), settings.prefix)
        self._follower = Follower(settings, {self.place: self._end})
        self._number = 0
        self.now_ms = 0  # the broker's time of what was read last: a tick a second, at least

    def past(self) -> PastLife:
        """The greatest epoch of this container, and which tier has it, as it was when this life
        began. It lives as a member of that tier."""
        kept = lives.look(self._settings, self._partition, self._member.name)
        past = kept.past or PastLife()
        span = lives.unknown(kept, self._end, self._offset)
        for poll in read_span(self._settings, {self.place: span}):
            for read in self._ours(poll):
                match read.record.body:
                    case ContainerStarted() as body:
                        past = past._replace(epoch=max(past.epoch, body.epoch))
                    case ContainerReassigned() as body:
                        past = past._replace(tenancy=tenancy_of(past.tenancy, body))
                    case _:
                        pass
        for poll in read_span(self._settings, {self.place: (self._end - 1, self._end)}):
            self.now_ms = max(self.now_ms, *(message.at_ms for message in poll))
        if kept.since_ms is None or (kept.past is None and past.epoch):
            # An older build lived here; another of its containers may do so still.
            lives.keep_since(self._emitter, self._partition, self.now_ms)
        if past.tenancy is not None:
            self._member = self._member._replace(tier=past.tenancy.tier)
        return past

    def _offset(self, at_ms: int) -> int:
        return times_now(self._settings, [self.place], at_ms)[self.place]

    def keep(self, epoch: int, tenancy: Tenancy | None, *, wait: bool = False) -> None:
        """Leaves to the next life what it begins with; before the log hears of this one it waits
        until that is kept. Two lives of one number would renew each other's lease."""
        past = PastLife(epoch, tenancy, self.now_ms)
        lives.keep(self._emitter, self._partition, self._member.name, past)
        if wait:
            self._emitter.settle()

    @property
    def tier(self) -> str:
        """The tier that this life of the container belongs to."""
        return self._member.tier

    def poll(self, wait_s: float) -> list[Read]:
        """What was said of this container since; waits for something to come."""
        return list(self._ours(self._follower.poll(wait_s, POLL_MOST)))

    def _ours(self, messages: Sequence[Message]) -> Iterator[Read]:
        for message in messages:
            self._end = max(self._end, message.offset + 1)
            self.now_ms = max(self.now_ms, message.at_ms)
            if message.key != self._key:  # most are ticks: they are not even looked into
                continue
            found = take_in(message, self._count, FOLDED_KINDS)
            if not isinstance(found, DeadLetter):
                yield found

    def start(self, epoch: int) -> None:
        """Tells that a life begins; told again until it is read back, as it may get lost."""
        one = self._member
        self._say(
            ContainerStarted(
                container=one.name,
                epoch=epoch,
                tier=one.tier,
                region=one.region,
                capacity=one.capacity,
                host=socket.gethostname(),
                logs_url=one.logs_url,
                logs_key=one.logs_key,
            )
        )

    def belong(self, tenancy: Tenancy) -> None:
        """Tells again which tier has it, as that was told: it is what the next life asks for."""
        self._say(
            ContainerReassigned(
                container=self._member.name,
                tier=tenancy.tier,
                number=tenancy.number,
                decision_id=tenancy.decision_id,
                explanation=tenancy.explanation,
            )
        )

    def beat(
        self,
        epoch: int,
        state: ContainerState,
        held: Sequence[tuple[int, int]],
        tasks: int,
        chain: Position,
    ) -> None:
        """A heartbeat: its lease counts from this instant."""
        self._number += 1
        self._say(
            ContainerHeartbeat(
                container=self._member.name,
                epoch=epoch,
                number=self._number,
                sent_ms=own_ms(),
                state=state,
                shards=len(held),
                shards_digest=digest_of(held),
                tasks=tasks,
                read_to=(Position(self.place, self._end), chain),
            )
        )

    def drop_failures(self) -> None:
        """Lets the client work. One that is too late is worth nothing, and is not missed."""
        self._emitter.forgive()

    def _say(self, body: Body) -> None:
        self._emitter.say(CONTAINERS, self._partition, fact(self._member.name, body, {}))

    def close(self) -> None:
        """Ends the connections to the broker."""
        self._follower.close()


def digest_of(held: Sequence[tuple[int, int]]) -> str:
    """What two who compare which shards are held need not list; "" for none."""
    if not held:
        return ""
    text = ",".join(f"{shard}:{generation}" for shard, generation in held)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
