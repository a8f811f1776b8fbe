"""What may be asked of a job: every bad request is refused with its place and the remedy."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from components.job_service.decide import (
    EXPECTED_BYTES,
    LAYER_BYTES,
)
from events.generated.records import (
    JobConfigChanged,
)
from events.job_config.policies.table import SETTINGS
from events.job_config.strict_json import canonical_json
from events.wire.codec import VALUE_BYTES_MAX, encode
from projections.jobs import apply
from tests.unit.job_service.desk import SMALLEST, Desk

FIELD = "x" * 60_000
ARGUMENTS = ["x" * 4_000] * 15
REGIONS = [f"{number:064}" for number in range(900)]


def changed(answer: object) -> JobConfigChanged:
    assert isinstance(answer, JobConfigChanged), answer
    return answer


def test_a_config_that_would_be_invalid_is_refused_with_the_path() -> None:
    refused = Desk().refusal("scaler", set_={"tasks": "ten"})
    assert refused == ("invalid", "tasks", 'tasks: expected a whole number, found "ten"')


def test_an_unknown_field_is_refused_with_the_path() -> None:
    reason, path, sentence = Desk().refusal("base", set_={"resources": {"cpus": 2}})
    assert (reason, path) == ("invalid", "resources.cpus")
    assert sentence.startswith("resources.cpus: expected ")


def test_a_base_that_is_not_whole_is_refused() -> None:
    reason, path, _ = Desk(alive=False).refusal("base", set_={"tasks": 2})
    assert reason == "no-such-job"
    assert path in SMALLEST


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        ("{", "set_json is not JSON from line 1, column 2 on; correct it there"),
        ("", "set_json is not JSON from line 1, column 1 on; correct it there"),
        ("[]", "set_json: expected a JSON object"),
        ("7", "set_json: expected a JSON object"),
        ("null", "set_json: expected a JSON object"),
        (
            "[" * 10_000 + "]" * 10_000,
            "set_json nests deeper than 32 objects and arrays; flatten it",
        ),
        (
            '{"a":' * 33 + "1" + "}" * 33,
            "set_json nests deeper than 32 objects and arrays; flatten it",
        ),
    ],
)
def test_what_is_no_json_object_is_refused(wish: str, sentence: str) -> None:
    reason, _, said = Desk().refusal("base", set_=wish)
    assert (reason, said) == ("invalid", sentence)


@pytest.mark.parametrize(
    "wish",
    ['{"tasks":1,"tasks":2}', '{"tasks":NaN}', '{"tasks":1e999}', '{"tasks":9007199254740993}'],
)
def test_what_readers_read_differently_is_refused(wish: str) -> None:
    reason, path, _ = Desk().refusal("base", set_=wish)
    assert (reason, path) == ("invalid", "tasks")


@pytest.mark.parametrize("path", ["", "a\\b"])
def test_a_path_that_cannot_be_read_is_refused(path: str) -> None:
    reason, where, sentence = Desk().refusal("base", clear=[path])
    assert (reason, where) == ("invalid", path)
    assert "path" in sentence


def test_a_path_that_is_not_there_is_nothing_to_clear() -> None:
    changed(Desk().ask("base", clear=["tasks", "no.such.path"]))


# --- too large


def test_a_layer_has_a_bound() -> None:
    desk = Desk()
    changed(desk.ask("base", set_={"operator": {"sql": "x" * 40_000}}))
    reason, _, sentence = desk.refusal("base", set_={"arguments": ["x" * 4_000] * 10})
    assert (reason, sentence) == ("too-large", f"the base layer would be over {LAYER_BYTES} bytes")


def test_the_merged_config_has_a_bound() -> None:
    desk = Desk()
    changed(desk.ask("base", set_={"operator": {"sql": FIELD}}))
    changed(desk.ask("provisioner", set_={"arguments": ARGUMENTS}))
    reason, _, sentence = desk.refusal("scaler", set_={"allowed_regions": REGIONS})
    assert reason == "too-large"
    assert sentence == f"the merged config would be over {EXPECTED_BYTES} bytes"


@pytest.mark.parametrize(("field", "most"), [("author", 256), ("reason", 4_096)])
def test_what_people_say_has_a_bound(field: str, most: int) -> None:
    desk = Desk()
    changed(desk.ask("base", **{field: "a" * most}))
    refused = desk.refusal("base", **{field: "a" * (most + 1)})
    assert refused == ("too-large", field, f"{field}: expected at most {most} characters")


@pytest.mark.parametrize(
    "said",
    [
        lambda n: {"clear": ["\\x" + "a" * n]},
        lambda n: {"clear": ["a" * n]},
        lambda n: {"clear": ["a"] * (n // 2)},
        lambda n: {"set_": "{" + " " * n},
        lambda n: {"set_": '{"' + "k" * (n // 2) + '":1,"' + "k" * (n // 2) + '":1}'},
        lambda n: {"author": "a" * n},
        lambda n: {"reason": "\U0001f600" * (n // 4)},
        lambda n: {"traceparent": "t" * n},
    ],
    ids=["bad path", "path", "paths", "text", "key twice", "author", "reason", "trace"],
)
@pytest.mark.parametrize("spare", [100, 300])
def test_no_request_is_too_large_to_be_answered(
    said: Callable[[int], dict[str, Any]], spare: int
) -> None:
    """An answer that does not fit into a record would stop its partition for ever."""
    desk = Desk(alive=False)  # nothing else waits, or it would be one too many
    desk.put("base", **{"reason": ""} | said(VALUE_BYTES_MAX - spare))
    (answer,) = desk.decide()
    assert encode(answer)


def test_the_largest_decision_fits_into_a_record() -> None:
    desk = Desk()
    changed(desk.ask("base", set_={"operator": {"sql": FIELD}}))
    answer = desk.ask(
        "provisioner",
        set_={"arguments": ARGUMENTS},
        author="\U0001f600" * 256,
        reason="\U0001f600" * 4_096,
        traceparent="t" * 256,
    )
    assert encode(changed(answer))


# --- a policy is a value of the config


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (
            {"settings": {"margin": 7}},
            "policy.settings.margin: expected a number from 1 to 3, found 7",
        ),
        (
            {"name": "none"},
            f'policy.name: expected one of {", ".join(SETTINGS)}, found "none"',
        ),
    ],
)
def test_a_policy_that_cannot_be_had_is_refused(policy: dict[str, Any], sentence: str) -> None:
    reason, path, said = Desk().refusal("base", set_={"policy": policy})
    assert (reason, said) == ("invalid", sentence)
    assert path == sentence.partition(":")[0]


def test_settings_of_another_policy_must_go_with_it() -> None:
    desk = Desk()
    changed(desk.ask("base", set_={"policy": {"settings": {"margin": 1.3}}}))
    wish: dict[str, Any] = {"name": "keda", "settings": {"lag_threshold": 500}}
    _, path, said = desk.refusal("oncall", set_={"policy": wish})
    assert path == "policy.settings.margin"
    assert said.startswith("policy.settings.margin: expected one of activation_lag_threshold, ")
    wish["settings"]["margin"] = None
    changed(desk.ask("oncall", set_={"policy": wish}))


def test_a_setting_that_was_let_through_before_is_named_by_the_next_change() -> None:
    """Nothing checks again what stands; whoever changes the job next reads what has to go."""
    old = changed(Desk().ask("base", set_={"priority": 60}))
    layer, merged = json.loads(old.layer_json), json.loads(old.expected_json)
    for one in (layer, merged):
        one["policy"] = {"settings": {"cooldown_s": 300}}
    desk = Desk()
    desk.row = apply(
        desk.job,
        replace(old, layer_json=canonical_json(layer), expected_json=canonical_json(merged)),
    )
    sentence = desk.refusal("base", set_={"priority": 70})[2]
    assert sentence.startswith("policy.settings.cooldown_s: expected ")
    assert sentence.endswith(', found "cooldown_s"')
    changed(desk.ask("base", set_={"priority": 70}, clear=["policy.settings"]))
