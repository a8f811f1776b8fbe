"""What requests and facts say, and for each bad one the sentence that its author reads."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

from events.generated.records import (
    ClockTicked,
    ContainerStarted,
    DrainRequested,
    JobDeleteRequested,
    PlacementApplyRequested,
)
from events.topics import partition_of
from events.wire.codec import HEADER_BYTES_MAX, Read, Record, encode, headers_of, read_message
from tests.unit.events.messages import (
    ASKED,
    CHANGED,
    INGRESS,
    JOB,
    NEWEST,
    TRACE,
    P,
    decided,
    read,
    refusal,
)
from turbine_client.errors import Unreadable

HOME = f"partition {partition_of(JOB, P)}"


def test_the_headers_of_a_decision() -> None:
    record = decided(trace=TRACE, cause="1763476000000.7f3a")
    assert headers_of(record, "journal.v1") == [
        ("ce_specversion", b"1.0"),
        ("ce_id", b"d-1"),
        ("ce_type", b"turbine.JobConfigChanged"),
        ("ce_source", b"job-service"),
        ("ce_subject", JOB.encode()),
        ("ce_time", b"2025-11-18T14:26:38.000Z"),
        ("ce_dataschema", NEWEST["JobConfigChanged"].urn.encode()),
        ("ce_causationid", b"1763476000000.7f3a"),
        ("ce_parent", b"root"),
        ("ce_evidence", b"journal.v1/3:40"),
        ("ce_tick", b"1763475998000"),
        ("ce_logic", b"job-service/1"),
        ("traceparent", TRACE.encode()),
        ("content-type", b"application/vnd.confluent.avro"),
    ]


def test_empty_headers_are_left_out() -> None:
    bare = Record(JOB, "i", "ConfigChangeProposed", encode(ASKED), ASKED)
    assert [name for name, _ in headers_of(bare, INGRESS)] == [
        "ce_specversion",
        "ce_id",
        "ce_type",
        "ce_subject",
        "ce_dataschema",
        "content-type",
    ]
    unknown = dataclasses.replace(bare, kind="", value=b"\0\0\1\0\0x")
    names = [name for name, _ in headers_of(unknown, INGRESS)]
    assert "ce_dataschema" not in names
    assert "ce_type" not in names


def test_a_decision_without_a_parent_is_impossible() -> None:
    with pytest.raises(AssertionError, match="every decision names one"):
        headers_of(decided(parent=""), "journal.v1")
    assert headers_of(decided(parent=""), "outcomes.v1")


def test_a_proposal_is_read() -> None:
    trace = dataclasses.replace(ASKED, traceparent=TRACE)
    got = read(INGRESS, encode(trace))
    assert got == Read(
        f"changes.base.v1/{partition_of(JOB, P)}",
        INGRESS,
        41,
        1_763_475_999_000,
        Record(JOB, ASKED.change_id, "ConfigChangeProposed", encode(trace), trace, trace=TRACE),
    )


def test_a_request_is_known_by_its_change_id_and_its_header_comes_first_for_the_trace() -> None:
    other = TRACE.replace("00-4", "00-5")
    trace = dataclasses.replace(ASKED, traceparent=TRACE)
    headers = [("ce_id", b"mine"), ("ce_parent", b"forged"), ("traceparent", other.encode())]
    record = read(INGRESS, encode(trace), headers).record
    # A parent makes a decision, and nobody decides on an ingress topic.
    assert (record.id, record.trace, record.parent) == (ASKED.change_id, other, "")
    asked = JobDeleteRequested("1.b", JOB, "bob")
    assert read("operator.v1", encode(asked), headers).record.id == "1.b"


def test_a_fact_is_known_by_its_header_or_else_by_its_place() -> None:
    started = ContainerStarted("c-1", 1, "t", "r", ())
    got = read("containers.v1", encode(started), key=b"c-1")
    assert got.record.id == f"{got.place}@41"
    named = read("containers.v1", encode(started), [("ce_id", b"x")], key=b"c-1")
    assert named.record.id == "x"


@pytest.mark.parametrize(
    "key", ["clicks\xa0", "\u200b", "\ufdcf\ufdf0", "\ufffd", "\U0001fffd", "ä"]
)
def test_a_key_may_have_any_other_character(key: str) -> None:
    """What stands in the log already is read whatever its key is: it moves a chain."""
    asked = dataclasses.replace(ASKED, job=key)
    assert read(INGRESS, encode(asked), key=key.encode()).record.key == key
    old = decided(dataclasses.replace(CHANGED, job="\0x"))
    headers = headers_of(old, "journal.v1")
    assert read("journal.v1", old.value, headers, b"\0x").record.key == "\0x"


def test_an_effect_carries_evidence_and_tick() -> None:
    headers = [("ce_evidence", b"journal.v1/3:40"), ("ce_tick", b"17"), ("ce_logic", b"l")]
    record = read(INGRESS, encode(ASKED), headers).record
    assert (record.evidence, record.tick_ms, record.logic) == ({"journal.v1/3": 40}, 17, "l")


def test_operators_ask_about_jobs_containers_and_tiers() -> None:
    for body, key in (
        (JobDeleteRequested("1.a", JOB, "bob"), JOB),
        (DrainRequested("1.a", "c-1", "bob"), "c-1"),
        (PlacementApplyRequested("1.a", "gold", "p-1", "bob"), "gold"),
    ):
        assert read("operator.v1", encode(body), key=key.encode()).record.body == body
        refused = refusal("operator.v1", encode(body), key=b"other")
        assert refused.reason == "wrong-key"


def test_a_tick_needs_no_key_wherever_it_lies() -> None:
    for short in ("clock.v1", "containers.v1"):
        for key in (None, b"", b"clock"):
            got = read(short, encode(ClockTicked(3)), key=key, partition=5)
            assert (got.record.key, got.record.body) == ("", ClockTicked(3))


@pytest.mark.parametrize(
    ("short", "value", "named", "reason", "sentence"),
    [
        (INGRESS, None, {}, "no-value", "nothing is deleted by a tombstone"),
        (INGRESS, encode(ASKED), {"key": None}, "no-key", "the key is the id of its subject"),
        (INGRESS, encode(ASKED), {"key": b""}, "no-key", "the message has no key"),
        (INGRESS, encode(ASKED), {"key": b"\xff"}, "key-not-text", "the key b'\\xff' is not UTF-8"),
        *(
            (
                INGRESS,
                encode(dataclasses.replace(ASKED, job=f"{what}turbine-x")),
                {"key": f"{what}turbine-x".encode()},
                "key-not-text",
                f"the control character or noncharacter U+{ord(what):04X}; leave it out",
            )
            for what in "\0\n\x1f\x7f\x9f\ufdd0\ufdef\ufffe\uffff\U0001fffe\U0010ffff"
        ),
        (
            "operator.v1",
            encode(DrainRequested("1.a", "c\n1", "bob")),
            {"key": b"c\n1"},
            "key-not-text",
            "character U+000A",
        ),
        (
            INGRESS,
            encode(ASKED),
            {"key": b"clicks"},
            "wrong-key",
            "is 'clicks' and the ConfigChangeProposed is about the job 'payments.dedupe'; use",
        ),
        (
            INGRESS,
            encode(ASKED),
            {"partition": 15},
            "foreign-partitioner",
            f"belongs in {HOME} of 16; set partitioner=murmur2_random in the producer",
        ),
        (INGRESS, b"\0\0\1\0\0", {}, "unknown-schema", "`turbine schema list` shows"),
        (
            INGRESS,
            encode(JobDeleteRequested("1.a", JOB, "bob")),
            {},
            "wrong-record",
            "does not belong on changes.base.v1; it carries ConfigChangeProposed",
        ),
        (INGRESS, encode(CHANGED), {}, "wrong-record", "a JobConfigChanged does not belong"),
        (
            "operator.v1",
            encode(JobDeleteRequested("1.a", JOB, "bob")),
            {"headers": [("ce_type", b"turbine.PauseRequested")]},
            "wrong-type",
            "the header ce_type says PauseRequested and the value is a JobDeleteRequested",
        ),
        (
            INGRESS,
            encode(ASKED),
            {"headers": [("ce_evidence", b"x")]},
            "malformed-headers",
            "the header ce_evidence is no position vector: 'x' is no position",
        ),
        (
            INGRESS,
            encode(ASKED),
            {"headers": [("ce_tick", b"soon")]},
            "malformed-headers",
            "the header ce_tick is 'soon'; give milliseconds since 1970 UTC in digits",
        ),
        (INGRESS, encode(ASKED), {"headers": [("ce_tick", b"-1")]}, "malformed-headers", "ce_tick"),
        (
            INGRESS,
            encode(ASKED),
            {"headers": [("ce_tick", b"9" * 5_000)]},  # more than int() takes
            "malformed-headers",
            "ce_tick",
        ),
        (
            INGRESS,
            encode(ASKED),
            {"headers": [("ce_tick", b"253402300800000")]},
            "malformed-headers",
            "ce_tick",
        ),
        (
            INGRESS,
            encode(ASKED),
            {"headers": [("ce_id", b"a"), ("ce_id", b"a")]},
            "malformed-headers",
            "the header ce_id stands twice; send it once",
        ),
        (
            INGRESS,
            encode(ASKED),
            {"headers": [("ce_time", b"\xff")]},
            "malformed-headers",
            "the header ce_time is not UTF-8; encode it so",
        ),
        (
            INGRESS,
            encode(ASKED),
            {"headers": [("ce_id", b"x" * (HEADER_BYTES_MAX + 1))]},
            "malformed-headers",
            "the headers have more than 65536 bytes",
        ),
        ("loads.v1", encode(ClockTicked(1)), {}, "wrong-record", "it carries TaskLoadReported"),
    ],
)
def test_a_message_that_says_nothing_usable_is_refused_with_its_place_and_a_remedy(
    short: str, value: bytes | None, named: dict[str, Any], reason: str, sentence: str
) -> None:
    refused = refusal(short, value, **named)
    assert refused.reason == reason
    assert sentence in refused.sentence
    assert refused.sentence.startswith(f"{short}/")
    assert " at offset 41: " in refused.sentence


def test_other_peoples_headers_do_no_harm() -> None:
    for headers in (
        [("x", b"\xff")],
        [("x", b"1"), ("x", b"2")],
        [("x", None), ("ce_source", None)],
        [("x", b"0" * (HEADER_BYTES_MAX + 1))],
        [("traceparent", b"\xff")],
        [("ce_type", b"com.example.config-change")],
        [("ce_parent", b"")],
    ):
        record = read(INGRESS, encode(ASKED), headers).record
        assert record == Record(JOB, ASKED.change_id, "ConfigChangeProposed", encode(ASKED), ASKED)


def test_a_reader_may_have_no_headers_at_all() -> None:
    at = partition_of(JOB, P)
    got = read_message(INGRESS, at, 1, 2, JOB.encode(), encode(ASKED), None, P)
    assert got.record.body == ASKED


def test_both_sides_of_the_limit_of_the_headers() -> None:
    fits = [("ce_logic", b"x" * HEADER_BYTES_MAX)]
    assert len(read(INGRESS, encode(ASKED), fits).record.logic) == HEADER_BYTES_MAX


def test_the_greatest_tick_is_read_and_written() -> None:
    headers = [("ce_tick", b"253402300799999")]
    record = read(INGRESS, encode(ASKED), headers).record
    assert ("ce_time", b"9999-12-31T23:59:59.999Z") in headers_of(record, INGRESS)


def test_topics_of_plain_bytes_are_not_read_as_records() -> None:
    for short in ("dead-letters.v1", "rows.job-service.v1"):
        with pytest.raises(AssertionError, match="holds bytes, no records"):
            read(short, b"x", partition=0)


def test_what_is_unreadable_can_be_sent_to_another_process() -> None:
    refused = Unreadable("no-key", "the message has no key")
    again = pickle.loads(pickle.dumps(refused))  # noqa: S301 - our own bytes
    assert (again.reason, again.sentence) == ("no-key", "the message has no key")
    assert str(again) == "no-key: the message has no key"
