"""What the SDK sends: a CloudEvent that names where it comes from."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from events.codec import SDK, Record, decode, headers_of
from events.records import ConfigChangeProposed
from events.topics import CHANGES_BASE, PREFIX, partition_of
from turbine_client import publish
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
    for why in ("", "no verdict will come of it"):
        monkeypatch.setattr(publish, "never_answered", lambda *_, why=why: why)
        told = one.verdict(Pending(ASKED.change_id, ASKED.job, Future()), 0)
        assert isinstance(told, Unknown)
        assert told.explanation == (
            why
            or "no verdict in 0 s; is the job service running? Ask again with this id:"
            f" {ASKED.change_id}"
        )


def test_a_request_is_a_cloud_event_of_the_sdk() -> None:
    said: list[Any] = []
    one: Any = object.__new__(Publisher)  # without a broker
    one._partitions, one._lock = PARTITIONS, threading.Lock()
    one._expect = lambda _: Future()
    one._emitter = SimpleNamespace(write=lambda *words: said.append(words), settle=lambda: None)
    one._send(CHANGES_BASE, ASKED.job, ASKED.change_id, ASKED)
    [(topic, partition, key, value, headers)] = said
    assert (topic, partition) == (PREFIX + CHANGES_BASE, partition_of(ASKED.job, PARTITIONS))
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
