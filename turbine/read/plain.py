"""Answers as JSON values, and the meaning of their fields: both are told by their types alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from pydantic import Field, TypeAdapter

T = TypeVar("T")
JsonObject = dict[str, Any]
"""An object as JSON has it, where the document and no type of ours says what it holds."""


def means(text: str, **more: Any) -> Any:
    """The meaning of a field, beside its type."""
    return Field(description=text, **more)


def made(kind: Callable[..., T], source: Any, /, **more: Any) -> T:
    """An answer with the fields of the source by their names, but for those that are given."""
    names = _names(kind)
    return kind(**{name: getattr(source, name) for name in names if name not in more}, **more)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


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


def document(kind: Any) -> JsonObject:
    """The JSON schema of a type, with what its fields mean."""
    return adapter(kind).json_schema(mode="serialization", by_alias=True)
