"""A step of a transaction is called again where its process stood still, and nowhere else."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from components.runtime.kafka import transactions
from components.runtime.kafka.transactions import in_time

PASSING = KafkaError(KafkaError._TIMED_OUT, "late", retriable=True)
FINAL = KafkaError(KafkaError._FENCED, "another has it", fatal=True)
SECONDS = 5.0


class Call:
    """Takes so long each time, and ends as it is told to."""

    def __init__(self, *ends: tuple[float, KafkaError | None]) -> None:
        self.ends, self.now, self.calls, self.waits = list(ends), 100.0, 0, 0

    def wait(self) -> None:
        self.waits += 1

    def monotonic(self) -> float:
        return self.now

    def __call__(self, what: str, seconds: float) -> str:
        assert seconds == SECONDS
        self.calls += 1
        took, error = self.ends.pop(0)
        self.now += took
        if error is not None:
            raise KafkaException(error)
        return what


def called(monkeypatch: pytest.MonkeyPatch, call: Call) -> object:
    monkeypatch.setattr(transactions, "time", call)
    return in_time(call, "done", seconds=SECONDS, before_again=call.wait)


def test_it_is_called_once(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call((0.1, None))
    assert (called(monkeypatch, call), call.calls) == ("done", 1)


def test_who_stood_still_has_its_time_again(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call((9.0, PASSING), (60.0, PASSING), (0.1, None))
    assert (called(monkeypatch, call), call.calls, call.waits) == ("done", 3, 2)


def test_who_had_the_time_has_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call((5.1, PASSING), (0.1, None))
    with pytest.raises(KafkaException, match="late"):
        called(monkeypatch, call)
    assert not call.waits


def test_what_is_final_is_final(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call((9.0, FINAL), (0.1, None))
    with pytest.raises(KafkaException, match="another has it"):
        called(monkeypatch, call)
