"""One part of the placement benchmark in a process of its own, with one thread: JSON to its end."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from statistics import mean

from benchmarks.figures import peak_mb
from benchmarks.placement_instances import drifted, instance
from benchmarks.placement_peers import (
    best_fit,
    bound,
    largest_first,
    md5_mod,
    moved_share,
    out_of_band,
    ratios,
    returns,
    round_robin,
)
from components.shard_manager.core.plan import PlacementPlan
from components.shard_manager.core.solver.problem import Indices, PlacementProblem
from components.shard_manager.core.solver.solve import place_orphans, solve

Figures = dict[str, float]


def timed(way: Callable[[], PlacementPlan]) -> tuple[float, PlacementPlan]:
    """Seconds of this process: what another one takes from the machine is not ours."""
    since = time.process_time()
    plan = way()
    return time.process_time() - since, plan


def size(shards: int, containers: int, seeds: int) -> dict[str, list[float]]:
    """From nothing, after a change and without one; a value for each seed."""
    found: dict[str, list[float]] = {}

    def add(**figures: float) -> None:
        for name, value in figures.items():
            found.setdefault(name, []).append(value)

    for seed in range(seeds):
        problem = instance(shards, containers, seed)
        scratch_s, plan = timed(lambda p=problem, s=seed: solve(p, s))  # type: ignore[misc]  # mypy infers no lambda with defaults
        spread = ratios(problem, plan.target)
        add(scratch_s=scratch_s, scratch_out=out_of_band(problem, plan.target))
        add(worst=float(spread.max()), least=float(spread.min()))
        changed = drifted(problem, plan.target, seed + 1000)
        del problem, plan
        change_s, after = timed(lambda p=changed, s=seed: solve(p, s))  # type: ignore[misc]  # mypy infers no lambda with defaults
        urgent_s, _ = timed(lambda p=changed, s=seed: place_orphans(p, s))  # type: ignore[misc]  # mypy infers no lambda with defaults
        add(change_s=change_s, urgent_s=urgent_s, moves=len(after.moves))
        add(forced=int((after.moves.reason == 0).sum()))
        add(moved_load=moved_share(changed, after.target))
        add(change_out=out_of_band(changed, after.target), unplaced=len(after.unplaced))
        calm = replace(changed, home=after.target)
        calm_s, still = timed(lambda p=calm, s=seed: solve(p, s))  # type: ignore[misc]  # mypy infers no lambda with defaults
        add(calm_s=calm_s, calm_moves=len(still.moves))
    return {**found, "peak_mb": [peak_mb()]}


def peers(shards: int, containers: int, full_scan: bool) -> dict[str, Figures]:
    """Each peer's seconds, worst ratio and containers out of band, on the first seed's tier."""
    problem = instance(shards, containers, 0)
    ways: dict[str, Callable[[PlacementProblem], Indices]] = {
        "md5_mod": md5_mod,
        "round_robin": round_robin,
        "largest_first": largest_first,
    }
    if full_scan:
        ways["best_fit"] = best_fit
    found: dict[str, Figures] = {}
    for name, way in ways.items():
        since = time.process_time()
        target = way(problem)
        took = time.process_time() - since
        worst = float(ratios(problem, target).max())
        found[name] = {"s": took, "worst": worst, "out": out_of_band(problem, target)}
    return found


def epochs(shards: int, containers: int, many: int) -> Figures:
    """A tier that drifts: 5 % of the loads each time, 3 containers die, 3 come back empty."""
    problem = instance(shards, containers, 0)
    plan = solve(problem, 0)
    homes, times, out, moves, loads = [plan.target], [], 0, [], []
    for number in range(many):
        problem = drifted(problem, homes[-1], 2000 + number)
        took, plan = timed(lambda p=problem, s=number: solve(p, s))  # type: ignore[misc]  # mypy infers no lambda with defaults
        times.append(took)
        out = max(out, out_of_band(problem, plan.target))
        moves.append(len(plan.moves))
        loads.append(moved_share(problem, plan.target))
        homes.append(plan.target)
    return {
        "aba_returns": returns(homes),
        "epoch_s_worst": max(times),
        "epoch_out_worst": out,
        "epoch_moves_mean": mean(moves),
        "epoch_moved_percent_mean": 100 * mean(loads),
    }


def over_bound(shards: int, containers: int, seed: int) -> Figures:
    """Load that we move after a change, and the least that anyone would have to."""
    problem = instance(shards, containers, seed)
    changed = drifted(problem, solve(problem, seed).target, seed + 3000)
    took, plan = timed(lambda: solve(changed, seed))
    since = time.process_time()
    least = bound(changed)
    return {
        "ours": moved_share(changed, plan.target),
        "bound": least,
        "ours_s": took,
        "bound_s": time.process_time() - since,
        "out": out_of_band(changed, plan.target),
    }


def main(arguments: list[str]) -> None:
    part, *numbers = arguments
    parts: dict[str, Callable[..., object]] = {
        "size": size,
        "peers": peers,
        "epochs": epochs,
        "over-bound": over_bound,
    }
    print(json.dumps(parts[part](*map(int, numbers))))


if __name__ == "__main__":
    main(sys.argv[1:])
