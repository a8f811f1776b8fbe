"""How values are framed and read, and each kind of bytes that is not of its schema."""

from __future__ import annotations

import dataclasses
import io
import json
import struct

import avro.schema
import fastavro
import pytest
from avro.io import BinaryEncoder, DatumWriter
from fastavro.schema import fingerprint, to_parsing_canonical_form

from events.generated.records import (
    AlertCleared,
    ClockTicked,
    ContainerStarted,
    JobDeleted,
    JobReleased,
    JobsPreempted,
    ResourceAmount,
)
from events.wire import framing
from events.wire.codec import VALUE_BYTES_MAX, Headers, decode, encode
from events.wire.lock import Version, hash_of
from tests.unit.events.messages import ASKED, INGRESS, JOB, NEWEST, VERSIONS, read, refusal
from turbine_client.errors import Unreadable


def test_a_value_is_framed_with_the_id_of_its_schema() -> None:
    value = encode(ASKED)
    assert value[:5] == b"\0" + NEWEST["ConfigChangeProposed"].id.to_bytes(4, "big")
    assert decode(value) == ASKED


def test_a_schema_may_be_named_in_each_of_the_known_ways() -> None:
    version = NEWEST["ConfigChangeProposed"]
    payload = encode(ASKED)[5:]
    crc = bytes.fromhex(fingerprint(to_parsing_canonical_form(version.schema), "CRC-64-AVRO"))
    by_id = ("__value_schema_id", b"\0" + version.id.to_bytes(4, "big"))
    by_guid = ("__value_schema_id", b"\1" + bytes.fromhex(version.guid.replace("-", "")))
    foreign = b"\0" + (987_654).to_bytes(4, "big") + payload
    for value, headers in (
        (payload, [by_id]),
        (payload, [by_guid]),
        (b"\xc3\x01" + crc + payload, []),
        (foreign, [("ce_dataschema", version.urn.encode())]),
    ):
        assert decode(value, headers) == ASKED
        # What is kept is in our own framing: the headers are not at hand when it is read again.
        assert read(INGRESS, value, headers).record.value == encode(ASKED)


def test_a_single_object_is_what_avro_itself_writes() -> None:
    schema = avro.schema.parse(json.dumps(NEWEST["ClockTicked"].schema))
    out = io.BytesIO()
    DatumWriter(schema).write({"number": 7}, BinaryEncoder(out))
    crc = schema.fingerprint("CRC-64-AVRO")
    assert decode(b"\xc3\x01" + crc + out.getvalue()) == ClockTicked(7)


@pytest.mark.parametrize(
    ("value", "headers", "reason", "sentence"),
    [
        (b"", [], "not-framed", "use an Avro serializer with Confluent's framing"),
        (b"\0", [], "not-framed", "does not begin with 0x00 and a schema id of four bytes"),
        (b'{"job": "a"}', [], "not-framed", "does not begin with 0x00"),
        (b"\0\0\1\0\0x", [], "unknown-schema", "schema 65536 is not known here; use one that"),
        (b"\xc3\x01" + b"8" * 9, [], "unknown-schema", "schema fingerprint 3838383838383838"),
        (b"Obj\x01" + b"x" * 9, [], "container-file", "send one framed record a message"),
        (b"x", [("__value_schema_id", b"\0zzzz")], "unknown-schema", "0x007a7a7a7a in the header"),
        (b"x", [("__value_schema_id", b"\1" + b"z" * 16)], "unknown-schema", "0x017a7a"),
        (b"x", [("__value_schema_id", b"\2abc")], "unknown-schema", "0x02616263 in the header"),
        (b"\0\0\1\0\0x", [("ce_dataschema", b"\xff")], "unknown-schema", "schema 65536"),
    ],
)
def test_a_value_of_an_unknown_kind_is_refused(
    value: bytes, headers: Headers, reason: str, sentence: str
) -> None:
    with pytest.raises(Unreadable) as refused:
        decode(value, headers)
    assert refused.value.reason == reason
    assert sentence in refused.value.sentence


def test_an_empty_header_of_a_schema_names_none() -> None:
    assert decode(encode(ASKED), [("__value_schema_id", b"")]) == ASKED


def test_every_cut_of_a_value_is_refused() -> None:
    value = encode(ASKED)
    for end in range(5, len(value)):
        with pytest.raises(Unreadable) as refused:
            decode(value[:end])
        assert refused.value.reason == "truncated"
    assert "the value ends within a ConfigChangeProposed; send all of its bytes" in str(
        refused.value
    )


def test_a_value_that_ends_within_its_last_text_is_refused() -> None:
    for body in (AlertCleared("payments", "lag", "caught up"), JobReleased(JOB, "asked")):
        value = encode(body)
        with pytest.raises(Unreadable, match="truncated"):
            decode(value[:-1])
    assert decode(value) == body


def test_the_header_of_a_schema_comes_before_the_first_bytes() -> None:
    # Bare Avro may look like a frame: this one begins as a framed AlertRaised would.
    body = JobsPreempted("", (), 0, "", (ResourceAmount("a", 1.0),))
    bare = encode(body)[5:]
    assert bare[:5] == b"\0\0\0\0\2"
    assert NEWEST["AlertRaised"].id == 2
    named = NEWEST["JobsPreempted"].id.to_bytes(4, "big")
    assert decode(bare, [("__value_schema_id", b"\0" + named)]) == body


def test_bytes_after_the_record_are_refused() -> None:
    with pytest.raises(Unreadable, match="trailing-bytes: 2 bytes follow the ConfigChangeProposed"):
        decode(encode(ASKED) + b"xx")


