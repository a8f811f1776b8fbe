"""The log is asked and read by another client where one does not get on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from components.runtime.core.ground import RUNBOOK
from turbine_client import reading
from turbine_client.errors import BrokerUnreachable
from turbine_client.settings import Settings

SILENCE = KafkaError(KafkaError._TIMED_OUT)
LOADING = KafkaError(KafkaError.COORDINATOR_LOAD_IN_PROGRESS)
PLACE = "journal.v1/3"
COMMITTED = {"isolation.level": "read_committed"}


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

    def __init__(self, *answers: KafkaError | int) -> None:
        self.answers, self.closed = list(answers), False

    def committed(self, asked: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        assert timeout > 0
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, KafkaError) and answer.code() in OF_ONE:
            return [Unanswered(answer) for _ in asked]
        if isinstance(answer, KafkaError):
            raise KafkaException(answer)
        return [TopicPartition(one.topic, one.partition, answer) for one in asked]

    def offsets_for_times(self, asked: list[TopicPartition], timeout: float) -> Any:
        return self.committed(asked, timeout)

    def poll(self, _: float) -> None:
        """No login is refused."""

    def list_topics(self, timeout: float) -> None:
        """All are known anew."""

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[Client]:
    """Those to come, the first first; each is closed."""
    to_come: list[Client] = []
    made: list[Client] = []

    def consumer(_: Settings, **more: Any) -> Client:
        assert more.get("group.id", "some") == "some"
        made.append(to_come.pop(0) if len(to_come) > 1 else to_come[0])
        return made[-1]

    monkeypatch.setattr(reading, "consumer", consumer)
    yield to_come  # type: ignore[misc]  # a fixture
    assert all(one.closed for one in made)


def test_the_next_client_has_the_answer_at_once(clients: list[Client]) -> None:
    clients += [Client(SILENCE), Client(SILENCE), Client(42)]
    assert reading.committed_now(Settings(), "some", [PLACE]) == {PLACE: 42}


def test_a_partition_without_an_answer_has_not_nothing_committed(clients: list[Client]) -> None:
    clients += [Client(LOADING, 42)]
    assert reading.committed_at(Settings(), "some", [PLACE]) == {PLACE: 42}


def test_ends_are_asked_of_the_next_client(clients: list[Client]) -> None:
    clients += [Client(SILENCE), Client(42)]
    assert reading.ends_now(Settings(), [PLACE]) == {PLACE: 42}


def test_nothing_committed_is_nothing(clients: list[Client]) -> None:
    clients += [Client(-1001)]
    assert reading.committed_now(Settings(), "some", [PLACE]) == {PLACE: 0}
    assert reading.committed_at(Settings(), "some", [PLACE]) == {PLACE: -1001}


@pytest.mark.parametrize("more", [{}, COMMITTED])
def test_silence_without_an_end_is_a_sentence(
    clients: list[Client], monkeypatch: pytest.MonkeyPatch, more: dict[str, str]
) -> None:
    monkeypatch.setattr(reading, "PATIENCE_S", 0.0)
    clients += [Client(SILENCE)]
    with pytest.raises(BrokerUnreachable, match="no broker answers at "):
        reading.committed_now(Settings(), "some", [PLACE], **more)


def test_offsets_that_a_transaction_without_an_end_holds_back_are_told_apart(
    clients: list[Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who reads what is committed alone would else be told that no broker answers."""
    monkeypatch.setattr(reading, "PATIENCE_S", 0.0)
    clients += [Client(SILENCE), Client(42)]
    with pytest.raises(BrokerUnreachable, match="holds back what the group some has committed"):
        reading.committed_now(Settings(), "some", [PLACE], **COMMITTED)


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


class Log(Client):
    """One that has records, of which it gives away so many, and then nothing more."""

    def __init__(self, records: int, most: int) -> None:
        super().__init__(0, records)
        self.records, self.most = records, most
        self.at: int | None = None

    def assign(self, spots: list[TopicPartition]) -> None:
        [one] = spots
        self.at = one.offset

    def incremental_unassign(self, _: list[TopicPartition]) -> None:
        self.at = None

    def consume(self, _: int, timeout: float) -> list[Record]:
        assert timeout > 0
        if self.at is None or not self.most:
            return []
        self.at, self.most = self.at + 1, self.most - 1
        return [Record(self.at - 1)]


@dataclass(frozen=True, slots=True)
class Record:
    """A message as the client gives it."""

    number: int

    def error(self) -> None:
        """There is none."""

    def topic(self) -> str:
        return "turbine.journal.v1"

    def partition(self) -> int:
        return 3

    def offset(self) -> int:
        return self.number

    def key(self) -> bytes:
        return b"a"

    def value(self) -> bytes:
        return b"b"

    def headers(self) -> list[tuple[str, bytes]]:
        return []

    def timestamp(self) -> tuple[int, int]:
        return 1, 1_000


def test_where_nothing_comes_another_client_reads_on(
    clients: list[Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "RENEW_S", 0.0)
    clients += [Log(5, 2), Log(5, 0), Log(5, 1), Log(5, 9)]
    polls = list(reading.read_span(Settings(), {PLACE: (0, None)}))
    assert [one.offset for poll in polls for one in poll] == [0, 1, 2, 3, 4]


def test_where_nothing_comes_for_long_it_is_said(
    clients: list[Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "RENEW_S", 0.0)
    monkeypatch.setattr(reading, "STALL_S", 0.01)
    clients += [Log(5, 2), Log(5, 0)]
    with pytest.raises(
        reading.LogUnreadable, match=r"nothing came in .* missing {'journal.v1/3': 5}"
    ):
        list(reading.read_span(Settings(), {PLACE: (0, None)}))


class Gone:
    """A client whose offset is not there, and the message that says so."""

    def assign(self, _: object) -> None: ...

    def consume(self, *_: object) -> list[Gone]:
        return [self]

    def error(self) -> KafkaError:
        return KafkaError(KafkaError._AUTO_OFFSET_RESET, "out of range")

    def topic(self) -> str:
        return "turbine.journal.v1"

    def partition(self) -> int:
        return 3


def test_a_position_that_is_not_there_names_the_runbook(monkeypatch: pytest.MonkeyPatch) -> None:
    """No position in the clock is watched: where it alone was cut, this is all that is told."""
    monkeypatch.setattr(reading, "consumer", lambda *_, **__: Gone())
    follower = reading.Follower(Settings(), {PLACE: 9})
    with pytest.raises(reading.LogUnreadable, match=f"^{PLACE}: out of range; see {RUNBOOK}$"):
        follower.poll(0)
