"""What a job can read, learnt from busy minutes: it comes to the truth, and says how sure it is."""

from __future__ import annotations

import pytest

from projections.scaling.capacity import POWER_LEAST, SPREAD_BEGIN, Curve


def taught(*minutes: tuple[int, float], times: int = 1) -> Curve:
    curve = Curve()
    for _ in range(times):
        for threads, could in minutes:
            curve = curve.taught(threads, could)
    return curve


def test_one_size_is_believed_to_grow_in_step() -> None:
    curve = taught((4, 4_000.0))
    assert curve.known
    assert curve.power == 1.0
    assert curve.reads(8) == pytest.approx(8_000)
    assert curve.threads_for(6_000) == pytest.approx(6)


@pytest.mark.parametrize("power", [0.6, 0.8, 1.0])
def test_sizes_that_were_tried_show_how_it_grows(power: float) -> None:
    curve = taught(*[(n, 1_000 * n**power) for n in (2, 8, 32)], times=60)
    assert curve.power == pytest.approx(power, abs=0.03)
    assert curve.reads(16) == pytest.approx(1_000 * 16**power, rel=0.05)
    assert curve.threads_for(curve.reads(11)) == pytest.approx(11)


def test_more_threads_are_never_believed_to_read_no_more() -> None:
    curve = taught((2, 1_000.0), (64, 1_000.0), times=100)
    assert curve.power == POWER_LEAST
    assert curve.reads(64) > curve.reads(2)


def test_threads_are_never_believed_to_help_each_other() -> None:
    assert taught((2, 1_000.0), (4, 9_000.0), times=100).power == 1.0


def test_old_minutes_fade() -> None:
    """A program that was made twice as fast is known to be within a day."""
    curve = taught((4, 1_000.0), times=1_000)
    for _ in range(1_440):
        curve = curve.taught(4, 2_000.0)
    assert curve.reads(4) > 1_800


def test_the_spread_is_that_of_its_minutes() -> None:
    assert taught((4, 1_000.0)).spread == SPREAD_BEGIN
    noisy = taught((4, 900.0), (4, 1_100.0), times=200)
    assert 0.05 < noisy.spread < 0.15
    assert taught((4, 1_000.0), times=200).spread < 0.01


def test_nothing_needs_no_thread() -> None:
    assert taught((4, 1_000.0)).threads_for(0) == 0
