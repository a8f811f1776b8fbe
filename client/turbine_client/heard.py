"""What a message says to a client, as far as a client needs to know it. Pure."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from turbine_client.bodies import Body
from turbine_client.errors import Unreadable
from turbine_client.framing import SCHEMA_HEADER
from turbine_client.identity import request_named
from turbine_client.messages import Message
from turbine_client.positions import VectorError, parse_vector
from turbine_client.records import RECORDS
from turbine_client.schemas import FRAMING
from turbine_client.topics import REQUEST_TOPICS, partition_of

EVERYTHING = frozenset(RECORDS)


@dataclass(frozen=True, slots=True)
class Heard:
    """A record where it lies. The body is None where nobody asked for it, or it cannot be read."""

    place: str
    topic: str
    offset: int
    at_ms: int
    key: str
    kind: str
    id: str
    body: Body | None
    parent: str = ""
    cause: str = ""
    tick_ms: int = 0
    evidence: str = ""

    @property
    def change_id(self) -> str:
        """The request that it answers, or is about; without a body, by its header."""
        return request_named(self.body, self.cause)

    def vector(self) -> Mapping[str, int] | None:
        """What its author had read; None where the header holds no positions."""
        try:
            return parse_vector(self.evidence)
        except VectorError:
            return None


def hear(message: Message, partitions: int, kinds: Container[str] = EVERYTHING) -> Heard | None:
    """The record of a message, with its body where it is of these kinds; None where the message
    says nothing to a client. Requests come from anybody and are known by their bodies alone."""
    if message.spoilt or message.value is None or not message.key:
        return None
    try:
        key = message.key.decode()
    except UnicodeDecodeError:
        return None
    if partition_of(message.key, partitions) != message.partition:
        return None
    headers = dict(message.headers or ())
    kind = _text(headers, "ce_type").rpartition(".")[2]
    asked = message.topic in REQUEST_TOPICS
    body = _body(message.value, headers, kind) if asked or kind in kinds else None
    name = _text(headers, "ce_id") or f"{message.place}@{message.offset}"
    if asked:
        if body is None:
            return None
        kind, name = type(body).__name__, getattr(body, "change_id", name)
    tick = _text(headers, "ce_tick")
    return Heard(
        message.place,
        message.topic,
        message.offset,
        message.at_ms,
        key,
        kind,
        name,
        body,
        _text(headers, "ce_parent"),
        _text(headers, "ce_causationid"),
        int(tick) if tick.isdigit() and len(tick) <= 15 else 0,
        _text(headers, "ce_evidence"),
    )


def _body(value: bytes, headers: Mapping[str, bytes | None], kind: str) -> Body | None:
    try:
        body, _ = FRAMING.unframe(
            value, headers.get(SCHEMA_HEADER) or b"", _text(headers, "ce_dataschema")
        )
    except Unreadable:
        return None  # a kind that a newer build made, or nobody: it is not for this client
    actual = type(body).__name__
    # Readers skip by the header, so one that names another record would split them.
    return body if kind == actual or kind not in RECORDS else None


def _text(headers: Mapping[str, bytes | None], name: str) -> str:
    return (headers.get(name) or b"").decode(errors="replace")
