"""Reads the `.avsc` files, and knows which of Avro's types a record of the log may use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turbine_client.errors import Corrupt

SCHEMAS = Path(__file__).parents[1] / "schemas"
PRIMITIVES = {
    "string": "str",
    "int": "int",
    "long": "int",
    "double": "float",
    "boolean": "bool",
}
Named = dict[str, dict[str, Any]]


class SchemaError(Corrupt):
    """A schema uses what records of the log may not have."""


def read_schemas(folder: Path = SCHEMAS) -> list[dict[str, Any]]:
    """The record schemas, by name of their records; each lies in a file of its own."""
    found = sorted(folder.glob("*/*.avsc"), key=lambda path: path.stem)
    schemas = []
    for path in found:
        schema = json.loads(path.read_text(encoding="utf-8"))
        if schema["name"] != path.stem:
            raise SchemaError(f"{path.name} holds {schema['name']}; name the file after it")
        schemas.append(schema)
    names = [schema["name"] for schema in schemas]
    for name in names:
        if names.count(name) > 1:
            raise SchemaError(f"{name} has two files; a record has one schema")
    return schemas


def name_types(schemas: list[dict[str, Any]]) -> Named:
    """All records and enums by name, each after those that it holds."""
    named: Named = {}
    for schema in schemas:
        done = set(PRIMITIVES)
        for one in _named_types(schema, done):
            name = one["name"]
            if named.setdefault(name, one) != one:
                raise SchemaError(f"{name} is defined in two ways; its definitions must agree")
    return named


def _named_types(schema: Any, done: set[str]) -> Iterator[dict[str, Any]]:
    """All records and enums that are defined within, the inner ones first.

    A name that is used within its own definition makes decoders recurse without a bound, and an
    array of what has no bytes makes a few of them fill the memory: both are refused here.
    """
    match schema:
        case {"type": "record", "fields": [_, *_] as fields}:
            for field in fields:
                yield from _named_types(field["type"], done)
            done.add(f"{schema['namespace']}.{schema['name']}")
            yield schema
        case {"type": "enum"}:
            done.add(f"{schema['namespace']}.{schema['name']}")
            yield schema
        case {"type": "array", "items": items}:
            yield from _named_types(items, done)
        case ["null", branch]:
            yield from _named_types(branch, done)
        case str() if schema in done:
            return
        case str():
            raise SchemaError(f"{schema} is not a type that is complete before it is used")
        case _:
            raise SchemaError(f"{schema!r} is not among the types that records may have")


def short_name(schema: Any) -> str:
    """The name of a named type, or of a reference to it, without its namespace."""
    return str(schema["name"] if isinstance(schema, dict) else schema).rpartition(".")[2]


def is_record(schema: Any, named: Named) -> bool:
    """Whether a type is a record."""
    name = "" if isinstance(schema, list) else short_name(schema)
    return name in named and named[name]["type"] == "record"
