"""The fleet under faults: no rule is broken, and the run was not a dull one."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from simulation.coverage import REACHED
from simulation.faults import KINDS, LEAST_FAULTS, OF_CONTAINERS
from simulation.run import run_seed
from tests.simulation.seeds import outcomes

ROOT = Path(__file__).parents[2]
LEAST = 2
"""Of seeds that meet each thing; more of them were chosen."""
AGAIN = "choose anew: python -m simulation 150 --cover tests/simulation/covering_seeds.json"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_rule_is_broken_in_any_seed() -> None:
    """Safety while there are faults, liveness after them; a failing seed names itself."""
    broken = {one.seed: one.violations[0] for one in outcomes() if one.violations}

    assert broken == {}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_seed_has_its_faults() -> None:
    """A quiet seed would prove nothing."""
    assert min(one.faults for one in outcomes()) >= LEAST_FAULTS


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_together_they_meet_all_that_can_happen() -> None:
    """Each cast, each kind of fault, of decision and of refusal, each way to start: by more than
    one seed, so that a change that moves one of them leaves another."""
    met = Counter(name for one in outcomes() for name, count in one.counts.items() if count)
    all_of_it = (*REACHED, *(f"fault: {kind}" for kind in (*KINDS, *OF_CONTAINERS)))

    missing = [name for name in all_of_it if met[name] < LEAST]

    assert missing == [], AGAIN


def test_a_seed_is_the_same_under_any_hash_seed() -> None:
    """Neither the order of sets nor that of dictionaries reaches a decision."""
    program = (
        "from simulation.run import run_seed; "
        "print([run_seed(seed, 1_800_000).digest for seed in (3, 4)])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "1")
    }

    assert len(printed) == 1


def test_another_seed_is_another_run() -> None:
    """The hash covers what happens."""
    digests = {run_seed(seed, 600_000).digest for seed in range(4)}

    assert len(digests) == 4
    assert all(len(digest) == 16 for digest in digests)
    assert hashlib.sha256(b"").hexdigest()[:16] not in digests
