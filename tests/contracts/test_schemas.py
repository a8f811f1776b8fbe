"""The contract of the schemas: documented, bounded, and compatible with all that was released."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import avro.schema
import pytest
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType

from events.topics import TOPICS
from events.wire.avsc import SCHEMAS, read_schemas
from events.wire.lock import Version, hash_of, newest_of, read_lock

ALL = read_schemas()


def incompatibilities(versions: list[Version]) -> list[str]:
    """Why the newest version of a record does not go together with a released one, both ways.

    FULL_TRANSITIVE: a reader of today reads all that was ever written, and a reader of any
    release reads what is written today.
    """
    checker = ReaderWriterCompatibilityChecker()  # type: ignore[no-untyped-call]  # avro's own
    found = []
    newest = newest_of(versions)
    for old in versions:
        new = newest[old.name]
        if not old.released or old is new:
            continue
        parsed = {one.id: avro.schema.parse(json.dumps(one.schema)) for one in (old, new)}
        for reader, writer in ((new, old), (old, new)):
            result = checker.get_compatibility(parsed[reader.id], parsed[writer.id])
            if result.compatibility is not SchemaCompatibilityType.compatible:
                why = "; ".join(sorted(result.messages))
                found.append(f"{old.name}: {reader.id} does not read {writer.id}: {why}")
    return found


def walk(schema: Any, path: str) -> Iterator[tuple[str, Any]]:
    """All types within a schema, with the path of names that leads to them."""
    yield path, schema
    match schema:
        case {"type": "record", "fields": fields}:
            for one in fields:
                yield from walk(one["type"], f"{path}.{one['name']}")
        case {"type": "array", "items": items}:
            yield from walk(items, f"{path}[]")
        case list():
            for branch in schema:
                yield from walk(branch, path)


def fields_of(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, one in walk(schema, schema["name"]):
        if isinstance(one, dict) and one["type"] == "record":
            for field in one["fields"]:
                yield f"{path}.{field['name']}", field


FIELDS = [found for schema in ALL for found in fields_of(schema)]
TYPES = [found for schema in ALL for found in walk(schema, schema["name"])]


# --- what every schema owes


def test_every_record_field_and_enum_says_what_it_is_in_a_sentence() -> None:
    named = [(path, one) for path, one in TYPES if isinstance(one, dict) and "name" in one]
    for path, one in [*named, *FIELDS]:
        doc = one.get("doc", "")
        assert re.fullmatch(r"\S.{4,}[.]", doc), f"{path} has no sentence as its doc: {doc!r}"


def test_a_record_lies_in_the_folder_of_its_namespace() -> None:
    for path in SCHEMAS.glob("*/*.avsc"):
        schema = next(one for one in ALL if one["name"] == path.stem)
        assert schema["namespace"] == f"turbine.{path.parent.name.replace('-', '_')}.v1"


def test_nothing_recurses_and_no_item_is_without_bytes() -> None:
    empty: tuple[object, ...] = ("null", [])
    for schema in ALL:
        open_names: set[str] = set()

        def enter(one: Any, within: set[str], top: str = schema["name"]) -> None:
            match one:
                case {"type": "record", "fields": fields}:
                    full = f"{one['namespace']}.{one['name']}"
                    assert fields, f"{top}: {full} has no fields"
                    for field in fields:
                        enter(field["type"], within | {full})
                case {"type": "array", "items": items}:
                    assert items not in empty, f"{top} has an array of nothing"
                    enter(items, within)
                case list():
                    for branch in one:
                        enter(branch, within)
                case str():
                    assert one not in within, f"{top}: {one} holds itself"

        enter(schema, open_names)


def test_closed_sets_have_a_symbol_for_what_an_old_reader_does_not_know() -> None:
    enums = [one for _, one in TYPES if isinstance(one, dict) and one["type"] == "enum"]
    assert enums
    for one in enums:
        assert one["default"] == one["symbols"][0] == "unknown", one["name"]


def test_what_may_be_absent_is_null_by_default_and_defaults_come_last() -> None:
    for path, field in FIELDS:
        if isinstance(field["type"], list):
            assert field["type"][0] == "null", path
            assert field["default"] is None, path
    for path, one in TYPES:
        if isinstance(one, dict) and one["type"] == "record":
            given = ["default" in field for field in one["fields"]]
            assert given == sorted(given), f"{path} has a field without a default after one with"


def test_json_is_text_and_only_named_so() -> None:
    for path, field in FIELDS:
        kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
        if field["name"].endswith("_json"):
            assert "string" in kinds, path
            assert "JSON" in field["doc"], path
        assert not {"bytes", "float"} & {kind for kind in kinds if isinstance(kind, str)}, path


def test_units_stand_in_names() -> None:
    # A number of time or size without its unit is the kind of mistake that no test finds later.
    wrong = re.compile(
        r"(^|_)(time|seconds?|secs?|millis|minutes?|timeout|age|size|memory|cpu|silence|deadline|"
        r"lag|window|rate|expires|until|sent)$"
    )
    for path, field in FIELDS:
        assert not wrong.search(field["name"]), f"{path} lacks its unit"


def test_the_body_of_a_decision_does_not_repeat_its_headers() -> None:
    decided = {
        kind for topic in TOPICS if topic.kind in {"journal", "tiers"} for kind in topic.records
    }
    headers = {"id", "parent", "evidence", "tick", "tick_ms", "logic", "time"}
    for schema in ALL:
        if schema["name"] in decided:
            assert not headers & {field["name"] for field in schema["fields"]}, schema["name"]


def test_requests_say_who_why_and_until_when() -> None:
    asked = {
        kind for topic in TOPICS if topic.kind in {"ingress", "operator"} for kind in topic.records
    }
    for schema in ALL:
        if schema["name"] in asked:
            names = {field["name"] for field in schema["fields"]}
            assert {"change_id", "author", "reason", "traceparent"} <= names, schema["name"]


def test_decisions_about_jobs_name_their_job() -> None:
    for topic in TOPICS:
        for schema in ALL:
            if topic.kind == "journal" and schema["name"] in topic.records:
                names = {field["name"] for field in schema["fields"]}
                assert names & {"job", "subject"}, schema["name"]


# --- evolution


def test_today_goes_together_with_every_release() -> None:
    assert incompatibilities(read_lock()) == []


BASE: dict[str, Any] = {
    "type": "record",
    "name": "Said",
    "namespace": "t.v1",
    "fields": [
        {"name": "job", "type": "string"},
        {
            "name": "layer",
            "type": {
                "type": "enum",
                "name": "Layer",
                "namespace": "t.v1",
                "symbols": ["unknown", "base"],
                "default": "unknown",
            },
        },
        {"name": "count", "type": "int"},
        {"name": "reason", "type": "string", "default": ""},
    ],
}


def changed(how: str) -> dict[str, Any]:
    schema = copy.deepcopy(BASE)
    fields = schema["fields"]
    match how:
        case "doc":
            schema["doc"] = "Another sentence."
        case "field with a default":
            fields.append({"name": "more", "type": ["null", "long"], "default": None})
        case "symbol in an enum with a default":
            fields[1]["type"]["symbols"].append("oncall")
        case "field without a default":
            fields.append({"name": "more", "type": "long"})
        case "field that is gone and had no default":
            del fields[0]
        case "field that is renamed":
            fields[0]["name"] = "task"
        case "field of another type":
            fields[2]["type"] = "string"
        case "field that is widened":
            fields[2]["type"] = "long"
        case "default that is taken away":
            fields[3] = {"name": "explanation", "type": "string"}
        case _:
            raise AssertionError(how)
    return schema


def history(*schemas: dict[str, Any]) -> list[Version]:
    last = len(schemas)
    return [
        Version(at, "Said", hash_of(one), at < last, one) for at, one in enumerate(schemas, start=1)
    ]


@pytest.mark.parametrize("how", ["doc", "field with a default", "symbol in an enum with a default"])
def test_a_good_change_is_let_through(how: str) -> None:
    assert incompatibilities(history(BASE, changed(how))) == []


@pytest.mark.parametrize(
    "how",
    [
        "field without a default",
        "field that is gone and had no default",
        "field that is renamed",
        "field of another type",
        "field that is widened",
        "default that is taken away",
    ],
)
def test_a_bad_change_is_found(how: str) -> None:
    found = incompatibilities(history(BASE, changed(how)))
    assert found
    assert found[0].startswith("Said: ")


def test_a_symbol_that_an_enum_has_no_default_for_is_found() -> None:
    narrow, wide = copy.deepcopy(BASE), changed("symbol in an enum with a default")
    for schema in (narrow, wide):
        del schema["fields"][1]["type"]["default"]
    found = incompatibilities(history(narrow, wide))
    assert len(found) == 1
    assert found[0].startswith("Said: 1 does not read 2: ")


def test_a_change_that_only_the_release_before_bears_is_found() -> None:
    # Gone with a default and back with another type: each step alone is compatible.
    without = copy.deepcopy(BASE)
    del without["fields"][3]
    back = copy.deepcopy(BASE)
    back["fields"][3] = {"name": "reason", "type": "long", "default": 0}
    assert incompatibilities(history(BASE, without)) == []
    assert incompatibilities(history(without, back)) == []
    assert incompatibilities(history(BASE, without, back)) != []


def test_what_no_tag_has_released_may_change() -> None:
    versions = history(BASE, changed("field of another type"))
    free = [Version(one.id, one.name, one.sha256, False, one.schema) for one in versions]
    assert incompatibilities(free) == []
