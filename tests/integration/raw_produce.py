"""A produce request by hand: messages that no client library would send, and any broker takes."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

from aiokafka.record.default_records import _DefaultRecordBatchBuilderPy as Builder

PRODUCE, VERSION, TIMEOUT_MS = 0, 3, 60_000


class _Name(str):
    """A header's name that is these bytes, whatever it is encoded with."""

    raw: bytes

    __slots__ = ("raw",)

    def encode(self, *_: object) -> bytes:
        return self.raw


def _name(raw: bytes) -> _Name:
    name = _Name("name")
    name.raw = raw
    return name


def produce_raw(
    bootstrap: str,
    topic: str,
    partition: int,
    *,
    key: bytes,
    value: bytes,
    headers: Sequence[tuple[bytes, bytes]],
) -> int:
    """One message, with the names of its headers as they are; its offset."""
    builder = Builder(2, 0, False, -1, -1, -1, 0)
    builder.append(0, 1, key, value, [(_name(name), content) for name, content in headers])
    batch = bytes(builder.build())
    body = struct.pack(">hhii", -1, -1, TIMEOUT_MS, 1) + _text(topic)
    body += struct.pack(">iii", 1, partition, len(batch)) + batch
    request = struct.pack(">hhi", PRODUCE, VERSION, 7) + _text("raw") + body
    host, _, port = bootstrap.rpartition(":")
    with socket.create_connection((host, int(port)), 60) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        with connection.makefile("rb") as answers:
            (size,) = struct.unpack(">i", answers.read(4))
            answer = answers.read(size)
    at = 4 + 4 + 2 + len(topic) + 4  # correlation, topics, the topic's name, partitions
    _, error, offset = struct.unpack_from(">ihq", answer, at)
    assert error == 0, f"the broker refuses it with {error}"
    return int(offset)


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()
