"""What a message that was read says, and which headers a record gets when it is written.

Headers are CloudEvents 1.0 in binary mode.  `read_message` is the one intake of every shell: what
it returns may be folded, what it refuses goes to the dead letters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from events.generated.records import RECORDS, Body
from events.topics import BY_SHORT, TOPICS, Topic, place
from events.wire.framing import (
    decode,
    encode,
    unframe,
    version_of,
)
from events.wire.keys import check_clean, check_key, check_subject
from events.wire.traces import trace_of
from turbine_client.envelope import SDK, TYPE_PREFIX, cloud_event
from turbine_client.errors import Unreadable
from turbine_client.framing import (
    SCHEMA_HEADER,
    VALUE_BYTES_MAX,
    Headers,
)
from turbine_client.identity import fact_id, request_named
from turbine_client.positions import VectorError, format_vector, parse_vector

__all__ = [
    "SDK",
    "SKIPPED",
    "VALUE_BYTES_MAX",
    "Headers",
    "Read",
    "Record",
    "decode",
    "encode",
    "format_vector",
    "headers_of",
    "parse_vector",
    "read_message",
]

HEADER_BYTES_MAX = 64 * 1024
# The end of the year 9999: `ce_time` has four digits for it.
TICK_MS_MAX = 253_402_300_799_999
_BYTES_AS_TEXT = "latin-1"  # the one header that is no text is kept as one character a byte
_new = object.__new__
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Skipped(Body):
    """Stands for a body that nobody asked to decode. There is one: it is told by what it is."""

    __slots__ = ()

    def __reduce__(self) -> str:
        return "SKIPPED"


SKIPPED = _Skipped()


@dataclass(frozen=True, slots=True)
class Record:
    """All but the body are headers or the key: every build can read them."""

    key: str
    id: str
    kind: str
    value: bytes
    body: Body | None  # None: this build cannot read it
    parent: str = ""  # "" unless it is a decision
    evidence: Mapping[str, int] = field(default_factory=dict, hash=False)
    tick_ms: int = 0
    logic: str = ""
    source: str = ""
    trace: str = ""
    cause: str = ""

    @property
    def change_id(self) -> str:
        """The request that it answers, or is about; where nobody decoded it, by its header."""
        return request_named(self.body, self.cause)


@dataclass(frozen=True, slots=True)
class Read:
    """A record where it lies in the log, with the broker's append time."""

    place: str
    topic: str
    offset: int
    at_ms: int
    record: Record


class _RecordDraft:
    """A record that is still filled: without a guard that costs more than all else here."""

    __slots__ = Record.__slots__


class _ReadDraft:
    __slots__ = Read.__slots__


_CARRIED = {topic.short: frozenset(topic.records) for topic in TOPICS}
_KINDS = {TYPE_PREFIX + kind: kind for kind in RECORDS}
_ASKED = frozenset({"ingress", "operator"})
REQUESTS = frozenset(kind for topic in TOPICS if topic.kind in _ASKED for kind in topic.records)
# The clock writes to partitions, not to keys.
_UNKEYED = frozenset({"ClockTicked"})


def headers_of(record: Record, topic: str) -> list[tuple[str, bytes]]:
    """The headers of a record on a topic (its short name), always in this order.

    A CloudEvent all of them. What is only reported comes again and again, so it says no more than
    that takes: the value names its schema, the key its subject, and all values are framed alike.
    """
    sort = BY_SHORT[topic].kind
    assert record.parent or sort not in {"journal", "tiers"}, (
        f"{record.kind} {record.id} has no parent; every decision names one"
    )
    if sort == "facts" and not record.tick_ms:
        return _brief_headers(record)
    version = version_of(record.value)
    when = (_EPOCH + timedelta(milliseconds=record.tick_ms)).isoformat(timespec="milliseconds")
    texts = (
        ("ce_specversion", "1.0"),
        ("ce_id", record.id),
        ("ce_type", TYPE_PREFIX + record.kind if record.kind else ""),
        ("ce_source", record.source),
        ("ce_subject", record.key),
        ("ce_time", when.replace("+00:00", "Z") if record.tick_ms else ""),
        ("ce_dataschema", version.urn if version else ""),
        ("ce_causationid", record.cause),
        ("ce_parent", record.parent),
        ("ce_evidence", format_vector(record.evidence)),
        ("ce_tick", str(record.tick_ms) if record.tick_ms else ""),
        ("ce_logic", record.logic),
        ("traceparent", record.trace),
    )
    return cloud_event(texts)


