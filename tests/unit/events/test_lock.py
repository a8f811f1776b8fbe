"""The lock file: ids that never change, and texts that never do once a tag has released them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from events.wire.avsc import read_schemas
from events.wire.lock import (
    LOCK,
    Version,
    hash_of,
    main,
    newest_of,
    read_lock,
    release,
    to_text,
    update,
)


def schema(name: str = "Said", doc: str = "D.", **types: str) -> dict[str, Any]:
    fields = [{"name": one, "type": kind, "doc": "D."} for one, kind in types.items()]
    return {"type": "record", "name": name, "namespace": "t.v1", "doc": doc, "fields": fields}


def test_the_lock_is_current() -> None:
    assert main(["--check"]) == 0
    newest = newest_of(read_lock())
    assert {name: one.schema for name, one in newest.items()} == {
        one["name"]: one for one in read_schemas()
    }


def test_every_entry_has_an_id_of_its_own_and_the_hash_of_its_text() -> None:
    versions = read_lock()
    assert len({one.id for one in versions}) == len(versions)
    assert all(0 < one.id < 2**31 for one in versions)
    assert all(one.sha256 == hash_of(one.schema) for one in versions)
    assert all(one.urn == f"urn:avro:{one.full_name}:{one.sha256}" for one in versions)
    assert len({one.guid for one in versions}) == len(versions)


def test_new_schemas_get_new_ids_and_old_ones_keep_theirs() -> None:
    first = update([], [schema("A", x="long"), schema("B", x="long")])
    assert [(one.id, one.name) for one in first] == [(1, "A"), (2, "B")]
    second = update(first, [schema("A", x="long"), schema("C", x="int"), schema("B", x="long")])
    assert second[:2] == first
    assert (second[2].id, second[2].name) == (3, "C")


def test_a_schema_that_is_not_released_replaces_its_own_text() -> None:
    first = update([], [schema(x="long")])
    changed = update(first, [schema(x="long", y="long")])
    assert [one.id for one in changed] == [1]
    assert changed[0].schema == schema(x="long", y="long")
    assert changed[0].sha256 == hash_of(changed[0].schema) != first[0].sha256


def test_a_released_schema_is_never_replaced() -> None:
    first = release(update([], [schema(x="long")]))
    assert first[0].released
    changed = update(first, [schema(x="long", y="long")])
    assert changed[0] == first[0]
    assert (changed[1].id, changed[1].released) == (2, False)
    assert newest_of(changed)["Said"].id == 2
    # A sentence of its documentation is part of the text that others have fetched.
    assert [one.id for one in update(first, [schema(doc="E.", x="long")])] == [1, 2]


def test_a_record_that_is_gone_stays_readable() -> None:
    first = update([], [schema("A", x="long"), schema("B", x="long")])
    assert update(first, [schema("B", x="long")]) == first


def test_the_hash_is_of_what_decides_about_bytes() -> None:
    assert hash_of(schema(doc="One.", x="long")) == hash_of(schema(doc="Two.", x="long"))
    assert hash_of(schema(x="long")) != hash_of(schema(x="int"))


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    versions = [Version(7, "Said", "ab" * 32, True, schema(x="long"))]
    path = tmp_path / "lock.json"
    path.write_text(to_text(versions), encoding="utf-8")
    assert read_lock(path) == versions
    assert read_lock(tmp_path / "none.json") == []
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3


def test_a_lock_that_lacks_a_version_is_found_and_completed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lock.json"
    entries = json.loads(LOCK.read_text(encoding="utf-8"))
    path.write_text(json.dumps(entries[:-1]), encoding="utf-8")
    assert main(["--check"], path) == 1
    assert "lock.json lacks a schema's version; run `python -m events.wire.lock`" in (
        capsys.readouterr().err
    )
    assert len(read_lock(path)) == len(entries) - 1
    assert main([], path) == 0
    assert main(["--check"], path) == 0
    assert [one.name for one in read_lock(path)] == [one["name"] for one in entries]


def test_a_tag_releases_all(tmp_path: Path) -> None:
    path = tmp_path / "lock.json"
    assert main(["--release"], path) == 0
    assert all(one.released for one in read_lock(path))
    assert main(["--check"], path) == 0
