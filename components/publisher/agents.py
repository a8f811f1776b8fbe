"""The publisher: what stands in the journal, once more, each once for read-committed readers.

A reader loop over all partitions. Each poll is one Kafka transaction of records and positions, so
a publisher that dies in between leaves neither; a second one fences the first.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import structlog
from confluent_kafka import KafkaException

from components.publisher.decide import component, publish
from components.runtime import metrics
from components.runtime.births import Births
from components.runtime.clients import consumer, partitions_of, producer, spot
from components.runtime.emitter import Emitter, Refused
from components.runtime.intake import DeadLetter, Message, take_in
from components.runtime.loop import Stop, turn_until_stopped
from components.runtime.reading import Follower, read_span
from components.runtime.settings import BadSettings, Settings
from components.runtime.step import Owner
from events.codec import Read
from events.topics import JOURNAL, place

GROUP = "turbine-publisher"
POLL_MOST = 2_000

log = structlog.get_logger(__name__)


class Chain:
    """One partition of the journal: its owner, and what stands in it and was not published yet."""

    def __init__(self, at: str, births: Births) -> None:
        self.place, self.partition = at, int(at.partition("/")[2])
        self.standing: deque[Read] = deque()
        self.owner: Owner[None] = Owner(component, [at], births.possible, heed=self._note)

    def _note(self, read: Read, stands: bool) -> None:
        if stands:
            self.standing.append(read)

    @property
    def due(self) -> bool:
        """Something stands, and nothing is held back: its position must not be passed by."""
        return bool(self.standing) and not self.owner.blocked


class Publisher:
    """One instance: follows the journal, says what stands. Used from one thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._partitions = partitions_of(settings).get(JOURNAL, 0)
        if not self._partitions:
            raise BadSettings(
                f"the broker has no topic turbine.{JOURNAL}; create it with `turbine topics apply`"
            )
        self._places = [place(JOURNAL, p) for p in range(self._partitions)]
        births = Births(settings)
        self._chains = {at: Chain(at, births) for at in self._places}
        self._producer = producer(
            settings,
            **{
                "transactional.id": GROUP,
                "transaction.timeout.ms": 20_000,
                "delivery.timeout.ms": 15_000,
                # The broker answers "still committing the last one" for some milliseconds after
                # each commit; the default wait of 100 ms would be most of our latency.
                "retry.backoff.ms": 5,
            },
        )
        self._emitter = Emitter(self._producer)
        self._group = consumer(settings, **{"group.id": GROUP})
        self._fenced(self._producer.init_transactions)
        start = self._catch_up()
        self._follower = Follower(settings, start)

    def _catch_up(self) -> dict[str, int]:
        """Follows the chain up to where the last publisher came; the positions to go on from."""
        found = self._group.committed([spot(at) for at in self._places], timeout=30)
        done = {
            at: max(position.offset, 0) for at, position in zip(self._places, found, strict=True)
        }
        for poll in read_span(self._settings, {at: (0, end) for at, end in done.items()}):
            self._fold(poll)
        for chain in self._chains.values():
            chain.standing.clear()
        log.info("caught up", records=sum(done.values()))
        return done

    def _fold(self, messages: list[Message]) -> None:
        for message in messages:
            owner = self._chains[message.place].owner
            found = take_in(message, self._partitions, component.folds)
            if isinstance(found, DeadLetter):
                owner.pass_by(message.place, message.offset, message.at_ms)
            else:
                owner.read(found)

    def turn(self) -> None:
        """One poll: reads, and says what stands in one transaction with the positions."""
        self._fold(self._follower.poll(0.2, POLL_MOST))
        for chain in self._chains.values():
            chain.owner.flush()
        due = [chain for chain in self._chains.values() if chain.due]
        if not due:
            return
        self._fenced(self._producer.begin_transaction)
        for chain in due:
            self._say(chain)
        self._fenced(
            self._producer.send_offsets_to_transaction,
            [spot(chain.place, chain.owner.seen[chain.place]) for chain in due],
            self._group.consumer_group_metadata(),
        )
        self._emitter.settle()
        self._fenced(self._producer.commit_transaction)

    def _say(self, chain: Chain) -> None:
        while chain.standing:
            said = publish(chain.standing.popleft())
            if said is not None:
                topic, record = said
                self._emitter.say(topic, chain.partition, record)
                metrics.SAID.labels(component.name, record.kind).inc()

    def _fenced(self, call: Any, *arguments: Any) -> None:
        """Any failure of a transaction ends the process: the next one begins where it committed."""
        try:
            call(*arguments)
        except KafkaException as error:
            raise Refused(f"the publisher's transaction failed: {error.args[0].str()}") from error


def serve(settings: Settings, stop: Stop) -> int:
    """Publishes until it is told to stop; the exit code."""
    publisher = Publisher(settings)
    return turn_until_stopped(publisher.turn, stop)
