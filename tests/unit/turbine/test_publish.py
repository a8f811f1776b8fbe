"""What the SDK sends: a CloudEvent that names where it comes from."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from events.generated.records import ConfigChangeProposed
from events.topics import CHANGES_BASE, partition_of
from events.wire.codec import SDK, Record, decode, headers_of
from turbine_client import publish
from turbine_client.identity import VALID_MS, change_id
from turbine_client.publish import Pending, Publisher, TooLarge, Unknown, encoded
from turbine_client.request_values import VALUE_MOST

PARTITIONS = 4
ASKED = ConfigChangeProposed("1763476060000.a", "clicks", "ann", None, "{}")


def test_who_waits_in_vain_is_told_where_no_verdict_will_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one: Any = object.__new__(Publisher)  # without a broker
    one._settings = None
    monkeypatch.setattr(publish, "in_journal", lambda *_: None)
    valid = change_id(time.time_ns() // 1_000_000 + VALID_MS, "a")
    late = ASKED.change_id
    for asked, why, explanation in (
        (late, "no verdict will come of it", "no verdict will come of it"),
        (
            valid,
            "",
            f"no verdict in 0 s; is the job service running? Ask again with this id: {valid}",
        ),
        (
            late,
            "",
            (
                f"no verdict in 0 s: the time that {late} names is over; send it again under a new"
                " id"
            ),
        ),
    ):
        monkeypatch.setattr(publish, "never_answered", lambda *_, why=why: why)
        told = one.verdict(Pending(asked, ASKED.job, Future()), 0)
        assert isinstance(told, Unknown)
        assert told.explanation == explanation


def test_a_request_is_a_cloud_event_of_the_sdk() -> None:
    said: list[Any] = []
    one: Any = object.__new__(Publisher)  # without a broker
    one._partitions, one._lock = PARTITIONS, threading.Lock()
    one._expect = lambda _: Future()
    one._emitter = SimpleNamespace(write=lambda *words: said.append(words), settle=lambda: None)
    one._send(CHANGES_BASE, ASKED.job, ASKED.change_id, ASKED)
    [(topic, partition, key, value, headers)] = said
    assert (topic, partition) == (CHANGES_BASE, partition_of(ASKED.job, PARTITIONS))
    record = Record(ASKED.job, ASKED.change_id, "ConfigChangeProposed", value, ASKED, source=SDK)
    assert (key, headers) == (ASKED.job.encode(), headers_of(record, CHANGES_BASE))
    assert decode(value) == ASKED
    headers = dict(headers)
    assert headers["ce_specversion"] == b"1.0"
    assert headers["ce_type"] == b"turbine.ConfigChangeProposed"
    assert headers["ce_id"] == ASKED.change_id.encode()
    assert headers["ce_source"] == b"sdk"


def test_a_request_that_fits_into_no_message_is_not_sent() -> None:
    """The broker would refuse it, and nobody would know what became of it."""
    small = replace(ASKED, set_json="x" * (VALUE_MOST - 200))
    assert len(encoded("clicks", small)) <= VALUE_MOST
    with pytest.raises(TooLarge, match=rf"clicks: the value has \d+ bytes, and {VALUE_MOST} of a"):
        encoded("clicks", replace(ASKED, set_json="x" * VALUE_MOST))


def test_an_old_change_is_asked_for_among_the_verdicts_since_it_was_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As early as it may have been, by its id, whatever the sender's clock said."""
    begun: list[int] = []

    def subscriber(_: object, *, start: int, **__: object) -> SimpleNamespace:
        begun.append(start)
        return SimpleNamespace(poll=lambda _: [], close=lambda: None)

    one: Any = object.__new__(Publisher)  # without a broker
    one._settings = None
    monkeypatch.setattr(publish, "Subscriber", subscriber)
    monkeypatch.setattr(publish, "in_journal", lambda *_: None)
    assert isinstance(one.ask(ASKED.change_id, wait_s=0), Unknown)
    assert begun == [1763476060000 - 2 * VALID_MS]


def test_the_journal_is_looked_into_after_a_while_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[float] = []
    unknown = Unknown(ASKED.change_id, ASKED.job, "")
    pending: Any = SimpleNamespace(
        since_s=time.monotonic(), refused="", change_id="", job="",
        wait=lambda s: asked.append(s) or unknown, unanswered=lambda _: unknown,
    )  # fmt: skip
    one: Any = object.__new__(Publisher)  # without a broker
    one._settings = None
    monkeypatch.setattr(publish, "in_journal", lambda *_: asked.append(0))
    monkeypatch.setattr(publish, "never_answered", lambda *_: "")
    assert one.verdict(pending, 30) == unknown
    assert [round(s) for s in asked] == [round(publish.EARLY_S), 0, 30, 0]
    pending.refused = "the broker is full"
    monkeypatch.setattr(publish, "hinted", lambda _, verdict: verdict)
    assert one.verdict(pending, 30) == unknown
    assert len(asked) == 5, "what was not sent lies nowhere"


def test_who_waits_is_answered_once_and_told_the_first_reason() -> None:
    one: Any = object.__new__(Publisher)  # without a broker
    one._hearing, one._waiting, one._lost = threading.Lock(), {}, ""
    verdict, other = Unknown("a", "clicks", "1"), Unknown("a", "clicks", "2")
    future = one._expect("a")
    assert one._expect("a") is future, "one id is one change"
    one._answer("a", verdict)
    one._answer("a", other)  # it is read again
    assert future.result(0) == verdict
    late = one._expect("b")
    for why in ("the disk is full", "this Publisher was closed"):
        one._end(why)
        with pytest.raises(publish.Unheard, match="heard any more: the disk is full;"):
            one._expect("c")
    with pytest.raises(publish.Unheard, match="ask a new Publisher for b"):
        late.result(0)


def test_both_sides_of_how_long_a_request_may_be_valid() -> None:
    assert publish._new_id(VALID_MS / 1000)
    for seconds in (0, VALID_MS / 1000 + 0.001):
        with pytest.raises(ValueError, match=r"valid_s is above 0 and at most \d+, not"):
            publish._new_id(seconds)
