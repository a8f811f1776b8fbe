"""The emitter of records, on a client's emitter of bytes."""

from __future__ import annotations

from events.wire.codec import Record, headers_of
from turbine_client.emitter import BytesEmitter as Bytes


class Emitter(Bytes):
    """Collects acknowledgements of one producer. Used from one thread."""

    def say(self, topic: str, partition: int, record: Record) -> None:
        """A record with its headers, to a partition of a topic's short name."""
        self.write(
            topic,
            partition,
            record.key.encode(),
            record.value,
            headers_of(record, topic),
        )
