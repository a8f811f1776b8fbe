"""`python -m simulation.mutants [--seeds N] [NAME…]`: is every rule that is left out noticed?

Each mutant is planted in a copy of the tree. Seeds run there until the first one fails. A rule
without which histories stay right has a test of its own instead, which must fail in the copy.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simulation.mutations import MUTANTS
from simulation.mutations.mutant import Mutant

ROOT = Path(__file__).resolve().parent.parent
COPIED = (
    "client",
    "events",
    "projections",
    "tasks",
    "components",
    "turbine",
    "simulation",
    "tests",
    "pyproject.toml",
)
LONGEST_S = 1_800
"""A mutant that says more and more is slow; longer than this it does not come to an end."""


class Misplaced(ValueError):
    """A mutation does not fit the tree; the sentence says which."""


@dataclass(frozen=True, slots=True)
class MutantVerdict:
    """What became of one mutant."""

    mutant: Mutant
    caught: bool
    by: str  # a seed, or a test
    found: str  # the first violation


def main() -> int:
    """Exit code 1 where a mutant lives on."""
    parser = argparse.ArgumentParser(prog="python -m simulation.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="mutants to plant; all of them without a name")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {mutant.name for mutant in MUTANTS}
    if unknown:
        parser.error(f"no mutant has the name {', '.join(sorted(unknown))}")
    chosen = [one for one in MUTANTS if not arguments.names or one.name in arguments.names]
    living = 0
    for mutant in chosen:
        verdict = try_out(mutant, arguments.seeds, arguments.jobs)
        living += not verdict.caught
        sys.stdout.write(f"{mutant.name:<60} | {verdict.by:<14} | {verdict.found[:80]}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(chosen)} mutants, {living} not caught\n")
    return 1 if living else 0


def try_out(mutant: Mutant, seeds: int, jobs: int) -> MutantVerdict:
    """Plants the mutant in a copy of the tree, and lets the seeds or the aimed test look for it."""
    with tempfile.TemporaryDirectory() as made:
        tree = Path(made)
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pyc*"))
            else:
                shutil.copy(ROOT / name, tree)
        plant(mutant, tree)
        if mutant.aimed:
            return _by_test(mutant, tree)
        return _by_seeds(mutant, tree, seeds, jobs)


def plant(mutant: Mutant, tree: Path) -> None:
    """Changes the files of the tree; each text that is changed must be there once."""
    check_place(mutant, tree)
    for change in mutant.changes:
        path = tree / change.file
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(change.old, change.new), encoding="utf-8")


def check_place(mutant: Mutant, tree: Path) -> None:
    """Does the mutation fit the tree? A rule that was written anew would not be tried any more."""
    for change in mutant.changes:
        count = (tree / change.file).read_text(encoding="utf-8").count(change.old)
        if count != 1:
            raise Misplaced(
                f"{mutant.name}: {change.old!r} is in {change.file} {count} times, not once;"
                " bring the table in line with the code"
            )


def _by_seeds(mutant: Mutant, tree: Path, seeds: int, jobs: int) -> MutantVerdict:
    command = ["simulation", str(seeds), "--jobs", str(jobs), "--stop", "--cast", mutant.cast]
    ended, out = _run(command, tree)
    found = re.search(r"^seed (\d+): .*\n  (.*)$", out, re.MULTILINE)
    if found is not None:
        return MutantVerdict(mutant, True, f"seed {found[1]}", found[2])
    if not ended:
        return MutantVerdict(mutant, False, "NO END", f"after {LONGEST_S} s")
    summary = out.strip().rpartition("\n")[2]
    return MutantVerdict(mutant, False, f"NOT CAUGHT in {seeds}", summary)


def _by_test(mutant: Mutant, tree: Path) -> MutantVerdict:
    # Without what is configured for the broker's tests: it needs rooms that are not copied.
    command = ["pytest", "-x", "-q", "--noconftest", "-p", "no:cacheprovider", mutant.aimed]
    _, out = _run(command, tree)
    failed = re.search(r"^FAILED \S+::(\S+)", out, re.MULTILINE)
    if failed is not None:
        return MutantVerdict(mutant, True, "aimed test", mutant.why or failed[1])
    return MutantVerdict(mutant, False, "NOT CAUGHT", out.strip().rpartition("\n")[2])


def _run(command: Sequence[str], tree: Path) -> tuple[bool, str]:
    """Whether it came to an end, and what it printed."""
    try:
        done = subprocess.run(  # noqa: S603 - our own modules, under our own interpreter
            [sys.executable, "-m", *command],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": f"{tree}:{tree / 'client'}"},  # noqa: TID251 - passed on, not read
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return False, late.stdout.decode() if isinstance(late.stdout, bytes) else ""
    return True, done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())
