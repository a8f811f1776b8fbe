"""K7: precedence. Each merged config, recomputed key path by key path from the layers below it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from simulation.checkers.history import History

LAYERS = ("base", "provisioner", "scaler", "oncall")


def check_precedence(history: History) -> Iterator[str]:
    """Every violation, as a sentence."""
    layers: dict[str, list[Any]] = {}
    for read in history.standing:
        body: Any = read.record.body
        mine = layers.setdefault(read.record.key, [{}, {}, {}, {}])
        match read.record.kind:
            case "JobConfigChanged":
                mine[LAYERS.index(body.layer)] = json.loads(body.layer_json)
            case "OverrideExpired":
                mine[LAYERS.index(body.layer)] = {}
            case "JobDeleted":
                mine[:] = [{}, {}, {}, {}]
                continue
            case _:
                continue
        want = _visible(mine)
        if json.loads(body.expected_json) != want:
            yield (
                f"{read.record.key}: {read.record.kind} at {read.offset} says"
                f" {body.expected_json}, the layers add up to {json.dumps(want, sort_keys=True)}"
            )


def _visible(layers: list[Any]) -> Any:
    """What is seen from above: the highest layer that has a word on a path decides it."""
    top = next((layer for layer in reversed(layers) if layer is not _NOTHING), _NOTHING)
    if not isinstance(top, dict):
        return _NOTHING if top is None else top
    # A map sees through to the maps below it, down to the first thing that is not a map.
    stack = []
    for layer in reversed(layers):
        if layer is _NOTHING:
            continue
        if not isinstance(layer, dict):
            break
        stack.append(layer)
    keys = {key for layer in stack for key in layer}
    merged = {
        key: _visible([layer.get(key, _NOTHING) for layer in reversed(stack)]) for key in keys
    }
    return {key: value for key, value in merged.items() if value is not _NOTHING}


_NOTHING = object()
