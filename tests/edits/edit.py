"""An edit of one line, and the test file that must notice it."""

from __future__ import annotations

from simulation.mutations.mutant import Mutant, left_out


def edit(name: str, file: str, old: str, new: str, *, test: str) -> Mutant:
    """One that a unit test notices, which needs no broker."""
    return left_out(name, file, old, new, aimed=f"tests/unit/{test}")
