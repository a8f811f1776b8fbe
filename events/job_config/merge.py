"""How layers of a job's config add up: Algorithm 1 of Turbine III-A, with tombstones. Pure.

A layer is a JSON object. Of two layers the upper one wins key by key; objects merge, anything else
is replaced whole, arrays too. A null in a layer is a tombstone: it hides the key in the layers
below. Layers are merged from the bottom up, always all of them: where an object meets a scalar the
merge is not associative, so layers that were merged in advance can add up to something else.

Nothing here recurses, so no nesting is too deep, and no result shares an object or an array with
an input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from events.job_config.strict_json import Json, split_path, write_path

_SCALARS = frozenset({str, int, float, bool})


def merge_layers(layers: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """What the layers, lowest first, add up to: no null is left but within arrays."""
    merged: dict[str, Json] = {}
    for layer in layers:
        _lay(merged, layer)
    return merged


def change_layer(
    layer: Mapping[str, Json], set_: Mapping[str, Json], clear: Sequence[str]
) -> dict[str, Json]:
    """The layer after a change: the paths in `clear` are gone, then `set_` is merged into it.

    A null in `set_` stays in the layer as a tombstone. A path that is not there is nothing to
    clear; one that `split_path` cannot read raises Malformed. The same change twice equals once.
    """
    changed: dict[str, Json] = {}
    _lay(changed, layer, keep_tombstones=True)
    for path in clear:
        _clear(changed, split_path(path))
    _lay(changed, set_, keep_tombstones=True)
    return changed


def origins(layers: Sequence[Mapping[str, Json]]) -> dict[str, int]:
    """For each leaf of the merged layers, by its dotted path, the index of the layer it is from.

    Leaves are scalars, arrays and empty objects. The highest layer that names a path has its say.
    """
    highest_first = range(len(layers) - 1, -1, -1)
    return {
        write_path(keys): next(at for at in highest_first if _find(layers[at], keys) is not None)
        for keys in _leaves(merge_layers(layers))
    }


def _lay(
    below: dict[str, Json], above: Mapping[str, Json], *, keep_tombstones: bool = False
) -> None:
    """Lays `above` over `below`, in place."""
    stack = [(below, above)]
    while stack:
        into, layer = stack.pop()
        if _SCALARS.issuperset(map(type, layer.values())):
            into.update(layer)  # the usual case by far, at the speed of C
            continue
        for key, value in layer.items():
            if isinstance(value, dict):
                under = into.get(key)
                if not isinstance(under, dict):
                    # What replaces a scalar is merged all the same: its own nulls must vanish.
                    under = into[key] = {}
                stack.append((under, value))
            elif isinstance(value, list):
                into[key] = _copy(value)
            elif value is not None or keep_tombstones:
                into[key] = value
            else:
                into.pop(key, None)


def _copy(array: list[Json]) -> list[Json]:
    """The array with all that is in it, nulls too: an array is one value to the layers."""
    copied = array.copy()
    stack: list[list[Json] | dict[str, Json]] = [copied]
    while stack:
        inner = stack.pop()
        if isinstance(inner, dict):
            inner.update((key, _split_off(value, stack)) for key, value in list(inner.items()))
        else:
            inner[:] = [_split_off(value, stack) for value in inner]
    return copied


def _split_off(value: Json, stack: list[list[Json] | dict[str, Json]]) -> Json:
    """The value, or its own copy, whose inside is still to be copied, if it can be changed."""
    if not isinstance(value, dict | list):
        return value
    copied = value.copy()
    stack.append(copied)
    return copied


def _clear(layer: dict[str, Json], keys: Sequence[str]) -> None:
    """Removes what the path names, and the objects that this leaves empty.

    An emptied object that stayed would go on replacing a scalar of the layers below, whereas
    clearing restores what lies below. One that was empty before says so on purpose and stays.
    """
    passed: list[dict[str, Json]] = []
    inner: Json = layer
    for key in keys:
        if not isinstance(inner, dict) or key not in inner:
            return
        passed.append(inner)
        inner = inner[key]
    for around, key in zip(reversed(passed), reversed(keys), strict=True):
        del around[key]
        if around:
            return


def _find(layer: Mapping[str, Json], keys: Sequence[str]) -> Json:
    """The value at the path; None if the layer has none there, or hides what is below."""
    inner: Json = dict(layer)
    for key in keys:
        if not isinstance(inner, dict):
            return None
        inner = inner.get(key)
    return inner


def _leaves(merged: dict[str, Json]) -> Iterator[tuple[str, ...]]:
    stack: list[tuple[tuple[str, ...], dict[str, Json]]] = [((), merged)]
    while stack:
        keys, inner = stack.pop()
        for key, value in inner.items():
            if isinstance(value, dict) and value:
                stack.append(((*keys, key), value))
            else:
                yield (*keys, key)
