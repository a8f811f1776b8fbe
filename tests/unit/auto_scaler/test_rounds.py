"""What tasks report, put together into minutes of their job."""

from __future__ import annotations

from typing import Any

import pytest

from events.generated.records import Generation, PartitionLag, TaskLoadReported
from projections.scaling import ring
from projections.scaling.rounds import (
    LATE,
    LEAST,
    PARTS_MOST,
    TASKS_MOST,
    Rounds,
    rounds_after,
)
from projections.scaling.seen import Minute, Part
from projections.scaling.splits import SPLIT_MOST, shares
from tests.unit.auto_scaler.desk import MINUTE_MS, load_of

AT_MS = 1_000_000


class Heard:
    """Reports in the order of their partition."""

    def __init__(self, tasks: int = 2) -> None:
        self.rounds = Rounds()
        self.tasks = tasks
        self.minutes: list[Minute] = []

    def hear(self, body: TaskLoadReported, at_ms: int) -> list[Minute]:
        self.rounds, minutes = rounds_after(self.rounds, body, at_ms)
        self.minutes += minutes
        return minutes

    def says(
        self, task: int, number: int, at_ms: int, *, rate: float = 10.0, **more: Any
    ) -> list[Minute]:
        body = load_of(task, tasks=self.tasks, count=number, records_in_per_s=rate, **more)
        return self.hear(body, at_ms)

    def round(self, number: int, *, rate: float = 10.0, **more: Any) -> Minute:
        """All tasks report within a second."""
        at_ms = AT_MS + number * MINUTE_MS
        for task in range(self.tasks):
            self.says(task, number, at_ms + 100 * task, rate=rate, **more)
        return self.minutes[-1]


def test_a_round_closes_when_every_task_was_heard() -> None:
    heard = Heard(3)
    assert heard.says(0, 1, AT_MS) == []
    assert heard.says(2, 1, AT_MS + 5) == []
    [minute] = heard.says(1, 1, AT_MS + 9, lag_records=5, lag_ms=1_500)
    assert (minute.at_ms, minute.tasks, minute.heard) == (AT_MS + 9, 3, 1.0)
    assert minute.rate == 30.0
    assert minute.lag is None, "two tasks did not say theirs"
    assert minute.lag_s is None


def test_sums_worst_ones_and_means_are_of_the_right_things() -> None:
    heard = Heard(2)
    one = {"bytes_in_per_s": 1_000.0, "memory_bytes": 100 * 2**20, "busy_share": 0.5}
    heard.says(0, 1, AT_MS, lag_records=10, lag_ms=2_000, **one)
    two = {"bytes_in_per_s": 3_000.0, "memory_bytes": 300 * 2**20, "busy_share": 1.0}
    [minute] = heard.says(1, 1, AT_MS, rate=30.0, lag_records=90, lag_ms=9_000, oom=True, **two)
    assert (minute.rate, minute.lag, minute.lag_s) == (40.0, 100.0, 9.0)
    assert (minute.busy, minute.busy_most, minute.memory_mb) == (0.75, 1.0, 300.0)
    assert (minute.oom, minute.bytes_per_record, minute.threads) == (True, 100.0, 1)
    assert minute.parts == (
        Part(0, 10.0, 0.5, 10.0, 2.0, 100.0),
        Part(1, 30.0, 1.0, 90.0, 9.0, 300.0),
    )


def test_what_came_in_is_what_was_read_and_what_more_is_left() -> None:
    heard = Heard(2)
    first = heard.round(1, lag_records=100)
    assert first.arrived is None, "nobody knows what was left before"
    assert heard.round(2, lag_records=400).arrived == pytest.approx(20.0 + 600 / 60)
    assert heard.round(3, lag_records=0).arrived == pytest.approx(20.0 - 800 / 60)


def test_unknown_is_not_none_of_it() -> None:
    heard = Heard(2)
    heard.round(1, lag_records=100)
    minute = heard.round(2)
    unknown = (minute.lag, minute.lag_s, minute.busy, minute.memory_mb, minute.arrived)
    assert unknown == (None,) * 5


