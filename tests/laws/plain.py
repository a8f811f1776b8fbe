"""Values that a schema allows, drawn by chance: what a record's fields may hold."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from events.wire.lock import newest_of, read_lock
from tests.golden.write import expand

NEWEST = newest_of(read_lock())
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXT,
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
}


def plain_values(
    schema: Any, texts: dict[str, st.SearchStrategy[str]] | None = None, name: str = ""
) -> st.SearchStrategy[Any]:
    """Of that type; `texts` says by the field's ending which texts it holds instead of any."""
    match schema:
        case "string":
            own = (some for end, some in (texts or {}).items() if name.endswith(end))
            return next(own, TEXT)
        case str():
            return SCALARS[schema]
        case ["null", branch]:
            return st.none() | plain_values(branch, texts, name)
        case {"type": "array", "items": items}:
            return st.lists(plain_values(items, texts, name), max_size=3)
        case {"type": "enum", "symbols": symbols}:
            return st.sampled_from(symbols)
        case {"type": "record", "fields": fields}:
            return st.fixed_dictionaries(
                {one["name"]: plain_values(one["type"], texts, one["name"]) for one in fields}
            )
    raise AssertionError(schema)


def plains(texts: dict[str, st.SearchStrategy[str]] | None = None) -> dict[str, Any]:
    """Of every kind of record, by its name."""
    return {name: plain_values(expand(one.schema, {}), texts) for name, one in NEWEST.items()}
