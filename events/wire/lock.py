"""Which schema has which id: every version that was ever committed, with its text.

An id, once given, names the same bytes for ever; that is what lets a log be read without a
registry.  `python -m events.wire.lock` gives ids to new schemas.  A schema that no tag has released
yet replaces its own text and keeps its id; a released one gets a new id.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastavro.schema import to_parsing_canonical_form

from events.wire.avsc import SCHEMAS, read_schemas
from turbine_client.framing import Version, newest_of

__all__ = [
    "LOCK",
    "Version",
    "hash_of",
    "main",
    "newest_of",
    "read_lock",
    "release",
    "to_text",
    "update",
]

LOCK = SCHEMAS / "lock.json"


def hash_of(schema: dict[str, Any]) -> str:
    """The SHA-256 of a schema's parsing canonical form: of what decides about bytes."""
    return hashlib.sha256(to_parsing_canonical_form(schema).encode()).hexdigest()


def read_lock(path: Path = LOCK) -> list[Version]:
    """All versions, by ascending id."""
    if not path.exists():
        return []
    return [Version(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def update(versions: list[Version], schemas: list[dict[str, Any]]) -> list[Version]:
    """The versions with each schema in them: no id changes, and no released text does."""
    by_id = {one.id: one for one in versions}
    newest = newest_of(versions)
    for schema in schemas:
        was = newest.get(schema["name"])
        if was is not None and was.schema == schema:
            continue
        if was is not None and not was.released:
            by_id[was.id] = replace(was, schema=schema, sha256=hash_of(schema))
            continue
        new_id = max(by_id, default=0) + 1
        by_id[new_id] = Version(new_id, schema["name"], hash_of(schema), False, schema)
    return [by_id[one] for one in sorted(by_id)]


def release(versions: list[Version]) -> list[Version]:
    """The versions as a tag leaves them: nothing of them is replaced any more."""
    return [replace(one, released=True) for one in versions]


def to_text(versions: list[Version]) -> str:
    """The lock file: one line a version, so that a change of one is a change of one line."""
    lines = [
        json.dumps(
            {
                "id": one.id,
                "name": one.name,
                "sha256": one.sha256,
                "released": one.released,
                "schema": one.schema,
            },
            ensure_ascii=False,
        )
        for one in versions
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main(arguments: list[str] | None = None, path: Path = LOCK) -> int:
    """Updates or compares the lock file; 0 when it holds what the schemas say."""
    parser = argparse.ArgumentParser(prog="python -m events.wire.lock", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--release", action="store_true", help="freeze all versions, for a tag")
    options = parser.parse_args(arguments)
    versions = update(read_lock(path), read_schemas())
    text = to_text(release(versions) if options.release else versions)
    if path.exists() and text == path.read_text(encoding="utf-8"):
        return 0
    if options.check:
        sys.stderr.write(
            f"{path.name} lacks a schema's version; run `python -m events.wire.lock`\n"
        )
        return 1
    path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
