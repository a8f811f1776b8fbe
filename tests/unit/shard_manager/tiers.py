"""Tiers to place in tests, written down by what matters in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from components.shard_manager.core.solver.problem import PlacementProblem, PlacementSettings


def tier(
    loads: Sequence[Any], homes: Sequence[int], capacity: Sequence[Any], **rest: Any
) -> PlacementProblem:
    """Everything else is as plain as can be: one region, all alive, no head-room, none resting."""
    shards, containers = len(loads), len(capacity)
    plain: dict[str, Any] = {
        "allowed": [1] * shards,
        "region": [1] * containers,
        "alive": [True] * containers,
        "headroom": [0] * containers,
        "ramp": [1000] * containers,
        "draining": [False] * containers,
        "movable": [True] * shards,
        "job": [-1] * shards,
    }
    types = {"allowed": np.uint64, "region": np.uint64, "headroom": np.int32, "ramp": np.int32}
    types |= {"job": np.int32, "alive": np.bool_, "draining": np.bool_, "movable": np.bool_}
    arrays = {name: np.array(rest.pop(name, plain[name]), types[name]) for name in plain}
    return PlacementProblem(
        loads=_table(loads),
        home=np.array(homes, np.int32),
        capacity=_table(capacity),
        settings=PlacementSettings(**rest),
        **arrays,
    )


def _table(rows: Sequence[Any]) -> Any:
    found = np.array(rows, np.int64)
    return found if found.ndim == 2 else found.reshape(len(rows), 1)
