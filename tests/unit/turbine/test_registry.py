"""The schemas as clients of a Schema Registry ask for them, and each of its refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.wire.lock import hash_of, read_lock
from turbine.contract.registry import BODY_BYTES_MAX, COMPATIBILITY, Registry

LOCK = read_lock()
CHANGE = next(one for one in LOCK if one.name == "ConfigChangeProposed")
NAME = CHANGE.full_name
TOPIC = "turbine.changes.oncall.v1-value"
REGISTRY = Registry()


def get(target: str, registry: Registry = REGISTRY) -> Any:
    status, value = registry.answer("GET", target)
    assert status == 200, value
    return json.loads(json.dumps(value))


def refused(method: str, target: str, body: bytes = b"") -> tuple[int, int, str]:
    status, value = REGISTRY.answer(method, target, body)
    assert isinstance(value, dict)
    return status, value["error_code"], value["message"]


def ask(target: str, schema: Any, **more: Any) -> Any:
    body = json.dumps({"schema": json.dumps(schema), **more}).encode()
    return REGISTRY.answer("POST", target, body)


def test_every_schema_is_found_by_its_id() -> None:
    for one in LOCK:
        assert json.loads(get(f"/schemas/ids/{one.id}")["schema"]) == one.schema
        assert get(f"/schemas/ids/{one.id}/schema") == one.schema
        assert json.loads(get(f"/schemas/guids/{one.guid}")["schema"]) == one.schema
        standing = get(f"/schemas/ids/{one.id}/versions")
        assert {"subject": one.full_name, "version": 1} in standing
        assert get(f"/schemas/ids/{one.id}/subjects") == [at["subject"] for at in standing]


def test_a_subject_is_a_full_name_or_a_topic_with_one_record() -> None:
    subjects = get("/subjects")
    assert {one.full_name for one in LOCK} <= set(subjects)
    assert subjects == sorted(subjects)
    assert TOPIC in subjects
    assert "turbine.outcomes.v1-value" not in subjects  # it carries many
    assert get("/subjects?subjectPrefix=turbine.changes.oncall") == [TOPIC]
    for subject in (NAME, TOPIC):
        assert get(f"/subjects/{subject}/versions") == [1]
        told = get(f"/subjects/{subject}/versions/latest")
        assert told | {"schema": json.loads(told["schema"])} == {
            "subject": subject,
            "version": 1,
            "id": CHANGE.id,
            "schema": CHANGE.schema,
        }
        assert get(f"/subjects/{subject}/versions/-1") == told
        assert get(f"/subjects/{subject}/versions/1") == told
        assert get(f"/subjects/{subject}/versions/1/schema") == CHANGE.schema
        assert get(f"/subjects/{subject}/versions/1/referencedby") == []


def test_versions_are_counted_in_the_order_of_their_ids() -> None:
    fields = [*CHANGE.schema["fields"], {"name": "more", "type": "string", "default": ""}]
    schema = CHANGE.schema | {"fields": fields}
    newer = replace(CHANGE, id=900, schema=schema, sha256=hash_of(schema))
    registry = Registry([newer, CHANGE])
    assert get(f"/subjects/{TOPIC}/versions", registry) == [1, 2]
    assert get(f"/subjects/{TOPIC}/versions/1", registry)["id"] == CHANGE.id
    assert get(f"/subjects/{NAME}/versions/latest", registry)["id"] == 900
    assert json.loads(get("/schemas/ids/900", registry)["schema"]) == schema


def test_what_holds_for_all_of_them() -> None:
    assert get("/") == {}
    assert get("/contexts") == ["."]
    assert get("/schemas/types") == ["AVRO"]
    assert get("/config") == {"compatibilityLevel": COMPATIBILITY}
    assert get(f"/config/{NAME}?defaultToGlobal=true") == {"compatibilityLevel": COMPATIBILITY}
    assert get("/mode") == get(f"/mode/{NAME}?defaultToGlobal=true") == {"mode": "READONLY"}


@pytest.mark.parametrize(
    ("target", "status", "code", "sentence"),
    [
        ("/subjects/nope/versions", 404, 40401, 'Subject "nope" not found.'),
        ("/subjects/nope/versions/1", 404, 40401, 'Subject "nope" not found.'),
        (f"/subjects/{NAME}/versions/2", 404, 40402, "Version 2 not found."),
        (f"/subjects/{NAME}/versions/2147483647", 404, 40402, "Version 2147483647 not found."),
        (f"/subjects/{NAME}/versions/2147483648", 422, 42202, 'The specified version "2147483648"'),
        (f"/subjects/{NAME}/versions/0", 422, 42202, 'The specified version "0" is not a valid'),
        (f"/subjects/{NAME}/versions/x", 422, 42202, 'The specified version "x" is not a valid'),
        ("/schemas/ids/99999", 404, 40403, "Schema 99999 not found"),
        ("/schemas/ids/-1", 404, 40403, "Schema -1 not found"),
        ("/schemas/guids/x", 404, 40403, 'Schema "x" not found'),
        ("/schemas/ids/x", 404, 404, "HTTP 404 Not Found"),
        ("/schemas/ids/" + "9" * 5000, 404, 404, "HTTP 404 Not Found"),
        (f"/config/{NAME}", 404, 40408, f'Subject "{NAME}" does not have subject-level compat'),
        (f"/mode/{NAME}", 404, 40409, f'Subject "{NAME}" does not have subject-level mode'),
        ("/nope", 404, 404, "HTTP 404 Not Found"),
        ("/schemas", 404, 404, "HTTP 404 Not Found"),
        (f"/subjects/{NAME}", 404, 404, "HTTP 404 Not Found"),
        ("//[", 404, 404, "HTTP 404 Not Found"),
    ],
)
def test_what_is_not_there(target: str, status: int, code: int, sentence: str) -> None:
    told = refused("GET", target)
    assert told[:2] == (status, code)
    assert told[2].startswith(sentence)


@pytest.mark.parametrize("subject", [NAME, TOPIC])
def test_a_serializer_finds_the_schema_that_it_has(subject: str) -> None:
    status, told = ask(f"/subjects/{subject}", CHANGE.schema)
    assert (status, told["id"], told["version"]) == (200, CHANGE.id, 1)
    # Java's own rendering leaves out the docs; it writes the same bytes.
    fields = [{k: v for k, v in one.items() if k != "doc"} for one in CHANGE.schema["fields"]]
    bare = {k: v for k, v in CHANGE.schema.items() if k != "doc"} | {"fields": fields}
    assert ask(f"/subjects/{subject}", bare, schemaType="AVRO") == (200, told)
    assert ask(f"/subjects/{subject}/versions", bare) == (200, {"id": CHANGE.id})


def test_another_schema_is_not_found_and_not_taken() -> None:
    other = LOCK[0].schema
    status, told = ask(f"/subjects/{NAME}", other)
    assert (status, told) == (404, {"error_code": 40403, "message": "Schema not found"})
    status, told = ask("/subjects/nope", other)
    assert (status, told["error_code"]) == (404, 40401)
    for subject in (NAME, "turbine.operator.v1-value"):
        status, told = ask(f"/subjects/{subject}/versions", other)
        assert (status, told["error_code"]) == (422, 42205)
        assert told["message"].startswith(f'Subject "{subject}" is in read-only mode: ')


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "the body is"),
        (b"[]", "give the text of one as schema"),
        (b'{"schema": 7}', "give the text of one as schema"),
        (b'{"schema": "{"}', "schema is not JSON"),
        (b'{"schema": "{}", "schemaType": "PROTOBUF"}', "only Avro is spoken here"),
        (b'{"schema": "{}"}', "it is no schema of Avro"),
        (b'{"schema": "7"}', "it is no schema of Avro"),
        (b'{"schema": "null"}', "it is no schema of Avro"),
        (b'{"schema": "{\\"type\\": \\"record\\", \\"name\\": 1}"}', "it is no schema of Avro"),
        (b'"' + b"x" * BODY_BYTES_MAX + b'"', "the body has 262146 bytes and may have 262144"),
        (b"[" * 1000 + b"]" * 1000, "the body nests deeper than 32 objects"),
    ],
)
def test_what_is_no_schema(body: bytes, sentence: str) -> None:
    status, code, told = refused("POST", f"/subjects/{NAME}", body)
    assert (status, code) == (422, 42201)
    assert told.startswith("Invalid schema: ")
    assert sentence in told


WORDS = st.sampled_from(["type", "name", "namespace", "fields", "symbols", "items", "values"])
KINDS = st.sampled_from(["record", "enum", "array", "map", "fixed", "null", "", "a.b", "default"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | KINDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | KINDS, inner, max_size=4),
    max_leaves=8,
)


@given(ANYTHING)
def test_whatever_is_asked_is_answered(schema: Any) -> None:
    status, told = ask(f"/subjects/{NAME}", schema)
    assert (status, told["error_code"]) in {(422, 42201), (404, 40403)}


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("PUT", "/config"),
        ("DELETE", f"/subjects/{NAME}"),
        ("PUT", f"/subjects/{NAME}/versions"),
        ("POST", "/compatibility/subjects/x/versions/1"),
        ("POST", "/config"),
    ],
)
def test_nothing_is_changed(method: str, target: str) -> None:
    assert refused(method, target) == (405, 405, "HTTP 405 Method Not Allowed")


def test_under_another_prefix_subjects_of_topics_have_it_and_those_of_schemas_not() -> None:
    subjects = get("/subjects", Registry(prefix="staging"))
    assert {"staging.changes.oncall.v1-value", NAME} < set(subjects)
    assert TOPIC not in subjects
