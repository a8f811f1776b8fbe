"""How fast four layers of a large config are merged and validated, beside a naive merge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

from benchmarks.configs import base_config
from benchmarks.figures import Result
from events.job_config.config import JobConfig, validate_config
from events.job_config.merge import merge_layers
from events.job_config.policies.table import SETTINGS

KEYS = 200
ROUNDS = 11
ROUND_S, QUICK_ROUND_S = 0.5, 0.05

ONCE = {("operator",), ("inputs",), ("arguments",), ("checkpoint", "root")}
"""What only the base says."""

Json = dict[str, Any]


def layers_of(keys: int) -> list[Json]:
    """Four layers that say that many keys: all have a say, and what they add up to is valid.

    The policy is the one with the most settings. The three upper layers repeat what the base says,
    but for what the job is, as authors do who publish all that they stand for; each differs from it
    in its own keys.
    """
    base = base_config(0)
    said = SETTINGS["flink"]().model_dump(mode="json", exclude_none=True)
    base["policy"] = {"name": "flink", "mode": "act", "settings": said}
    upper: list[Json] = [
        {"resources": {"memory_mb": 1024}},
        {"tasks": 16, "resources": {"cpu_cores": 1}},
        {"tasks": 20, "priority": 90, "slo": {"lag_seconds": 30.0}},
    ]
    own = ONCE | {path for layer in upper for path in _paths(layer)}
    spare = keys - leaves(base) - sum(map(leaves, upper))
    repeated = [(layer, path) for layer in upper for path in _paths(base) if path not in own]
    for layer, path in repeated[:spare]:
        into, below = layer, base
        for key in path[:-1]:
            into, below = into.setdefault(key, {}), below[key]
        into[path[-1]] = below[path[-1]]
    return [base, *upper]


def _paths(config: Json) -> Iterator[tuple[str, ...]]:
    for key, value in config.items():
        if isinstance(value, dict):
            yield from ((key, *path) for path in _paths(value))
        else:
            yield (key,)


def leaves(config: Any) -> int:
    """Values that are no objects."""
    return sum(map(leaves, config.values())) if isinstance(config, dict) else 1


def naive_merge(layers: Sequence[Json]) -> Json:
    """Algorithm 1 of the paper as one would write it down: it recurses and knows no tombstones.

    Its result shares objects with the layers, so who changes the one changes the others.
    """
    merged: Json = {}
    for layer in layers:
        merged = _naive(merged, layer)
    return merged


def _naive(below: Json, above: Json) -> Json:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        if isinstance(value, dict) and isinstance(under, dict):
            merged[key] = _naive(under, value)
        else:
            merged[key] = value
    return merged


def unshared_merge(layers: Sequence[Json]) -> Json:
    """The same, but the result is its reader's own, as ours is."""
    merged: Json = {}
    for layer in layers:
        merged = _unshared(merged, layer)
    return merged


def _unshared(below: Json, above: Json) -> Json:
    merged = dict(below)
    for key, value in above.items():
        if isinstance(value, dict):
            under = merged.get(key)
            merged[key] = _unshared(under if isinstance(under, dict) else {}, value)
        else:
            merged[key] = list(value) if isinstance(value, list) else value
    return merged


def measure(quick: bool) -> Result:
    """Short rounds in turns, so that a neighbour's load falls on all; medians."""
    layers = layers_of(KEYS)
    merged = merge_layers(layers)
    assert merged == naive_merge(layers) == unshared_merge(layers), "the merges differ"
    assert sum(map(leaves, layers)) == KEYS
    assert isinstance(validate_config(merged), JobConfig), validate_config(merged)
    ways: dict[str, Callable[[], object]] = {
        "both": lambda: validate_config(merge_layers(layers)),
        "merge": lambda: merge_layers(layers),
        "naive": lambda: naive_merge(layers),
        "unshared": lambda: unshared_merge(layers),
    }
    rounds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            rounds[name].append(_rate(way, QUICK_ROUND_S if quick else ROUND_S))
    rates = {name: median(measured) for name, measured in rounds.items()}
    figures = {
        "merges_per_s": rates["both"],
        "ratio_to_naive": rates["merge"] / rates["naive"],
        "ratio_to_unshared": rates["merge"] / rates["unshared"],
        "merge_alone_per_s": rates["merge"],
    }
    peers = {"naive_per_s": rates["naive"], "unshared_per_s": rates["unshared"]}
    notes = [
        f"{KEYS} keys of four layers; merges_per_s merges and validates, the rest only merges",
        "naive shares objects with the layers, unshared does not; neither knows tombstones",
    ]
    return Result("merge", figures, peers, notes)


def _rate(way: Callable[[], object], round_s: float) -> float:
    """Calls a second, over a time that is long enough for the clock."""
    calls, since = 0, time.perf_counter()
    while (took := time.perf_counter() - since) < round_s:
        for _ in range(20):
            way()
        calls += 20
    return calls / took
