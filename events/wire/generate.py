"""Writes the records and decoders of `events`, and the client's, from the `.avsc` files, the truth.

Run it with `python -m events.wire.generate`.  The text depends on the schemas alone, so `--check`
can compare it.  Reading and writing of each record is spelled out field by field: decoding is the
hot path of replay, and reflection at run time costs more there than the Avro decoder itself.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from events.wire.avsc import (
    PRIMITIVES,
    SCHEMAS,
    Named,
    SchemaError,
    is_record,
    name_types,
    read_schemas,
    short_name,
)
from events.wire.generate_decoders import generate_decoders
from turbine_client.topics import CLIENT_KINDS

ROOT = Path(__file__).parents[2]
CLIENT = "client/turbine_client"
HEAD = '''"""The records of the log, made of events/schemas by `python -m events.wire.generate`.

Those that a client knows are the client's own. Change a schema and generate again; an edit here is
lost, and a test compares.
"""
# ruff: noqa - generated
# fmt: off

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

'''
CLIENT_HEAD = '''"""The records that a client speaks or hears, generated from events/schemas.

Change a schema and generate again; an edit here is lost, and a test compares.
"""
# ruff: noqa - generated
# fmt: off

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, Literal, Self, TypeVar


class Body:
    """What a record says: the value of a message, without the headers around it."""

    __slots__ = ()
    SCHEMA: ClassVar[str] = ""

    def to_plain(self) -> dict[str, Any]:
        """The fields as Avro and JSON hold them."""
        raise NotImplementedError(type(self).__name__)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The record of fields as Avro and JSON hold them; each of them has to be there."""
        raise NotImplementedError(cls.__name__)


B = TypeVar("B", bound=Body)


def to_plain(record: Body) -> dict[str, Any]:
    """The fields of a record as Avro and JSON hold them."""
    return record.to_plain()


def from_plain(cls: type[B], plain: Mapping[str, Any]) -> B:
    """The record of that type with these fields; each of them has to be there."""
    return cls.from_plain(plain)


def _finite(number: float) -> float:
    # NaN is not equal to itself: one of them in a row, and no two readers would agree any more.
    if isfinite(number):
        return number
    raise ValueError(f"{number} is not a finite number")


def _finite_or_none(number: float | None) -> float | None:
    return None if number is None else _finite(number)
