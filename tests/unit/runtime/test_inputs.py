"""What the broker answers about the ends of partitions that somebody else owns."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from components.runtime import inputs
from components.runtime.clients import BrokerUnreachable
from components.runtime.inputs import NOT_LED, committed_of, create_topic, ends_of
from components.runtime.settings import Settings

END = 40


class Admin:
    """Answers for partition 0; about partition 1 it first says each of these codes."""

    def __init__(self, *codes: int) -> None:
        self.codes = list(codes)

    def create_topics(self, topics: list[Any], **_: float) -> dict[str, Future[None]]:
        return {topic.topic: _done(None) for topic in topics}

    def list_offsets(self, asked: Iterable[TopicPartition], **_: object) -> dict[Any, Future[Any]]:
        return {spot: self._answer(spot.partition) for spot in asked}

    def poll(self, _: float) -> int:
        return 0

    def _answer(self, partition: int) -> Future[Any]:
        if partition == 1 and self.codes:
            return _done(KafkaException(KafkaError(self.codes.pop(0), "moved")))
        return _done(SimpleNamespace(offset=END))


def _done(said: object) -> Future[Any]:
    future: Future[Any] = Future()
    if isinstance(said, BaseException):
        future.set_exception(said)
    else:
        future.set_result(said)
    return future


def _with(monkeypatch: pytest.MonkeyPatch, admin: Admin) -> Settings:
    monkeypatch.setattr(inputs, "admin", lambda _: admin)
    return Settings()


@pytest.mark.parametrize("code", sorted(NOT_LED))
def test_an_end_that_nobody_tells_now_is_absent(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    settings = _with(monkeypatch, Admin(code))
    assert ends_of(settings, [("clicks", 0), ("clicks", 1)]) == {("clicks", 0): END}


def test_another_answer_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = _with(monkeypatch, Admin(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    with pytest.raises(BrokerUnreachable, match="does not allow it"):
        ends_of(settings, [("clicks", 1)])


def test_a_new_topic_is_waited_for_through_its_elections(monkeypatch: pytest.MonkeyPatch) -> None:
    admin = Admin(KafkaError.LEADER_NOT_AVAILABLE, KafkaError.UNKNOWN_LEADER_EPOCH)
    assert create_topic(_with(monkeypatch, admin), "clicks", 2)
    assert admin.codes == []


class Reader:
    """A client that is asked what a group has committed: says these codes first, then what is."""

    def __init__(self, codes: list[int], offset: int) -> None:
        self.codes, self.offset, self.closed = codes, offset, False

    def committed(self, asked: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        assert timeout > 0
        if self.codes:
            raise KafkaException(KafkaError(self.codes.pop(0), "loading"))
        return [TopicPartition(one.topic, one.partition, self.offset) for one in asked]

    def poll(self, _: float) -> None:
        """No login is refused."""

    def close(self) -> None:
        self.closed = True


def _asked_of(monkeypatch: pytest.MonkeyPatch, offset: int, *codes: int) -> list[Reader]:
    """All clients that are made; they share what is said first."""
    left, made = list(codes), list[Reader]()

    def consumer(_: Settings, **more: object) -> Reader:
        assert more == {"group.id": "tallies"}
        made.append(Reader(left, offset))
        return made[-1]

    monkeypatch.setattr(inputs, "consumer", consumer)
    return made


ASKED = {"tallies": [("clicks", 0)]}


def test_a_coordinator_that_is_just_loading_is_asked_again_by_another_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codes = (KafkaError._TIMED_OUT, KafkaError.NOT_COORDINATOR)
    made = _asked_of(monkeypatch, 7, *codes)
    assert committed_of(Settings(), ASKED) == {"tallies": {("clicks", 0): 7}}
    assert [one.closed for one in made] == [True] * 3


def test_what_nobody_committed_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    _asked_of(monkeypatch, -1001)
    assert committed_of(Settings(), ASKED | {"idle": []}) == {"tallies": {}, "idle": {}}


def test_a_coordinator_that_does_not_answer_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "COMMITTED_S", 0.0)
    made = _asked_of(monkeypatch, 7, *[KafkaError._TIMED_OUT] * 9)
    with pytest.raises(BrokerUnreachable, match="no broker answers at "):
        committed_of(Settings(), ASKED)
    assert all(one.closed for one in made)


def test_who_may_not_know_is_told_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _asked_of(monkeypatch, 7, KafkaError.GROUP_AUTHORIZATION_FAILED)
    with pytest.raises(BrokerUnreachable, match="does not allow it"):
        committed_of(Settings(), ASKED)
    assert [one.closed for one in made] == [True]
