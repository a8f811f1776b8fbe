"""The positions of a group are given up once nobody is its member any more."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from components.runtime.kafka import groups
from components.runtime.kafka.groups import delete_groups
from turbine_client.settings import BadSettings, Settings

GROUP = "turbine-job-service"


class Broker:
    """One with a group that has a member for so many questions."""

    def __init__(self, busy: int) -> None:
        self.busy, self.there = busy, True

    def delete_consumer_groups(self, names: list[str], **_: Any) -> dict[str, Future[None]]:
        answer: Future[None] = Future()
        self.busy -= 1
        if self.busy >= 0:
            answer.set_exception(KafkaException(KafkaError(KafkaError.NON_EMPTY_GROUP)))
        elif not self.there:
            answer.set_exception(KafkaException(KafkaError(KafkaError.GROUP_ID_NOT_FOUND)))
        else:
            self.there = False
            answer.set_result(None)
        return dict.fromkeys(names, answer)


def deleted(monkeypatch: pytest.MonkeyPatch, broker: Broker, wait_s: float = 60.0) -> list[str]:
    """What a person was told meanwhile."""
    told: list[str] = []
    monkeypatch.setattr(groups, "admin", lambda _: broker)
    monkeypatch.setattr(groups, "PAUSE_S", 0.001)
    delete_groups(Settings(), "job-service", [GROUP], told.append, wait_s)
    return told


def test_a_session_that_is_not_over_is_waited_for_and_said_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broker = Broker(busy=3)
    (told,) = deleted(monkeypatch, broker)
    assert told.startswith(f"the group {GROUP} has a member: waiting until it has stopped")
    assert not broker.there


def test_a_group_that_nobody_is_in_is_deleted_without_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broker = Broker(busy=0)
    assert deleted(monkeypatch, broker) == []
    assert deleted(monkeypatch, broker) == [], "it is gone, and that is all that was asked"


def test_a_worker_that_runs_on_is_to_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSettings, match=f"runs, in the group {GROUP}; stop it first"):
        deleted(monkeypatch, Broker(busy=1_000_000), wait_s=0.01)
