"""A write counts when the broker has said where it lies; anything else ends whoever said it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from components.runtime.kafka.emitter import Emitter
from turbine_client.emitter import WriteRefused


@dataclass(slots=True)
class Report:
    """What the client hands to the callback."""

    at: int | None

    def offset(self) -> int | None:
        return self.at

    def topic(self) -> str:
        return "turbine.journal.v1"

    def partition(self) -> int:
        return 3


class Why:
    def str(self) -> str:
        return "message too large"


@dataclass(slots=True)
class FakeProducer:
    """Answers each write at the next poll, as it is told to."""

    answer: tuple[Any, Report]
    _asked: list[Callable[[Any, Any], None]] = field(default_factory=list)

    def produce(self, name: str, *, on_delivery: Callable[[Any, Any], None], **_: Any) -> None:
        self._asked.append(on_delivery)

    def poll(self, seconds: float) -> None:
        for told in self._asked:
            told(*self.answer)
        self._asked.clear()


def emitter(error: Any, at: int | None) -> Emitter:
    producer: Any = FakeProducer((error, Report(at)))
    made = Emitter(producer, "turbine", deadline_s=0.2)
    made.write("journal.v1", 3, b"orders", b"", [])
    return made


def test_what_lies_somewhere_is_settled() -> None:
    emitter(None, 7).settle()


def test_an_acknowledgement_without_an_offset_is_none() -> None:
    with pytest.raises(WriteRefused, match=r"journal\.v1/3 was acknowledged without an offset"):
        emitter(None, None).settle()


def test_a_refused_write_is_told_with_its_place() -> None:
    with pytest.raises(WriteRefused, match=r"journal\.v1/3 was refused: message too large"):
        emitter(Why(), None).settle()


def test_one_refused_write_is_not_held_against_the_next() -> None:
    made = emitter(Why(), None)
    with pytest.raises(WriteRefused):
        made.settle()
    made.settle()


def test_what_is_never_acknowledged_is_refused_at_the_deadline() -> None:
    made = emitter(None, 7)
    producer: Any = made.producer
    producer._asked.clear()
    with pytest.raises(WriteRefused, match="1 writes were not acknowledged"):
        made.settle()
