"""From a message of the broker to a record that may be folded, or to a dead letter."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from events.topics import BY_SHORT, place
from events.wire.codec import Read, read_message
from turbine_client.errors import Unreadable
from turbine_client.identity import VALID_MS, valid_until_ms
from turbine_client.messages import SPOILT_BATCH, Message, of_confluent
from turbine_client.topics import short_of

__all__ = [
    "DIGITS",
    "KEY_BYTES",
    "LAST_OFFSET",
    "LETTER_BYTES",
    "OFFSET",
    "RECORDS",
    "SPOILT_BATCH",
    "DeadLetter",
    "Message",
    "OffsetGap",
    "number_in",
    "of_confluent",
    "of_faust",
    "records_of",
    "take_in",
    "void_request",
]

LETTER_BYTES = 4 * 1024
"""Of a value that is kept in its dead letter, and of its headers: enough to tell who wrote it. The
original stays where it is, and the letter has its place and hash. Brokers limit what a batch has
*compressed*: what comes out of one may be ten thousand times as large, and letters that had it all
would fill the disk from a message of some kilobytes."""
KEY_BYTES = 1024
OFFSET = "dead_letter_offset"
LAST_OFFSET, RECORDS = "dead_letter_last_offset", "dead_letter_records"
"""Of a letter about several records of one place, which are refused for one reason."""
DIGITS = 15


@dataclass(frozen=True, slots=True)
class OffsetGap:
    """Offsets of a place that Faust's client could not decode: to be read by the other client."""

    topic: str  # short name
    partition: int
    first: int
    end: int

    @property
    def place(self) -> str:
        """The span's place: its topic's short name and its partition."""
        return place(self.topic, self.partition)


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """What could not be read, as it was, with the reason."""

    message: Message
    reason: str
    sentence: str
    by: str = ""  # whose letter it is, where several may have one about the same message
    records: int = 1  # that it is about; the message is the first of them
    last: int = 0  # the offset of the last of several

    @property
    def id(self) -> str:
        """Named by its position: who finds it twice writes the same letter."""
        last = f"-{self.last}" if self.records > 1 else ""
        by = f"@{self.by}" if self.by else ""
        return f"{self.message.place}@{self.message.offset}{last}{by}"

    def value(self) -> bytes | None:
        """The original bytes, or the first of them where there are too many."""
        value = self.message.value
        return value if value is None else value[:LETTER_BYTES]

    def headers(self) -> list[tuple[str, bytes | None]]:
        """The original headers, and where and why it was put aside."""
        message = self.message
        ours: list[tuple[str, bytes | None]] = [
            ("dead_letter_id", self.id.encode()),
            ("dead_letter_place", message.place.encode()),
            (OFFSET, str(message.offset).encode()),
        ]
        if self.records > 1:
            ours.append((LAST_OFFSET, str(self.last).encode()))
            ours.append((RECORDS, str(self.records).encode()))
        if message.at_ms > 0:  # of a batch that nobody inflates it is not known
            ours.append(("dead_letter_at_ms", str(message.at_ms).encode()))
        ours.append(("dead_letter_reason", self.reason.encode()))
        ours.append(("dead_letter_sentence", self.sentence.encode()))
        if message.key is not None:  # the letter's own key is its place
            ours.append(("dead_letter_key", message.key[:KEY_BYTES]))
        if message.value is not None and len(message.value) > LETTER_BYTES:
            digest = hashlib.sha256(message.value).hexdigest()
            ours.append(("dead_letter_value_bytes", str(len(message.value)).encode()))
            ours.append(("dead_letter_value_sha256", digest.encode()))
        theirs = message.headers or []
        size = sum(len(name) + len(value or b"") for name, value in theirs)
        if size > LETTER_BYTES:
            return [*ours, ("dead_letter_headers_bytes", str(size).encode())]
        return [*theirs, *ours]


def number_in(headers: Mapping[str, bytes | None], name: str, absent: int) -> int:
    """A number in a letter's header, which anybody may write."""
    told = headers.get(name) or b""
    return int(told) if told.isdigit() and len(told) <= DIGITS else absent


def records_of(message: Message) -> int:
    """How many records a letter that was read is about."""
    return number_in(dict(message.headers or ()), RECORDS, 1)


def of_faust(message: Any) -> list[Message | OffsetGap]:
    """What components.runtime.faust.app put into one message of Faust's: records of aiokafka."""
    return [_of_aiokafka(record) for record in message.checksum]


def _of_aiokafka(record: Any) -> Message | OffsetGap:
    topic = short_of(record.topic)
    if isinstance(record.checksum, range):  # a stand-in for what could not be decoded
        return OffsetGap(topic, record.partition, record.checksum.start, record.checksum.stop)
    return Message(
        topic,
        record.partition,
        record.offset,
        record.timestamp,
        record.key,
        record.value,
        list(record.headers) if record.headers else None,
    )


def take_in(message: Message, partitions: int, folds: frozenset[str] | None) -> Read | DeadLetter:
    """The record of a message; a message that has none is a dead letter, never an error."""
    if message.spoilt:
        where = f"{message.place} at offset {message.offset}"
        reason = "spoilt-batch" if message.spoilt == SPOILT_BATCH else "malformed-headers"
        return DeadLetter(message, reason, f"{where}: {message.spoilt}")
    try:
        return read_message(
            message.topic,
            message.partition,
            message.offset,
            message.at_ms,
            message.key,
            message.value,
            message.headers,
            partitions,
            folds,
        )
    except Unreadable as bad:
        return DeadLetter(message, bad.reason, str(bad))


def void_request(message: Message, read: Read) -> DeadLetter | None:
    """A letter about a request that never counts, because of the validity that its id names.

    The fold passes over it without a word (projections.ingress): its author can tell from the
    acknowledgement, but an author whose clock is wrong will not, and then finds the reason here.
    The record is folded all the same, so that readers need not agree on letters.
    """
    if BY_SHORT[message.topic].kind not in ("ingress", "operator"):
        return None
    until_ms, at_ms = valid_until_ms(read.record.id), message.at_ms
    if at_ms <= until_ms <= at_ms + VALID_MS:
        return None
    where = f"{message.place} at offset {message.offset}: the change_id {read.record.id[:80]!r}"
    if until_ms == 0:
        return DeadLetter(
            message,
            "change-id-malformed",
            f"{where} does not say until when the request is valid; make it <milliseconds since"
            " 1970 UTC>.<token>, of 200 characters at most",
        )
    if until_ms < at_ms:
        return DeadLetter(
            message,
            "change-id-expired",
            f"{where} was valid until {at_ms - until_ms} ms before the broker got it; ask again"
            " with a later instant, and compare the author's clock with the broker's",
        )
    return DeadLetter(
        message,
        "change-id-too-far-ahead",
        f"{where} is valid for {until_ms - at_ms} ms by the broker's clock, and {VALID_MS} are"
        " allowed; name an earlier instant",
    )
