"""What waits behind a gap comes in order, and who has none is served in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from random import Random

import pytest

from components.runtime.kafka import gaps
from components.runtime.kafka.gaps import Gaps
from components.runtime.kafka.intake import Message, OffsetGap
from turbine_client.settings import Settings

SHORT = "changes.base.v1"


def one(offset: int, partition: int = 0, size: int = 0) -> Message:
    return Message(SHORT, partition, offset, 1, b"key", bytes(size), None)


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, tuple[int, int]]]:
    """Of each reader that was made."""
    made: list[Mapping[str, tuple[int, int]]] = []

    def read_span(_: Settings, of: Mapping[str, tuple[int, int]]) -> Iterator[list[Message]]:
        made.append(of)
        for at, (first, end) in of.items():
            for offset in range(first, end):
                yield [one(offset, int(at[-1]))]

    monkeypatch.setattr(gaps, "read_span", read_span)
    monkeypatch.setattr(gaps, "PIECE", 3)
    return made


@pytest.fixture
def waiting(spans: list[Mapping[str, tuple[int, int]]]) -> Gaps:
    assert spans == []
    return Gaps(Settings())


def offsets(found: Iterator[Message], partition: int = 0) -> list[int]:
    return [message.offset for message in found if message.partition == partition]


def rest(waiting: Gaps) -> list[int]:
    out = list[int]()
    while waiting.open:
        out += offsets(waiting.piece())
    return out


def test_without_a_gap_nothing_waits(waiting: Gaps) -> None:
    assert offsets(waiting.sift([one(1), one(2)])) == [1, 2]
    assert not waiting.open
    assert list(waiting.piece()) == []


def test_who_has_no_gap_is_served_in_between(waiting: Gaps) -> None:
    poll = [one(4), OffsetGap(SHORT, 0, 5, 12), one(12), one(7, 1)]
    assert [m.place for m in waiting.sift(poll)] == [f"{SHORT}/0", f"{SHORT}/1"]
    assert offsets(waiting.piece()) == [5, 6, 7]
    assert waiting.open
    assert offsets(waiting.sift([one(8, 1), one(13)]), 1) == [8]
    assert offsets(waiting.piece()) == [8, 9, 10]
    assert rest(waiting) == [11, 12, 13]
    assert offsets(waiting.sift([one(14)])) == [14], "as before"


def test_gaps_that_follow_each_other_cost_one_reader(
    waiting: Gaps, spans: list[Mapping[str, tuple[int, int]]]
) -> None:
    poll = [OffsetGap(SHORT, 0, 0, 5), OffsetGap(SHORT, 1, 0, 2), OffsetGap(SHORT, 0, 5, 9)]
    assert list(waiting.sift(poll)) == []
    assert rest(waiting) == list(range(9))
    assert spans == [{f"{SHORT}/0": (0, 9), f"{SHORT}/1": (0, 2)}]


@pytest.mark.parametrize(("most", "readers"), [(2_001, 1), (2_000, 2)])
def test_what_waits_is_held_up_to_a_bound_and_read_once_more_beyond(
    waiting: Gaps,
    spans: list[Mapping[str, tuple[int, int]]],
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    readers: int,
) -> None:
    monkeypatch.setattr(gaps, "HELD_BYTES", most)
    monkeypatch.setattr(gaps, "MESSAGE_BYTES", 500)
    list(waiting.sift([OffsetGap(SHORT, 0, 0, 2), one(2, size=500), one(3, size=500), one(4)]))
    assert rest(waiting) == [0, 1, 2, 3, 4]
    assert len(spans) == readers


def test_what_the_stream_repeats_waits_once(waiting: Gaps) -> None:
    poll = [OffsetGap(SHORT, 0, 0, 5), one(5)]
    list(waiting.sift(poll))
    first = offsets(waiting.piece())
    list(waiting.sift(poll))
    assert first + rest(waiting) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("seed", range(50))
def test_every_place_stays_in_order_and_nothing_is_lost(
    waiting: Gaps, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = Random(seed)
    monkeypatch.setattr(gaps, "HELD_BYTES", chance.choice([1, 2_000, 10**6]))
    found: dict[int, list[int]] = {0: [], 1: []}
    next_ = [0, 0]
    for _ in range(60):
        poll = list[Message | OffsetGap]()
        for _ in range(chance.randrange(4)):
            p, many = chance.randrange(2), chance.randrange(1, 7)
            if chance.random() < 0.2:
                poll.append(OffsetGap(SHORT, p, next_[p], next_[p] + many))
            else:
                poll += [one(next_[p] + n, p) for n in range(many)]
            next_[p] += many
        for message in [*waiting.sift(poll), *waiting.piece()]:
            found[message.partition].append(message.offset)
    while waiting.open:
        for message in waiting.piece():
            found[message.partition].append(message.offset)
    assert [found[p] for p in (0, 1)] == [list(range(n)) for n in next_]
    assert all(a < b for a, b in pairwise(found[0]))
