"""Writes the golden corpus: for each record its bytes under today's schema, what they say, and the
sentence of it that people read.

`python -m tests.golden.write` adds what is missing and writes anew what no tag has released; the
bytes of a released schema are never touched, because logs hold the same.
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path
from typing import Any

from events.generated.records import RECORDS, from_plain
from events.sentences import sentence
from events.wire.codec import encode
from events.wire.lock import Version, newest_of, read_lock

HERE = Path(__file__).parent
SENTENCES = "sentences.txt"


def sample(schema: Any, path: str) -> Any:
    """A value of a type in which no two fields are alike, made of the field's name."""
    number = zlib.crc32(path.encode()) % 9_000 + 1_000
    scalars = {
        "string": f"{path.rpartition('.')[2]}-{number}-é",
        "int": -number if number % 7 == 0 else number,
        "long": number * 1_000_000_007,
        "double": number / 16,
        "boolean": True,
    }
    match schema:
        case str():
            return scalars[schema]
        case ["null", branch]:
            return sample(branch, path)
        case {"type": "array", "items": items}:
            return [sample(items, f"{path}.0"), sample(items, f"{path}.1")]
        case {"type": "enum", "symbols": symbols}:
            return symbols[1 + number % (len(symbols) - 1)]
        case {"type": "record", "fields": fields}:
            return {one["name"]: sample(one["type"], f"{path}.{one['name']}") for one in fields}
    raise AssertionError(f"{schema!r} has no sample")


def sample_of(version: Version) -> Any:
    """The sample of a record, with the types that are named twice written out."""
    return sample(expand(version.schema, {}), version.name)


def expand(schema: Any, known: dict[str, Any]) -> Any:
    """A schema in which each reference to a named type is replaced by the type."""
    match schema:
        case {"type": "record", "fields": fields}:
            own = [{**one, "type": expand(one["type"], known)} for one in fields]
            known[f"{schema['namespace']}.{schema['name']}"] = {**schema, "fields": own}
            return {**schema, "fields": own}
        case {"type": "enum"}:
            known[f"{schema['namespace']}.{schema['name']}"] = schema
            return schema
        case {"type": "array", "items": items}:
            return {"type": "array", "items": expand(items, known)}
        case ["null", branch]:
            return ["null", expand(branch, known)]
    return known.get(schema, schema)


def paths_of(version: Version, folder: Path = HERE) -> tuple[Path, Path]:
    """Where a version's bytes lie, and what they say."""
    stem = f"{version.name}.v{version.id}"
    return folder / f"{stem}.bin", folder / f"{stem}.json"


def sentences() -> str:
    """One line for each record: what people read of its sample."""
    samples = {one.name: sample_of(one) for one in newest_of(read_lock()).values()}
    lines = (f"{name}: {sentence(from_plain(RECORDS[name], samples[name]))}" for name in RECORDS)
    return "\n".join(lines) + "\n"


def write(folder: Path = HERE) -> int:
    """Writes the corpus; the number of records that were written."""
    (folder / SENTENCES).write_text(sentences(), encoding="utf-8")
    written = 0
    for version in newest_of(read_lock()).values():
        binary, said = paths_of(version, folder)
        if version.released and binary.exists():
            continue
        plain = sample_of(version)
        value = encode(from_plain(RECORDS[version.name], plain))
        text = json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
        binary.write_bytes(value)
        said.write_text(text, encoding="utf-8")
        written += 1
    return written


if __name__ == "__main__":
    sys.stdout.write(f"{write()} records\n")