def test_a_task_that_is_heard_again_closes_the_round_without_the_others() -> None:
    heard = Heard(3)
    heard.says(0, 1, AT_MS, lag_records=1)
    heard.says(1, 1, AT_MS + 10, lag_records=1)
    [minute] = heard.says(0, 2, AT_MS + MINUTE_MS, lag_records=1)
    assert minute.heard == pytest.approx(2 / 3)
    assert (minute.lag, minute.busy, minute.rate) == (None, None, 20.0)
    assert minute.at_ms == AT_MS + 10, "it is as old as what was heard"


def test_a_round_that_is_too_old_closes_too() -> None:
    heard = Heard(3)
    heard.says(0, 1, AT_MS)
    late_ms = int(LATE * MINUTE_MS)
    assert heard.says(1, 1, AT_MS + late_ms) == []
    [minute] = heard.says(2, 1, AT_MS + late_ms + 1)
    assert minute.heard == pytest.approx(2 / 3)
    assert heard.rounds.listened == 1


def test_repetition_and_older_ones_change_nothing() -> None:
    heard = Heard(2)
    heard.round(1, lag_records=1)
    heard.round(2, lag_records=1)
    before = heard.rounds
    for task, number in ((0, 1), (1, 1), (0, 2), (1, 2)):
        assert heard.says(task, number, AT_MS + 9 * MINUTE_MS) == []
    older = load_of(0, tasks=2, count=99, specs=1)
    assert heard.hear(older, AT_MS + 9 * MINUTE_MS) == []
    assert heard.rounds == before


def test_a_newer_owner_counts_though_its_numbers_begin_anew() -> None:
    heard = Heard(1)
    heard.says(0, 7, AT_MS)
    body = load_of(0, tasks=1, count=1, generation=Generation(2, 2), epoch=1)
    assert len(heard.hear(body, AT_MS + 1)) == 1
    again = load_of(0, tasks=1, count=1, generation=Generation(2, 2), epoch=2)
    assert len(heard.hear(again, AT_MS + 2)) == 1
    gone = load_of(0, tasks=1, count=9, generation=Generation(2, 2), epoch=1)
    assert heard.hear(gone, AT_MS + 3) == []


def test_another_shape_begins_anew_and_tells_how_long_nothing_ran() -> None:
    heard = Heard(2)
    heard.round(1, lag_records=0)
    heard.says(0, 2, AT_MS + 2 * MINUTE_MS, lag_records=0)  # its round is of tasks that are gone
    heard.tasks = 4
    start_ms = AT_MS + 2 * MINUTE_MS + 45_000
    for task in range(4):
        at_ms = start_ms + MINUTE_MS + task
        heard.says(task, 1, at_ms, specs=4, lag_records=300)
    minute = heard.minutes[-1]
    assert (len(heard.minutes), minute.tasks, minute.heard) == (2, 4, 1.0)
    assert minute.down_s == pytest.approx(45.0)
    gap_s = (minute.at_ms - heard.minutes[0].at_ms) / 1000
    assert minute.arrived == pytest.approx((40.0 * 60 + 1_200) / gap_s)
    assert heard.minutes[0].down_s == 0.0


def test_a_restart_is_told_once() -> None:
    heard = Heard(1)
    heard.round(1)
    told = [heard.round(number, specs=4).down_s for number in (4, 5, 6)]
    assert told == [pytest.approx(120.0), 0.0, 0.0]


def test_who_does_not_say_how_many_tasks_there_are_cannot_be_put_together() -> None:
    heard = Heard(2)
    assert heard.hear(load_of(0, tasks=0, count=1), AT_MS) == []
    assert heard.hear(load_of(2, tasks=2, count=1), AT_MS) == []
    assert heard.hear(load_of(0, tasks=2, count=1, window_ms=0), AT_MS) == []
    assert heard.rounds == Rounds()


def lags(*ones: tuple[int, int | None, int | None, float | None]) -> tuple[PartitionLag, ...]:
    return tuple(
        PartitionLag("clicks", at, records, None, age, rate) for at, records, age, rate in ones
    )


def test_a_partition_of_which_nothing_is_read_is_stuck() -> None:
    heard = Heard(1)
    two = lags((0, 50, 70_000, 0.0), (1, 50, 70_000, 5.0))
    assert heard.round(1, partitions=two).stuck == 1
    young = lags((0, 50, 30_000, 0.0), (1, 50, 70_000, 5.0))
    assert heard.round(2, partitions=young).stuck == 0, "its records came within the window"


