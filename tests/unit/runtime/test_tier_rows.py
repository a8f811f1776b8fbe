"""When a tier-wide component keeps its rows, and what it starts from: on a topic in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from components.runtime.core.component import Component
from components.runtime.core.ground import Ground
from components.runtime.kafka.intake import Message
from components.runtime.tier import rows as tier_rows
from components.runtime.tier.rows import (
    KEEP_SHARE,
    SELDOM_S,
    SNAPSHOT_BYTES_PER_S,
    SNAPSHOT_EVERY_S,
    THEIRS,
    Shelf,
    Snapshots,
    period_s,
)
from events.topics import ROWS_SHARD_MANAGER
from tests.unit.runtime.bench import BASE, Bench, Toy, dump, load, toy
from turbine_client.errors import BrokerUnreachable
from turbine_client.reading import LogUnreadable
from turbine_client.settings import Settings

# Named as one whose topic is in the table.
component: Component[Toy] = replace(toy, name="shard-manager")
SETTINGS = Settings()


@dataclass(slots=True)
class Topic:
    """The topic of snapshots, and an emitter that writes there; with a clock that stands still."""

    messages: list[Message] = field(default_factory=list)
    unsettled: int = 0
    now_s: float = 1_000.0
    write_s: float = 0.0  # what a settling takes
    aside: list[Message] | None = None  # what is on its way, while nobody sees it yet

    def write(self, name: str, partition: int, key: bytes, value: Any, headers: Any) -> None:
        assert (name, partition) == (ROWS_SHARD_MANAGER, 0)
        lies = self.messages if self.aside is None else self.aside
        at_ms = int(self.now_s * 1_000)
        lies.append(Message(ROWS_SHARD_MANAGER, 0, len(lies), at_ms, key, value, list(headers)))
        self.unsettled += 1

    def settle(self) -> None:
        self.unsettled = 0
        self.now_s += self.write_s

    def read(self, _: Settings, spans: Mapping[str, tuple[int, Any]]) -> Iterator[list[Message]]:
        ((at, (first, end)),) = spans.items()
        assert (at, end) == (f"{ROWS_SHARD_MANAGER}/0", None)
        yield self.messages[first:]

    def markers(self) -> int:
        return sum(b"/" not in (message.key or b"") for message in self.messages)


@pytest.fixture
def topic(monkeypatch: pytest.MonkeyPatch) -> Topic:
    topic = Topic()
    monkeypatch.setattr(tier_rows, "read_span", topic.read)
    monkeypatch.setattr(tier_rows, "time", SimpleNamespace(monotonic=lambda: topic.now_s))
    return topic


class Instance:
    """One that reads the bench's log and keeps what it knows."""

    def __init__(
        self, topic: Topic, log: Bench | None = None, component: Component[Toy] = component
    ) -> None:
        self.topic = topic
        self.bench = Bench(log.log, log.clock) if log else Bench()
        self.snapshots: Snapshots[Toy] = Snapshots(SETTINGS, component, topic)  # type: ignore[arg-type]  # it emits
        kept, kept_ms = self.snapshots.shelf.open()
        self.owner = self.bench.assign(held=kept.held, seen=kept.seen, component=component)
        self.bench.tick()
        self.snapshots.begin(kept_ms, int(topic.now_s * 1_000))

    def turn(self, wishes: int = 1) -> bool:
        """Did it keep something?"""
        for _ in range(wishes):
            self.bench.wish()
        self.bench.read()
        before = self.topic.markers()
        self.snapshots.keep_if_due(self.owner)
        assert not self.topic.unsettled
        return self.topic.markers() > before


def test_it_keeps_at_once_where_nothing_was_kept_and_then_once_a_period(topic: Topic) -> None:
    one = Instance(topic)
    assert one.turn()
    assert not one.turn()
    topic.now_s += SNAPSHOT_EVERY_S - 1
    assert not one.turn()
    topic.now_s += 1
    assert one.turn()


def test_where_nothing_was_folded_nothing_is_kept(topic: Topic) -> None:
    one = Instance(topic)
    assert one.turn()
    topic.now_s += 10 * SNAPSHOT_EVERY_S
    assert not one.turn(wishes=0)
    assert one.turn()


def test_what_takes_long_is_done_seldom(topic: Topic) -> None:
    one = Instance(topic)
    topic.write_s = SNAPSHOT_EVERY_S
    assert one.turn()
    topic.now_s += SNAPSHOT_EVERY_S / KEEP_SHARE - 1
    assert not one.turn()
    topic.now_s += 1
    assert one.turn()


def test_what_is_large_is_kept_less_often_but_not_seldom(topic: Topic) -> None:
    noise = Random(7).randbytes(2 * int(SNAPSHOT_EVERY_S) * SNAPSHOT_BYTES_PER_S).hex()
    large = replace(
        component, dump=lambda row: [noise, dump(row)], load=lambda plain: load(plain[1])
    )
    one = Instance(topic, component=large)
    assert one.turn()
    other = Instance(topic, one.bench, large)
    size = sum(len(one.value or b"") for one in topic.messages if b"/" in (one.key or b""))
    period = period_s(size)
    assert SNAPSHOT_EVERY_S < period < SELDOM_S == period_s(100 * size)
    topic.now_s += period - 1
    assert (one.turn(), other.turn()) == (False, False), "who begins waits as long"
    topic.now_s += 1
    assert (one.turn(), other.turn()) == (True, False)
    topic.now_s += period * THEIRS - 1
    assert not other.turn(), "nor is the other one late before"
    topic.now_s += 2
    assert other.turn()


