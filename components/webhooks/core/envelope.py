"""What a webhook's body says of a record: CloudEvents 1.0 in JSON, structured mode. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from events.sentences import sentence
from events.wire.codec import TYPE_PREFIX, Read
from events.wire.framing import version_of

CONTENT_TYPE = "application/cloudevents+json; charset=utf-8"
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def envelope(read: Read) -> dict[str, Any]:
    """The event; its body has to be decoded. Extensions have names of CloudEvents' alphabet."""
    record = read.record
    assert record.body is not None
    version = version_of(record.value)
    event: dict[str, Any] = {
        "specversion": "1.0",
        "id": record.id,
        "source": record.source or "turbine",
        "type": TYPE_PREFIX + record.kind,
        "subject": record.key,
        "time": _time(record.tick_ms or read.at_ms),
        "datacontenttype": "application/json",
        "dataschema": version.urn if version else "",
        "causationid": record.cause,
        "traceparent": record.trace,
        "position": f"{read.place}:{read.offset}",
        "summary": sentence(record.body),
        "data": record.body.to_plain(),
    }
    return {name: value for name, value in event.items() if value != ""}


def body_of(read: Read) -> bytes:
    """The bytes that are signed and sent; the same at every attempt."""
    return json.dumps(envelope(read), ensure_ascii=False, separators=(",", ":")).encode()


def header_id(record_id: str) -> str:
    """The id as it stands in a header and in what is signed, where a dot would divide it and a
    line's end would begin another header: ours have neither, others' are hashed."""
    if _PLAIN_ID.fullmatch(record_id):
        return record_id
    return hashlib.sha256(record_id.encode()).hexdigest()


def _time(at_ms: int) -> str:
    when = _EPOCH + timedelta(milliseconds=at_ms)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
