"""The mutants fit the code as it stands: one that cannot be planted tries nothing."""

from __future__ import annotations

import pytest

from simulation.mutants import ROOT, Misplaced, check_place
from simulation.mutations import MUTANTS
from simulation.mutations.mutant import Change, Mutant
from tests.mutants import EDITS


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.name)
def test_a_mutant_can_be_planted(mutant: Mutant) -> None:
    check_place(mutant, ROOT)


def test_one_that_cannot_be_planted_is_told() -> None:
    stray = Mutant("stray", (Change("README.md", "a text that is not there", ""),))
    with pytest.raises(Misplaced, match=r"README\.md 0 times, not once; bring the table in line"):
        check_place(stray, ROOT)


def test_each_edit_of_a_line_can_be_planted_and_names_its_test() -> None:
    assert len({edit.name for edit in EDITS}) == len(EDITS)
    for edit in EDITS:
        check_place(edit, ROOT)
        assert (ROOT / edit.aimed).is_file()
