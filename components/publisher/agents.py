"""The publisher: what stands in the journals, once more, each once for read-committed readers.

A reader loop over all partitions of the journal, and over the tiers' one. Each poll is one Kafka
transaction of what stands, the positions up to which it was read, and the rows of the chains: a
publisher that dies in between leaves none of them, a second one fences the first, and the next goes
on from the rows without reading the journals from their beginning.
"""

from __future__ import annotations

import time  # noqa: TID251 - how often rows are kept is a matter of real time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import structlog
from confluent_kafka import KafkaError, KafkaException

from components.publisher.decide import publish
from components.runtime.core.ground import outside, remedy_of
from components.runtime.core.progress import Possible
from components.runtime.core.standing import Row, places_of
from components.runtime.core.standing import standing as component
from components.runtime.core.step import Stepper
from components.runtime.core.store import Keeper, by_key
from components.runtime.faust.rows import KeptRows, Opened
from components.runtime.kafka.append_times import AppendTimes
from components.runtime.kafka.clients import partitions_for
from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from components.runtime.kafka.surveying import Surveyor, TopicWatch
from components.runtime.kafka.transactions import in_time, transactional
from components.runtime.process import metrics
from components.runtime.process.loop import Patience, StopSignal, turn_until_stopped
from events.topics import ALERTS, CLOCK, JOURNAL, MIB, OUTCOMES, partition_of, place, rows_topic
from events.wire.codec import Read
from turbine_client.clients import (
    consumer,
    spot,
)
from turbine_client.emitter import WriteRefused
from turbine_client.reading import Follower, LogUnreadable, committed_now, ends_now, read_span
from turbine_client.settings import Settings

GROUP = "publisher"
POLL_MOST = 2_000
KEEP_S = 10.0
"""How long changed rows may be unkept: it bounds what a restart, or a container that starts, has to
read of the journals, and what both have to read of rows that were written anew."""
CALL_S = 5.0
"""For each step of a transaction."""
ROWS_BYTES = 8 * MIB
"""Of one transaction, nearly: the first rows of a new logic may be those of all jobs."""
BATCH_BYTES = MIB // 2
"""A broker takes no batch that is larger than a segment of the rows."""
TRANSACTION_MS = 20_000
"""After so long the broker gives up the whole of it."""
STUCK_S = 8.0
"""librdkafka 2.16 heeds no time-out of send_offsets_to_transaction while it waits for a coordinator
that has left the cluster: the world would hear nothing more. The next start goes on in two seconds,
so there is nothing to be gained by more patience."""
# Which of them is told depends on the step of the transaction that is the first to find out.
_FENCED = frozenset(
    {KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH}
)
COMMITTED = {"isolation.level": "read_committed"}
REMEDY = remedy_of(component.name)

log = structlog.get_logger(__name__)


class Chain:
    """One partition's journals: their owner, its keeper, and what stands and is unpublished."""

    def __init__(self, partition: int, possible: Possible, opened: Opened[Row], build: str) -> None:
        self.partition, self.places = partition, places_of(partition)
        self.standing: deque[Read] = deque()
        restored = opened.restored
        self.owner: Stepper[Row] = Stepper(
            component,
            self.places,
            possible,
            seen=restored.seen,
            held=restored.held,
            observer=self._note,
        )
        self.keeper = Keeper(self.owner, opened.claim, build, restored)

    def _note(self, read: Read, stands: bool) -> None:
        if stands:
            self.standing.append(read)

    def seen(self, at: str) -> int:
        """The position up to which the place was followed."""
        return self.owner.seen.get(at, 0)

    @property
    def due(self) -> bool:
        """Something stands, and nothing is held back: its position must not be passed by."""
        return bool(self.standing) and not self.owner.blocked

    @property
    def unkept(self) -> bool:
        """Rows changed since they were kept; what is void changes them too."""
        return bool(self.owner.changed) and not self.owner.blocked


