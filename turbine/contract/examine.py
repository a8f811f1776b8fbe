"""What is the matter with somebody's message: framing, schema, key, partition, headers. Pure.

The shells stop at the first thing that is wrong, and have no time for guesses. Here all of it is
told, and what its author probably did: each finding is one sentence with the remedy.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.runtime.kafka.intake import DeadLetter, Message, take_in, void_request
from events.generated.records import RECORDS, Body
from events.job_config.strict_json import Malformed, parse_json, shorten
from events.topics import BY_SHORT, partition_of
from events.wire.codec import HEADER_BYTES_MAX, TYPE_PREFIX, Read
from events.wire.keys import KEY_BYTES_MAX, check_clean
from turbine.contract.document import HEADERS, OF_DECISIONS
from turbine.contract.finding import (
    READ,
    MessageFinding,
    Part,
    SampleMessage,
    Weight,
    about_value,
    refused,
    remark,
    subject_of,
)
from turbine_client.errors import Unreadable

_FNV_PRIME, _FNV_BASE = 16_777_619, 2_166_136_261


@dataclass(frozen=True, slots=True)
class Examined:
    """What a message says, as far as it can be told, and all that is the matter with it."""

    kind: str
    body: Body | None
    partition: int | None
    findings: tuple[MessageFinding, ...]

    @property
    def taken(self) -> bool:
        """Would it be read as what it is meant to be?"""
        return not any(one.weight == "refused" for one in self.findings)


def examine(sent: SampleMessage, partitions: int, now_ms: int) -> Examined:
    """All that can be told of a message that arrives now."""
    body, findings = about_value(sent)
    home = _home(sent.key, BY_SHORT[sent.topic].partitions or partitions)
    findings += _about_key(sent, body)
    findings += _about_partition(sent, home, BY_SHORT[sent.topic].partitions or partitions)
    findings += _about_headers(sent, body)
    if body is not None:
        findings += _about_request(body)
    if not any(one.weight == "refused" for one in findings):
        findings += _as_shells_do(sent, home, partitions, now_ms)
    kind = "" if body is None else type(body).__name__
    return Examined(kind, body, home if sent.partition is None else sent.partition, tuple(findings))


# --- what it asks for


def _about_request(body: Body) -> Iterator[MessageFinding]:
    """What would be read, and then be rejected by whoever decides."""
    text: Any = getattr(body, "set_json", None)
    if text is None or type(body).__name__ != "ConfigChangeProposed":
        return
    try:
        wish = parse_json(text or "{}", what="set_json")
    except Malformed as bad:
        yield refused("value", "malformed-json", f"{bad.sentence}; the change would be rejected")
        return
    if not isinstance(wish, dict):
        yield refused(
            "value",
            "malformed-json",
            f"set_json is {shorten(text)} and has to be an object of keys of the config, such as"
            ' {"tasks":4}; the change would be rejected',
        )


# --- the key


def _home(key: bytes | None, partitions: int) -> int | None:
    return partition_of(key, partitions) if key else None


def _about_key(sent: SampleMessage, body: Body | None) -> Iterator[MessageFinding]:
    key = sent.key
    if not key:
        yield refused(
            "key",
            "no-key",
            "the message has no key; the key is the id of its subject in plain UTF-8",
        )
        return
    if len(key) > KEY_BYTES_MAX:
        yield refused(
            "key",
            "key-too-long",
            f"the key has {len(key)} bytes, and {KEY_BYTES_MAX} are allowed; use the id alone",
        )
        return
    strange = _strange_key(key)
    if strange is not None:
        yield strange
        return
    name, subject = ("", "") if body is None else subject_of(body)
    if name and subject.encode() != key:
        yield refused(
            "key",
            "wrong-key",
            f"the key is {shorten(key.decode())} and the value is about the {name}"
            f" {shorten(subject)}; use the {name}'s id as the key",
        )


def _strange_key(key: bytes) -> MessageFinding | None:
    """A key that was serialized as if it were a value."""
    if key[:1] == b"\0":
        return refused(
            "key",
            "key-framed",
            "the key has a schema's prefix before it; use a string serializer for keys: plain"
            " UTF-8, and no Avro",
        )
    if len(key) > 1 and key[:1] == key[-1:] == b'"':
        return refused(
            "key",
            "key-quoted",
            f"the key {shorten(key.decode(errors='replace'))} is JSON text; send it without the"
            " quotes",
        )
    try:
        check_clean(key.decode())
    except UnicodeDecodeError:
        return refused("key", "key-not-text", f"the key {key[:40]!r} is not UTF-8; encode it so")
    except Unreadable as error:
        return refused("key", error.reason, error.sentence)
    return None


# --- the partition


def _about_partition(
    sent: SampleMessage, home: int | None, partitions: int
) -> Iterator[MessageFinding]:
    given = sent.partition
    if given is None or home is None or sent.key is None:
        return
    if given >= partitions:
        yield refused(
            "partition",
            "no-such-partition",
            f"there is no partition {given}: {sent.topic} has {partitions}, from 0"
            " (say another number with --partitions)",
        )
    elif given != home:
        yield refused(
            "partition",
            "foreign-partitioner",
            f"the key belongs in partition {home} of {partitions} by murmur2 and lies in {given}:"
            f" {partitioner_of(sent.key, given, partitions)}",
        )


def partitioner_of(key: bytes, partition: int, partitions: int) -> str:
    """What its author probably uses, the one that people meet most first, and the remedy."""
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


# --- the headers


def _about_headers(sent: SampleMessage, body: Body | None) -> Iterator[MessageFinding]:
    names = [name for name, _ in sent.headers]
    if sum(len(name) + len(value) for name, value in sent.headers) > HEADER_BYTES_MAX:
        yield refused(
            "headers",
            "malformed-headers",
            f"the headers have more than {HEADER_BYTES_MAX} bytes; put less into them",
        )
    for name in dict.fromkeys(names):
        yield from _about_name(name, names.count(name))
    for name, value in sent.headers:
        yield from _about_text(name, value)
    found = {name: value.decode(errors="replace") for name, value in sent.headers}
    yield from _about_meaning(found, sent, body)


def _about_name(name: str, times: int) -> Iterator[MessageFinding]:
    if name.startswith("ce_") and times > 1:
        yield refused(
            "headers", "malformed-headers", f"the header {name} stands twice; send it once"
        )
    plain = name.lower().replace("-", "_")
    if name not in HEADERS and plain in HEADERS:
        yield remark(
            "headers",
            "header-name",
            f"the header {shorten(name)} is not looked at; on Kafka CloudEvents call it {plain}",
        )
    elif name.startswith("ce_") and name not in HEADERS:
        yield remark(
            "headers", "unknown-header", f"the header {shorten(name)} is kept and not looked at"
        )


def _about_text(name: str, value: bytes) -> Iterator[MessageFinding]:
    if not name.startswith("ce_"):
        return
    try:
        value.decode()
    except UnicodeDecodeError:
        yield refused(
            "headers", "malformed-headers", f"the header {name} is not UTF-8; encode it so"
        )


def _about_meaning(
    found: Mapping[str, str], sent: SampleMessage, body: Body | None
) -> Iterator[MessageFinding]:
    kind = found.get("ce_type", "").rpartition(".")[2]
    if body is not None and kind and kind != type(body).__name__:
        weight: Weight = "refused" if kind in RECORDS else "remark"
        yield MessageFinding(
            weight,
            "headers",
            "wrong-type",
            f"the header ce_type says {shorten(kind)} and the value is a {type(body).__name__};"
            f" make it {TYPE_PREFIX}{type(body).__name__}, or leave it out",
        )
    if "ce_specversion" in found and found["ce_specversion"] != "1.0":
        yield remark(
            "headers",
            "specversion",
            f"the header ce_specversion is {shorten(found['ce_specversion'])}; write 1.0",
        )
    if "ce_subject" in found and sent.key and found["ce_subject"].encode() != sent.key:
        yield remark(
            "headers",
            "wrong-subject",
            f"the header ce_subject is {shorten(found['ce_subject'])} and the key is another;"
            " it is the key that counts",
        )
    if BY_SHORT[sent.topic].kind in READ and any(name in found for name in OF_DECISIONS):
        yield remark(
            "headers",
            "decision-headers",
            "ce_parent, ce_evidence, ce_tick and ce_logic are of decisions; leave them out when"
            " you ask for something",
        )


# --- the last word


def _as_shells_do(
    sent: SampleMessage, home: int | None, partitions: int, now_ms: int
) -> Iterator[MessageFinding]:
    """What the shells themselves would say: nothing that they refuse may pass here."""
    partition = sent.partition if sent.partition is not None else home or 0
    message = Message(sent.topic, partition, 0, now_ms, sent.key, sent.value, list(sent.headers))
    found = take_in(message, partitions, None)
    letter = found if isinstance(found, DeadLetter) else void_request(message, found)
    if letter is not None:
        _, _, sentence = letter.sentence.partition(" at offset 0: ")
        part: Part = "value" if isinstance(found, Read) else "schema"
        # A message that is looked at an hour later may have come in time.
        tell = remark if letter.reason == "change-id-expired" else refused
        yield tell(part, letter.reason, sentence or letter.sentence)
