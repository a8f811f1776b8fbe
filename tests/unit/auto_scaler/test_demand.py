"""What a job will have to read: stretches that wait, trends that are sure, days that are usual."""

from __future__ import annotations

from random import Random

import pytest

from components.auto_scaler.core.policies.turbine.demand import Usual, carries, trend, usual
from projections.scaling.seen import DAY_MS, MINUTE_MS, UNKNOWN, Profile


def longest_wait_s(arrived: list[float], rate: float) -> float:
    """By a queue that is played: how old the oldest record gets, at the end of a minute."""
    came = read = worst = 0.0
    sums = [0.0]
    for minute, one in enumerate(arrived, 1):
        came += one
        sums.append(came)
        read = min(came, read + rate)
        at = next(n for n, total in enumerate(sums) if total >= read - 1e-9)
        before = sums[at - 1] if at else 0.0
        grown = sums[at] - before
        begun = at - 1 + (read - before) / grown if at and grown else 0.0
        worst = max(worst, (minute - begun) * 60 if came > read + 1e-9 else 0.0)
    return worst


@pytest.mark.parametrize("seed", range(20))
def test_who_reads_as_much_as_carries_says_is_late_by_little(seed: int) -> None:
    """Not all stretches are looked at, so a little beyond the wait is allowed."""
    rng = Random(seed)
    arrived = [rng.expovariate(1 / 100) * (5 if rng.random() < 0.1 else 1) for _ in range(60)]
    for wait_s in (10.0, 45.0, 90.0):
        rate = carries(arrived, wait_s)
        assert longest_wait_s(arrived, rate) <= wait_s * 1.5 + 10
        assert rate <= max(arrived)


@pytest.mark.parametrize("seed", range(20))
def test_who_asks_whether_it_is_enough_is_told_so(seed: int) -> None:
    rng = Random(seed)
    arrived = [rng.uniform(50, 150) for _ in range(60)]
    rate, enough = carries(arrived, 30.0), rng.uniform(60, 140)
    assert (carries(arrived, 30.0, enough) > enough) == (rate > enough)
    assert carries(arrived, 30.0, rate) == rate


def test_even_input_has_to_be_carried_as_it_is() -> None:
    assert carries([100.0] * 60, 60.0) == pytest.approx(100 * 55 / 56)
    assert carries([], 60.0) == 0.0


def test_a_trend_counts_where_it_is_more_than_noise() -> None:
    rising = [100.0 + 10 * at for at in range(10)]
    assert trend(rising, 3) == pytest.approx(190 + 30)
    falling = list(reversed(rising))
    assert trend(falling, 3) == pytest.approx(100 - 30)
    noise = [100.0, 140.0, 80.0, 120.0, 95.0, 130.0, 90.0, 110.0, 125.0, 85.0]
    assert trend(noise, 3) == pytest.approx(sum(noise) / 10)
    assert trend([70.0], 3) == 70.0
    assert trend([], 3) == 0.0


SLOTS = tuple(100.0 + at for at in range(96))
DAYS = Profile(15 * MINUTE_MS, SLOTS, SLOTS, 7)
NOW_MS = 10 * DAY_MS + 10 * 15 * MINUTE_MS


def test_usual_days_are_taken_at_todays_level() -> None:
    today = [1.2 * SLOTS[8]] * 15 + [1.2 * SLOTS[9]] * 15
    found = usual(DAYS, today, NOW_MS, 2.0)
    assert found.ratio == pytest.approx(1.2)
    assert found.most(NOW_MS, NOW_MS + 60 * MINUTE_MS) == pytest.approx(1.2 * SLOTS[13])


def test_beyond_midnight_they_begin_again() -> None:
    late_ms = 11 * DAY_MS - 15 * MINUTE_MS
    found = Usual(DAYS, 1.0)
    assert found.most(late_ms, late_ms + 30 * MINUTE_MS) == SLOTS[95]
    assert found.most(late_ms, late_ms + 3 * DAY_MS) == max(SLOTS)


def test_of_some_hours_each_slot_counts_once_and_of_none_nothing_does() -> None:
    slot_ms = DAYS.slot_ms
    known = DAYS._replace(mean=(None, *SLOTS[1:]))
    late_ms = DAY_MS - 1
    assert known.between(known.mean, late_ms, late_ms + 2 + slot_ms) == [SLOTS[95], SLOTS[1]]
    assert len(known.between(SLOTS, 5, 5 + 3 * DAY_MS)) == len(SLOTS)
    assert known.between(SLOTS, slot_ms, slot_ms) == []
    assert known.most(slot_ms, slot_ms) == SLOTS[1], "an instant lies in a slot"


@pytest.mark.parametrize("level", [0.4, 2.5])
def test_a_day_unlike_them_is_told_by_itself(level: float) -> None:
    assert usual(DAYS, [level * 100] * 30, NOW_MS, 2.0).ratio is None


def test_without_days_nothing_is_usual() -> None:
    found = usual(UNKNOWN, [100.0] * 30, NOW_MS, 2.0)
    assert found.ratio is None
    assert found.most(NOW_MS, NOW_MS + MINUTE_MS) is None
    assert usual(DAYS, [100.0] * 5, NOW_MS, 2.0).ratio is None, "five minutes are no half hour"
