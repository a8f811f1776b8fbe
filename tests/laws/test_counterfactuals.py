"""Laws of the changes that would have made another verdict: each was asked, and is the nearest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.job_config.policies.table import SETTINGS
from projections.scaling.actions import (
    ALERT,
    MEMORY_UP,
    SCALE_DOWN,
    SCALE_UP,
)
from tests.unit.turbine.recordings import recorded, words
from turbine.read.answers.counterfactuals import NEAR, ROUNDED, counterfactuals, nearest
from turbine.read.answers.evaluation import Evaluation, comes_to, is_verdict, rebuild, verdict_of
from turbine.read.answers.journal import body_of
from turbine.read.answers.policy_inputs import SETTING, PolicyInput, inputs_of

ACTIONS = (SCALE_UP, SCALE_DOWN, MEMORY_UP, ALERT)
LOOKS = 3
"""Of one history, from its beginning to its end."""
HISTORIES = (
    ("spike", "turbine"), ("hot-key", "turbine"), ("diurnal", "turbine"), ("spike", "reactive"),
)  # fmt: skip


def evaluations(scenario: str, policy: str) -> list[Evaluation]:
    """Some of those that verdicts were made on."""
    log = recorded(scenario, policy, minutes=480, disturbed=True)
    verdicts = [one for one in words(log) if is_verdict(body_of(one))]
    # Who remembers each past plays two hours again with each question.
    count = LOOKS if policy == "turbine" else 1
    some = verdicts[len(verdicts) // (count + 1) :: max(1, len(verdicts) // (count + 1))][:count]
    found = [rebuild(log, one) for one in some]
    return [one.evaluation for one in found if one is not None]


@pytest.mark.parametrize(("scenario", "policy"), HISTORIES)
def test_every_answer_is_what_the_policy_says_with_exactly_that_change(
    scenario: str, policy: str
) -> None:
    told = 0
    for past in evaluations(scenario, policy):
        before = verdict_of(past)
        inputs = {(one.kind, one.name): one for one in inputs_of(past)}
        for action in ACTIONS:
            if comes_to(past, action):
                continue
            found = counterfactuals(past, action)
            told += len(found)
            assert [one.distance for one in found] == sorted(one.distance for one in found)
            for found_one in found:
                varied = inputs[found_one.kind, found_one.name]
                changed = varied.change(found_one.then)
                assert changed is not None
                assert comes_to(changed, action), found_one.text
                assert found_one.value == varied.value
                assert found_one.then != found_one.value
                only_one_thing(past, changed, found_one.kind)
        assert verdict_of(past) == before, "who asks changes nothing"
    assert told >= (LOOKS if policy == "turbine" else 1)


def only_one_thing(past: Evaluation, changed: Evaluation, kind: str) -> None:
    """A setting leaves all that was seen as it was; an input leaves the settings."""
    if kind == SETTING:
        assert changed.row == past.row
        assert changed.facts._replace(settings_json=past.facts.settings_json) == past.facts
    else:
        assert changed.facts.settings_json == past.facts.settings_json
        assert changed.row.config == past.row.config
    assert changed.now_ms == past.now_ms


@pytest.mark.parametrize(("scenario", "policy"), HISTORIES)
def test_what_an_input_has_is_what_the_policy_saw(scenario: str, policy: str) -> None:
    """To set it to what it was changes no verdict, but for what single precision loses."""
    for past in evaluations(scenario, policy):
        before = verdict_of(past)
        for varied in inputs_of(past):
            if varied.choices:
                continue
            same = varied.change(varied.value)
            assert same is not None
            again = verdict_of(same)
            assert (again.action, again.symptom, again.diagnosis) == (
                before.action, before.symptom, before.diagnosis,
            ), varied.name  # fmt: skip


@pytest.mark.parametrize("policy", SETTINGS)
def test_every_setting_of_every_policy_is_an_input_or_no_number(policy: str) -> None:
    [past, *_] = evaluations("spike", "turbine")
    facts = past.facts._replace(policy=policy, settings_json="{}")
    known = {one.name: one for one in inputs_of(past._replace(facts=facts)) if one.kind == SETTING}
    in_force = SETTINGS[policy].model_validate({}).model_dump(mode="json")
    for name, value in in_force.items():
        if name not in known:
            assert value is None or isinstance(value, list | dict)
            continue
        varied = known[name]
        for other in varied.choices or (varied.least, varied.most):
            made = varied.change(int(other) if varied.whole else other)  # type: ignore[arg-type]  # what has bounds has numbers
            # A bound that other settings forbid is no value; one that is allowed is set as it is.
            assert made is None or json.loads(made.facts.settings_json)[name] == other


# --- the search


numbers = st.floats(0.001, 1e6)


@given(start=numbers, edge=numbers, below=st.booleans())
def test_the_edge_is_found_from_the_right_side(start: float, edge: float, below: bool) -> None:
    """Of a verdict that turns at one value: what is found is beyond it, and hardly so."""

    def does(value: Any) -> bool:
        return bool(value <= edge if below else value >= edge)

    if does(start):
        return
    varied = input_of(start, 1e-4, 2e6)
    found = nearest(varied, does)
    assert found is not None
    assert does(found.value)
    far = abs(edge - start)
    assert abs(found.value - edge) <= (NEAR + ROUNDED) * 1.02 * far + 1e-9  # type: ignore[operator,arg-type]  # a number


@given(start=st.integers(1, 1000), edge=st.integers(1, 1000))
def test_whole_numbers_are_found_to_the_last_one(start: int, edge: int) -> None:
    varied = input_of(start, 1, 1000, whole=True)
    if start < edge:
        found = nearest(varied, lambda value: bool(value >= edge))  # type: ignore[operator]  # a number
        assert found is not None
        assert (found.value, type(found.value)) == (edge, int)


def test_what_never_turns_is_not_found_and_choices_are_tried() -> None:
    assert nearest(input_of(5.0, 0.0, 100.0), lambda _: False) is None
    choice = input_of(0.0, 0, 0, choices=("a", None))
    found = nearest(choice, lambda value: value is None)
    assert found is not None
    assert found.value is None


def input_of(value: float, least: float, most: float, **more: Any) -> PolicyInput:
    return PolicyInput(
        SETTING, "x", value, lambda _: None, least, most, scale=abs(value) or 1.0, **more
    )
