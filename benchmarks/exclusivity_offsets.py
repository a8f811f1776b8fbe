"""The commits of offsets as the broker keeps them, in its own topic: who claimed what, in order."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, TopicPartition

from tasks.core.claims import Claim, claim_of
from turbine_client.clients import consumer
from turbine_client.settings import Settings

TOPIC = "__consumer_offsets"
KEY_VERSIONS = (0, 1)
"""Of a key that is a group's offset; others are about the group itself."""
FLEXIBLE = 4
WAIT_S = 15.0


class Committed(NamedTuple):
    """One commit of one partition, that was not aborted."""

    group: str
    topic: str
    partition: int
    offset: int
    claim: Claim | None
    at_ms: int


def read_commits(settings: Settings) -> Iterator[Committed]:
    """All of them, those of one partition of an input in the order of the broker's log."""
    client = consumer(
        settings, **{"isolation.level": "read_committed", "enable.partition.eof": True}
    )
    try:
        found: Any = client.list_topics(TOPIC, WAIT_S).topics[TOPIC].partitions
        client.assign([TopicPartition(TOPIC, number, 0) for number in found])
        left = len(found)
        while left:
            message = client.poll(WAIT_S)
            assert message is not None, f"{TOPIC} was not read to its end in {WAIT_S:g} s"
            error = message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                left -= 1
            elif error is None:
                one = commit_of(message.key(), message.value(), message.timestamp()[1])
                if one is not None:
                    yield one
    finally:
        client.close()


def commit_of(key: Any, value: Any, at_ms: int) -> Committed | None:
    """What a record of that topic says; None where it is not about an offset, or deletes one."""
    if key is None or value is None:
        return None
    keys = _Bytes(key)
    if keys.number("h") not in KEY_VERSIONS:
        return None
    group, topic, partition = keys.text(), keys.text(), keys.number("i")
    values = _Bytes(value)
    version = values.number("h")
    offset = values.number("q")
    if version >= 3:
        values.number("i")  # the leader's epoch
    metadata = values.compact_text() if version >= FLEXIBLE else values.text()
    return Committed(group, topic, partition, offset, claim_of(metadata), at_ms)


class _Bytes:
    """Reads one after the other what Kafka's own records are made of."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def number(self, form: str) -> int:
        [found] = struct.unpack_from(f">{form}", self._content, self._at)
        self._at += struct.calcsize(f">{form}")
        return int(found)

    def text(self) -> str:
        return self._take(self.number("h"))

    def compact_text(self) -> str:
        length = shift = 0
        while True:
            byte = self.number("B")
            length |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return self._take(length - 1)

    def _take(self, length: int) -> str:
        begin, self._at = self._at, self._at + max(length, 0)
        return self._content[begin : self._at].decode()
