"""Schedules, traces and draws of a load: their integral, what is refused, and what is drawn."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turbine.ops.traffic import (
    BadTrace,
    Draws,
    RateSchedule,
    RecordShape,
    played,
    read_trace,
    steady,
    whole,
)

RATES = st.one_of(st.just(0.0), st.floats(0.01, 100_000))
MINUTES = st.lists(st.tuples(st.integers(1, 9), RATES), min_size=1, max_size=12).map(
    lambda steps: [
        (sum(gap for gap, _ in steps[: at + 1]), rate) for at, (_, rate) in enumerate(steps)
    ]
)
SCHEDULES = st.builds(
    lambda minutes, speed, scale: played(minutes, speed=speed, scale=scale),
    MINUTES,
    st.sampled_from([0.5, 1.0, 60.0, 1000.0]),
    st.sampled_from([0.1, 1.0, 30.0]),
)


def near(records: float) -> float:
    """How far sums of that size may be from each other."""
    return 1e-5 + 1e-9 * abs(records)


# --- schedules


@given(st.integers(1, 100_000), st.integers(1, 10_000))
def test_a_steady_rate_gives_rate_times_time(per_s: int, tenths: int) -> None:
    schedule = steady(per_s)
    assert whole(schedule.due(tenths / 10)) == per_s * tenths // 10
    assert schedule.until(tenths / 10).total == per_s * tenths // 10
    assert schedule.total is None


@given(SCHEDULES, st.lists(st.floats(-10, 10_000), min_size=2))
def test_what_is_due_never_goes_back(schedule: RateSchedule, instants: list[float]) -> None:
    sums = [schedule.due(at_s) for at_s in sorted(instants)]
    assert all(later >= sooner - near(sooner) for sooner, later in pairwise(sums))
    assert schedule.due(0) == schedule.due(-1) == 0
    assert schedule.due(inf) == schedule.due(schedule.end_s)


@given(SCHEDULES)
def test_what_is_due_is_the_sum_of_the_rates(schedule: RateSchedule) -> None:
    """Between two points a rate is a straight line, so its middle times the time is exact."""
    summed = 0.0
    for sooner, later in pairwise([*schedule.at_s, schedule.end_s]):
        summed += (later - sooner) * schedule.rate_at((sooner + later) / 2)
        assert schedule.due(later) == pytest.approx(summed, rel=1e-6, abs=1e-6)


@given(SCHEDULES, st.floats(0, 1))
def test_a_record_is_due_when_so_many_are(schedule: RateSchedule, share: float) -> None:
    total = schedule.total
    assert total is not None
    number = whole(total * share)
    at_s = schedule.due_s(number)
    assert 0 <= at_s <= schedule.end_s
    assert schedule.due(at_s) == pytest.approx(number, abs=near(number))
    assert schedule.due_s(total + 1) == inf


def test_a_trace_is_a_rate_per_minute_with_lines_between() -> None:
    schedule = played([(7, 60.0), (8, 180.0), (10, 0.0)])
    assert [schedule.rate_at(at) for at in (-1, 0, 30, 60, 120, 180, 240)] == [
        0,
        1,
        2,
        3,
        1.5,
        0,
        0,
    ]
    assert (schedule.end_s, schedule.due(60), schedule.total) == (240, 120, 300)
    assert schedule.due_s(120) == pytest.approx(60, abs=1e-5)
    assert schedule.due_s(121) == pytest.approx(60.3338, abs=1e-4)


def test_speed_shortens_the_time_and_scale_multiplies_the_rate() -> None:
    minutes = [(0, 60.0), (1, 180.0)]
    assert played(minutes).total == 120 + 180
    fast = played(minutes, speed=60)
    assert (fast.end_s, fast.rate_at(0.5), fast.total) == (2, 2, 5)
    assert played(minutes, speed=60, scale=60).total == 300


def test_nothing_is_due_in_a_pause_of_the_trace() -> None:
    schedule = played([(0, 600.0), (1, 0.0), (2, 0.0), (3, 600.0)])
    assert schedule.due(60) == schedule.due(120) == 300
    assert schedule.due_s(300) <= 60
    assert schedule.due_s(301) > 120


def test_an_earlier_end_ends_it() -> None:
    schedule = steady(10).until(5).until(7)
    assert (schedule.end_s, schedule.total, schedule.rate_at(5), schedule.due(9)) == (5, 50, 0, 50)


# --- traces


@pytest.mark.parametrize("head", [[], ["minute_index,rate"], ["minute_index, rate\n", "\n"]])
def test_a_trace_is_read_with_a_head_or_without(head: list[str]) -> None:
    assert read_trace([*head, "0,1.5\n", " 1 , 2\n", "", "5,0\n"]) == [(0, 1.5), (1, 2), (5, 0)]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "x.csv holds no rates; write lines such as 0,120.5"),
        (["minute_index,rate"], "x.csv holds no rates; "),
        (["0,1", "1"], 'x.csv, line 2: "1" is no minute and its rate; write a whole number, '),
        (["0,1", "", "one,2"], 'x.csv, line 3: "one,2" is no minute and its rate;'),
        (["0.5,1"], 'x.csv, line 1: "0.5,1" is no minute and its rate;'),
        (["0,1,2"], 'x.csv, line 1: "0,1,2" is no minute and its rate;'),
        (["0,nan"], 'x.csv, line 1: "0,nan" is no minute and its rate;'),
        (["0,inf"], 'x.csv, line 1: "0,inf" is no minute and its rate;'),
        (["0,1", "1,-0.5"], "x.csv, line 2: the rate -0.5 is below 0; correct it"),
        (["4,1", "4,2"], "x.csv, line 2: minute 4 does not come after minute 4; put the lines in"),
        (["4,1", "3,2"], "x.csv, line 2: minute 3 does not come after minute 4; "),
        (["minute_index,rate", "minute_index,rate"], 'x.csv, line 2: "minute_index,rate" is no'),
        (["0,1", "1,1", "2,1", "3,1"], "x.csv, line 4: a trace has at most 3 minutes; play a part"),
    ],
)
def test_a_trace_that_cannot_be_played(lines: list[str], sentence: str) -> None:
    with pytest.raises(BadTrace) as bad:
        read_trace(lines, "x.csv", most=3)
    assert str(bad.value).startswith(sentence)


def test_a_trace_may_be_as_long_as_the_longest() -> None:
    assert len(read_trace(["0,1", "1,1", "2,1"], most=3)) == 3


# --- draws


def drawn(shape: RecordShape, records: int, seed: int = 1) -> list[tuple[str, dict[str, object]]]:
    draws = Draws(random.Random(seed), shape)
    found = []
    for number in range(records):
        key, value = draws.record(number, 1_000_000 + number)
        found.append((key, json.loads(value)))
    return found


def test_a_record_says_its_number_key_and_time_and_is_as_long_as_asked() -> None:
    draws = Draws(random.Random(3), RecordShape(keys=5, size_bytes=200))
    key, value = draws.record(7, 1_234)
    assert len(value) == 200
    told = json.loads(value)
    assert list(told) == ["n", "key", "at_ms", "pad"]
    assert (told["n"], told["key"], told["at_ms"]) == (7, key, 1_234)
    assert key in {f"k{at}" for at in range(5)}


def test_a_value_that_is_to_be_shorter_than_its_fields_has_no_padding() -> None:
    [(_, told)] = drawn(RecordShape(size_bytes=1), 1)
    assert told["pad"] == ""


def test_the_same_seed_draws_the_same() -> None:
    shape = RecordShape(keys=50, skew=1.0, late_share=0.5, late_ms_max=100)
    assert drawn(shape, 100, 5) == drawn(shape, 100, 5)
    assert drawn(shape, 100, 5) != drawn(shape, 100, 6)


def test_keys_without_a_skew_are_drawn_alike_and_with_one_as_zipf_says() -> None:
    even = Counter(key for key, _ in drawn(RecordShape(keys=4), 4_000))
    assert set(even) == {"k0", "k1", "k2", "k3"}
    assert min(even.values()) > 850
    skewed = Counter(key for key, _ in drawn(RecordShape(keys=4, skew=1.0), 25_000))
    # Of 25 twelfths the ranks have 12, 6, 4 and 3.
    for key, share in {"k0": 12_000, "k1": 6_000, "k2": 4_000, "k3": 3_000}.items():
        assert skewed[key] == pytest.approx(share, rel=0.1)


def test_the_share_that_is_late_is_late_by_no_more_than_asked() -> None:
    told = drawn(RecordShape(late_share=0.25, late_ms_max=10), 4_000)
    lateness = [1_000_000 + at - int(str(value["at_ms"])) for at, (_, value) in enumerate(told)]
    assert set(lateness) == set(range(11))
    assert sum(late > 0 for late in lateness) == pytest.approx(1_000, rel=0.1)


def test_nothing_is_late_unless_asked() -> None:
    assert [value["at_ms"] for _, value in drawn(RecordShape(), 3)] == [
        1_000_000,
        1_000_001,
        1_000_002,
    ]
