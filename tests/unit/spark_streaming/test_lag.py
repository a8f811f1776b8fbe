"""How far behind a task is, by looks at the ends of its partitions."""

from __future__ import annotations

import pytest

from spark_streaming.lag import KEPT, UNKNOWN, InputLag, LagClock, together

ONE, TWO = ("clicks", 0), ("clicks", 1)


def behind(found: LagClock, offset: int, now_ms: int) -> InputLag:
    """Of one partition."""
    return found.behind({ONE: offset}, now_ms)[ONE]


def clock(*looks: tuple[int, int]) -> LagClock:
    found = LagClock()
    for at_ms, end in looks:
        found.note(at_ms, {ONE: end})
    return found


@pytest.mark.parametrize(
    ("offset", "left"),
    [
        (300, InputLag(0, 0)),  # caught up
        (400, InputLag(0, 0)),  # beyond what was seen
        (200, InputLag(100, 10_000)),  # written from 10 s on
        (250, InputLag(50, 5_000)),  # half-way between two looks
        (100, InputLag(200, 20_000)),
        (99, InputLag(201, None)),  # older than the first look
    ],
)
def test_the_oldest_record_is_as_old_as_when_the_end_passed_it(offset: int, left: InputLag) -> None:
    found = clock((0, 100), (10_000, 200), (20_000, 300))
    assert behind(found, offset, 20_000) == left


def test_of_several_partitions_records_add_up_and_the_oldest_counts() -> None:
    found = LagClock()
    found.note(0, {ONE: 0, TWO: 0})
    found.note(10_000, {ONE: 100, TWO: 10})
    parts = found.behind({ONE: 50, TWO: 0}, 10_000)
    assert parts == {ONE: InputLag(50, 5_000), TWO: InputLag(10, 10_000)}
    assert together(parts.values()) == InputLag(60, 10_000)
    assert together([]) == InputLag(0, 0)


def test_what_nobody_has_looked_at_is_unknown_and_with_it_the_sum() -> None:
    assert behind(LagClock(), 5, 1) == UNKNOWN
    parts = clock((0, 10)).behind({ONE: 10, TWO: 1}, 1)
    assert parts == {ONE: InputLag(0, 0), TWO: UNKNOWN}
    assert together(parts.values()) == UNKNOWN
    assert together([InputLag(3, None), InputLag(4, 9)]) == InputLag(7, None)


def test_a_quiet_time_is_kept_by_its_ends_and_is_nobodys_lag() -> None:
    found = clock(*((at, 100) for at in range(0, 2 * KEPT * 1_000, 1_000)), (2_000_000, 200))
    # Between the last quiet look and the one that saw the records.
    begin = (2 * KEPT - 1) * 1_000
    assert behind(found, 100, 2_000_000) == InputLag(100, 2_000_000 - begin)


def test_the_age_of_what_lies_there_for_a_day_is_known_to_a_few_minutes() -> None:
    day_ms, look_ms = 86_400_000, 5_000
    found = clock(*((at, at // 10) for at in range(0, day_ms, look_ms)))  # a record every 10 ms
    for offset in (1, 7_777, 1_000_000, 8_000_000):
        age_ms = behind(found, offset, day_ms).ms
        assert age_ms is not None
        assert abs(age_ms - (day_ms - 10 * offset)) < look_ms  # it grew evenly
    bursts = clock((0, 0), *((at, 1 + at // day_ms) for at in range(look_ms, 2 * day_ms, look_ms)))
    age_ms = behind(bursts, 1, 2 * day_ms).ms
    assert age_ms is not None
    assert abs(age_ms - day_ms) < 2 * day_ms / KEPT * 4


def test_looks_of_a_partition_are_bounded() -> None:
    found = clock(*((at, at) for at in range(3 * KEPT)))
    assert len(found._seen[ONE]) <= KEPT
    assert behind(found, 0, 3 * KEPT).ms == 3 * KEPT


def test_a_partition_that_is_looked_at_no_more_is_forgotten() -> None:
    found = clock((0, 100))
    found.note(1_000, {TWO: 1})
    assert behind(found, 100, 1_000) == UNKNOWN


def test_a_look_that_failed_makes_lag_unknown_and_forgets_nothing() -> None:
    found = clock((0, 100), (10_000, 200))
    found.note(20_000, {}, [ONE])
    assert behind(found, 150, 20_000) == UNKNOWN
    found.note(30_000, {ONE: 200}, [ONE])
    assert behind(found, 150, 30_000) == InputLag(50, 25_000)
