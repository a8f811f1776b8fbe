"""Bytes that were once written are read for ever, and today's writer writes the same ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from events.generated.records import to_plain
from events.wire.codec import decode, encode
from events.wire.lock import Version, newest_of, read_lock
from tests.golden.write import HERE, paths_of, write

LOCK = read_lock()
NEWEST = newest_of(LOCK)


def agrees(said: Any, read: Any) -> bool:
    """Whether all that was said is read; a later schema may have added fields of its own."""
    if isinstance(said, dict):
        return all(name in read and agrees(value, read[name]) for name, value in said.items())
    if isinstance(said, list):
        return len(said) == len(read) and all(map(agrees, said, read))
    return bool(said == read)


@pytest.mark.parametrize("version", LOCK, ids=lambda one: f"{one.name}.v{one.id}")
def test_every_version_of_the_lock_has_bytes_that_are_read(version: Version) -> None:
    binary, text = paths_of(version)
    said = json.loads(text.read_text(encoding="utf-8"))
    body = decode(binary.read_bytes())
    assert type(body).__name__ == version.name
    assert agrees(said, to_plain(body))


@pytest.mark.parametrize("version", NEWEST.values(), ids=lambda one: one.name)
def test_the_writer_of_today_writes_the_same_bytes(version: Version) -> None:
    value = paths_of(version)[0].read_bytes()
    assert encode(decode(value)) == value


def test_the_corpus_holds_nothing_else() -> None:
    listed = {path.name for one in LOCK for path in paths_of(one)}
    assert {path.name for path in HERE.iterdir() if path.suffix in {".bin", ".json"}} == listed


def test_it_is_what_the_script_writes(tmp_path: Path) -> None:
    assert write(tmp_path) == len(NEWEST)
    for made in tmp_path.iterdir():
        assert made.read_bytes() == (HERE / made.name).read_bytes(), made.name


def test_a_missing_field_and_a_changed_value_do_not_agree() -> None:
    assert agrees({"a": [1]}, {"a": [1], "b": 2})
    assert not agrees({"a": [1]}, {"b": 2})
    assert not agrees({"a": [1]}, {"a": [2]})
    assert not agrees({"a": [1]}, {"a": [1, 2]})
