"""A batch that is left unread has one stand-in at its last offset, wherever it lies."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, TopicPartition

from components.runtime.kafka.intake import SPOILT_BATCH, DeadLetter, take_in
from turbine_client import reading, spoilt
from turbine_client.reading import Follower
from turbine_client.settings import Settings

NAME, AT = "turbine.changes.base.v1", "changes.base.v1/2"
BAD = KafkaError(KafkaError._BAD_COMPRESSION)
EOF = KafkaError(KafkaError._PARTITION_EOF)


def heard(offset: int, error: KafkaError | None = None) -> Any:
    """A message as the client gives it."""
    told = {
        "topic": NAME, "partition": 2, "offset": offset, "error": error, "key": b"k",
        "value": b"v", "headers": None, "timestamp": (2, 1),
    }  # fmt: skip
    return SimpleNamespace(**{name: lambda one=one: one for name, one in told.items()})


@dataclass(slots=True)
class Client:
    """Of a place of which some batches cannot be inflated; the rest is a message an offset."""

    end: int
    bad: tuple[range, ...]
    at: int = 0

    def get_watermark_offsets(self, _: TopicPartition, timeout: float) -> tuple[int, int]:
        assert timeout > 0
        return 0, self.end

    def assign(self, spots: list[TopicPartition]) -> None:
        for one in spots:
            assert one.topic == NAME
            self.at = one.offset

    incremental_assign = assign

    def unassign(self) -> None:
        """Nothing is read any more."""

    def incremental_unassign(self, spots: list[TopicPartition]) -> None:
        assert len(spots) == 1

    def poll(self, _: float) -> Any:
        inside = next((one for one in self.bad if self.at in one), None)
        if inside is not None:
            return heard(inside.start, BAD)
        return heard(self.at, EOF if self.at >= self.end else None)

    def consume(self, most: int, timeout_s: float) -> list[Any]:
        assert most > 0 <= timeout_s
        one = self.poll(0)
        if one.error() is None:
            self.at += 1
        return [] if one.error() is not None and one.error().code() == EOF.code() else [one]

    def close(self) -> None:
        """Left."""


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[Client]:
    made: list[Client] = []

    def consumer(_: Settings, **__: object) -> Client:
        return Client(made[0].end, made[0].bad)

    monkeypatch.setattr(spoilt, "consumer", consumer)
    monkeypatch.setattr(reading, "consumer", consumer)
    return made


@pytest.mark.parametrize("length", [1, 2, 3, 400, 100_001])
@pytest.mark.parametrize("behind", [0, 1, 7])
def test_it_lies_at_the_last_offset_of_its_batch(
    clients: list[Client], length: int, behind: int
) -> None:
    last = 5 + length - 1
    # Behind it there may be another one of its kind.
    more = (range(last + 1, last + 1 + behind),) if behind == 7 else ()
    clients.append(Client(last + 1 + behind, (range(5, last + 1), *more)))
    one = spoilt.stand_in(Settings(), heard(5, BAD))
    assert (one.place, one.offset) == (AT, last)
    found = take_in(one, 4, None)
    assert isinstance(found, DeadLetter)
    assert (found.reason, found.value()) == ("spoilt-batch", None)
    assert found.sentence == f"{AT} at offset {last}: {SPOILT_BATCH}"


def test_who_follows_is_led_behind_it_once(clients: list[Client]) -> None:
    clients.append(Client(12, (range(3, 6), range(6, 9))))
    follower = Follower(Settings(), {AT: 1})
    polls = [follower.poll(0.0) for _ in range(8)]
    assert [one.offset for poll in polls for one in poll] == [1, 2, 5, 8, 9, 10, 11]
    assert [one.offset for poll in polls for one in poll if one.spoilt] == [5, 8]
