"""Says things to the log, many at once; a write that was refused is never passed over."""

from __future__ import annotations

import time  # noqa: TID251 - deadlines of acknowledgements are real time
from collections.abc import Sequence
from typing import Any

from confluent_kafka import KafkaException, Producer

from turbine_client.clients import ABSENT, DENIED
from turbine_client.errors import Unavailable
from turbine_client.topics import full_name

Headers = Sequence[tuple[str, bytes | None]]
_NEVER = ABSENT | DENIED


class WriteRefused(Unavailable, RuntimeError):
    """The broker did not take a write, or did not say in time; whoever said it must not go on."""


class _Round:
    """What was said since the last settling: answers that come later are nobody's any more."""

    __slots__ = ("done", "failed", "waiting")

    def __init__(self) -> None:
        self.waiting = 0
        self.failed: list[Any] = []
        self.done: list[Any] = []

    def delivered(self, error: Any, message: Any) -> None:
        """Nothing of the client may be called here: with a fatal error pending it would raise."""
        self.waiting -= 1
        if error is not None:
            self.failed.append((error, message))
        else:
            self.done.append(message)

    def nowhere(self) -> Any:
        """A message that was acknowledged without an offset: after a retry the client takes the
        broker's word that it has it already, and was seen to be wrong when a leader had just
        changed. Nobody knows, so it counts as refused."""
        return next((message for message in self.done if message.offset() is None), None)


class BytesEmitter:
    """Collects acknowledgements of one producer. Used from one thread."""

    def __init__(self, producer: Producer, prefix: str, deadline_s: float = 60.0) -> None:
        self.producer, self.prefix, self.deadline_s = producer, prefix, deadline_s
        self._round = _Round()

    def write(
        self, topic: str, partition: int, key: bytes | None, value: bytes | None, headers: Headers
    ) -> None:
        """Bytes to a partition of a topic's short name."""
        name = full_name(self.prefix, topic)
        limit = time.monotonic() + self.deadline_s
        while True:
            try:
                self.producer.produce(
                    name,
                    value=value,
                    key=key,
                    partition=partition,
                    headers=list(headers),
                    on_delivery=self._round.delivered,
                )
            except BufferError:  # the client's own queue is full: let it drain, then go on
                self._poll(0.05)
                if time.monotonic() > limit:
                    raise WriteRefused(
                        f"the client's queue stayed full {self.deadline_s:g} s"
                    ) from None
            except KafkaException as error:  # too large, fenced, or a topic that is not there
                self._poll(0)  # a fatal error says here what it is, and there only that it is one
                raise WriteRefused(
                    f"a write to {name}/{partition} was refused: {error.args[0].str()}"
                ) from error
            else:
                self._round.waiting += 1
                return

    def settle(self) -> None:
        """Returns when all that was said is acknowledged; raises where anything was not.

        Either way what is said next begins anew: one refused write must not be held against all
        that follow, where whoever said it goes on.
        """
        limit = time.monotonic() + self.deadline_s
        this = self._round
        try:
            while this.waiting and time.monotonic() < limit and not this.failed:
                self._poll(0.05)
        finally:
            self._round = _Round()
        if this.failed:
            error, message = this.failed[0]
            raise WriteRefused(
                f"a write to {message.topic()}/{message.partition()} was refused: {error.str()}"
            )
        if (lost := this.nowhere()) is not None:
            raise WriteRefused(
                f"a write to {lost.topic()}/{lost.partition()} was acknowledged without an offset"
            )
        if this.waiting:
            raise WriteRefused(
                f"{this.waiting} writes were not acknowledged in {self.deadline_s:g} s"
            )

    def forgive(self) -> None:
        """For words that lose their worth with time: nobody waits, and what came too late or found
        no broker is forgotten. What the broker will never take is a refusal here as well."""
        self._poll(0)
        failed, self._round.failed = self._round.failed, []
        self._round.done.clear()  # nobody settles here, and they would add up for ever
        for error, message in failed:
            if error.code() in _NEVER:
                raise WriteRefused(f"a write to {message.topic()} was refused: {error.str()}")

    def raise_failures(self) -> None:
        """Lets the client tell what is the matter with it, where nothing is said for long."""
        self._poll(0)

    def _poll(self, seconds: float) -> None:
        try:
            self.producer.poll(seconds)
        except KafkaException as fatal:  # a fatal error is raised here, once
            raise WriteRefused(f"the producer is lost: {fatal.args[0].str()}") from fatal
