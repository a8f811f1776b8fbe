"""A message of the log as JSON, for a glance and for an export that holds every byte."""

from __future__ import annotations

import base64
import json

import pytest

from components.runtime.kafka.intake import Message
from events.generated.records import ConfigChangeProposed, JobConfigRejected
from events.sentences import sentence
from events.topics import CHANGES_BASE, DEAD_LETTERS, JOURNAL, ROWS_JOB_SERVICE
from events.wire.codec import Record, encode, headers_of
from turbine.read.records import key_of, to_export, to_plain

BODY = JobConfigRejected("a", "base", "1.x", "invalid", "no", 0)
RECORD = Record(
    "a",
    "d1",
    "JobConfigRejected",
    encode(BODY),
    BODY,
    parent="root",
    evidence={"changes.base.v1/0": 3},
    tick_ms=1000,
    logic="job-service/1",
    source="job-service",
    cause="1.x",
)
DECISION = Message(JOURNAL, 0, 7, 5000, b"a", RECORD.value, [*headers_of(RECORD, JOURNAL)])


def test_a_decision() -> None:
    assert to_plain(DECISION, 1) == {
        "position": "journal.v1/0:7",
        "at_ms": 5000,
        "key": "a",
        "kind": "JobConfigRejected",
        "id": "d1",
        "cause": "1.x",
        "parent": "root",
        "evidence": {"changes.base.v1/0": 3},
        "tick_ms": 1000,
        "logic": "job-service/1",
        "source": "job-service",
        "summary": sentence(BODY),
        "body": BODY.to_plain(),
    }


def test_a_request_without_headers() -> None:
    body = ConfigChangeProposed("1.x", "a", "ana")
    row = to_plain(Message(CHANGES_BASE, 0, 0, 5000, b"a", encode(body), None), 1)
    assert (row["kind"], row["id"], row["body"]) == ("ConfigChangeProposed", "1.x", body.to_plain())
    assert "parent" not in row


def test_a_decision_of_another_build_has_no_body() -> None:
    unknown = b"\0" + (9999).to_bytes(4, "big") + b"x"
    message = Message(JOURNAL, 0, 7, 5000, b"a", unknown, DECISION.headers)
    assert to_plain(message, 1)["body"] is None


def test_what_cannot_be_read_says_why() -> None:
    row = to_plain(Message(CHANGES_BASE, 0, 4, 5000, b"\xff", b"x", None), 1)
    assert (row["kind"], row["key"]) == ("unreadable", "\ufffd")
    assert row["reason"]
    assert row["sentence"].startswith(f"{row['reason']}: ")


@pytest.mark.parametrize(
    ("message", "row"),
    [
        (
            Message(DEAD_LETTERS, 0, 0, 1, b"changes.base.v1/0", b"xyz",
                    [("dead_letter_reason", b"no-key"), ("dead_letter_sentence", b"none")]),
            {"kind": "dead-letter", "reason": "no-key", "sentence": "none", "records": 1,
             "bytes": 3},
        ),
        (
            Message(ROWS_JOB_SERVICE, 0, 0, 1, b"a", b"{}", None),
            {"kind": "row", "bytes": 2},
        ),
        (
            Message(ROWS_JOB_SERVICE, 0, 0, 1, b"a", None, None),
            {"kind": "tombstone", "bytes": 0},
        ),
    ],
)  # fmt: skip
def test_topics_that_hold_bytes(message: Message, row: dict[str, object]) -> None:
    found = to_plain(message, 1)
    assert {name: found[name] for name in row} == row


def test_an_export_holds_every_byte() -> None:
    row = to_export(DECISION, 1)
    assert base64.b64decode(row["value_base64"]) == DECISION.value
    assert DECISION.headers is not None
    assert row["headers"] == [[name, (value or b"").decode()] for name, value in DECISION.headers]
    assert (row["place"], row["offset"], row["at_ms"], row["key"]) == ("journal.v1/0", 7, 5000, "a")
    assert (row["kind"], row["body"]) == ("JobConfigRejected", BODY.to_plain())
    json.dumps(row)


def test_an_export_of_what_is_no_text() -> None:
    message = Message(CHANGES_BASE, 0, 4, 5000, b"\xff", None, [("x", b"\xfe"), ("x", None)])
    row = to_export(message, 1)
    assert row["key"] == {"base64": "/w=="}
    assert row["headers"] == [["x", {"base64": "/g=="}], ["x", None]]
    assert (row["value_base64"], row["kind"]) == (None, "unreadable")
    assert to_export(Message(CHANGES_BASE, 0, 4, 5000, None, None, None), 1)["key"] is None


def test_a_key_for_readers() -> None:
    assert key_of(Message(CHANGES_BASE, 0, 0, 0, None, None, None)) == ""
