"""Decisions are read by their headers, whatever has become of their bodies."""

from __future__ import annotations

import pytest

from events.generated.records import (
    Generation,
    JobDeleted,
    JobDeleteRequested,
    PlacementPlanned,
    TaskStarted,
)
from events.topics import partition_of
from events.wire.codec import SKIPPED, encode, headers_of
from tests.unit.events.messages import (
    ASKED,
    CHANGED,
    JOB,
    TRACE,
    VERSIONS,
    P,
    decided,
    journal,
    read,
    refusal,
)


def test_a_decision_is_read_as_it_was_written() -> None:
    record = decided(trace=TRACE, cause="c")
    assert journal(record) == record
    plan = PlacementPlanned("gold", "p", "load", 1, 2, 3, 0, "d", "because")
    tiers = decided(plan, key="gold/placement")
    got = read("tiers.v1", tiers.value, headers_of(tiers, "tiers.v1"), key=b"gold/placement")
    assert got.record == tiers
    assert got.place == "tiers.v1/0"


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"\0\0\1\0\0from a newer build",
        encode(CHANGED)[:-3],
        encode(CHANGED) + b"x",
        b"\0" * (300 * 1024),
        encode(ASKED),
        encode(JobDeleted(JOB, "1.a", VERSIONS, "alice")),
    ],
    ids=["none", "empty", "unknown", "cut", "trailing", "large", "not carried", "other type"],
)
def test_a_decision_that_cannot_be_read_still_moves_the_chain(value: bytes | None) -> None:
    record = journal(decided(), headers=headers_of(decided(), "journal.v1"), value=value)
    assert record == decided(value=value or b"", body=None)


def test_a_decision_of_a_kind_that_only_a_newer_build_knows_has_no_body() -> None:
    newer = decided(value=b"\0\0\1\0\0x", kind="JobRenamed", body=None)
    assert journal(newer) == newer
    # Nor is it skipped: whoever owns the key has to stop at it.
    assert journal(newer, wanted=frozenset({"JobDeleted"})) == newer


def test_the_kind_of_a_decision_may_come_from_its_body() -> None:
    headers = [
        (name, value) for name, value in headers_of(decided(), "journal.v1") if name != "ce_type"
    ]
    assert journal(decided(), headers=headers) == decided()
    assert journal(decided(), headers=headers, value=b"x").kind == ""


@pytest.mark.parametrize(
    ("drop", "add", "sentence"),
    [
        ("ce_id", [], "the header ce_id is missing; only Turbine's components write to journal.v1"),
        ("ce_parent", [], "the header ce_parent is missing"),
        ("ce_id", [("ce_id", b"")], "the header ce_id is missing"),
        ("ce_evidence", [("ce_evidence", b"journal.v1/3")], "ce_evidence is no position vector"),
        ("ce_tick", [("ce_tick", b"1e3")], "the header ce_tick is '1e3'"),
    ],
)
def test_what_names_no_parent_or_garbles_its_evidence_is_no_decision(
    drop: str, add: list[tuple[str, bytes]], sentence: str
) -> None:
    kept = [one for one in headers_of(decided(), "journal.v1") if one[0] != drop]
    refused = refusal("journal.v1", decided().value, [*kept, *add])
    assert refused.reason == "not-a-decision"
    assert sentence in refused.sentence


def test_a_decision_lies_under_its_key_too() -> None:
    headers = headers_of(decided(), "journal.v1")
    assert refusal("journal.v1", decided().value, headers, key=None).reason == "no-key"
    at = (partition_of(JOB, P) + 1) % P
    refused = refusal("journal.v1", decided().value, headers, partition=at)
    assert refused.reason == "foreign-partitioner"


def test_what_is_not_wanted_is_not_decoded() -> None:
    broken = decided(value=b"\0not even Avro")
    skipped = journal(
        broken,
        headers=headers_of(decided(), "journal.v1"),
        value=broken.value,
        wanted=frozenset({"JobDeleted"}),
    )
    assert skipped == decided(value=broken.value, body=SKIPPED)
    assert journal(decided(), wanted=frozenset({"JobConfigChanged"})) == decided()


def test_a_fact_that_is_not_wanted_is_known_by_its_headers() -> None:
    started = TaskStarted(JOB, 0, Generation(1, 1), "c", 1)
    headers = [("ce_type", b"turbine.TaskStarted"), ("ce_id", b"x")]
    record = read("tasks.v1", encode(started), headers, wanted=frozenset({"TaskFailed"})).record
    assert (record.kind, record.id, record.body) == ("TaskStarted", "x", SKIPPED)
    # Without the header nobody can tell what it is but by decoding it.
    assert read("tasks.v1", encode(started), wanted=frozenset()).record.body == started


def test_a_request_that_is_not_wanted_is_known_by_its_headers() -> None:
    asked = JobDeleteRequested("1.a", JOB, "bob")
    headers = [("ce_type", b"turbine.JobDeleteRequested"), ("traceparent", TRACE.encode())]
    got = read("operator.v1", encode(asked), headers, wanted=frozenset({"PauseRequested"}))
    assert (got.record.body, got.record.trace) == (SKIPPED, TRACE)
    assert got.record.id == f"{got.place}@41"


def test_a_header_cannot_hide_a_record_from_those_who_want_it() -> None:
    asked = JobDeleteRequested("1.a", JOB, "bob")
    headers = [("ce_type", b"turbine.PauseRequested")]
    wanted = frozenset({"PauseRequested"})
    assert refusal("operator.v1", encode(asked), headers, wanted=wanted).reason == "wrong-type"


def test_the_copy_for_the_world_needs_no_parent() -> None:
    headers = headers_of(decided(), "journal.v1")
    record = read("outcomes.v1", decided().value, headers).record
    assert record == decided(parent="")
