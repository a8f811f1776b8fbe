"""Says things to the log, many at once; a write that was refused is never passed over."""

from __future__ import annotations

import time  # noqa: TID251 - deadlines of acknowledgements are real time
from collections.abc import Sequence
from typing import Any

from confluent_kafka import KafkaException, Producer

from events.codec import Record, headers_of
from events.topics import PREFIX

Headers = Sequence[tuple[str, bytes | None]]


class Refused(RuntimeError):
    """The broker did not take a write, or did not say in time; whoever said it must not go on."""


class Emitter:
    """Collects acknowledgements of one producer. Used from one thread."""

    def __init__(self, producer: Producer, deadline_s: float = 60.0) -> None:
        self.producer, self.deadline_s = producer, deadline_s
        self._waiting = 0
        self._failed: list[Any] = []

    def say(self, topic: str, partition: int, record: Record) -> None:
        """A record with its headers, to a partition of a topic's short name."""
        self.write(
            PREFIX + topic,
            partition,
            record.key.encode(),
            record.value,
            headers_of(record, topic),
        )

    def write(
        self, name: str, partition: int, key: bytes | None, value: bytes | None, headers: Headers
    ) -> None:
        """Bytes to a partition of a topic's full name."""
        self._waiting += 1
        while True:
            try:
                self.producer.produce(
                    name,
                    value=value,
                    key=key,
                    partition=partition,
                    headers=list(headers),
                    on_delivery=self._delivered,
                )
            except BufferError:  # the client's own queue is full: let it drain, then go on
                self.producer.poll(0.05)
            else:
                return

    def _delivered(self, error: Any, message: Any) -> None:
        # Nothing of the client may be called here: with a fatal error pending it would raise.
        self._waiting -= 1
        if error is not None:
            self._failed.append((error, message))

    def settle(self) -> None:
        """Returns when all that was said is acknowledged; raises where anything was not."""
        limit = time.monotonic() + self.deadline_s
        while self._waiting and time.monotonic() < limit and not self._failed:
            try:
                self.producer.poll(0.05)
            except KafkaException as fatal:  # a fatal error is raised here, once
                raise Refused(f"the producer is lost: {fatal.args[0].str()}") from fatal
        if self._failed:
            error, message = self._failed[0]
            raise Refused(f"a write to {message.topic()} was refused: {error.str()}")
        if self._waiting:
            raise Refused(f"{self._waiting} writes were not acknowledged in {self.deadline_s:g} s")

    def forgive(self) -> None:
        """For words that lose their worth with time: what was refused so far is forgotten."""
        self.producer.poll(0)
        self._failed.clear()
