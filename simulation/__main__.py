"""`python -m simulation [SEEDS] [--first N]`: runs seeds on all cores and says what they showed.

With --cover it writes the few of them that together meet all of it, as a test of each change plays.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from simulation.casts import cast_of
from simulation.covering import covering
from simulation.run import SeedOutcome, run_seed
from simulation.world import HORIZON_MS


def main() -> int:
    """Exit code 1 where a seed broke a rule."""
    parser = argparse.ArgumentParser(prog="python -m simulation", description=__doc__)
    parser.add_argument("seeds", nargs="?", type=int, default=600)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--stop", action="store_true", help="stop at the first seed that fails")
    parser.add_argument("--cast", default="", help="only seeds in which that component lives")
    parser.add_argument("--cover", type=Path, metavar="FILE", help="write a covering set of seeds")
    arguments = parser.parse_args()
    last = arguments.first + arguments.seeds
    wanted = arguments.cast
    seeds = [n for n in range(arguments.first, last) if not wanted or wanted in cast_of(n)]
    with multiprocessing.Pool(arguments.jobs) as pool:
        outcomes = pool.imap(run_seed, seeds)
        if arguments.cover is None:
            return report(outcomes, stop=arguments.stop)
        played = list(outcomes)
    failed = report(played)
    if not failed:
        arguments.cover.write_text(json.dumps(covering(played)) + "\n")
    return failed


def report(outcomes: Iterable[SeedOutcome], *, stop: bool = False) -> int:
    """Prints each seed that failed, then what all of them met."""
    totals: Counter[str] = Counter()
    hasher, failed, count, faults = hashlib.sha256(), 0, 0, 0
    for outcome in outcomes:
        count += 1
        faults += outcome.faults
        totals.update(outcome.counts)
        hasher.update(outcome.digest.encode())
        if outcome.violations:
            failed += 1
            sys.stdout.write(f"seed {outcome.seed}: {len(outcome.violations)} violations\n")
            for violation in outcome.violations[:3]:
                sys.stdout.write(f"  {violation[:600]}\n")
            if stop:
                break
    for name, number in sorted(totals.items()):
        sys.stdout.write(f"{number:>10}  {name}\n")
    hours = HORIZON_MS / 3_600_000
    sys.stdout.write(
        f"{count} seeds of {hours:g} hours, {faults} faults, {failed} failed,"
        f" hash {hasher.hexdigest()[:16]}\n"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