def _brief_headers(record: Record) -> list[tuple[str, bytes]]:
    evidence = format_vector(record.evidence)
    texts = (
        ("ce_specversion", "1.0"),
        ("ce_id", record.id or fact_id(record.key, record.kind, record.value, evidence)),
        ("ce_type", TYPE_PREFIX + record.kind),
        ("ce_source", record.source),
        ("ce_evidence", evidence),
    )
    return [(name, text.encode()) for name, text in texts if text]


def read_message(  # noqa: PLR0917 - what a client hands over, in its order
    short: str,
    partition: int,
    offset: int,
    at_ms: int,
    key: bytes | None,
    value: bytes | None,
    headers: Headers | None,
    partitions: int,
    wanted: frozenset[str] | None = None,
) -> Read:
    """What a message says.  `partitions` is P; records of kinds not `wanted` are not decoded.

    A decision is always read, if need be without its body, because its headers move the chain;
    without those it is no decision.  Anything else that cannot be read to its end is `Unreadable`.
    """
    topic = BY_SHORT[short]
    where = place(short, partition)
    try:
        found = _check_headers(headers)
        if topic.kind in ("journal", "tiers"):
            subject = check_key(key, partition, topic.partitions or partitions)
            record = _read_decision(topic, subject, value, found, wanted)
        else:
            assert topic.kind not in ("dead-letters", "rows"), f"{short} holds bytes, no records"
            kind, body, value = _read_body(topic, value, found, wanted)
            if kind in _UNKEYED:
                subject = ""
            else:
                subject = check_key(key, partition, topic.partitions or partitions)
                if topic.kind in _ASKED:
                    check_clean(subject)
                check_subject(subject, kind, None if body is SKIPPED else body)
            record = _record(found, subject, kind, value, body)
            if not record.id:  # its author gave it none: it is known by its place
                record = replace(record, id=f"{where}@{offset}")
    except Unreadable as error:
        raise Unreadable(error.reason, f"{where} at offset {offset}: {error.sentence}") from error
    return _read(where, short, offset, at_ms, record)


def _read(where: str, short: str, offset: int, at_ms: int, record: Record) -> Read:
    read: Any = _new(_ReadDraft)
    read.place, read.topic, read.offset = where, short, offset
    read.at_ms, read.record = at_ms, record
    read.__class__ = Read
    done: Read = read
    return done


def _read_decision(
    topic: Topic,
    key: str,
    value: bytes | None,
    found: Mapping[str, str],
    wanted: frozenset[str] | None,
) -> Record:
    """A decision by its headers; its body is None when this build cannot read it."""
    parent = found.get("ce_parent")
    if not parent or not found.get("ce_id"):
        missing = "ce_id" if parent else "ce_parent"
        raise Unreadable(
            "not-a-decision",
            f"the header {missing} is missing; only Turbine's components write to {topic.short}",
        )
    body: Body | None
    try:
        kind, body, value = _read_body(topic, value, found, wanted)
    except Unreadable:
        kind, body, value = _kind_of(found), None, value or b""
    try:
        return _record(found, key, kind, value, body, parent)
    except Unreadable as error:
        raise Unreadable("not-a-decision", error.sentence) from error


def _read_body(
    topic: Topic,
    value: bytes | None,
    found: Mapping[str, str],
    wanted: frozenset[str] | None,
) -> tuple[str, Body, bytes]:
    """The kind of record, what it says, and its framed value."""
    if value is None:
        raise Unreadable("no-value", "the message has no value; nothing is deleted by a tombstone")
    carried = _CARRIED[topic.short]
    kind = _kind_of(found)
    if wanted is not None and kind not in wanted and kind in carried:
        return kind, SKIPPED, value
    named = found.get(SCHEMA_HEADER, "").encode(_BYTES_AS_TEXT)
    body, value = unframe(value, named, found.get("ce_dataschema", ""))
    actual = type(body).__name__
    if actual not in carried:
        raise Unreadable(
            "wrong-record",
            f"a {actual} does not belong on {topic.short}; it carries {', '.join(topic.records)}",
        )
    # Readers skip by this header, so one that names another of our records would split them.
    if kind != actual and kind in RECORDS:
        raise Unreadable(
            "wrong-type",
            f"the header ce_type says {kind} and the value is a {actual}; correct the header",
        )
    return actual, body, value


