"""What a group has committed is asked anew where a client gets no answer."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from components.runtime import reading
from components.runtime.clients import BrokerUnreachable
from components.runtime.settings import Settings

SILENCE = KafkaError(KafkaError._TIMED_OUT)
LOADING = KafkaError(KafkaError.COORDINATOR_LOAD_IN_PROGRESS)
PLACE = "journal.v1/3"


OF_ONE = (LOADING.code(), KafkaError.UNKNOWN_TOPIC_OR_PART)
"""What is answered about a partition, and not to the question."""


class Unanswered(TopicPartition):
    """A partition with an error instead of an offset."""

    def __new__(cls, _: KafkaError) -> Unanswered:
        return super().__new__(cls, "clicks", 0, -1001)

    def __init__(self, error: KafkaError) -> None:
        super().__init__("clicks", 0, -1001)
        self._error = error

    @property
    def error(self) -> KafkaError:
        return self._error


class Client:
    """One that answers as it is told to."""

    def __init__(self, answer: KafkaError | int) -> None:
        self.answer, self.closed = answer, False

    def committed(self, asked: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        assert timeout > 0
        if isinstance(self.answer, KafkaError) and self.answer.code() in OF_ONE:
            return [Unanswered(self.answer) for _ in asked]
        if isinstance(self.answer, KafkaError):
            raise KafkaException(self.answer)
        return [TopicPartition(one.topic, one.partition, self.answer) for one in asked]

    def poll(self, _: float) -> None:
        """No login is refused."""

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[Client]:
    """Those to come, the first first; each is closed."""
    to_come: list[Client] = []
    made: list[Client] = []

    def consumer(_: Settings, **more: Any) -> Client:
        assert more == {"group.id": "some"}
        made.append(to_come.pop(0) if len(to_come) > 1 else to_come[0])
        return made[-1]

    monkeypatch.setattr(reading, "consumer", consumer)
    yield to_come  # type: ignore[misc]  # a fixture
    assert all(one.closed for one in made)


def test_the_next_client_has_the_answer_at_once(clients: list[Client]) -> None:
    clients += [Client(SILENCE), Client(SILENCE), Client(42)]
    assert reading.committed_now(Settings(), "some", [PLACE]) == {PLACE: 42}


def test_a_partition_without_an_answer_has_not_nothing_committed(clients: list[Client]) -> None:
    clients += [Client(LOADING), Client(42)]
    assert reading.committed_at(Settings(), "some", [PLACE]) == {PLACE: 42}


def test_nothing_committed_is_nothing(clients: list[Client]) -> None:
    clients += [Client(-1001)]
    assert reading.committed_now(Settings(), "some", [PLACE]) == {PLACE: 0}
    assert reading.committed_at(Settings(), "some", [PLACE]) == {PLACE: -1001}


def test_silence_without_an_end_is_a_sentence(
    clients: list[Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PATIENCE_S", 0.0)
    clients += [Client(SILENCE)]
    with pytest.raises(BrokerUnreachable, match="no broker answers at "):
        reading.committed_now(Settings(), "some", [PLACE])


def test_who_is_not_allowed_is_told_so_at_once(clients: list[Client]) -> None:
    clients += [Client(KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED)), Client(42)]
    with pytest.raises(BrokerUnreachable, match="does not allow it to a user without a name"):
        reading.committed_now(Settings(), "some", [PLACE])


def test_who_may_not_know_is_told_so_at_once(clients: list[Client]) -> None:
    clients += [Client(KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED)), Client(42)]
    with pytest.raises(BrokerUnreachable, match="does not allow it"):
        reading.committed_now(Settings(), "some", [PLACE])


def test_a_partition_that_is_not_there_has_nothing_committed(clients: list[Client]) -> None:
    clients += [Client(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)), Client(42)]
    assert reading.committed_now(Settings(), "some", [PLACE]) == {PLACE: 0}
