"""Which client's usual partitioner puts a key into the partition it lies in. Pure.

Where several would, the one that people meet most is named.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping

_FNV_PRIME, _FNV_BASE = 16_777_619, 2_166_136_261


def partitioner_of(key: bytes, partition: int, partitions: int) -> str:
    """What its author probably uses, and the remedy."""
    for hashed, told in _USUAL.items():
        if hashed(key, partitions) == partition:
            return told
    return (
        "the producer chooses by something else than the key, or by another hash; set its"
        " partitioner to murmur2, as Java's client has it"
    )


def _crc32(key: bytes, partitions: int) -> int:
    return zlib.crc32(key) % partitions


def _sarama(key: bytes, partitions: int) -> int:
    """FNV-1a as a signed number of 32 bits, whose remainder loses its sign."""
    hashed = _FNV_BASE
    for one in key:
        hashed = (hashed ^ one) * _FNV_PRIME & 0xFFFFFFFF
    signed = hashed - (1 << 32) if hashed >> 31 else hashed
    return abs(signed) % partitions


_USUAL: Mapping[Callable[[bytes, int], int], str] = {
    _crc32: (
        "CRC32 puts it there, which librdkafka's clients use unless told (confluent-kafka, kcat,"
        " node-rdkafka); set partitioner=murmur2_random in the producer"
    ),
    _sarama: (
        "FNV-1a puts it there, which Sarama for Go uses unless told; give it a partitioner of"
        " murmur2, or the partition by hand"
    ),
}
