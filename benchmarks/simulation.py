"""How many two-hour seeds a minute, and whether the order of a hash shows in any of them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

from benchmarks.children import ChildFailed, python, running
from benchmarks.figures import Result, say
from simulation.world import HORIZON_MS

SEEDS, QUICK_SEEDS = 100, 10
COMPARED, QUICK_COMPARED = 30, 4
HASH_SEEDS = ("0", "4242")


def measure(quick: bool) -> Result:
    """All seeds under one hash seed, on all cores; then the first ones under another."""
    count, compared = (QUICK_SEEDS, QUICK_COMPARED) if quick else (SEEDS, COMPARED)
    with TemporaryDirectory(prefix="turbine-benchmark-") as name:
        first, seconds = run_seeds(range(count), HASH_SEEDS[0], Path(name))
        say(f"{count} seeds in {seconds:.1f} s; {compared} of them under another hash seed")
        second, _ = run_seeds(range(compared), HASH_SEEDS[1], Path(name))
    faults = [said["faults"] for said in first.values()]
    figures: dict[str, float] = {
        "seeds_per_min": 60 * count / seconds,
        "hash_differences": differences(first, second),
        "seeds_compared": compared,
        "seeds_failed": sum(said["failed"] for said in first.values()),
        "faults_min": min(faults),
        "faults_mean": mean(faults),
    }
    hours = HORIZON_MS / 3_600_000
    notes = [
        f"seeds 0 to {count - 1} of {hours:g} hours each, with all checkers, a process a core",
        f"digests of the whole log under PYTHONHASHSEED={' and '.join(HASH_SEEDS)}",
    ]
    return Result("simulation", figures, {}, notes)


def differences(one: Mapping[int, Any], other: Mapping[int, Any]) -> int:
    """Seeds that both ran and whose logs differ."""
    return sum(one[seed]["digest"] != other[seed]["digest"] for seed in one.keys() & other.keys())


def run_seeds(seeds: range, hash_seed: str, directory: Path) -> tuple[dict[int, Any], float]:
    """What each seed came to, and the seconds that all took, processes' start included."""
    left, lock, cores = iter(seeds), Lock(), os.cpu_count() or 1
    since = time.monotonic()

    def work(core: int) -> list[Any]:
        name, more = f"seeds-{core}", {"PYTHONHASHSEED": hash_seed}
        with running(name, python("benchmarks.seeds"), directory, more=more) as process:
            return list(_feed(name, process, left, lock))

    with ThreadPoolExecutor(cores) as pool:
        said = [one for worked in pool.map(work, range(cores)) for one in worked]
    return {one["seed"]: one for one in said}, time.monotonic() - since


def _feed(name: str, process: Any, left: Iterator[int], lock: Lock) -> Iterator[Any]:
    """Whoever is free takes the next seed: some take three times as long as others."""
    while True:
        with lock:
            seed = next(left, None)
        if seed is None:
            return
        process.stdin.write(f"{seed}\n".encode())
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise ChildFailed(f"{name} ended at seed {seed}")
        yield json.loads(line)
