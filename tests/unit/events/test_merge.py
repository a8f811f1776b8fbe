"""What layers add up to and what a change makes of a layer, example by example (Turbine III-A)."""

from __future__ import annotations

import pytest

from events.job_config.merge import change_layer, merge_layers, origins
from events.job_config.strict_json import Json, Malformed

Layer = dict[str, Json]


@pytest.mark.parametrize(
    ("layers", "merged"),
    [
        ([], {}),
        ([{"a": 1}], {"a": 1}),
        ([{"a": 1, "b": 1}, {"a": 2}], {"a": 2, "b": 1}),
        ([{"a": {"x": 1, "y": 1}}, {"a": {"x": 2}}], {"a": {"x": 2, "y": 1}}),
        # Arrays are replaced whole, and a null in one is a value like any other.
        ([{"a": [1, 2]}, {"a": [None, {"b": None}]}], {"a": [None, {"b": None}]}),
        # Objects and scalars replace each other.
        ([{"a": 1}, {"a": {"x": 1}}], {"a": {"x": 1}}),
        ([{"a": {"x": 1}}, {"a": 1}], {"a": 1}),
        ([{"a": [1]}, {"a": {"x": 1}}], {"a": {"x": 1}}),
        ([{"a": 1}, {"a": {}}], {"a": {}}),
        ([{"a": {"x": 1}}, {"a": {}}], {"a": {"x": 1}}),
        # Tombstones hide what is below them, not what is above.
        ([{"a": 1, "b": 1}, {"a": None}], {"b": 1}),
        ([{"a": {"x": 1}}, {"a": {"x": None}}], {"a": {}}),
        ([{"a": 1}, {"a": None}, {"a": 2}], {"a": 2}),
        ([{"a": {"x": 1}}, {"a": None}, {"a": {"y": 1}}], {"a": {"y": 1}}),
        ([{"a": None}], {}),
        ([{}, {"a": None}], {}),
        # A null in what replaces a scalar has nothing to hide and vanishes all the same.
        ([{"a": 1}, {"a": {"x": None, "y": {"z": None}}}], {"a": {"y": {}}}),
        # False and 0 are values.
        ([{"a": 1, "b": 1}, {"a": False, "b": 0}], {"a": False, "b": 0}),
    ],
)
def test_layers_add_up(layers: list[Layer], merged: Layer) -> None:
    assert merge_layers(layers) == merged


def test_layers_must_not_be_merged_in_advance() -> None:
    base: Layer = {"a": {"x": 1}}
    scaler: Layer = {"a": 5}
    oncall: Layer = {"a": {"y": 1}}
    assert merge_layers([base, scaler, oncall]) == {"a": {"y": 1}}
    assert merge_layers([base, merge_layers([scaler, oncall])]) == {"a": {"x": 1, "y": 1}}


def test_keys_keep_the_order_of_the_lowest_layer() -> None:
    merged = merge_layers([{"b": 1, "a": {"z": 1, "y": 1}}, {"a": {"y": 2, "x": 2}, "b": 2}])
    assert list(merged) == ["b", "a"]
    assert list(merged["a"]) == ["z", "y", "x"]  # type: ignore[arg-type]  # it is an object


@pytest.mark.parametrize(
    ("layer", "set_", "clear", "changed"),
    [
        ({}, {}, [], {}),
        ({"a": 1}, {"b": 2}, [], {"a": 1, "b": 2}),
        ({"a": {"x": 1}}, {"a": {"y": 2}}, [], {"a": {"x": 1, "y": 2}}),
        # A null in `set` is a tombstone and stays in the layer, wherever it stands.
        ({"a": 1}, {"a": None}, [], {"a": None}),
        ({"a": 1}, {"a": {"x": None}}, [], {"a": {"x": None}}),
        ({"a": None, "b": None}, {"a": 1}, [], {"a": 1, "b": None}),
        # What stands under a tombstone is set on its own: the tombstone is gone.
        ({"a": None}, {"a": {"x": 1}}, [], {"a": {"x": 1}}),
        # First clear, then set.
        ({"a": {"x": 1, "y": 1}}, {"a": {"z": 1}}, ["a"], {"a": {"z": 1}}),
        ({"a": 1}, {"a": 2}, ["a"], {"a": 2}),
        # Clearing what is not there is nothing.
        ({"a": 1}, {}, ["b", "b.c", "a.b", "a.b.c"], {"a": 1}),
        ({"a": [{"x": 1}]}, {}, ["a.0", "a.0.x"], {"a": [{"x": 1}]}),
        # A tombstone is cleared like any value, and an object with all that is in it.
        ({"a": None, "b": {"c": {"d": 1}}}, {}, ["a", "b.c"], {}),
        # An object that clearing empties goes too, up to one that still holds something …
        ({"a": {"b": {"c": 1}}}, {}, ["a.b.c"], {}),
        ({"a": {"b": {"c": 1}, "d": 1}}, {}, ["a.b.c"], {"a": {"d": 1}}),
        ({"a": {"b": 1, "c": 1}}, {}, ["a.b", "a.c"], {}),
        # … and one that was empty before was meant so.
        ({"a": {}}, {}, ["a.b"], {"a": {}}),
        ({"a": {"b": {}, "c": 1}}, {}, ["a.c"], {"a": {"b": {}}}),
        # Dots and backslashes within keys.
        ({"a.b": 1, "a": {"b": 1}}, {}, ["a\\.b"], {"a": {"b": 1}}),
        ({"a\\": {"b": 1}, "c": 1}, {}, ["a\\\\.b"], {"c": 1}),
        ({"a": {"": 1, "b": 1}}, {}, ["a."], {"a": {"b": 1}}),
    ],
)
def test_a_change_of_a_layer(layer: Layer, set_: Layer, clear: list[str], changed: Layer) -> None:
    assert change_layer(layer, set_, clear) == changed
    assert change_layer(changed, set_, clear) == changed


def test_clearing_restores_what_lies_below() -> None:
    base: Layer = {"operator": "clicks.count:run"}
    oncall = change_layer({}, {"operator": {"sql": "SELECT 1"}}, [])
    assert merge_layers([base, oncall]) == {"operator": {"sql": "SELECT 1"}}
    cleared = change_layer(oncall, {}, ["operator.sql"])
    # An empty object left behind would still replace the operator of the base layer.
    assert merge_layers([base, cleared]) == base


def test_a_path_that_cannot_be_read_is_told() -> None:
    with pytest.raises(Malformed, match="an empty path names nothing; name a field"):
        change_layer({"a": 1}, {}, ["a", ""])
    with pytest.raises(Malformed, match="backslash that stands for nothing"):
        change_layer({}, {}, ["a\\b"])


def test_origins_name_the_highest_layer_with_a_say() -> None:
    layers: list[Layer] = [
        {"a": 1, "b": {"x": 1, "y": 1}, "c": [1], "d": {}, "e": 1, "f.g": 1},
        {"a": 2, "b": {"y": {"z": 1}}, "e": None},
        {"c": [2], "d": {"x": None}, "b": {"x": 3}},
    ]
    assert origins(layers) == {"a": 1, "b.x": 2, "b.y.z": 1, "c": 2, "d": 2, "f\\.g": 0}
    assert origins([]) == {}
