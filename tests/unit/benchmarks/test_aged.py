"""What `aged` makes of its starts, and that the log which it makes old is one that stands."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from benchmarks import aged, aged_author
from benchmarks.aged_author import JOBS, OF_TEN, Author
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from components.task_manager.core.chains import CHAIN, KINDS, Chains
from events.topics import CONTAINERS, JOURNAL, place, short_of
from turbine_client.settings import Settings


class Lines:
    """In the place of a broker."""

    def __init__(self, *_: object, **__: object) -> None:
        self.messages: list[Message] = []
        self._ends: Counter[str] = Counter()

    def write(self, name: str, partition: int, key: str, value: bytes, *, headers: Any) -> None:
        short = short_of(name)
        at = self._ends[place(short, partition)]
        self._ends[place(short, partition)] += 1
        self.messages.append(Message(short, partition, at, 5, key.encode(), value, headers))

    def settle(self) -> None:
        pass


def test_all_that_an_author_says_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aged_author, "Writer", Lines)
    monkeypatch.setattr(aged_author, "partitions_of", lambda _: {JOURNAL: 1})
    author = Author(Settings(), 0, 1)
    lines: Any = author._writer
    author.write(len(OF_TEN) * 100)
    assert len(lines.messages) == JOBS + 1 + len(OF_TEN) * 100
    chains = Chains(1, "default", lambda *_: True)
    for message in lines.messages:
        if message.topic == CONTAINERS:
            continue
        read = take_in(message, 1, KINDS)
        assert not isinstance(read, DeadLetter)
        chains.read(read)
    owner = chains.owners[CHAIN]
    assert (owner.counts.void, owner.counts.folded) == (0, JOBS + 1 + 800)
    assert len([one for one in owner.held if "/" not in one]) == JOBS


def starts(*seconds: float) -> list[dict[str, Any]]:
    return [{"start_s": one, "epoch": 2, "records": 5} for one in seconds]


def test_a_ratio_is_that_of_the_medians() -> None:
    young = {"records": 10, "known": starts(1, 2, 9), "new": starts(1), "peer": starts(4)}
    old = {"records": 50, "known": starts(3, 3, 3), "new": starts(1), "peer": starts(20)}
    figures, peers = aged._figures([young, old]), aged._peers([young, old])
    assert (figures["container_start_ratio"], figures["records"]) == (1.5, 50)
    assert (figures["new_container_start_ratio"], peers["from_0_ratio"]) == (1.0, 5.0)


def test_a_line_that_is_still_being_written_is_not_read() -> None:
    text = '{"event": "life begins", "epoch": 3}\n{"event": "caught up", "rec'
    assert aged._told(text) == {"life begins": {"event": "life begins", "epoch": 3}}
    assert aged._told(text + 'ords": 4}\n')["caught up"]["records"] == 4
