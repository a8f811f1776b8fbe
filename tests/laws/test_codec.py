"""Laws of the codec: what is written is read again, and two decoders never disagree."""

from __future__ import annotations

import io
import struct
from string import ascii_letters, digits, punctuation
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.generated import records
from events.generated.decoders import DECODERS
from events.generated.records import RECORDS, Body, from_plain, to_plain
from events.topics import BY_SHORT, JOURNAL, TIERS, partition_of
from events.wire.codec import (
    Record,
    decode,
    encode,
    format_vector,
    headers_of,
    parse_vector,
    read_message,
)
from events.wire.framing import FRAMING
from events.wire.generate_decoders import HOT
from events.wire.values import reader_of
from tests.laws.plain import NEWEST, TEXT, plains
from tests.unit.events.messages import TRACE
from turbine_client.errors import Unreadable
from turbine_client.framing import Decoder
from turbine_client.identity import change_id, decision_id, valid_until_ms

SCHEMAS = {name: fastavro.parse_schema(one.schema) for name, one in NEWEST.items()}
GENERAL = {name: reader_of(one.schema, vars(records)) for name, one in NEWEST.items()}
PLAIN = plains()
DECISIONS = [(JOURNAL, kind) for kind in BY_SHORT[JOURNAL].records]
DECISIONS += [(TIERS, kind) for kind in BY_SHORT[TIERS].records]
printable = ascii_letters + digits + punctuation
VECTORS = st.dictionaries(
    st.builds(
        lambda topic, partition: f"{topic}/{partition}",
        st.sampled_from(["journal.v1", "changes.base.v1", "rows.job-service.v1"]),
        st.integers(0, 99_999),
    ),
    st.integers(0, 10**18 - 1),
    max_size=5,
)


def by_fastavro(kind: str, value: bytes) -> tuple[Any, int]:
    source = io.BytesIO(value)
    source.seek(5)
    return fastavro.schemaless_reader(source, SCHEMAS[kind], None), source.tell()


def read_or_refuse(value: bytes) -> Body | str:
    """The body, or the code of the reason; anything else that is raised fails the test."""
    try:
        return decode(value)
    except Unreadable as refused:
        return refused.reason


def broken(kind: str, data: st.DataObject) -> bytes:
    """A value of which some bytes are others, and some are cut off."""
    value = bytearray(encode(from_plain(RECORDS[kind], data.draw(PLAIN[kind]))))
    for _ in range(data.draw(st.integers(1, 3))):
        if len(value) > 6:
            value[data.draw(st.integers(5, len(value) - 1))] = data.draw(st.integers(0, 255))
    return bytes(value[: data.draw(st.integers(5, len(value)))])


def outcome(decoder: Decoder, value: bytes) -> tuple[object, object]:
    """What was read and where it ended, or what was raised and what that says."""
    try:
        return decoder(value, 5)
    except (ArithmeticError, IndexError, ValueError, struct.error) as refused:
        return type(refused), str(refused)


@pytest.mark.parametrize("kind", sorted(RECORDS))
@given(data=st.data())
def test_what_is_written_is_read_again_by_either_decoder(kind: str, data: st.DataObject) -> None:
    plain = data.draw(PLAIN[kind])
    body = from_plain(RECORDS[kind], plain)
    assert to_plain(body) == plain
    value = encode(body)
    assert decode(value) == body
    # A decoder that is spelled out, ours of any record and fastavro's see the same.
    assert GENERAL[kind](value, 5) == (body, len(value))
    assert by_fastavro(kind, value) == (plain, len(value))


@pytest.mark.parametrize("kind", sorted(RECORDS))
@given(data=st.data())
def test_broken_bytes_are_refused_or_read_as_fastavro_reads_them(
    kind: str, data: st.DataObject
) -> None:
    cut = broken(kind, data)
    body = read_or_refuse(cut)
    if isinstance(body, str):
        assert body in {"truncated", "malformed", "trailing-bytes"}
    else:
        assert by_fastavro(kind, cut) == (to_plain(body), len(cut))


@pytest.mark.parametrize("kind", sorted(HOT))
@given(data=st.data())
def test_broken_bytes_are_to_a_hot_decoder_what_they_are_to_the_general_one(
    kind: str, data: st.DataObject
) -> None:
    cut = broken(kind, data)
    assert outcome(DECODERS[kind], cut) == outcome(GENERAL[kind], cut)


