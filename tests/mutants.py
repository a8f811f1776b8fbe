"""`python -m tests.mutants [NAME…]`: do the tests that need no broker notice an edit of one line?

Each edit of the table is planted in a copy of the tree, where the test file that is named with it
must fail. Before that all of those files must pass there, or a failure would prove nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from simulation.mutants import ROOT, plant
from simulation.mutations.mutant import Mutant
from tests.edits.of_answers import ANSWERS
from tests.edits.of_deciders import DECIDERS, RUNTIME
from tests.edits.of_tasks import TASKS

EDITS = (*RUNTIME, *DECIDERS, *TASKS, *ANSWERS)
LONGEST_S = 300


def main() -> int:
    """Exit code 1 where an edit lives, or where tests fail without one."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="edits to plant; all of them without a name")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {edit.name for edit in EDITS}
    if unknown:
        parser.error(f"no edit has the name {', '.join(sorted(unknown))}")
    chosen = [one for one in EDITS if not arguments.names or one.name in arguments.names]
    begin_s, living, trees = time.monotonic(), 0, SimpleQueue[Path]()
    with tempfile.TemporaryDirectory() as made, ThreadPoolExecutor(arguments.jobs) as threads:
        for number in range(arguments.jobs):
            tree = Path(made) / str(number)
            shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "__pycache__"))
            trees.put(tree)
        code, said = run(sorted({edit.aimed for edit in chosen}), tree)
        if code:
            sys.stdout.write(f"tests fail with nothing planted:\n{said}\n")
            return 1
        for edit, by in zip(chosen, threads.map(partial(try_out, trees), chosen), strict=True):
            living += not by
            sys.stdout.write(f"{edit.name:<60} | {by or 'LIVES in ' + edit.aimed}\n")
            sys.stdout.flush()
    spent_s = time.monotonic() - begin_s
    sys.stdout.write(f"{len(chosen)} edits, {living} not caught, {spent_s:.0f} s\n")
    return 1 if living else 0


def try_out(trees: SimpleQueue[Path], edit: Mutant) -> str:
    """Plants the edit in one of the trees; the test that fails there, "" where none does."""
    tree = trees.get()
    kept = {change.file: (tree / change.file).read_bytes() for change in edit.changes}
    plant(edit, tree)
    code, said = run([edit.aimed], tree)
    for file, text in kept.items():
        (tree / file).write_bytes(text)
    trees.put(tree)
    failed = re.search(r"^FAILED \S+::(\S+)", said, re.MULTILINE)
    # Any other code but 1 is of a run that did not come as far as a test.
    return failed[1] if failed is not None and code == 1 else ""


def run(files: Iterable[str], tree: Path) -> tuple[int, str]:
    """How pytest ended in that tree, and what it printed."""
    command = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *files]
    try:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree)},
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1, f"no end after {LONGEST_S} s"
    return done.returncode, done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())
