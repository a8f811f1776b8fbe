"""Many records for one topic in large batches, for who sends fast and asks later what arrived.

A record that is sent alone waits for nobody (`clients.producer`); these wait for each other.
"""

from __future__ import annotations

from collections.abc import Mapping

from confluent_kafka import KafkaError, KafkaException

from turbine_client.clients import producer
from turbine_client.errors import BrokerUnreachable
from turbine_client.settings import Settings

BATCHING: Mapping[str, object] = {
    "linger.ms": 10,
    "batch.size": 1_000_000,
    "batch.num.messages": 10_000,
    # Some seconds of a fast sender: what is beyond waits with it, and it sees that it is late.
    "queue.buffering.max.messages": 200_000,
    "queue.buffering.max.kbytes": 262_144,
    # A call into Python for each record that arrived would take a third of the sender's time.
    "delivery.report.only.error": True,
}


class NotTaken(BrokerUnreachable):
    """The broker does not take records; the sentence says why, of the first that was lost."""


class TopicFeed:
    """One producer and its topic, which has to be there. Used from one thread."""

    def __init__(self, settings: Settings, topic: str, **more: object) -> None:
        self._bootstrap, self._topic = settings.bootstrap, topic
        self._why = ""
        self._client = producer(settings, **BATCHING, **more, on_delivery=self._failed)

    def offer(self, key: str, value: str) -> bool:
        """Queues a record; False where the queue is full, which `turn` makes room in."""
        try:
            self._client.produce(self._topic, value, key)
        except BufferError:
            return False
        except KafkaException as error:  # the topic is gone, or the client is
            self._failed(error.args[0], None)
            self._check()
        return True

    @property
    def waiting(self) -> int:
        """Records that the broker has not acknowledged yet; or some more, as the client counts what
        else it has to tell among them, until the next turn."""
        return len(self._client)

    def turn(self, timeout_s: float = 0.0) -> None:
        """Hears what became of records, waiting so long for a word; NotTaken where one is lost."""
        self._client.poll(timeout_s)
        self._check()

    def settle(self, timeout_s: float) -> int:
        """Sends what waits for company, and waits so long; how many are not acknowledged then."""
        left = self._client.flush(timeout_s)
        self._check()
        return left

    def _failed(self, error: KafkaError, _: object) -> None:
        self._why = self._why or error.str()

    def _check(self) -> None:
        if self._why:
            raise NotTaken(
                f"the broker at {self._bootstrap} does not take records for topic {self._topic}"
                f" ({self._why}); see that it runs, and that the topic is there and may be written"
                " to"
            )