def test_a_start_goes_on_from_what_was_kept(topic: Topic) -> None:
    one = Instance(topic)
    one.turn(wishes=3)
    heir = Instance(topic, one.bench)
    assert heir.bench.row == one.bench.row
    assert heir.owner.seen[BASE] == 3
    assert not heir.turn(), "it was kept a moment ago"
    topic.now_s += SNAPSHOT_EVERY_S
    assert heir.turn(), "its predecessor keeps no more"
    assert Instance(topic, one.bench).bench.row.wishes == 5


def test_a_start_long_after_the_newest_one_keeps_soon(topic: Topic) -> None:
    one = Instance(topic)
    one.turn()
    topic.now_s += SNAPSHOT_EVERY_S / 2
    heir = Instance(topic, one.bench)
    topic.now_s += SNAPSHOT_EVERY_S / 2
    assert heir.turn()


def test_of_two_instances_one_keeps(topic: Topic) -> None:
    one = Instance(topic)
    one.turn()
    other = Instance(topic, one.bench)
    kept = []
    for _ in range(20):
        topic.now_s += SNAPSHOT_EVERY_S
        kept.append((one.turn(), other.turn()))
    assert kept == [(True, False)] * 20


def test_when_one_is_gone_the_other_keeps(topic: Topic) -> None:
    one = Instance(topic)
    one.turn()
    other = Instance(topic, one.bench)
    topic.now_s += SNAPSHOT_EVERY_S
    assert one.turn()
    assert not other.turn()
    topic.now_s += THEIRS * SNAPSHOT_EVERY_S - 1
    assert not other.turn()
    topic.now_s += 1
    assert other.turn()


def test_of_two_that_wrote_at_once_one_goes_on_and_the_other_waits(topic: Topic) -> None:
    one = Instance(topic)
    other = Instance(topic, one.bench)
    ways: list[list[Message]] = []
    for instance in (one, other):
        topic.aside = []
        ways.append(topic.aside)
        instance.turn()
    topic.aside = None
    ours, others = ways
    for message in (others[0], ours[0], ours[1], others[1]):
        topic.messages.append(message._replace(offset=len(topic.messages)))
    assert Shelf(SETTINGS, component).open()[0].seen == {}, "its chunk is not what the marker names"
    topic.now_s += SNAPSHOT_EVERY_S
    assert (one.turn(), other.turn()) == (False, True)
    assert Shelf(SETTINGS, component).open()[0].seen[BASE] == other.owner.seen[BASE]


def test_a_clean_stop_keeps_whatever_is_left(topic: Topic) -> None:
    one = Instance(topic)
    one.turn()
    other = Instance(topic, one.bench)
    assert not other.turn(wishes=2)
    other.snapshots.close(other.owner)
    assert not topic.unsettled
    assert Instance(topic, one.bench).owner.seen[BASE] == 3
    count = len(topic.messages)
    other.snapshots.close(other.owner)
    assert len(topic.messages) == count, "nothing has changed since"


@pytest.mark.parametrize("away", [BrokerUnreachable("no broker"), LogUnreadable("nothing came")])
def test_while_the_broker_is_away_nothing_is_kept_and_nobody_ends(
    topic: Topic, monkeypatch: pytest.MonkeyPatch, away: Exception
) -> None:
    one = Instance(topic)

    def read(*_: object) -> Iterator[list[Message]]:
        raise away

    monkeypatch.setattr(tier_rows, "read_span", read)
    assert not one.turn()
    one.snapshots.close(one.owner)
    assert topic.markers() == 0
    monkeypatch.setattr(tier_rows, "read_span", topic.read)
    topic.now_s += SNAPSHOT_EVERY_S
    assert one.turn()


def test_a_reader_of_the_past_takes_the_one_before(topic: Topic) -> None:
    one = Instance(topic)
    for _ in range(3):
        assert one.turn()
        topic.now_s += SNAPSHOT_EVERY_S
    ends = {at: one.bench.log.end(at) for at in one.owner.places}
    for upto, expected in ((3, 3), (2, 2), (1, None)):
        kept, _ = Shelf(SETTINGS, component).open(ends | {BASE: upto})
        assert kept.seen.get(BASE) == expected
    assert Shelf(SETTINGS, component).open({})[0].seen == {}


def test_rows_that_cannot_be_loaded_are_left_aside_for_the_ones_before(topic: Topic) -> None:
    one = Instance(topic)
    one.turn()
    topic.now_s += SNAPSHOT_EVERY_S
    one.owner.component = replace(component, dump=lambda _: [])
    one.turn()
    kept, _ = Shelf(SETTINGS, component).open()
    assert kept.seen[BASE] == 1


def test_positions_below_what_has_expired_end_the_start(topic: Topic) -> None:
    one = Instance(topic)
    one.turn()
    places = one.owner.places
    now = Ground({}, dict.fromkeys(places, 5), dict.fromkeys(places, 9))
    shelf = Shelf(SETTINGS, component)
    kept, _ = shelf.open()
    with pytest.raises(LogUnreadable, match="it had been read up to 1, and what lies below 5"):
        shelf.check(kept, places, now)
    shelf.check(Shelf(SETTINGS, replace(component, logic="toy/2")).open()[0], places, now)
