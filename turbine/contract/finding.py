"""A message as somebody would send it, and what is the matter with its value. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from events.generated.records import Body
from events.topics import BY_SHORT
from events.wire.framing import unframe
from events.wire.lock import Version, newest_of, read_lock
from turbine_client.errors import Unreadable
from turbine_client.framing import SCHEMA_HEADER

READ = ("ingress", "operator")
"""Kinds of topics that anybody may write to whom the broker lets."""
_BY_ID = {one.id: one for one in read_lock()}
_NEWEST: Mapping[str, Version] = newest_of(list(_BY_ID.values()))
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "LZ4"}

Part = Literal["framing", "schema", "value", "key", "partition", "headers"]
Weight = Literal["refused", "remark"]


@dataclass(frozen=True, slots=True)
class SampleMessage:
    """A message as somebody would send it; `partition` None: where its key belongs."""

    topic: str  # short name
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class MessageFinding:
    """One thing that is the matter; what is refused becomes a dead letter."""

    weight: Weight
    part: Part
    reason: str
    sentence: str

    def to_plain(self) -> dict[str, str]:
        """The finding as a JSON object."""
        return asdict(self)


def refused(part: Part, reason: str, sentence: str) -> MessageFinding:
    """What makes a dead letter of it."""
    return MessageFinding("refused", part, reason, sentence)


def remark(part: Part, reason: str, sentence: str) -> MessageFinding:
    """What is read all the same."""
    return MessageFinding("remark", part, reason, sentence)


def about_value(sent: SampleMessage) -> tuple[Body | None, list[MessageFinding]]:
    """What it says, if that can be told, and what is the matter."""
    value = sent.value
    if not value:
        return None, [
            refused(
                "framing",
                "no-value",
                "the message has no value; nothing is deleted by a tombstone, so send a"
                " JobDeleteRequested to operator.v1 where a job is to go",
            )
        ]
    found = dict(sent.headers)
    urn = found.get("ce_dataschema", b"").decode("ascii", "replace")
    try:
        body, _ = unframe(value, found.get(SCHEMA_HEADER, b""), urn)
    except Unreadable as bad:
        return None, [_guess(sent, value) or _as_told(bad)]
    return body, list(_about_record(sent, body))


def _as_told(bad: Unreadable) -> MessageFinding:
    framing = bad.reason in ("not-framed", "container-file", "too-large", "trailing-bytes")
    return refused("framing" if framing else "schema", bad.reason, bad.sentence)


def _guess(sent: SampleMessage, value: bytes) -> MessageFinding | None:
    """What its author probably did, where that can be told from the bytes."""
    compressed = next((name for head, name in _COMPRESSED.items() if value.startswith(head)), None)
    if compressed is not None:
        return refused(
            "framing",
            "compressed",
            f"the value was compressed with {compressed} by its program; send it as it is, and"
            " set compression.type in the producer",
        )
    if value[:1] == b"\0" and len(value) >= 5:
        return _guess_id(sent, value)
    if value.strip()[:1] in (b"{", b"["):
        return refused(
            "framing",
            "json",
            "the value is JSON text; encode it with Avro, behind 0x00 and the id of the schema in"
            f" four bytes ({_ids_of(sent)})",
        )
    text = _text_of_bytes(value)
    if text is not None:
        return refused(
            "framing",
            "text-of-bytes",
            f"the value is the {text} text of a framed value; send the bytes that it stands for",
        )
    return _guess_bare(sent, value)


def _guess_id(sent: SampleMessage, value: bytes) -> MessageFinding | None:
    """A framed value whose id is known otherwise, or belongs to another registry."""
    given = int.from_bytes(value[1:5], "big")
    if given in _BY_ID:
        return None  # what is wrong comes behind the id, and is told as it is
    turned = int.from_bytes(value[1:5], "little")
    if turned in _BY_ID and _whole(turned, value[5:]) is not None:
        return refused(
            "framing",
            "byte-order",
            f"the id of the schema is written with the lowest byte first; write {turned} as"
            f" {turned.to_bytes(4, 'big').hex(' ')}, the highest first",
        )
    kind = _fitting(sent, value[5:])
    if kind is None:
        return None
    version = _NEWEST[kind]
    return refused(
        "schema",
        "unknown-schema",
        f"schema {given} is of another registry, and what follows is a {kind}: write id"
        f" {version.id} (`turbine schema serve` tells it to serializers), or send its urn"
        f" {version.urn} in the header ce_dataschema",
    )


def _guess_bare(sent: SampleMessage, value: bytes) -> MessageFinding | None:
    kind = _fitting(sent, value)
    if kind is None:
        return None
    return refused(
        "framing",
        "bare-avro",
        f"the value is a {kind} in Avro without its prefix; put 0x00 and its schema's id in four"
        f" bytes before it: {_prefix(_NEWEST[kind]).hex(' ')}",
    )


def _fitting(sent: SampleMessage, payload: bytes) -> str | None:
    """The kind of record on the topic that these bytes are, best one about the key's subject."""
    fits = {
        kind: body
        for kind in BY_SHORT[sent.topic].records
        if (body := _whole(_NEWEST[kind].id, payload)) is not None
    }
    named = [kind for kind, body in fits.items() if subject_of(body)[1].encode() == sent.key]
    return next(iter([*named, *fits]), None)


def _whole(schema_id: int, payload: bytes) -> Body | None:
    try:
        return unframe(_prefix(_BY_ID[schema_id]) + payload)[0]
    except Unreadable:
        return None


def _prefix(version: Version) -> bytes:
    return b"\0" + version.id.to_bytes(4, "big")


def _text_of_bytes(value: bytes) -> str | None:
    """Hex and base64 of a value that begins with 0x00."""
    head = value.strip()[:8]
    if head.startswith(b"000000") and all(one in b"0123456789abcdefABCDEF" for one in head):
        return "hex"
    return "base64" if head.startswith(b"AAAA") else None


def _ids_of(sent: SampleMessage) -> str:
    kinds = BY_SHORT[sent.topic].records[:3]
    return ", ".join(f"{_NEWEST[kind].id} is {kind}" for kind in kinds)


def _about_record(sent: SampleMessage, body: Body) -> Iterator[MessageFinding]:
    kind, topic = type(body).__name__, BY_SHORT[sent.topic]
    if kind not in topic.records:
        yield refused(
            "schema",
            "wrong-record",
            f"a {kind} does not belong on {topic.short}; it carries {', '.join(topic.records)}",
        )
    elif topic.kind not in READ:
        yield remark(
            "value",
            "not-asked",
            f"{topic.short} is written by {topic.written_by} only; whoever asks for something"
            " writes to changes.….v1 or operator.v1",
        )
    assert sent.value is not None
    older = _BY_ID.get(int.from_bytes(sent.value[1:5], "big")) if sent.value[:1] == b"\0" else None
    if older is not None and older is not _NEWEST[older.name]:
        yield remark(
            "schema",
            "older-schema",
            f"schema {older.id} is an older {kind}, which goes on being read; the newest is"
            f" {_NEWEST[kind].id}",
        )


def subject_of(body: Body) -> tuple[str, str]:
    """The field that names what a record is about, and whom; "" for both where none does."""
    fields: Any = body
    name = next((one for one in ("job", "container", "tier") if hasattr(body, one)), "")
    return (name, str(getattr(fields, name))) if name else ("", "")