class OutcomePublisher:
    """One instance: follows the journal, says what stands. Used from one thread."""

    def __init__(self, settings: Settings, instance: str = "publisher") -> None:
        self._settings = settings
        needed = (JOURNAL, CLOCK, OUTCOMES, ALERTS, rows_topic(component.name).short)
        self._count = partitions_for(settings, needed)
        self._append_times = AppendTimes(settings)
        self._producer = transactional(
            settings,
            settings.group(GROUP),
            TRANSACTION_MS,
            **{"delivery.timeout.ms": int(CALL_S * 1000), "batch.size": BATCH_BYTES},
        )
        self._emitter = Emitter(self._producer, settings.prefix, deadline_s=CALL_S)
        self._patience = Patience()
        self._group = consumer(settings, **{"group.id": settings.group(GROUP)})
        # Only what was committed counts: what a predecessor wrote and could not commit is void.
        self._rows = KeptRows(settings, component, instance, self._emitter, **COMMITTED)
        self._keep_at = 0.0
        # From here on a predecessor is fenced, and its open transaction has ended.
        self._step(self._producer.init_transactions)
        self._chains = self._open()
        self._of = {at: chain for chain in self._chains for at in chain.places}
        self._follower = Follower(settings, self._catch_up())
        self._watch = TopicWatch(settings, self._standing, remedy=REMEDY)

    def _open(self) -> list[Chain]:
        """The chains as the last publisher kept them."""
        self._fenced(self._producer.begin_transaction)
        claims = self._rows.claim(range(self._count))
        self._emitter.settle()
        self._step(self._producer.commit_transaction)
        opened = self._rows.open(claims)
        places = [at for p in range(self._count) for at in places_of(p)]
        self._ground = Surveyor(self._settings).wait(places)
        self._fenced(self._producer.begin_transaction)
        self._rows.stand(opened, self._ground, REMEDY)
        self._emitter.settle()
        self._step(self._producer.commit_transaction)
        possible, build = self._append_times.possible, self._rows.build
        return [Chain(p, possible, opened[p], build) for p in range(self._count)]

    def _catch_up(self) -> dict[str, int]:
        """Follows the chains up to where the last publisher came; the positions to go on from."""
        done = committed_now(self._settings, self._settings.group(GROUP), self._of, **COMMITTED)
        spans: dict[str, tuple[int, int | None]] = {}
        for at, chain in self._of.items():
            # Rows are kept in the transaction that moves the position, so they are never ahead of
            # it, unless somebody deleted the group's offsets: then they tell what was published.
            done[at] = max(done[at], chain.seen(at))
            if done[at] > self._ground.ends[at]:
                why = outside(at, done[at], 0, self._ground.ends[at])
                raise LogUnreadable(f"{why}; {REMEDY}")
            spans[at] = (chain.seen(at), done[at])
        records = 0
        for poll in read_span(self._settings, spans):
            records += len(poll)
            self._fold(poll)
        for chain in self._chains:
            chain.owner.settle()
            chain.standing.clear()
        for at, chain in self._of.items():
            if chain.seen(at) < done[at]:
                chain.owner.pass_by(at, done[at] - 1, 0)
        log.info("caught up", records=records, below=sum(done.values()))
        clocks = [place(CLOCK, p) for p in range(self._count)]
        return done | ends_now(self._settings, clocks)

    def _fold(self, messages: list[Message]) -> None:
        for message in messages:
            if message.topic == CLOCK:
                # A decision that claims to know what is not there yet is held back until the clock
                # has passed it; without ticks a forged one would stop its partition for ever.
                owner = self._chains[message.partition].owner
                owner.now_ms = max(owner.now_ms, message.at_ms)
                continue
            owner = self._of[message.place].owner
            found = take_in(message, self._count, component.folds)
            if isinstance(found, DeadLetter):  # their other readers write its letter
                owner.pass_by(message.place, message.offset, message.at_ms)
            else:
                owner.read(found)

    def turn(self) -> None:
        """One poll: reads, and says what stands in one transaction with the positions."""
        self._fold(self._follower.poll(0.2, POLL_MOST))
        for chain in self._chains:
            chain.owner.flush()
        keep = time.monotonic() >= self._keep_at
        chains = [one for one in self._chains if one.due or (keep and one.unkept)]
        if chains:
            self._transact(chains, keep=keep)
        if keep:
            self._keep_at = time.monotonic() + KEEP_S

    def _standing(self) -> tuple[Mapping[str, str], Mapping[str, int]]:
        """Which topic is read, and how far; asked from another thread."""
        return self._ground.ids, {at: chain.seen(at) for at, chain in self._of.items()}

    def close(self) -> None:
        """The last rows, so that the next start has nothing to read again."""
        self._watch.close()
        unkept = [chain for chain in self._chains if chain.unkept]
        if unkept:
            self._transact(unkept, keep=True)

    def _transact(self, chains: list[Chain], *, keep: bool) -> None:
        """What stands in the chains, their rows where it is time, and their positions, at once."""
        self._fenced(self._producer.begin_transaction)
        for chain in chains:
            self._say(chain)
        size = 0
        # Only rows of chains whose positions move here: so they are never ahead of them.
        for chain in chains if keep else ():
            for group in by_key(chain.keeper.entries()):
                if size > ROWS_BYTES:
                    self._commit(chains)
                    self._fenced(self._producer.begin_transaction)
                    size = 0
                for entry in group:
                    self._rows.write(chain.partition, entry)
                    size += len(entry.value or b"")
        self._commit(chains)

    def _commit(self, chains: list[Chain]) -> None:
        self._step(
            self._producer.send_offsets_to_transaction,
            [spot(self._settings, at, chain.seen(at)) for chain in chains for at in chain.places],
            self._group.consumer_group_metadata(),
        )
        self._emitter.settle()
        self._step(self._producer.commit_transaction)

    def _say(self, chain: Chain) -> None:
        while chain.standing:
            said = publish(chain.standing.popleft())
            if said is not None:
                topic, record = said
                self._emitter.say(topic, partition_of(record.key, self._count), record)
                metrics.SAID.labels(component.name, record.kind).inc()

    def _step(self, call: Any, *arguments: Any) -> None:
        """With a time-out, that the call heeds, or else we do."""
        with self._patience.within(STUCK_S, call.__name__):
            self._fenced(in_time, call, *arguments, seconds=CALL_S)

    def _fenced(self, call: Any, *arguments: Any, **named: Any) -> None:
        """Any failure of a transaction ends the process: the next one begins where it committed."""
        try:
            call(*arguments, **named)
        except KafkaException as error:
            with suppress(KafkaException):  # a fatal error is raised once more
                self._producer.poll(0)  # a refused login is raised here
            why = error.args[0]
            what = "another publisher has fenced this one" if why.code() in _FENCED else "it failed"
            raise WriteRefused(f"the publisher's transaction: {what}: {why.str()}") from error


def serve(settings: Settings, stop: StopSignal) -> int:
    """Publishes until it is told to stop; the exit code."""
    return turn_until_stopped(lambda: OutcomePublisher(settings), stop)
