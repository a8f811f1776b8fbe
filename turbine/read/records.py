"""A message of the log as JSON: where it lies, what its headers say, and its body if it is read."""

from __future__ import annotations

import base64

from components.runtime.kafka.intake import DeadLetter, Message, records_of, take_in
from events.sentences import sentence
from events.topics import BY_SHORT
from events.wire.codec import SKIPPED, Read
from turbine.read.plain import JsonObject

BYTES_ONLY = ("dead-letters", "rows")
"""Kinds of topics that hold bytes, and no records of ours."""


def read_or_letter(
    message: Message, partitions: int, kinds: frozenset[str] | None = None
) -> Read | DeadLetter | None:
    """What the message says; None where its topic holds bytes."""
    if BY_SHORT[message.topic].kind in BYTES_ONLY:
        return None
    return take_in(message, partitions, kinds)


def key_of(message: Message) -> str:
    """The key for a reader's eyes."""
    return (message.key or b"").decode(errors="replace")


def to_plain(message: Message, partitions: int) -> JsonObject:
    """The message, named as records and headers are."""
    row: JsonObject = {
        "position": f"{message.place}:{message.offset}",
        "at_ms": message.at_ms,
        "key": key_of(message),
    }
    found = read_or_letter(message, partitions)
    match found:
        case None:
            return row | _bytes(message)
        case DeadLetter():
            return row | {"kind": "unreadable", "reason": found.reason, "sentence": found.sentence}
        case _:
            return row | _record(found)


def _record(read: Read) -> JsonObject:
    record = read.record
    row: JsonObject = {"kind": record.kind, "id": record.id, "summary": sentence(record.body)}
    if record.cause:
        row["cause"] = record.cause
    if record.parent:
        row |= {
            "parent": record.parent,
            "evidence": dict(sorted(record.evidence.items())),
            "tick_ms": record.tick_ms,
            "logic": record.logic,
            "source": record.source,
        }
    return row | {"body": body_of(read)}


def body_of(read: Read) -> JsonObject | None:
    """The fields of the record; None where this build cannot read it."""
    body = read.record.body
    return None if body is None or body is SKIPPED else body.to_plain()


def _bytes(message: Message) -> JsonObject:
    headers = {
        name: (value or b"").decode(errors="replace") for name, value in message.headers or ()
    }
    size = len(message.value or b"")
    if BY_SHORT[message.topic].kind == "rows":
        return {"kind": "row" if message.value is not None else "tombstone", "bytes": size}
    return {
        "kind": "dead-letter",
        "reason": headers.get("dead_letter_reason", ""),
        "sentence": headers.get("dead_letter_sentence", ""),
        "records": records_of(message),
        "bytes": size,
    }


def to_export(message: Message, partitions: int, *, bodies: bool = True) -> JsonObject:
    """The message with every byte it has, so that the log can be made again from it."""
    row: JsonObject = {
        "place": message.place,
        "offset": message.offset,
        "at_ms": message.at_ms,
        "key": _bytes_or_text(message.key),
        "headers": None
        if message.headers is None
        else [[name, _bytes_or_text(value)] for name, value in message.headers],
        "value_base64": None if message.value is None else _base64(message.value),
    }
    if message.spoilt:
        row["spoilt"] = message.spoilt
    if not bodies:
        return row
    found = read_or_letter(message, partitions)
    if isinstance(found, Read):
        row |= {"kind": found.record.kind, "body": body_of(found)}
    elif found is not None:
        row |= {"kind": "unreadable", "sentence": found.sentence}
    return row


def _bytes_or_text(value: bytes | None) -> object:
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": _base64(value)}


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()