@given(value=st.binary(max_size=200), at=st.sampled_from([*range(1, len(NEWEST) + 1), 0, 2**31]))
def test_no_bytes_bring_the_reader_down(value: bytes, at: int) -> None:
    for framed in (value, b"\0" + at.to_bytes(4, "big") + value, b"\xc3\x01" + value):
        assert read_or_refuse(framed)


@given(data=st.data(), where=st.sampled_from(DECISIONS), key=TEXT.filter(bool), vector=VECTORS)
def test_a_decision_comes_back_as_it_was_written(
    data: st.DataObject, where: tuple[str, str], key: str, vector: dict[str, int]
) -> None:
    short, kind = where
    body = from_plain(RECORDS[kind], data.draw(PLAIN[kind]))
    value = encode(body)
    logic, source, cause = (data.draw(TEXT) for _ in range(3))
    record = Record(
        key,
        decision_id("root", key, kind, value),
        kind,
        value,
        body,
        "root",
        vector,
        data.draw(st.integers(0, 253_402_300_799_999)),
        logic,
        source,
        data.draw(st.sampled_from(["", TRACE])),
        cause,
    )
    partition = partition_of(key, BY_SHORT[short].partitions or 16)
    read = read_message(
        short, partition, 7, 99, key.encode(), value, headers_of(record, short), partitions=16
    )
    assert read.record == record
    assert (read.place, read.topic, read.offset, read.at_ms) == (
        f"{short}/{partition}",
        short,
        7,
        99,
    )


@given(
    headers=st.lists(
        st.tuples(
            st.sampled_from(["ce_id", "ce_parent", "ce_evidence", "ce_tick", "ce_type", "x"]),
            st.none() | st.binary(max_size=20),
        ),
        max_size=7,
    ),
    value=st.none() | st.binary(max_size=40),
    key=st.none() | st.binary(max_size=10),
    short=st.sampled_from([JOURNAL, "changes.base.v1", "operator.v1", "containers.v1"]),
)
def test_no_message_brings_the_intake_down(
    headers: list[tuple[str, bytes | None]],
    value: bytes | None,
    key: bytes | None,
    short: str,
) -> None:
    try:
        said = read_message(short, 0, 1, 2, key, value, headers, partitions=1).record.id
    except Unreadable as refused:
        said = refused.sentence
    assert said


@given(VECTORS)
def test_a_vector_is_read_as_it_was_written(vector: dict[str, int]) -> None:
    assert parse_vector(format_vector(vector)) == vector


@given(st.integers(1, 10**15 - 1), TEXT.filter(bool))
def test_a_change_id_says_until_when_it_is_valid(until_ms: int, token: str) -> None:
    """Or there is none: what one of the two takes, the other takes as well."""
    try:
        made = change_id(until_ms, token)
    except ValueError:
        assert valid_until_ms(f"{until_ms}.{token}") == 0
    else:
        assert valid_until_ms(made) == until_ms


@given(st.integers(1, 10**15 - 1), st.text(printable, min_size=1, max_size=180))
def test_any_token_of_printable_ascii_will_do(until_ms: int, token: str) -> None:
    assert valid_until_ms(change_id(until_ms, token)) == until_ms


@given(st.text(max_size=30))
def test_any_text_has_a_validity(text: str) -> None:
    assert 0 <= valid_until_ms(text) < 10**15


@given(*[st.tuples(TEXT, TEXT, st.sampled_from(["A", "B"]), st.binary(max_size=8))] * 2)
def test_two_contents_have_two_ids(
    one: tuple[str, str, str, bytes], other: tuple[str, str, str, bytes]
) -> None:
    # Parents are ids and kinds are names of records: neither holds the separator.
    one, other = (one[0].replace("\0", ""), *one[1:]), (other[0].replace("\0", ""), *other[1:])
    assert (decision_id(*one) == decision_id(*other)) == (one == other)


def test_every_record_has_a_decoder_of_ours_and_a_hot_one_its_own() -> None:
    assert set(RECORDS) == set(NEWEST)
    assert set(DECODERS) == set(HOT)
    for kind, version in NEWEST.items():
        decoder = FRAMING.decoder(version.id)
        own = DECODERS.get(kind)
        assert decoder is own if own else decoder.__module__ == reader_of.__module__
