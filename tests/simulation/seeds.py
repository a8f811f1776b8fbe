"""All seeds of one test run, played while other tests wait for brokers.

They need two cores for minutes, and tests on brokers mostly wait: so they are played beside these,
by a program that the system runs when nobody else wants to, once for all workers of the run.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

from simulation.run import Outcome, run_seed

SEEDS = 400
"""All seeds of one test run. `make simulate` goes on for as long as it is told."""
FOLDER = "SEEDS_OF_THIS_TEST_RUN"
"""The variable in which the run tells all of its workers where the outcomes come to lie."""
ROOT = Path(__file__).parents[2]
WAIT_S = 900.0
PAUSE_S = 0.2
AT_ONCE = 5


def begin() -> None:
    """Begins to play them, beside what follows."""
    place = _place()
    (place / "begun").touch()
    command = [sys.executable, "-m", "tests.simulation.seeds", str(place), str(os.getpid())]
    with (place / "said").open("wb") as said:
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=said, stderr=said)


@cache
def outcomes() -> tuple[Outcome, ...]:
    """What all of them came to."""
    place = _place()
    if not (place / "begun").exists():
        return _play(os.cpu_count() or 1)
    limit, found = time.monotonic() + WAIT_S, place / "outcomes"
    while not found.exists():
        assert time.monotonic() < limit, (place / "said").read_text() or "seeds are still played"
        time.sleep(PAUSE_S)
    told: tuple[Outcome, ...] = pickle.loads(found.read_bytes())  # noqa: S301 - written by `main`
    return told


def _place() -> Path:
    return Path(os.environ[FOLDER])


def _play(processes: int) -> tuple[Outcome, ...]:
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return tuple(pool.imap(run_seed, range(SEEDS), chunksize=AT_ONCE))


def main(place: Path, parent: int) -> None:
    """Plays all of them where nobody needs the core, and ends where nobody waits for it."""
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)
    played: list[Outcome] = []
    for seed in range(SEEDS):
        if os.getppid() != parent:
            return
        played.append(run_seed(seed))
    part = place / "part"
    part.write_bytes(pickle.dumps(tuple(played)))
    part.replace(place / "outcomes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
