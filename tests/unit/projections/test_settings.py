"""What a tier's record may say of its placement, and what its author reads where it may not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.settings import (
    BOUNDS,
    HASHED,
    MEASURED,
    SHARING_BOUNDS,
    Placing,
    SharingSettings,
    placing_of,
    sharing_of,
    trouble_in,
)
from projections.timing import Timing, timing_of

KNOWN = {*BOUNDS, *SHARING_BOUNDS, "placement", "acts_per_mille", "time_per_mille"}
texts = st.one_of(
    st.text(max_size=20),
    st.dictionaries(
        st.sampled_from([*sorted(KNOWN), "other"]),
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.just(HASHED)),
    ).map(json.dumps),
)


def test_every_number_has_bounds() -> None:
    assert set(BOUNDS) == {name for name in Placing._fields if name != "mode"}
    usual = Placing()
    for name, (least, most) in BOUNDS.items():
        assert least <= getattr(usual, name) <= most


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_both_ends_of_each_number_count_and_what_is_beyond_is_as_usual(name: str) -> None:
    least, most = BOUNDS[name]
    for found in (least, most):
        text = json.dumps({name: found})
        assert getattr(placing_of(text), name) == found
        assert trouble_in(text) == ""
    for found in (least - 1, most + 1):
        text = json.dumps({name: found})
        assert placing_of(text) == Placing()
        assert trouble_in(text) == f"{name} is {found}; it is from {least} to {most}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "the settings have to be a JSON object"),
        ("7", "the settings have to be a JSON object"),
        ('{"band":"10"}', "band is '10'; it is a whole number"),
        ('{"band":true}', "band is True; it is a whole number"),
        ('{"band":99.5}', "band is 99.5; it is a whole number"),
        ('{"band":null}', "band is None; it is a whole number"),
        ('{"placement":"random"}', "placement is 'random'; it is measured or hashed"),
        ('{"placement":[]}', "placement is []; it is measured or hashed"),
        ('{"time_per_mille":0}', "time_per_mille is 0; it is from 1 to 100000"),
        ('{"time_per_mille":100001}', "time_per_mille is 100001; it is from 1 to 100000"),
        (
            '{"bend":100}',
            "there is no setting bend; there are " + ", ".join(sorted(KNOWN)),
        ),
    ],
)
def test_settings_that_cannot_be_meant_are_told_in_a_sentence(text: str, said: str) -> None:
    assert trouble_in(text) == said
    assert placing_of(text) == Placing()


@pytest.mark.parametrize("text", ["", "{", "no settings", '{"band":}', "[" * 100_000])
def test_settings_that_are_no_json(text: str) -> None:
    assert trouble_in(text).startswith("the settings ")
    assert placing_of(text) == Placing()
    assert timing_of(text) == Timing()


def test_a_mode_is_one_of_two() -> None:
    assert placing_of('{"placement":"hashed"}').mode == HASHED
    assert placing_of('{"placement":"measured"}').mode == MEASURED
    assert placing_of('{"placement":7}').mode == MEASURED
    assert trouble_in('{"placement":"hashed","band":50,"time_per_mille":100}') == ""


@given(texts)
def test_whatever_stands_there_is_a_placing(text: str) -> None:
    found = placing_of(text)
    for name, (least, most) in BOUNDS.items():
        assert least <= getattr(found, name) <= most
    assert isinstance(trouble_in(text), str)
    assert timing_of(text).gap_ms == Timing().gap_ms


# --- sharing


def test_what_is_shared_has_bounds_too_and_no_word_means_two_things() -> None:
    assert set(SHARING_BOUNDS) == {
        name for name in SharingSettings._fields if not name.endswith("_ms")
    }
    assert not set(SHARING_BOUNDS) & set(BOUNDS)
    usual = SharingSettings()
    for name, (least, most) in SHARING_BOUNDS.items():
        assert least <= getattr(usual, name) <= most


@pytest.mark.parametrize("name", sorted(SHARING_BOUNDS))
def test_both_ends_of_what_is_shared_count(name: str) -> None:
    least, most = SHARING_BOUNDS[name]
    for found in (least, most):
        assert trouble_in(json.dumps({name: found})) == ""
    for found in (least - 1, most + 1):
        text = json.dumps({name: found})
        assert sharing_of(text) == SharingSettings()
        assert trouble_in(text) == f"{name} is {found}; it is from {least} to {most}"


def test_there_is_always_room_between_the_bars() -> None:
    low = sharing_of('{"tight":100,"plenty":900,"lend_to":950}')
    assert (low.tight, low.plenty, low.lend_to) == (100, 90, 90)
    high = sharing_of('{"tight":1000,"plenty":990}')
    assert (high.tight, high.plenty) == (1000, 990)


def test_times_of_sharing_scale_with_the_tiers_others() -> None:
    tenth = sharing_of('{"time_per_mille":100}')
    assert (tenth.pause_ms, tenth.short_ms, tenth.loan_ms) == (6_000, 30_000, 180_000)
    assert tenth.tight == SharingSettings().tight


@given(texts)
def test_sharing_can_be_told_of_any_text(text: str) -> None:
    found = sharing_of(text)
    assert found.lend_to <= found.plenty < found.tight
    if trouble_in(text):
        return
    for name, value in json.loads(text).items():
        if name in ("tight", "lend_max", "preempt"):
            assert getattr(found, name) == value
