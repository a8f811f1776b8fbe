"""K7: precedence. Each layer and each merged config, recomputed key path by key path.

A layer is made of all changes to it that hold, in their order: nothing here knows what an end is
told to leave.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from events.wire.codec import Read
from simulation.checkers.history import History

LAYERS = ("base", "provisioner", "scaler", "oncall")


def check_precedence(history: History) -> Iterator[str]:
    """Every violation, as a sentence."""
    layers: dict[str, list[_Layer]] = {}
    asked = _asked(history)
    for read in history.standing:
        key, body = read.record.key, _plain(read)
        mine = layers.setdefault(key, [_Layer() for _ in LAYERS])
        match read.record.kind:
            case "JobConfigChanged":
                layer = mine[LAYERS.index(body.layer)]
                request = asked.get((body.layer, key, body.change_id))
                said = layer.take(body, request)
                yield from _as_told(read, body.change_id, layer, body.layer_json, said)
            case "OverrideExpired":
                layer = mine[LAYERS.index(body.layer)]
                said = layer.end(body)
                yield from _as_told(read, body.change_id, layer, body.layer_json, said)
            case "JobDeleted":
                mine[:] = [_Layer() for _ in LAYERS]
                continue
            case _:
                continue
        want = _visible([layer.config for layer in mine])
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


class _Layer:
    """All changes of a layer since the oldest one that is to end; those before it made `below`."""

    def __init__(self) -> None:
        self.below: Any = {}
        self.since: list[tuple[str, int | None, Any]] = []

    @property
    def config(self) -> Any:
        made = self.below
        for _, _, request in self.since:
            made = _after(made, request)
        return made

    def take(self, body: Any, request: Any) -> str:
        """What is wrong with the change, "" for nothing."""
        if request is None:  # no author of ours asked for it: a checker of verdicts says so
            self.below, self.since = json.loads(body.layer_json), []
            return ""
        self.since.append((body.change_id, body.expires_ms, request))
        self._settle()
        asked = request.expires_ms
        return "" if asked == body.expires_ms else f"is to end at {asked}, not {body.expires_ms}"

    def end(self, body: Any) -> str:
        """The same of an end. What later ones had covered whole ends unsaid."""
        names, due = {body.change_id, *body.other_ids}, body.expires_ms
        known = {name for name, ends_ms, _ in self.since if ends_ms == due}
        self.since = [one for one in self.since if one[1] is None or one[1] > due]
        self._settle()
        return "" if names <= known else f"ends {sorted(names - known)}, not to end at {due}"

    def _settle(self) -> None:
        while self.since and self.since[0][1] is None:
            self.below = _after(self.below, self.since.pop(0)[2])


def _as_told(read: Read, name: str, layer: _Layer, layer_json: str, said: str) -> Iterator[str]:
    """A change does to its layer what was asked for, its end takes that back, and nothing else."""
    where = f"{read.record.key}: {read.record.kind} of {name} at {read.offset}"
    if said:
        yield f"{where} {said}"
    found = json.loads(layer_json)
    if found != layer.config:
        yield f"{where} says {json.dumps(found)}; what holds makes {json.dumps(layer.config)}"


def _after(layer: Any, request: Any) -> Any:
    for path in request.clear:
        layer = _without(layer, path.split("."))
    return _with(layer, json.loads(request.set_json))


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
