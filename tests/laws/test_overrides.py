"""Laws of temporary changes: a layer is what those changes make that hold, whatever ended."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from components.job_service.core.overrides import change_ends
from events.job_config.merge import change_layer
from events.job_config.strict_json import canonical_json
from projections.jobs import End, LayerState
from tests.kit.examples import at_most
from tests.laws.test_merge import Layer as Config
from tests.laws.test_merge import change_naively

keys = st.sampled_from("ab")
values = st.recursive(
    st.sampled_from([None, 1, 2, [None]]), lambda inner: st.dictionaries(keys, inner), max_leaves=4
)
"""Few keys, so that changes meet, within and beside each other."""
wishes = st.dictionaries(keys, values, max_size=2)
clears = st.lists(st.sampled_from(["a", "b", "a.a", "a.b", "b.a", "a.a.b"]), max_size=2)
acts: st.SearchStrategy[Any] = st.one_of(
    st.tuples(st.just("change"), wishes, clears, st.none() | st.integers(1, 6)),
    st.tuples(st.just("wait"), st.integers(1, 3)),
)
lives = st.lists(acts, max_size=12)


@dataclass(frozen=True, slots=True)
class Said:
    """One accepted change."""

    id: str
    set: Config
    clear: list[str]
    until: int | None


@dataclass(slots=True)
class Twin:
    """Remembers every change, and makes the layer of those that hold, in their order."""

    said: list[Said] = field(default_factory=list)

    def at(self, instant: int) -> Config:
        layer: Config = {}
        for one in self.said:
            if one.until is None or one.until > instant:
                layer = change_naively(layer, one.set, one.clear)
        return layer


def live(acted: list[tuple[Any, ...]]) -> tuple[LayerState, Twin, int]:
    """What stands after it, what the twin remembers, and the instant."""
    layer, twin, now = LayerState(), Twin(), 0
    for number, (act, *said) in enumerate(acted):
        if act == "wait":
            now += said[0]
            layer = ended(layer, now)
            continue
        set_, clear, span = said
        one = Said(str(number), set_, clear, None if span is None else now + span)
        twin.said.append(one)
        layer = changed(layer, one)
        assert json.loads(layer.config_json) == twin.at(now)
    return layer, twin, now


def changed(layer: LayerState, one: Said) -> LayerState:
    def made(config_json: str) -> str:
        return canonical_json(change_layer(json.loads(config_json), one.set, one.clear))

    end = None if one.until is None else (one.until, one.id, "ann")
    config_json, ends = change_ends(layer, made, end)
    return LayerState(config_json=config_json, ends=ends)


def ended(layer: LayerState, now: int) -> LayerState:
    for end in layer.ends:
        if end.expires_ms <= now:
            layer = LayerState(config_json=end.config_json, ends=layer.ends[1:])
    return layer


@settings(deadline=None, max_examples=at_most(300))
@given(lives)
def test_a_layer_is_always_what_those_changes_make_that_hold(acted: list[tuple[Any, ...]]) -> None:
    layer, twin, now = live(acted)
    for instant in range(now, now + 8):
        layer = ended(layer, instant)
        assert json.loads(layer.config_json) == twin.at(instant)
    assert layer.ends == ()


@settings(deadline=None, max_examples=at_most(200))
@given(lives)
def test_each_end_lies_ahead_in_order_and_takes_something_back(
    acted: list[tuple[Any, ...]],
) -> None:
    layer, twin, now = live(acted)
    names = [name for one in layer.ends for name in (*one.other_ids, one.change_id)]
    order = [one.expires_ms for one in layer.ends]
    assert order == sorted(set(order))
    assert len(set(names)) == len(names)
    assert all(sorted(one.other_ids, key=int) == [*one.other_ids] for one in layer.ends)
    assert all(one.expires_ms > now for one in layer.ends)
    before = layer.config_json
    for one in layer.ends:
        assert one.config_json != before
        before = one.config_json
    temporary = {one.id: one.until for one in twin.said if one.until is not None}
    for one in layer.ends:
        assert {temporary[name] for name in (*one.other_ids, one.change_id)} == {one.expires_ms}


@settings(deadline=None)
@given(lives, wishes, clears)
def test_what_is_said_for_good_holds_through_all_ends(
    acted: list[tuple[Any, ...]], set_: Config, clear: list[str]
) -> None:
    layer, twin, now = live(acted)
    twin.said.append(Said("x", set_, clear, None))
    layer = changed(layer, twin.said[-1])
    assert json.loads(layer.lasting_json) == twin.at(now + 100)
    assert layer == LayerState(
        config_json=layer.config_json, ends=tuple(End(*e) for e in layer.ends)
    )
