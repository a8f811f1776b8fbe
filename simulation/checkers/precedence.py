"""K7: precedence. Each layer and each merged config, recomputed key path by key path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from events.codec import Read
from simulation.checkers.history import History

LAYERS = ("base", "provisioner", "scaler", "oncall")


def check_precedence(history: History) -> Iterator[str]:
    """Every violation, as a sentence."""
    layers: dict[str, list[Any]] = {}
    asked = _asked(history)
    for read in history.standing:
        key, body = read.record.key, _plain(read)
        mine = layers.setdefault(key, [{}, {}, {}, {}])
        match read.record.kind:
            case "JobConfigChanged":
                at = LAYERS.index(body.layer)
                request = asked.get((body.layer, key, body.change_id))
                if request is not None:
                    yield from _as_asked(read, request, mine[at])
                mine[at] = json.loads(body.layer_json)
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


def _plain(read: Read) -> Any:
    return read.record.body


def _asked(history: History) -> dict[tuple[str, str, str], Any]:
    """The first copy of each request, by layer, key and id."""
    out: dict[tuple[str, str, str], Any] = {}
    for layer in LAYERS:
        for at, reads in history.log.items():
            if at.startswith(f"changes.{layer}.v1/"):
                for read in reads:
                    out.setdefault((layer, read.record.key, read.record.id), _plain(read))
    return out


def _as_asked(read: Read, request: Any, before: Any) -> Iterator[str]:
    """A change does to its layer what was asked for, and nothing else."""
    want = before
    for path in request.clear:
        want = _without(want, path.split("."))
    want = _with(want, json.loads(request.set_json))
    found = json.loads(_plain(read).layer_json)
    if found != want:
        yield (
            f"{read.record.key}: {request.change_id} makes the layer {json.dumps(want)},"
            f" and the decision at {read.offset} says {json.dumps(found)}"
        )


def _without(layer: Any, path: list[str]) -> Any:
    """The layer without what the path names, and without objects that this leaves empty."""
    head, *rest = path
    if not isinstance(layer, dict) or head not in layer:
        return layer
    others = {key: value for key, value in layer.items() if key != head}
    inner = _without(layer[head], rest) if rest else None
    return others if not rest or inner == {} != layer[head] else {**layer, head: inner}


def _with(layer: Any, change: Any) -> Any:
    """The layer with the change laid over it; what is null in it stays, as a tombstone."""
    if not isinstance(change, dict):
        return change
    below = layer if isinstance(layer, dict) else {}
    return {**below, **{key: _with(below.get(key), value) for key, value in change.items()}}


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
