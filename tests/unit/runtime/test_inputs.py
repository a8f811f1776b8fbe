"""What the broker answers about the ends of partitions that somebody else owns."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from components.runtime.kafka import inputs
from components.runtime.kafka.inputs import NOT_LED, committed_of, create_topic, ends_of
from turbine_client.errors import BrokerUnreachable
from turbine_client.settings import Settings

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


ASKED = {"tallies": [("clicks", 0), ("clicks", 1)], "idle": []}


def test_what_nobody_committed_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    def committed(_: Settings, group: str, spots: list[TopicPartition]) -> list[TopicPartition]:
        assert group == "tallies"
        return [
            TopicPartition(one.topic, one.partition, (7, -1001)[one.partition]) for one in spots
        ]

    monkeypatch.setattr(inputs, "group_offsets", committed)
    assert committed_of(Settings(), ASKED) == {"tallies": {("clicks", 0): 7}, "idle": {}}