def _record(  # noqa: PLR0917 - a step of it
    found: Mapping[str, str],
    key: str,
    kind: str,
    value: bytes,
    body: Body | None,
    parent: str = "",
) -> Record:
    """The record; a request is known by its change id, anything else by its header, if it has."""
    get = found.get
    one: Any = _new(_RecordDraft)
    one.key = key
    one.id = get("ce_id", "")
    one.kind = kind
    one.value = value
    one.body = body
    one.parent = parent
    evidence, tick = get("ce_evidence"), get("ce_tick")
    one.evidence = {} if evidence is None else _evidence_of(evidence)
    one.tick_ms = 0 if tick is None else _tick_of(tick)
    one.logic = get("ce_logic", "")
    one.source = get("ce_source", "")
    trace = get("traceparent")
    one.trace = trace_of(trace) if trace else ""
    one.cause = get("ce_causationid", "")
    if kind in REQUESTS and body is not SKIPPED:
        one.body = request = traced(body, one.trace)
        one.id = request.change_id
        one.trace = request.traceparent or ""
    one.__class__ = Record
    done: Record = one
    return done


def traced(request: Any, trace: str) -> Any:
    """A request with the trace context of its header: every hop writes that anew, and the field
    in the value is what its author knew. The field counts where the header is of no use."""
    said = request.traceparent
    found = trace or trace_of(said or "") or None
    return request if said == found else replace(request, traceparent=found)


def _kind_of(found: Mapping[str, str]) -> str:
    """The kind of record that the header names, whichever prefix its writer's events have."""
    named = found.get("ce_type", "")
    return _KINDS.get(named) or named.rpartition(".")[2]


def _evidence_of(value: str) -> dict[str, int]:
    try:
        return parse_vector(value)
    except VectorError as error:
        raise Unreadable(
            "malformed-headers", f"the header ce_evidence is no position vector: {error}"
        ) from error


def _tick_of(value: str) -> int:
    if len(value) <= 15 and value.isascii() and value.isdigit():
        tick_ms = int(value)
        if tick_ms <= TICK_MS_MAX:
            return tick_ms
    raise Unreadable(
        "malformed-headers",
        f"the header ce_tick is {value[:20]!r}; give milliseconds since 1970 UTC in digits",
    )


def _check_headers(headers: Headers | None) -> dict[str, str]:
    """The texts of the headers by name.  Those that we use are UTF-8 and stand once."""
    if not headers:
        return {}
    known: Any = headers
    try:
        # The usual case: all of them are texts that stand once, and far from too long.
        found = {name: value.decode() for name, value in known}
    except (AttributeError, UnicodeDecodeError):
        return _sift_headers(headers)
    if len(found) < len(headers) or SCHEMA_HEADER in found:
        return _sift_headers(headers)
    if len("".join(found.values())) > HEADER_BYTES_MAX // 4:  # a character has 4 bytes at most
        return _sift_headers(headers)
    return found


def _sift_headers(headers: Headers) -> dict[str, str]:
    """The headers that we use, where others beside them are doubled, binary, empty or large."""
    found: dict[str, str] = {}
    size = 0
    for name, value in headers:
        ours = name.startswith("ce_")
        if not ours and name not in ("traceparent", SCHEMA_HEADER):
            continue
        if ours and name in found:
            raise Unreadable("malformed-headers", f"the header {name} stands twice; send it once")
        text = _text_of(value or b"", _BYTES_AS_TEXT if name == SCHEMA_HEADER else "utf-8")
        if text is None:
            if not ours:
                continue  # a broken trace context breaks the trace, not the event
            raise Unreadable("malformed-headers", f"the header {name} is not UTF-8; encode it so")
        size += len(value or b"")
        found[name] = text
    if size > HEADER_BYTES_MAX:
        raise Unreadable(
            "malformed-headers",
            f"the headers have more than {HEADER_BYTES_MAX} bytes; put less into them",
        )
    return found


def _text_of(value: bytes, encoding: str) -> str | None:
    try:
        return value.decode(encoding)
    except UnicodeDecodeError:
        return None
