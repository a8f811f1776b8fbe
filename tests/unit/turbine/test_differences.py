"""Differences are told path by path, and a change turns one layer into another, no more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.job_config.merge import change_layer
from events.job_config.strict_json import canonical_json
from turbine.read.differences import change_between, change_through, differences
from turbine.read.plain import plain

NESTED = {"a": {"b": 1, "c": [1]}, "d": "x"}


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({}, {}, []),
        (NESTED, NESTED, []),
        ({}, NESTED, ["+ a.b: 1", "+ a.c: [1]", '+ d: "x"']),
        (NESTED, {}, ["- a.b: 1", "- a.c: [1]", '- d: "x"']),
        (NESTED, {"a": {"b": 2, "c": [1]}, "d": "x"}, ["~ a.b: 1 -> 2"]),
        (NESTED, {"a": {"b": 1, "c": [1, 2]}, "d": "x"}, ["~ a.c: [1] -> [1,2]"]),
        ({"a": 1}, {"a": True}, ["~ a: 1 -> true"]),
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": None}, {}, ["- a: null"]),
        ({"a": {}}, {"a": {"b": 1}}, ["+ a.b: 1"]),
        ({}, {"a": {}}, ["+ a: {}"]),
        ({"a": 1}, {"a": {"b": 2}}, ['~ a: 1 -> {"b":2}']),
        ({"x.y": 1}, {"x.y": 2}, ["~ x\\.y: 1 -> 2"]),
        ({"\x1b": 1}, {}, ["- \ufffd: 1"]),
    ],
)
def test_differences(before: dict[str, object], after: dict[str, object], lines: list[str]) -> None:
    assert [str(one) for one in differences(before, after)] == lines


def test_what_is_absent_has_no_field() -> None:
    [new] = differences({}, {"a": None})
    [gone] = differences({"a": None}, {})
    assert plain([new, gone]) == [{"path": "a", "after": None}, {"path": "a", "before": None}]


@pytest.mark.parametrize(
    ("layer", "wanted", "change"),
    [
        ({}, {"tasks": 2}, ({"tasks": 2}, [])),
        ({"tasks": 2}, {"tasks": 2}, ({}, [])),
        ({"tasks": 2, "x": 1}, {"tasks": 3}, ({"tasks": 3}, ["x"])),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, ({"a": {}}, ["a.c"])),
        ({"a": {"b": 1}}, {"a": {}}, ({"a": {}}, ["a.b"])),
        ({"a": {"b": 1}}, {"a": 1}, ({"a": 1}, [])),
        ({"a": 1}, {"a": None}, ({"a": None}, [])),
    ],
)
def test_the_least_change(
    layer: dict[str, object], wanted: dict[str, object], change: tuple[object, object]
) -> None:
    assert change_between(layer, wanted) == change


keys = st.sampled_from(["a", "b", "c.d", "e\\f"])
scalars = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["x", "y"])
configs = st.recursive(
    st.dictionaries(keys, scalars | st.lists(scalars, max_size=2), max_size=3),
    lambda inner: st.dictionaries(keys, scalars | inner, max_size=3),
    max_leaves=8,
)


@given(configs, configs)
def test_the_change_makes_the_layer_what_is_wanted(
    layer: dict[str, object], wanted: dict[str, object]
) -> None:
    set_, clear = change_between(layer, wanted)  # type: ignore[arg-type]  # JSON, by construction
    became = change_layer(layer, set_, clear)  # type: ignore[arg-type]  # JSON, by construction
    assert canonical_json(became) == canonical_json(wanted)  # type: ignore[arg-type]  # JSON too


@given(st.lists(configs, min_size=1, max_size=3), configs)
def test_a_change_through_ends_makes_the_layer_what_is_wanted_at_each(
    layers: list[dict[str, object]], wanted: dict[str, object]
) -> None:
    set_, clear = change_through(layers, wanted)
    for layer in layers:
        became = change_layer(layer, set_, clear)  # type: ignore[arg-type]  # JSON, as above
        assert canonical_json(became) == canonical_json(wanted)  # type: ignore[arg-type]  # JSON


@given(configs, configs)
def test_there_is_a_difference_when_the_texts_differ(
    before: dict[str, object], after: dict[str, object]
) -> None:
    same = canonical_json(before) == canonical_json(after)  # type: ignore[arg-type]  # JSON
    assert (differences(before, after) == []) is same
