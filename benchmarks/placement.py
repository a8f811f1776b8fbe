"""How fast shards are placed, how evenly, and how little moves; beside other ways and a bound."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.children import ask, python
from benchmarks.figures import Result, say

SIZES = {"10k": (10_000, 600), "100k": (100_000, 3_000), "1m": (1_000_000, 10_000)}
QUICK_SIZES = {"10k": (1_000, 60), "100k": (10_000, 600), "1m": (100_000, 3_000)}
SEEDS, QUICK_SEEDS = 5, 1
EPOCHS = 12
SMALL = ((1_000, 60, 0), (1_000, 60, 1), (1_000, 60, 2), (1_000, 30, 3), (2_000, 60, 4))
QUICK_SMALL = ((400, 24, 0),)
"""Shards, containers and seed of the tiers for the bound: a linear program of all pairs."""
FULL_SCAN_MAX = 100_000
"""Shards for which each container is looked at for each shard: 20 s at this size."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def measure(quick: bool) -> Result:
    """Every part in a process of its own: times and memory are not those of another part."""
    figures: dict[str, float] = {}
    peers: dict[str, float] = {}
    for name, (shards, containers) in (QUICK_SIZES if quick else SIZES).items():
        say(f"{shards:,} shards on {containers:,} containers")
        found = _run("size", shards, containers, QUICK_SEEDS if quick else SEEDS)
        figures |= _of_size(name, found)
        full_scan = int(shards <= FULL_SCAN_MAX)
        for peer, values in _run("peers", shards, containers, full_scan).items():
            peers |= {f"{peer}_{what}_{name}": value for what, value in values.items()}
    shards, containers = (QUICK_SIZES if quick else SIZES)["100k"]
    say(f"{EPOCHS} epochs of drift")
    figures |= _run("epochs", shards, containers, EPOCHS)
    small, small_peers = _against_bound(quick)
    notes = [
        "seconds of the process, one thread; scratch_s and change_s are the median of all seeds",
        "out_of_band: worst seed, before or after 5 % of loads change and 3 die, in raw units",
        "bound: shards were divisible, by scipy's HiGHS; no plan of whole shards need reach it",
    ]
    return Result("placement", figures | small, peers | small_peers, notes)


def _of_size(name: str, found: Mapping[str, Any]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for what in ("scratch_s", "change_s"):
        figures[f"{what}_{name}"] = median(found[what])
        figures[f"{what}_worst_{name}"] = max(found[what])
    return figures | {
        f"out_of_band_{name}": max(found["scratch_out"] + found["change_out"]),
        f"worst_ratio_{name}": max(found["worst"]),
        f"least_ratio_{name}": min(found["least"]),
        f"urgent_s_{name}": median(found["urgent_s"]),
        f"calm_s_{name}": median(found["calm_s"]),
        f"calm_moves_{name}": max(found["calm_moves"]),
        f"moves_{name}": median(found["moves"]),
        f"forced_{name}": median(found["forced"]),
        f"moved_percent_{name}": 100 * median(found["moved_load"]),
        f"unplaced_{name}": max(found["unplaced"]),
        f"peak_mb_{name}": found["peak_mb"][0],
    }


def _against_bound(quick: bool) -> tuple[dict[str, float], dict[str, float]]:
    runs = []
    for shards, containers, seed in QUICK_SMALL if quick else SMALL:
        say(f"{shards:,} shards on {containers} containers, beside the bound")
        runs.append(_run("over-bound", shards, containers, seed))
    figures = {
        "moved_load_over_bound": mean(one["ours"] / one["bound"] for one in runs),
        "moved_load_over_bound_worst": max(one["ours"] / one["bound"] for one in runs),
        "small_s": mean(one["ours_s"] for one in runs),
        "small_out": max(one["out"] for one in runs),
    }
    return figures, {"bound_s": mean(one["bound_s"] for one in runs)}


def _run(*arguments: object) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        command = python("benchmarks.placement_run", *arguments)
        return ask("placement", command, Path(directory), more=ONE_THREAD)
