"""What a clock says in a turn: one tick, a CloudEvent, in each partition that is due."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from components.clock.agents import Clock
from events.topics import CLOCK, CONTAINERS
from events.wire.codec import Record, headers_of


def turned(due: list[tuple[str, int]]) -> list[tuple[str, int, Record]]:
    """What a clock without a broker says where so much is due."""
    said: list[tuple[str, int, Record]] = []
    one: Any = object.__new__(Clock)
    one._pace = SimpleNamespace(lose=lambda _: None, due=lambda _: due)
    one._ends = lambda: None
    one._emitter = SimpleNamespace(say=lambda *words: said.append(words), forgive=lambda: None)
    one._stop = SimpleNamespace(wait=lambda _: None)
    one.turn()
    return said


def test_a_tick_is_a_cloud_event_in_each_partition_that_is_due() -> None:
    said = turned([(CLOCK, 0), (CONTAINERS, 3)])
    assert [(topic, partition) for topic, partition, _ in said] == [(CLOCK, 0), (CONTAINERS, 3)]
    for topic, _, tick in said:
        headers = dict(headers_of(tick, topic))
        assert headers.pop("ce_id").startswith(b"tick-")
        assert headers == {
            "ce_specversion": b"1.0",
            "ce_type": b"turbine.ClockTicked",
            "ce_source": b"clock",
        }
