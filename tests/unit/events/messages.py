"""Messages that the tests of the intake share, and short ways to read them."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from events.generated.records import Body, ConfigChangeProposed, JobConfigChanged, LayerVersions
from events.topics import BY_SHORT, partition_of
from events.wire.codec import Headers, Read, Record, encode, headers_of, read_message
from events.wire.lock import newest_of, read_lock
from turbine_client.errors import Unreadable

P = 16
JOB = "payments.dedupe"
NEWEST = newest_of(read_lock())
ASKED = ConfigChangeProposed("1763476000000.7f3a", JOB, "alice", 3, '{"tasks": 4}', reason="load")
VERSIONS = LayerVersions(3, 1, 2, 0)
CHANGED = JobConfigChanged(
    JOB, "base", "1763476000000.7f3a", 3, VERSIONS, '{"tasks": 4}', '{"tasks": 4}', "alice"
)
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
INGRESS = "changes.base.v1"


def read(  # noqa: PLR0917 - as the function that it is for
    short: str,
    value: bytes | None,
    headers: Headers = (),
    key: bytes | None = JOB.encode(),
    partition: int | None = None,
    wanted: frozenset[str] | None = None,
) -> Read:
    count = BY_SHORT[short].partitions or P
    at = partition_of(key or b"", count) if partition is None else partition
    return read_message(short, at, 41, 1_763_475_999_000, key, value, list(headers), P, wanted)


def refusal(*arguments: Any, **named: Any) -> Unreadable:
    with pytest.raises(Unreadable) as refused:
        read(*arguments, **named)
    return refused.value


def decided(said: Body = CHANGED, /, **changes: Any) -> Record:
    value = encode(said)
    kind = type(said).__name__
    base = Record(JOB, "d-1", kind, value, said, "root", {"journal.v1/3": 40}, 1_763_475_998_000)
    return dataclasses.replace(base, logic="job-service/1", source="job-service", **changes)


def journal(record: Record, **named: Any) -> Record:
    headers = named.pop("headers", None) or headers_of(record, "journal.v1")
    return read("journal.v1", named.pop("value", record.value), headers, **named).record
