"""What a seat commits and what it refuses, on a stand-in for the broker."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from tasks import session as seat
from tasks.core.protocol import FAILED, STOPPED
from tasks.session import Over, TaskSession
from tests.unit.task_manager.test_small_parts import work
from turbine_client.settings import Settings

ONE, TWO = ("clicks", 0), ("clicks", 1)


class Broker:
    """As much of one as a seat has to do with: a producer and a consumer in one."""

    def __init__(self) -> None:
        self.open: list[str] | None = None
        self.done: list[tuple[list[str], dict[tuple[str, int], int]]] = []
        self.lease, self.first = True, 0
        self.kept: dict[tuple[str, int], tuple[int, str]] = {}

    def holds(self, _: int) -> bool:
        return self.lease

    def consumer_group_metadata(self) -> None: ...

    def poll(self, _: float) -> None: ...

    def __len__(self) -> int:
        return 0

    def begin_transaction(self) -> None:
        assert self.open is None
        self.open = []

    def produce_batch(self, topic: str, messages: list[dict[str, Any]]) -> int:
        assert self.open is not None
        self.open += [f"{topic} {one.get('key')} {one['value']}" for one in messages]
        return len(messages)

    def send_offsets_to_transaction(self, spots: list[Any], *_: object) -> None:
        self.spots = spots

    def commit_transaction(self, _: float) -> None:
        assert self.open is not None
        self.done.append((self.open, {(o.topic, o.partition): o.offset for o in self.spots}))
        self.kept |= {(o.topic, o.partition): (o.offset, o.metadata) for o in self.spots}
        self.open = None

    # --- as it is asked at a start

    def init_transactions(self, _: float) -> None: ...

    def list_topics(self, topic: str, _: float) -> Any:
        found = SimpleNamespace(error=None, partitions=(0, 1))
        return SimpleNamespace(topics={topic: found})

    def committed(self, spots: list[TopicPartition], _: float) -> list[TopicPartition]:
        found = [(one, self.kept.get((one.topic, one.partition), (-1001, ""))) for one in spots]
        return [
            TopicPartition(one.topic, one.partition, offset, metadata=text)
            for one, (offset, text) in found
        ]

    def get_watermark_offsets(self, *_: object) -> tuple[int, int]:
        return self.first, 100


def seated(monkeypatch: pytest.MonkeyPatch, broker: Any, **config: Any) -> TaskSession:
    monkeypatch.setattr(seat, "transactional", lambda *_, **__: broker)
    monkeypatch.setattr(seat, "consumer", lambda *_, **__: broker)
    settings = Settings()
    one = work()._replace(config_json=json.dumps(config))
    return TaskSession(one, settings, broker, lambda: not broker.lease)


def test_a_batch_may_move_nothing_and_never_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker()
    one = seated(monkeypatch, broker)
    assert one.write("out", [[(None, b"x"), ("k", b"yy")]], {ONE: 5}, ("line", 0)) == (2, 4)
    assert one.write("out", [[]], {ONE: 5}) == (0, 0)
    assert one.write(None, (), {TWO: 9}, ("line", 1)) == (0, 0)
    with pytest.raises(Over) as over:
        one.write("out", [[(None, b"z")]], {ONE: 4, TWO: 10}, ("line", 2))
    assert (over.value.how, over.value.cause) == (FAILED, "offsets-back")
    assert "before what was committed of clicks/0" in str(over.value)
    assert broker.done == [
        (["out None b'x'", "out k b'yy'"], {ONE: 5}), ([], {ONE: 5}), ([], {TWO: 9}),
    ]  # fmt: skip
    assert (broker.open, one.position) == (None, {ONE: 5, TWO: 9})
    assert [one.last_batch(line) for line in ("line", "other", "")] == [1, -1, -1]


def test_who_is_told_to_stop_while_it_waits_for_its_lease_commits_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broker = Broker()
    one = seated(monkeypatch, broker)
    # The lease ends amid the transaction: what was begun is left to whoever comes next.
    monkeypatch.setattr(
        broker, "send_offsets_to_transaction", lambda *_: setattr(broker, "lease", False)
    )
    with pytest.raises(Over) as over:
        one.write("out", [[(None, b"x")]], {ONE: 5})
    assert over.value.how == STOPPED
    assert (broker.done, broker.open, one.position) == ([], ["out None b'x'"], {})


def test_who_comes_next_goes_on_where_the_last_one_came(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker()
    one = seated(monkeypatch, broker)
    one.take()
    one.write(None, (), {TWO: 7}, ("line", 3))
    broker.first = 2  # what was committed of the other one is gone: that is told, and no jump
    heir = seated(monkeypatch, broker)
    heir.take()
    assert heir.position == {ONE: 0, TWO: 7}
    assert (heir.last_batch("line"), heir.lines([ONE]), heir.lines([ONE, TWO])) == (
        3, set(), {"line"},
    )  # fmt: skip


def test_what_is_asked_for_once_is_read_anew_once(monkeypatch: pytest.MonkeyPatch) -> None:
    broker, positions = Broker(), []
    for name in ("r1", "r1", "r2"):
        one = seated(monkeypatch, broker, reset={"id": name, "to": "earliest", "at_ms": 5})
        one.take()
        positions.append(one.position[ONE])
        assert one.resets([ONE]) == {name}
        one.write(None, (), {ONE: one.position[ONE] + 4}, ("line", 0))
    assert positions == [0, 4, 0]
    assert broker.kept[ONE][0] == 4
