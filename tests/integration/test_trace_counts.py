"""Windowed counts of a recorded load, killed and rescaled amid, are those of a brute force."""

from __future__ import annotations

import pytest

from benchmarks.windows import play
from benchmarks.windows_load import EVENTS, LATE_SHARE

pytestmark = [pytest.mark.broker, pytest.mark.chaos, pytest.mark.slow]


def test_counts_of_a_trace_are_a_brute_forces_through_kills_and_rescales() -> None:
    """The same again, as often as one likes: `python -m benchmarks windows --runs N`."""
    [verdict] = play(1)
    assert verdict.compared.equal, verdict.sentence(1)
    assert (verdict.kills, verdict.rescales) == (3, 3)
    assert abs(verdict.events - EVENTS) < EVENTS / 10
    assert verdict.late > EVENTS * LATE_SHARE / 3
    assert verdict.windows > 100