def test_a_value_over_the_limit_is_refused_by_the_reader_and_by_the_writer() -> None:
    room = VALUE_BYTES_MAX - len(encode(dataclasses.replace(ASKED, reason="x" * 100_000)))
    fits = dataclasses.replace(ASKED, reason="x" * (100_000 + room))
    assert len(encode(fits)) == VALUE_BYTES_MAX
    assert decode(encode(fits)) == fits
    large = dataclasses.replace(fits, reason=fits.reason + "x")
    with pytest.raises(Unreadable, match="has 262145 bytes, and 262144 are allowed; say less"):
        encode(large)
    refused = refusal(INGRESS, b"\0" * (300 * 1024))
    assert refused.reason == "too-large"


def number(n: int) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, "long", n)
    return out.getvalue()


def framed(kind: str, payload: bytes) -> bytes:
    return b"\0" + NEWEST[kind].id.to_bytes(4, "big") + payload


TEXT_A = number(1) + b"a"
STARTED = number(1) + b"c" + number(1) + TEXT_A + TEXT_A


@pytest.mark.parametrize(
    ("kind", "payload", "reason", "sentence"),
    [
        ("ClockTicked", b"\xff" * 10 + b"\1", "malformed", "a number has more than ten bytes"),
        ("ClockTicked", b"\xff" * 9 + b"\x7f", "malformed", "a number has more than 64 bits"),
        ("AlertCleared", number(-4) + b"aaaa", "malformed", "a text has a negative length"),
        ("AlertCleared", number(2**40) + b"a", "truncated", "ends within a AlertCleared"),
        ("AlertCleared", (number(1) + b"\xff") * 3, "malformed", "can't decode byte 0xff"),
        ("AlertRaised", TEXT_A * 2 + number(9), "malformed", "an enum has no such symbol"),
        ("AlertRaised", TEXT_A * 2 + number(-1), "malformed", "an enum has no such symbol"),
        (
            "ConfigChangeProposed",
            TEXT_A * 3 + number(2),
            "malformed",
            "a union has no such branch",
        ),
        (
            "ConfigChangeProposed",
            TEXT_A * 3 + number(-1),
            "malformed",
            "a union has no such branch",
        ),
        ("ContainerStarted", STARTED + number(2**27), "truncated", "ends within"),
        ("ContainerStarted", STARTED + number(-(2**27)) + number(0), "truncated", "ends within"),
        (
            "ContainerStarted",
            STARTED + number(1) + TEXT_A + struct.pack("<d", float("nan")),
            "malformed",
            "a number is infinite or none at all",
        ),
        (
            "ContainerStarted",
            STARTED + number(1) + TEXT_A + struct.pack("<d", float("-inf")),
            "malformed",
            "a number is infinite or none at all",
        ),
        ("ContainerStarted", STARTED + number(1) + TEXT_A + b"abc", "truncated", "ends within"),
        (
            "PlacementApplyRequested",
            TEXT_A * 3 + b"\x80" * 100,
            "malformed",
            "a number has more than ten bytes",
        ),
        (
            "PlacementPlanned",
            TEXT_A * 3 + number(2**31),
            "malformed",
            "a number has more than 32 bits",
        ),
        (
            "PlacementPlanned",
            TEXT_A * 3 + number(0) * 4 + TEXT_A * 2 + b"\2",
            "malformed",
            "a boolean is neither true nor false",
        ),
    ],
)
def test_a_payload_that_is_not_of_its_schema_is_refused(
    kind: str, payload: bytes, reason: str, sentence: str
) -> None:
    with pytest.raises(Unreadable) as refused:
        decode(framed(kind, payload))
    assert (refused.value.reason, sentence in refused.value.sentence) == (reason, True), (
        refused.value
    )


def test_arrays_are_read_in_blocks_of_either_form() -> None:
    one = TEXT_A + struct.pack("<d", 1.5)
    tail = number(0) * 2 + number(2) + b"{}" + number(0) * 2
    want = ContainerStarted("c", 1, "a", "a", (ResourceAmount("a", 1.5),) * 3)
    sized = number(-2) + number(2 * len(one)) + one * 2 + number(1) + one + number(0)
    plain = number(3) + one * 3 + number(0)
    for blocks in (sized, plain):
        assert decode(framed("ContainerStarted", STARTED + blocks + tail)) == want


def test_what_an_older_schema_wrote_is_read_as_today_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    today = NEWEST["JobDeleted"]
    older = {**today.schema, "fields": [f for f in today.schema["fields"] if f["name"] != "reason"]}
    version = Version(900, "JobDeleted", hash_of(older), True, older)
    monkeypatch.setitem(framing.FRAMING.versions, 900, version)
    body = JobDeleted(JOB, "1.a", VERSIONS, "alice", "because")
    out = io.BytesIO(b"\0" + (900).to_bytes(4, "big"))
    out.seek(5)
    fastavro.schemaless_writer(out, older, body.to_plain())
    assert decode(out.getvalue()) == dataclasses.replace(body, reason="")
    with pytest.raises(Unreadable, match="truncated"):
        decode(out.getvalue()[:-4])
    with pytest.raises(Unreadable, match="trailing-bytes"):
        decode(out.getvalue() + b"x")
    with pytest.raises(Unreadable, match="malformed"):
        decode(out.getvalue()[:-1] + b"\x08")
    framing.FRAMING.decoder.cache_clear()


def test_a_record_that_is_gone_from_this_build_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {**NEWEST["ClockTicked"].schema, "name": "Gone"}
    version = Version(901, "Gone", hash_of(schema), True, schema)
    monkeypatch.setitem(framing.FRAMING.versions, 901, version)
    monkeypatch.setitem(framing.FRAMING.newest, "Gone", version)
    with pytest.raises(Unreadable, match="unknown-record: this build has no record Gone"):
        decode(b"\0" + (901).to_bytes(4, "big") + b"\2")
