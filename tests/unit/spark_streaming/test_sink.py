"""A batch is committed once, and never after the task was told to stop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import cast

import pytest
from pyspark.sql import DataFrame

from spark_streaming.sink import At, Closed, LostCheckpoint, Record, Sink

SPOT = ("clicks", 0)


class FakeSeat:
    """Writes down what is written."""

    def __init__(self, lines: Mapping[str, int] | None = None) -> None:
        self.position: dict[At, int] = {}
        self.marks = dict(lines or {})
        self.written: list[tuple[str | None, tuple[str, int]]] = []
        self.awaited = 0
        self.failure: Exception | None = None

    def last_batch(self, lineage: str) -> int:
        return self.marks.get(lineage, -1) if lineage else -1

    def lines(self, places: Iterable[At]) -> set[str]:
        return set(self.marks)

    def take(self) -> None:
        raise AssertionError("the sink does not take it")

    def await_lease(self) -> None:
        self.awaited += 1

    def write(
        self,
        topic: str | None,
        records: Iterable[Sequence[Record]],
        position: Mapping[At, int],
        mark: tuple[str, int],
    ) -> tuple[int, int]:
        if self.failure is not None:
            raise self.failure
        self.written.append((topic, mark))
        self.position.update(position)
        return sum(map(len, records)), 0

    def close(self) -> None:
        raise AssertionError("the sink does not close it")


def sink(seat: FakeSeat, lineage: str = "7", done: list[int] | None = None) -> Sink:
    """One with an effect of its own, which needs no rows."""
    ran = [] if done is None else done
    return Sink(
        seat,
        lineage,
        lambda batch: {SPOT: batch * 10},
        None,
        lambda _, batch: ran.append(batch),
        turn=Lock(),
    )


class FakeRows:
    """Counts how often they were computed, by whatever way leads there."""

    def __init__(self) -> None:
        self.computed = 0

    @property
    def write(self) -> FakeRows:
        return self

    def format(self, name: str) -> FakeRows:
        assert name == "noop"
        return self

    def mode(self, _: str) -> FakeRows:
        return self

    def save(self) -> None:
        self.computed += 1


ROWS = cast(DataFrame, FakeRows())


def test_a_batch_that_was_committed_is_passed_over() -> None:
    seat, done = FakeSeat({"7": 3}), list[int]()
    seat.position = {SPOT: 30}
    one = sink(seat, done=done)
    rows = FakeRows()
    for batch in (2, 3, 4, 4, 5):
        one(cast(DataFrame, rows), batch)
    assert done == [4, 5]
    assert rows.computed == 3, "what was committed is computed again for its state"
    assert seat.written == [(None, ("7", 4)), (None, ("7", 5))]
    assert seat.position == {SPOT: 50}
    assert seat.awaited == 2, "nothing is begun without a lease"


def test_a_batch_that_nobody_has_written_is_not_passed_over() -> None:
    """A checkpoint that was lost begins at 0 again, with input that lies beyond the group's."""
    seat, done = FakeSeat({"7": 3}), list[int]()
    seat.position = {SPOT: 15}
    one = sink(seat, done=done)
    one(ROWS, 1)
    with pytest.raises(LostCheckpoint, match="batch 2 goes beyond what was committed of clicks/0"):
        one(ROWS, 2)
    assert (done, seat.written) == ([], [])
    assert isinstance(one.failure, LostCheckpoint)


def test_batches_of_another_line_say_nothing_about_this_one() -> None:
    seat = FakeSeat({"6": 9})
    sink(seat)(ROWS, 0)
    assert seat.written == [(None, ("7", 0))]


def test_without_a_line_each_start_begins_at_nothing() -> None:
    seat = FakeSeat({"": 9})
    sink(seat, "")(ROWS, 0)
    assert seat.written == [(None, ("", 0))]


def test_who_was_told_to_stop_commits_nothing_more() -> None:
    seat = FakeSeat()
    one = sink(seat)
    one(ROWS, 0)
    one.close()
    with pytest.raises(Closed):
        one(ROWS, 1)
    assert len(seat.written) == 1
    assert isinstance(one.failure, Closed)


def test_what_went_wrong_is_kept_for_who_asks_why_the_query_ended() -> None:
    seat = FakeSeat()
    seat.failure = OSError("no")
    one = sink(seat)
    with pytest.raises(OSError, match="no"):
        one(ROWS, 0)
    assert one.failure is seat.failure
    seat.failure = None
    one(ROWS, 0)  # a batch that failed is not done
    assert len(seat.written) == 1