def test_a_task_amid_a_long_batch_is_not_stuck_at_once() -> None:
    heard = Heard(2)
    at_ms = AT_MS
    for number, age, stuck in ((1, 70_000, 0), (2, 130_000, 0), (3, 190_000, 1)):
        heard.says(0, number, at_ms + number * MINUTE_MS, partitions=lags((0, 9, 0, 5.0)))
        [minute] = heard.says(
            1, number, at_ms + number * MINUTE_MS, rate=0.0, partitions=lags((1, 9, age, 0.0))
        )
        assert minute.stuck == stuck


def test_where_nobody_counts_what_is_read_the_oldest_record_tells() -> None:
    heard = Heard(1)
    heard.round(1, partitions=lags((0, 50, 70_000, None), (1, 50, 70_000, None)))
    minute = heard.round(2, partitions=lags((0, 50, 130_000, None), (1, 50, 70_000, None)))
    assert minute.stuck == 1


def test_of_each_partition_it_is_known_what_came() -> None:
    heard = Heard(1)
    heard.round(1, partitions=lags((0, 0, 0, 5.0), (1, 600, 0, 1.0)))
    heard.round(2, partitions=lags((0, 600, 0, 5.0), (1, 0, 0, 11.0)))
    found = list(shares(heard.rounds.heard[0].split, heard.rounds.topics))
    assert [(one.partition, one.came, one.lag) for one in found] == [(0, 15.0, 600.0), (1, 1.0, 0)]


def test_numbers_beyond_all_measure_are_bounded() -> None:
    heard = Heard(1)
    wild = lags((0, 2**62, 2**62, 1e300), (1, -5, -5, -1.0))
    minute = heard.round(1, rate=1e300, partitions=wild, lag_records=2**62, lag_ms=-5)
    assert minute.rate <= 1e30
    assert minute.lag_s == 0.0
    heard.round(2, rate=-1.0, partitions=wild, busy_share=7.0, memory_bytes=-1)
    assert (heard.minutes[-1].rate, heard.minutes[-1].busy) == (0.0, 1.0)


@pytest.mark.parametrize("rate", [5e-324, 1e-300, LEAST / 2])
def test_next_to_nothing_is_nothing(rate: float) -> None:
    heard = Heard(1)
    assert heard.round(1, rate=rate, bytes_in_per_s=rate).rate == 0.0
    assert heard.round(2, rate=LEAST).rate == LEAST


def test_of_a_job_that_is_larger_than_what_is_listened_to_the_first_stand_for_all() -> None:
    heard = Heard(2 * TASKS_MOST)
    for task in range(TASKS_MOST + 5):
        heard.says(task, 1, AT_MS, lag_records=1)
    [minute] = heard.minutes
    assert (minute.tasks, minute.heard) == (2 * TASKS_MOST, 1.0)
    assert (minute.rate, minute.lag) == (20.0 * TASKS_MOST, 2.0 * TASKS_MOST)
    assert minute.parts == ()
    assert len(heard.rounds.heard) == TASKS_MOST


def test_single_tasks_are_told_of_jobs_that_are_not_too_large() -> None:
    assert len(Heard(PARTS_MOST).round(1).parts) == PARTS_MOST
    assert Heard(PARTS_MOST + 1).round(1).parts == ()
    assert Heard(1).round(1).parts == ()


def test_partitions_of_a_task_are_kept_up_to_a_bound() -> None:
    for count, kept in ((SPLIT_MOST, SPLIT_MOST), (SPLIT_MOST + 1, 0)):
        heard = Heard(1)
        heard.round(1, partitions=lags(*((at, 1, 1, 1.0) for at in range(count))))
        assert len(list(shares(heard.rounds.heard[0].split, heard.rounds.topics))) == kept


def test_minutes_are_kept_packed_the_newest_of_them() -> None:
    packed = b""
    for at in range(ring.MINUTES + 7):
        minute = Minute(at, 3, None, 1.5, 2.0, None, 0.5, 1.0, 64.0, True, 3.0, 0.5, None, 2)
        packed = ring.kept(packed, minute._replace(threads=4))
    found = list(ring.minutes(packed))
    assert [one.at_ms for one in found] == list(range(7, ring.MINUTES + 7))
    assert found[0] == Minute(
        7, 3, None, 1.5, 2.0, None, 0.5, 1.0, 64.0, True, 3.0, 0.5, None, 2, threads=4
    )
