"""Fleets of more containers than other seeds have: what holds for ten must hold for two hundred."""

from __future__ import annotations

import pytest

from simulation.run import run_seed

MINUTE_MS = 60_000


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("seed", "containers", "minutes"), [(4, 50, 40), (10, 100, 20), (16, 200, 12)]
)
def test_no_rule_is_broken_among_many(seed: int, containers: int, minutes: int) -> None:
    """All checkers of the other seeds, and as many faults in less time."""
    outcome = run_seed(seed, minutes * MINUTE_MS, containers=containers)
    assert outcome.violations == ()
    assert outcome.counts["stands: ShardAddRequested"] > 2 * containers
