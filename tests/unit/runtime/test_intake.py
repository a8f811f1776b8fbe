"""What becomes of a message whichever client read it, and what its dead letter says."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from components.runtime.kafka.intake import (
    KEY_BYTES,
    LETTER_BYTES,
    DeadLetter,
    Message,
    OffsetGap,
    of_confluent,
    of_faust,
    take_in,
    void_request,
)
from events.generated.records import ConfigChangeProposed, JobDeleteRequested
from events.topics import partition_of
from events.wire.codec import Read, encode
from projections.ingress import VALID_MS

P, JOB, AT_MS = 4, "orders", 1_763_476_000_000
HOME = partition_of(JOB, P)


def asked(change_id: str) -> ConfigChangeProposed:
    return ConfigChangeProposed(
        change_id=change_id,
        job=JOB,
        author="alice",
        expected_version=None,
        set_json="{}",
        clear=(),
        reason="",
        expires_ms=None,
        traceparent=None,
    )


def message(**fields: Any) -> Message:
    good = {
        "topic": "changes.base.v1",
        "partition": HOME,
        "offset": 7,
        "at_ms": AT_MS,
        "key": JOB.encode(),
        "value": encode(asked(f"{AT_MS + 60_000}.token")),
        "headers": None,
    }
    return Message(**(good | fields))


def letter(one: Message) -> DeadLetter:
    found = take_in(one, P, None)
    assert isinstance(found, DeadLetter)
    return found


@dataclass(slots=True)
class Confluent:
    """A message as confluent-kafka gives it."""

    named: Any = None

    def topic(self) -> str:
        return "turbine.changes.base.v1"

    def partition(self) -> int:
        return HOME

    def offset(self) -> int:
        return 7

    def timestamp(self) -> tuple[int, int]:
        return (2, AT_MS)

    def key(self) -> bytes:
        return JOB.encode()

    def value(self) -> bytes | None:
        return message().value

    def headers(self) -> Any:
        if isinstance(self.named, Exception):
            raise self.named
        return self.named


def faust(**fields: Any) -> list[Message | OffsetGap]:
    """What is made of a message that holds one record of aiokafka."""
    one = message()
    given = {
        "topic": "turbine.changes.base.v1",
        "partition": HOME,
        "offset": 7,
        "timestamp": AT_MS,
        "key": one.key,
        "value": one.value,
        "headers": (),
        "checksum": None,
    }
    return of_faust(SimpleNamespace(checksum=[SimpleNamespace(**(given | fields))]))


def test_both_clients_messages_are_one() -> None:
    assert faust() == [of_confluent(Confluent())] == [message()]
    named = [("ce_type", b"x")]
    assert of_confluent(Confluent(named)) == message(headers=named)
    assert faust(headers=tuple(named)) == [message(headers=named)]


def test_what_faust_could_not_decode_is_a_gap() -> None:
    (found,) = faust(checksum=range(5, 9))
    assert found == OffsetGap("changes.base.v1", HOME, 5, 9)
    assert found.place == f"changes.base.v1/{HOME}"


@pytest.mark.parametrize(
    "error", [SystemError("with an exception set"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x")]
)
def test_names_of_headers_that_are_no_text_spoil_one_message(error: Exception) -> None:
    found = letter(of_confluent(Confluent(error)))
    assert found.reason == "malformed-headers"
    assert found.sentence == (
        f"changes.base.v1/{HOME} at offset 7: the name of a header is not UTF-8; encode it so"
    )


def test_a_good_message_is_a_record() -> None:
    found = take_in(message(), P, None)
    assert isinstance(found, Read)
    assert (found.record.key, found.record.kind) == (JOB, "ConfigChangeProposed")


def test_a_letter_has_the_original_and_where_and_why() -> None:
    one = message(value=b"junk", headers=[("trace", b"\xff"), ("trace", None)])
    found = letter(one)
    assert found.value() == b"junk"
    assert found.id == f"changes.base.v1/{HOME}@7"
    assert found.headers() == [
        ("trace", b"\xff"),
        ("trace", None),
        ("dead_letter_id", found.id.encode()),
        ("dead_letter_place", one.place.encode()),
        ("dead_letter_offset", b"7"),
        ("dead_letter_at_ms", str(AT_MS).encode()),
        ("dead_letter_reason", b"not-framed"),
        ("dead_letter_sentence", found.sentence.encode()),
        ("dead_letter_key", JOB.encode()),
    ]


def test_a_tombstone_without_a_key_has_a_letter_without_them() -> None:
    found = letter(message(key=None, value=None))
    assert found.value() is None
    assert "dead_letter_key" not in dict(found.headers())


@pytest.mark.parametrize("size", [LETTER_BYTES, LETTER_BYTES + 1])
def test_a_value_that_no_letter_can_hold_is_cut_and_named_by_its_hash(size: int) -> None:
    found = letter(message(value=bytes(size), key=b"k" * 5_000))
    named = dict(found.headers())
    assert len(found.value() or b"") == LETTER_BYTES
    assert len(named["dead_letter_key"] or b"") == KEY_BYTES
    cut = size > LETTER_BYTES
    assert named.get("dead_letter_value_bytes") == (str(size).encode() if cut else None)
    digest = hashlib.sha256(bytes(size)).hexdigest().encode()
    assert named.get("dead_letter_value_sha256") == (digest if cut else None)


def test_headers_that_no_letter_can_hold_are_left_out_and_counted() -> None:
    theirs = [("x", bytes(LETTER_BYTES))]
    named = dict(letter(message(value=b"junk", headers=theirs)).headers())
    assert "x" not in named
    assert named["dead_letter_headers_bytes"] == str(LETTER_BYTES + 1).encode()


@pytest.mark.parametrize(
    ("change_id", "reason"),
    [
        (f"{AT_MS}.token", None),
        (f"{AT_MS + VALID_MS}.token", None),
        (f"{AT_MS - 1}.token", "change-id-expired"),
        (f"{AT_MS + VALID_MS + 1}.token", "change-id-too-far-ahead"),
        ("tomorrow", "change-id-malformed"),
        ("", "change-id-malformed"),
        (f"{AT_MS + 60_000}.", "change-id-malformed"),
        (f"{AT_MS + 60_000}.{'x' * 200}", "change-id-malformed"),
    ],
)
def test_a_request_that_never_counts_has_a_letter_too(change_id: str, reason: str | None) -> None:
    one = message(value=encode(asked(change_id)))
    read = take_in(one, P, None)
    assert isinstance(read, Read)  # it is folded all the same
    found = void_request(one, read)
    assert (found.reason if found else None) == reason
    if found:
        assert change_id[:80] in found.sentence
        assert f"changes.base.v1/{HOME} at offset 7" in found.sentence


def test_an_operators_request_is_one_and_a_report_is_none() -> None:
    body = JobDeleteRequested(change_id="never", job=JOB, author="alice", reason="gone")
    one = message(topic="operator.v1", value=encode(body))
    read = take_in(one, P, None)
    assert isinstance(read, Read)
    found = void_request(one, read)
    assert found is not None
    assert found.reason == "change-id-malformed"
    assert void_request(message(topic="journal.v1"), read) is None
