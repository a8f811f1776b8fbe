"""Answers as JSON values, and the meaning of their fields: both are told by their types alone."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


def widened(kind: type[T], answer: Any, **more: Any) -> T:
    """An answer of a type that has more fields than the one it is made of."""
    return kind(**{field.name: getattr(answer, field.name) for field in fields(answer)}, **more)


def plain(answer: Any) -> Any:
    """The JSON value of an answer, as every door shows it, or of several.

    What is not as its type says is refused.
    """
    if isinstance(answer, list | tuple):
        return [plain(each) for each in answer]
    kind: Any = type(answer)
    return adapter(kind).dump_python(answer, mode="json", by_alias=True, warnings="error")


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """What turns answers of a type into JSON, and knows its document."""
    return TypeAdapter(kind)


def document(kind: Any) -> dict[str, Any]:
    """The JSON schema of a type, with what its fields mean."""
    return adapter(kind).json_schema(mode="serialization", by_alias=True)
