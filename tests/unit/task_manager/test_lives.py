"""What a life leaves to the next one, and how much of the log the next one reads nevertheless."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.runtime.core.step import SKEW_MS
from components.runtime.kafka.intake import Message
from components.task_manager import last_lives as lives
from components.task_manager.last_lives import SINCE, KeptLife, PastLife
from projections.hold import Tenancy

END = 10_000


def offset_at(at_ms: int) -> int:
    """A record a second."""
    return min(END, at_ms // 1_000)


def said(key: str, value: bytes | None) -> Message:
    return Message("lives.v1", 0, 1, 5, key.encode(), value, None)


def test_a_life_reads_on_from_what_the_last_one_had_read() -> None:
    kept = KeptLife(PastLife(7, None, 9_000_000), since_ms=1_000)
    assert lives.unknown(kept, END, offset_at) == (9_000 - SKEW_MS // 1_000, END)


def test_who_never_lived_reads_what_was_said_before_lives_were_kept() -> None:
    assert lives.unknown(KeptLife(None, 20_000), END, offset_at) == (0, 20 + SKEW_MS // 1_000)
    assert lives.unknown(KeptLife(None, 10**9), END, offset_at) == (0, END)


def test_where_nothing_was_ever_kept_all_is_read() -> None:
    assert lives.unknown(KeptLife(), END, offset_at) == (0, END)


def test_a_life_that_had_read_nothing_yet_leaves_all_to_the_next() -> None:
    assert lives.unknown(KeptLife(PastLife(1), 0), END, offset_at) == (0, END)


@pytest.mark.parametrize("tenancy", [None, Tenancy(3, "rich", "d", 'it was "lent"')])
def test_what_is_kept_comes_back(tenancy: Tenancy | None) -> None:
    past, wrote = PastLife(4, tenancy, 77), list[tuple[str, int, bytes, bytes]]()

    class Pen:
        def write(self, name: str, at: int, key: bytes, value: bytes, _: object) -> None:
            wrote.append((name, at, key, value))

    pen: Any = Pen()
    lives.keep(pen, 3, "c1", past)
    lives.keep_since(pen, 3, 55)
    [(name, at, key, value), (_, _, since, when)] = wrote
    assert (name, at, key, since) == ("lives.v1", 3, b"c1", SINCE.encode())
    told = [said("c2", b"{}"), said("c1", value), said(SINCE, when)]
    assert lives.kept_of(told, "c1") == KeptLife(past, 55)
    assert lives.kept_of(told, "c3") == KeptLife(None, 55)


@pytest.mark.parametrize("value", [b"", b"7", b"{}", b"[]", None, b'{"epoch":"x","tenancy":null}'])
def test_of_a_word_of_another_build_the_log_tells_all(value: bytes | None) -> None:
    assert lives.kept_of([said(SINCE, b"55"), said("c1", value)], "c1") == KeptLife()
    assert lives.kept_of([said(SINCE, b"55"), said("c1", value)], "c2") == KeptLife(None, 55)
    assert lives.kept_of([said(SINCE, b"soon")], "c1") == KeptLife()


def test_the_last_word_counts() -> None:
    words = [{"epoch": n, "tenancy": None, "read_ms": n} for n in (1, 2)]
    told = [said("c1", json.dumps(word).encode()) for word in words]
    assert lives.kept_of(told, "c1").past == PastLife(2, None, 2)
