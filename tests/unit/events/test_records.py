"""Records are what the schemas say, and behave as values."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from pathlib import Path
from typing import Any

import pytest

from events.generated import decoders, records
from events.generated.records import (
    RECORDS,
    Body,
    Constraint,
    Generation,
    JobDeleted,
    LayerVersions,
    ScalingDecided,
    TaskLoadReported,
    from_plain,
    to_plain,
)
from events.wire.avsc import SchemaError, name_types, read_schemas
from events.wire.codec import decode, encode
from events.wire.generate import CLIENT, generate, main
from events.wire.generate_decoders import HOT

DELETED = JobDeleted("payments", "1.a", LayerVersions(1, 2, 3, 4), "alice")
LOAD = TaskLoadReported("payments", 0, Generation(1, 2), 3, 4, 60_000, 1.0, 2.0, 3.0, 4.0)


def record(*fields: Any, name: str = "Said") -> dict[str, Any]:
    return {"type": "record", "name": name, "namespace": "t.v1", "doc": "D.", "fields": [*fields]}


def field(kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": "a", "type": kind, "doc": "D.", **more}


def test_the_generated_modules_are_what_the_schemas_say() -> None:
    assert main(["--check"]) == 0


@pytest.mark.parametrize(
    "name",
    [
        "events/generated/records.py",
        "events/generated/decoders.py",
        f"{CLIENT}/records.py",
        f"{CLIENT}/schemas.json",
    ],
)
def test_a_generated_module_that_was_edited_is_found_and_repaired(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
    target = tmp_path / name
    target.write_text(target.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    assert main(["--check"], tmp_path) == 1
    assert f"{name} is not what the schemas say; run python -m events.wire.generate" in (
        capsys.readouterr().err
    )
    assert main([], tmp_path) == 0
    assert "# edited" not in target.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        (record(field("bytes")), "bytes is not a type that is complete before it is used"),
        (record(field("t.v1.Said")), "t.v1.Said is not a type that is complete before it is used"),
        (record(field(["null", "t.v1.Said"])), "t.v1.Said is not a type that is complete"),
        (record(field({"type": "array", "items": "t.v1.Said"})), "t.v1.Said is not a type"),
        (record(field({"type": "array", "items": "null"})), "null is not a type"),
        (record(field({"type": "array", "items": record()})), "is not among the types"),
        (record(), "is not among the types"),
        (record(field({"type": "map", "values": "string"})), "is not among the types"),
        (record(field(["null", "long", "string"])), "is not among the types"),
        (record(field(["long", "null"])), "is not among the types"),
        (record(field("long", default={})), "a has the default {}; use a scalar, null or []"),
    ],
)
def test_a_schema_that_records_may_not_have_is_refused(
    schema: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(SchemaError) as refused:
        generate([schema])
    assert sentence in str(refused.value)


def test_a_type_that_is_defined_in_two_ways_is_refused() -> None:
    one = record(field(record(field("long"), name="Inner")), name="One")
    two = record(field(record(field("int"), name="Inner")), name="Two")
    with pytest.raises(SchemaError, match="Inner is defined in two ways"):
        name_types([one, two])


def test_a_file_has_the_name_of_its_record_and_no_record_has_two(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    text = json.dumps(record(field("long")))
    (tmp_path / "a" / "Other.avsc").write_text(text)
    with pytest.raises(SchemaError, match=r"Other.avsc holds Said; name the file after it"):
        read_schemas(tmp_path)
    (tmp_path / "a" / "Other.avsc").rename(tmp_path / "a" / "Said.avsc")
    assert [one["name"] for one in read_schemas(tmp_path)] == ["Said"]
    (tmp_path / "b" / "Said.avsc").write_text(text)
    with pytest.raises(SchemaError, match="Said has two files"):
        read_schemas(tmp_path)


def test_a_record_is_a_frozen_value() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        DELETED.job = "other"  # type: ignore[misc]  # that is the test
    assert dataclasses.replace(DELETED, reason="x").reason == "x"
    assert hash(DELETED) == hash(dataclasses.replace(DELETED))
    assert not hasattr(DELETED, "__dict__")
    assert to_plain(DELETED)["versions"] == {
        "base": 1,
        "provisioner": 2,
        "scaler": 3,
        "oncall": 4,
    }


def test_a_record_that_was_read_is_no_less_frozen_than_one_that_was_made() -> None:
    read = decode(encode(DELETED))
    assert type(read) is JobDeleted
    assert (read, hash(read), repr(read)) == (DELETED, hash(DELETED), repr(DELETED))
    with pytest.raises(dataclasses.FrozenInstanceError):
        read.job = "other"  # type: ignore[misc]  # that is the test
    with pytest.raises(dataclasses.FrozenInstanceError):
        read.versions.base = 9  # type: ignore[misc]  # that is the test
    assert pickle.loads(pickle.dumps(read)) == DELETED  # noqa: S301 - our own bytes


def test_every_draft_takes_the_class_of_its_record() -> None:
    # It may only while both have the same slots; CPython checks that at each assignment.
    drafts = [name for name in vars(decoders) if hasattr(records, name.removeprefix("_"))]
    drafts = [name for name in drafts if name.startswith("_") and name[1].isupper()]
    drafts = [name for name in drafts if isinstance(getattr(decoders, name), type)]
    assert {f"_{name}" for name in HOT} < {*drafts}
    for name in drafts:
        draft = object.__new__(getattr(decoders, name))
        draft.__class__ = getattr(records, name.removeprefix("_"))
        assert type(draft) is getattr(records, name.removeprefix("_"))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_neither_written_nor_made(number: float) -> None:
    for broken in (
        dataclasses.replace(LOAD, records_in_per_s=number),
        dataclasses.replace(LOAD, cpu_cores=number),
    ):
        with pytest.raises(ValueError, match="is not a finite number"):
            encode(broken)
    plain = to_plain(LOAD) | {"busy_share": number}
    with pytest.raises(ValueError, match="is not a finite number"):
        from_plain(TaskLoadReported, plain)


def test_what_is_unknown_stays_unknown_and_arrays_become_tuples() -> None:
    assert LOAD.lag_records is None
    decided = ScalingDecided(
        "payments", "1.a", 3, "{}", "lag", "too-small", 12, 8, (Constraint("limit", 12.0, 8.0),)
    )
    plain = to_plain(decided)
    assert plain["constraints"] == [{"name": "limit", "before": 12.0, "after": 8.0, "note": ""}]
    assert from_plain(ScalingDecided, plain) == decided
    assert decode(encode(LOAD)) == LOAD


def test_a_field_that_is_missing_is_named() -> None:
    with pytest.raises(KeyError, match="'job'"):
        from_plain(JobDeleted, {})


def test_records_are_listed_by_their_names() -> None:
    assert all(cls.__name__ == name for name, cls in RECORDS.items())
    assert all(cls.SCHEMA.endswith(f".v1.{name}") for name, cls in RECORDS.items())


def test_a_body_of_no_kind_says_so() -> None:
    with pytest.raises(NotImplementedError, match="Body"):
        Body().to_plain()
    with pytest.raises(NotImplementedError, match="Body"):
        Body.from_plain({})
