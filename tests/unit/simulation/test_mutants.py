"""The mutants fit the code as it stands: one that cannot be planted tries nothing."""

from __future__ import annotations

import pytest

from simulation.mutants import ROOT, Misplaced, check_place
from simulation.mutations import MUTANTS
from simulation.mutations.mutant import Change, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.name)
def test_a_mutant_can_be_planted(mutant: Mutant) -> None:
    check_place(mutant, ROOT)


def test_one_that_cannot_be_planted_is_told() -> None:
    stray = Mutant("stray", (Change("README.md", "a text that is not there", ""),))
    with pytest.raises(Misplaced, match=r"README\.md 0 times, not once; bring the table in line"):
        check_place(stray, ROOT)
