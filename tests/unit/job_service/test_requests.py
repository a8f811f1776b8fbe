"""What may be asked of a job: every bad request is refused with its place and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from components.job_service.decide import (
    EXPECTED_BYTES,
    LAYER_BYTES,
)
from events.codec import VALUE_BYTES_MAX, encode
from events.records import (
    JobConfigChanged,
)
from tests.unit.job_service.desk import SMALLEST, Desk

FIELD = "x" * 60_000


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
    assert reason == "invalid"
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
    half = {"policy": {"settings": {"a": "x" * 40_000}}}
    changed(desk.ask("base", set_=half))
    reason, _, sentence = desk.refusal("base", set_={"policy": {"settings": {"b": "x" * 40_000}}})
    assert (reason, sentence) == ("too-large", f"the base layer would be over {LAYER_BYTES} bytes")


def test_the_merged_config_has_a_bound() -> None:
    desk = Desk()
    for layer in ("base", "provisioner"):
        changed(desk.ask(layer, set_={"policy": {"settings": {layer: FIELD}}}))
    reason, _, sentence = desk.refusal("scaler", set_={"policy": {"settings": {"c": FIELD}}})
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
    changed(desk.ask("base", set_={"policy": {"settings": {"a": FIELD}}}))
    answer = desk.ask(
        "provisioner",
        set_={"policy": {"settings": {"b": FIELD}}},
        author="\U0001f600" * 256,
        reason="\U0001f600" * 4_096,
        traceparent="t" * 256,
    )
    assert encode(changed(answer))
