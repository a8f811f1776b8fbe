"""The seeds of one test run, played while other tests wait for brokers.

They need a core for minutes, and tests on brokers mostly wait: so they are played beside these, by
a program that the system runs when nobody else wants to, once for all workers of the run.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path

from infra.waiting import until
from simulation.run import SeedOutcome, run_seed

SEEDS: tuple[int, ...] = tuple(
    json.loads(Path(__file__).with_name("covering_seeds.json").read_text())
)
"""Few that together meet all that 150 meet (`python -m simulation 150 --cover FILE`); `make
simulate` plays 600."""
FOLDER = "SEEDS_OF_THIS_TEST_RUN"
"""The variable in which the run tells all of its workers where the outcomes come to lie."""
ROOT = Path(__file__).parents[2]
WAIT_S = 900.0
AT_ONCE = 2


def begin() -> None:
    """Begins to play them, beside what follows."""
    place = _place()
    (place / "begun").touch()
    command = [sys.executable, "-m", "tests.simulation.seeds", str(place), str(os.getpid())]
    with (place / "said").open("wb") as said:
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=said, stderr=said)


@cache
def outcomes() -> tuple[SeedOutcome, ...]:
    """What all of them came to."""
    place = _place()
    if not (place / "begun").exists():
        return _play(os.cpu_count() or 1)
    found = place / "outcomes"
    until(found.exists, lambda: f"seeds are played; {(place / 'said').read_text()}", WAIT_S)
    told: tuple[SeedOutcome, ...] = pickle.loads(found.read_bytes())  # noqa: S301 - written by `main`
    return told


def _place() -> Path:
    return Path(os.environ[FOLDER])


def _play(processes: int) -> tuple[SeedOutcome, ...]:
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return tuple(pool.imap(run_seed, SEEDS, chunksize=AT_ONCE))


def main(place: Path, parent: int) -> None:
    """Plays all of them where nobody needs the core, and ends where nobody waits for it."""
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)
    played: list[SeedOutcome] = []
    for seed in SEEDS:
        if os.getppid() != parent:
            return
        played.append(run_seed(seed))
    part = place / "part"
    part.write_bytes(pickle.dumps(tuple(played)))
    part.replace(place / "outcomes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
