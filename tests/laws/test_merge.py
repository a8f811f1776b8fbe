"""Laws of the merge for all JSON: it equals a naive twin, is total, and shares nothing."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from random import Random

from hypothesis import example, given
from hypothesis import strategies as st

from events.job_config.merge import change_layer, merge_layers, origins
from events.job_config.strict_json import Json, canonical_json, split_path, write_path

Layer = dict[str, Json]

# Few keys, so that layers meet, among them those whose paths need escapes.
keys = st.sampled_from(["a", "b", "c", "a.b", "", "\\"])
values: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
layers: st.SearchStrategy[Layer] = st.dictionaries(keys, values, max_size=4)
stacks = st.lists(layers, max_size=4)
paths = st.lists(
    st.lists(keys, min_size=1, max_size=4).filter(lambda path: path != [""]).map(write_path),
    max_size=4,
)


def merge_naively(bottom: Layer, top: Layer, *, keep: bool = False) -> Layer:
    """Algorithm 1 as the paper writes it, with tombstones; `keep` leaves them in."""
    layered = copy.deepcopy(bottom)
    for key, value in top.items():
        if isinstance(value, dict):
            below = bottom.get(key)
            layered[key] = merge_naively(below if isinstance(below, dict) else {}, value, keep=keep)
        elif value is None and not keep:
            layered.pop(key, None)
        else:
            layered[key] = copy.deepcopy(value)
    return layered


def clear_naively(layer: Layer, path: tuple[str, ...]) -> Layer:
    head, *rest = path
    if head not in layer:
        return layer
    others = {key: value for key, value in layer.items() if key != head}
    inner = layer[head]
    if not rest:
        return others
    if not isinstance(inner, dict):
        return layer
    cleared = clear_naively(inner, tuple(rest))
    return {**layer, head: cleared} if cleared or not inner else others


def change_naively(layer: Layer, set_: Layer, clear: list[str]) -> Layer:
    for path in clear:
        layer = clear_naively(layer, split_path(path))
    return merge_naively(layer, set_, keep=True)


def containers(value: Json) -> Iterator[dict[str, Json] | list[Json]]:
    if isinstance(value, dict | list):
        yield value
        for one in value.values() if isinstance(value, dict) else value:
            yield from containers(one)


def leaves(value: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Json]]:
    if isinstance(value, dict) and (value or not path):
        for key, one in value.items():
            yield from leaves(one, (*path, key))
    else:
        yield path, value


def has_null_outside_arrays(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(has_null_outside_arrays, value.values()))
    return value is None


@given(stacks)
def test_it_equals_the_naive_twin(stack: list[Layer]) -> None:
    expected: Layer = {}
    for layer in stack:
        expected = merge_naively(expected, layer)
    # Texts, since True == 1 and 1.0 == 1 in Python.
    assert canonical_json(merge_layers(stack)) == canonical_json(expected)


@given(layers, layers, paths)
def test_a_change_equals_the_naive_twin(layer: Layer, set_: Layer, clear: list[str]) -> None:
    expected = change_naively(layer, set_, clear)
    assert canonical_json(change_layer(layer, set_, clear)) == canonical_json(expected)


@given(layers, layers, paths)
def test_the_same_change_twice_is_one_change(layer: Layer, set_: Layer, clear: list[str]) -> None:
    once = change_layer(layer, set_, clear)
    assert canonical_json(change_layer(once, set_, clear)) == canonical_json(once)


@given(layers, layers, paths, st.randoms(use_true_random=False))
def test_paths_are_cleared_in_any_order(
    layer: Layer, set_: Layer, clear: list[str], random: Random
) -> None:
    shuffled = clear.copy()
    random.shuffle(shuffled)
    assert change_layer(layer, set_, shuffled) == change_layer(layer, set_, clear)


@given(layers, layers, paths)
def test_a_change_sets_all_it_says(layer: Layer, set_: Layer, clear: list[str]) -> None:
    changed = dict(leaves(change_layer(layer, set_, clear)))
    for path, value in leaves(set_):
        if value != {}:  # an empty object says only that there is one
            assert canonical_json(changed[path]) == canonical_json(value)


@given(layers, st.lists(st.lists(keys, min_size=1, max_size=4), max_size=3))
def test_what_is_cleared_is_gone(layer: Layer, clear: list[list[str]]) -> None:
    clear = [path for path in clear if path != [""]]
    kept = [path for path, _ in leaves(change_layer(layer, {}, list(map(write_path, clear))))]
    assert not [p for p in kept for cleared in clear if list(p[: len(cleared)]) == cleared]
    untouched = [
        path
        for path, _ in leaves(layer)
        if not any(list(path[: len(cleared)]) == cleared for cleared in clear)
    ]
    assert sorted(kept) == sorted(untouched)


@given(stacks)
def test_no_null_is_left_outside_arrays(stack: list[Layer]) -> None:
    assert not has_null_outside_arrays(merge_layers(stack))


@given(stacks)
def test_no_key_is_lost(stack: list[Layer]) -> None:
    """The value at each path is the one of the highest layer that defines it (I10)."""
    merged = dict(leaves(merge_layers(stack)))
    for at, layer in enumerate(stack):
        for path, value in leaves(layer):
            overruled = any(touches(above, path) for above in stack[at + 1 :])
            if value is not None and value != {} and not overruled:
                assert canonical_json(merged[path]) == canonical_json(value)


def touches(layer: Layer, path: tuple[str, ...]) -> bool:
    """Whether the layer says anything of the path, of what is in it, or of what it is in."""
    inner: Json = layer
    for key in path:
        if not isinstance(inner, dict):
            return True
        if key not in inner:
            return False
        inner = inner[key]
    return True


@given(stacks)
def test_it_shares_nothing_and_changes_no_input(stack: list[Layer]) -> None:
    before = copy.deepcopy(stack)
    merged = merge_layers(stack)
    inputs = {id(one) for layer in stack for one in containers(layer)}
    assert inputs.isdisjoint(id(one) for one in containers(merged))
    assert stack == before


@given(layers, layers, paths)
def test_a_change_shares_nothing_either(layer: Layer, set_: Layer, clear: list[str]) -> None:
    before = copy.deepcopy((layer, set_))
    changed = change_layer(layer, set_, clear)
    inputs = {id(one) for side in (layer, set_) for one in containers(side)}
    assert inputs.isdisjoint(id(one) for one in containers(changed))
    assert (layer, set_) == before


@given(layers)
def test_merging_what_is_merged_changes_nothing(layer: Layer) -> None:
    merged = merge_layers([layer])
    assert canonical_json(merge_layers([merged])) == canonical_json(merged)
    assert canonical_json(merge_layers([merged, merged])) == canonical_json(merged)


@given(stacks)
@example([{"a": {}}, {"a": 5}, {"a": {"x": None}}])
def test_origins_are_the_highest_layers_with_a_say(stack: list[Layer]) -> None:
    merged, told = dict(leaves(merge_layers(stack))), origins(stack)
    assert set(map(write_path, merged)) == set(told)
    for path, value in merged.items():
        at = told[write_path(path)]
        assert not any(touches(above, path) for above in stack[at + 1 :])
        assert touches(stack[at], path)
        alone = dict(leaves(merge_layers([stack[at]])))
        assert canonical_json(alone[path]) == canonical_json(value)


def test_a_thousand_levels_are_no_trouble() -> None:
    depth = 1000
    assert sys.getrecursionlimit() <= depth + 100, "deep enough to break a recursive merge"
    bottom, top = nest(depth, {"x": 1, "z": [nest(depth, 1)]}), nest(depth, {"x": None, "y": [[2]]})
    merged = merge_layers([bottom, top])
    path = ("k",) * depth
    assert set(inside(merged, path)) == {"y", "z"}
    assert origins([bottom, top])[write_path((*path, "y"))] == 1
    changed = change_layer(bottom, {}, [write_path((*path, "x")), write_path((*path, "z"))])
    assert changed == {}


def nest(depth: int, value: Json) -> Layer:
    for _ in range(depth):
        value = {"k": value}
    assert isinstance(value, dict)
    return value


def inside(value: Json, path: tuple[str, ...]) -> Layer:
    for key in path:
        assert isinstance(value, dict)
        value = value[key]
    assert isinstance(value, dict)
    return value
