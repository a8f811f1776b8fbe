"""The mutants fit the code as it stands: one that cannot be planted tries nothing."""

from __future__ import annotations

from collections.abc import Iterable

from simulation.mutants import ROOT, Misplaced, check_place
from simulation.mutations import MUTANTS
from simulation.mutations.mutant import Mutant, TextEdit
from tests.mutants import EDITS


def misplaced(mutants: Iterable[Mutant]) -> list[str]:
    """What is said of each mutant that cannot be planted."""
    found = []
    for mutant in mutants:
        try:
            check_place(mutant, ROOT)
        except Misplaced as misplaced:
            found.append(str(misplaced))
    return found


def test_every_mutant_can_be_planted() -> None:
    found = misplaced(MUTANTS)
    assert not found, "\n" + "\n".join(found)


def test_one_that_cannot_be_planted_is_told() -> None:
    changes = (TextEdit("README.md", "a text that is not there", ""),)
    strays = [Mutant(name, changes) for name in ("stray", "lost")]
    told = "'a text that is not there' is in README.md 0 times, not once"
    found = misplaced([strays[0], MUTANTS[0], strays[1]])
    assert [one.partition("; ")[0] for one in found] == [f"stray: {told}", f"lost: {told}"]


def test_each_edit_of_a_line_can_be_planted_and_names_its_test() -> None:
    assert len({edit.name for edit in EDITS}) == len(EDITS)
    assert not misplaced(EDITS)
    assert not [edit.aimed for edit in EDITS if not (ROOT / edit.aimed).is_file()]