'''
CORE = ("Body", "_finite", "_finite_or_none", "from_plain", "to_plain")
"""What `CLIENT_HEAD` defines for both."""


def generate(schemas: list[dict[str, Any]]) -> str:
    """The text of `events/generated/records.py`: what the client lacks, and all in a table."""
    known = set(name_types(_of_client(schemas)))
    parts = [HEAD, "from turbine_client.records import (\n"]
    parts += [f"    {name} as {name},\n" for name in sorted(known.union(CORE))]
    parts += [")\n", _definitions(schemas, known), _table(schemas)]
    return "".join(parts)


def generate_client(schemas: list[dict[str, Any]]) -> str:
    """The text of the client's `records.py`."""
    ours = _of_client(schemas)
    return CLIENT_HEAD + _definitions(ours, set()) + _table(ours)


def client_lock(versions: list[dict[str, Any]]) -> str:
    """The text of the client's `schemas.json`: all versions of its records, of the lock's."""
    lines = [json.dumps(one, ensure_ascii=False) for one in versions if one["name"] in CLIENT_KINDS]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _of_client(schemas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [schema for schema in schemas if schema["name"] in CLIENT_KINDS]


def _definitions(schemas: list[dict[str, Any]], known: set[str]) -> str:
    """The classes of all types that are not known, each after those that it holds."""
    named = name_types(schemas)
    tops = {schema["name"] for schema in schemas}
    new = [one for one in named.values() if one["name"] not in known]
    enums = [one for one in new if one["type"] == "enum"]
    inner = [one for one in new if one["type"] == "record" and one["name"] not in tops]
    parts = [_enum(one) for one in sorted(enums, key=lambda one: str(one["name"]))]
    # A nested record stands before the records that hold it, as `_named_types` found them.
    parts += [_record(one, named, base="") for one in inner]
    parts += [_record(one, named, base="Body") for one in schemas if one["name"] not in known]
    return "".join(parts)


def _table(schemas: list[dict[str, Any]]) -> str:
    listed = "\n".join(f'    "{schema["name"]}": {schema["name"]},' for schema in schemas)
    return f"\n\nRECORDS: dict[str, type[Body]] = {{\n{listed}\n}}\n"


def _hint(schema: Any) -> str:
    """The type of a field in Python."""
    match schema:
        case {"type": "array", "items": items}:
            return f"tuple[{_hint(items)}, ...]"
        case ["null", branch]:
            return f"{_hint(branch)} | None"
        case str() if schema in PRIMITIVES:
            return PRIMITIVES[schema]
        case _:
            return short_name(schema)


def _reads(schema: Any, plain: str, named: Named) -> str:
    """The expression that makes a field's value of what Avro holds."""
    match schema:
        case "double":
            return f"_finite({plain})"
        case ["null", "double"]:
            return f"_finite_or_none({plain})"
        case ["null", branch]:
            inner = _reads(branch, plain, named)
            return plain if inner == plain else f"None if {plain} is None else {inner}"
        case {"type": "array", "items": items}:
            inner = _reads(items, "one", named)
            return f"tuple({plain})" if inner == "one" else f"tuple([{inner} for one in {plain}])"
        case _ if is_record(schema, named):
            return f"{short_name(schema)}.from_plain({plain})"
    return plain


def _writes(schema: Any, value: str, named: Named) -> str:
    """The expression that makes what Avro holds of a field's value."""
    match schema:
        case "double":
            return f"_finite({value})"
        case ["null", "double"]:
            return f"_finite_or_none({value})"
        case ["null", branch]:
            inner = _writes(branch, value, named)
            return value if inner == value else f"None if {value} is None else {inner}"
        case {"type": "array", "items": items}:
            inner = _writes(items, "one", named)
            return f"list({value})" if inner == "one" else f"[{inner} for one in {value}]"
        case _ if is_record(schema, named):
            return f"{value}.to_plain()"
    return value


def _default(field: dict[str, Any]) -> str:
    if "default" not in field:
        return ""
    value = field["default"]
    if value == []:
        return " = ()"
    if value is None or isinstance(value, str | int | float):
        return f" = {json.dumps(value)}" if isinstance(value, str) else f" = {value!r}"
    raise SchemaError(f"{field['name']} has the default {value!r}; use a scalar, null or []")


def _enum(schema: dict[str, Any]) -> str:
    symbols = "".join(f'    "{symbol}",\n' for symbol in schema["symbols"])
    comment = "\n".join(
        textwrap.wrap(schema["doc"], 97, initial_indent="# ", subsequent_indent="# ")
    )
    return f"\n\n{comment}\n{schema['name']} = Literal[\n{symbols}]\n"


def _record(schema: dict[str, Any], named: Named, base: str) -> str:
    name, fields = schema["name"], schema["fields"]
    doc = "\n".join(textwrap.wrap(f'"""{schema["doc"]}"""', 95, subsequent_indent="    "))
    lines = [
        "\n\n@dataclass(frozen=True, slots=True)",
        f"class {name}({base}):" if base else f"class {name}:",
        f"    {doc}",
        "",
        f'    SCHEMA: ClassVar[str] = "{schema["namespace"]}.{name}"',
    ]
    lines += [f"    {one['name']}: {_hint(one['type'])}{_default(one)}" for one in fields]
    lines += ["", "    def to_plain(self) -> dict[str, Any]:", "        return {"]
    for one in fields:
        value = _writes(one["type"], f"self.{one['name']}", named)
        lines.append(f'            "{one["name"]}": {value},')
    lines += ["        }", "", "    @classmethod"]
    lines += ["    def from_plain(cls, plain: Mapping[str, Any]) -> Self:", "        return cls("]
    for one in fields:
        value = _reads(one["type"], f'plain["{one["name"]}"]', named)
        lines.append(f"            {value},")
    lines += ["        )", ""]
    return "\n".join(lines)


def main(arguments: list[str] | None = None, folder: Path = ROOT) -> int:
    """Writes or compares the generated modules; 0 when they are what the schemas say."""
    parser = argparse.ArgumentParser(prog="python -m events.wire.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args(arguments)
    schemas = read_schemas()
    versions = json.loads((SCHEMAS / "lock.json").read_text(encoding="utf-8"))
    texts = {
        f"{CLIENT}/records.py": generate_client(schemas),
        f"{CLIENT}/schemas.json": client_lock(versions),
        "events/generated/records.py": generate(schemas),
        "events/generated/decoders.py": generate_decoders(schemas),
    }
    for name, text in texts.items():
        target = folder / name
        if target.exists() and target.read_text(encoding="utf-8") == text:
            continue
        if options.check:
            sys.stderr.write(
                f"{name} is not what the schemas say; run python -m events.wire.generate\n"
            )
            return 1
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
