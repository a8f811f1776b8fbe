"""The settings of scaling policies for people: what each means, its default, what it may be.

`python -m turbine.read.answers.policies` writes docs/policies.md, which a test holds against
the models.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from events.job_config.policies.table import BUILT_IN, SETTINGS
from events.job_config.strict_json import canonical_json
from turbine.read.plain import means

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "policies.md"
HEAD = """# Settings of the scaling policies

They stand in a job's config under `policy.settings`, by these names; whatever is left out has its
default. [Scaling](scaling.md) says what the policies are, and how to write
[one of your own](scaling.md#a-policy-of-your-own). This page is written by
`python -m turbine.read.answers.policies`; `turbine describe policy NAME` shows the same of one.
"""
ARTICLES = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a policy."""

    setting: str
    default: Any
    values: Annotated[str, means("What it may be, in a few words.")]
    meaning: str


@dataclass(frozen=True, slots=True)
class PolicyLine:
    """A scaling policy with all its settings."""

    policy: str
    settings: tuple[Setting, ...]


def policy(name: str) -> PolicyLine:
    """One policy with its settings; KeyError where there is none of that name."""
    settings = (
        Setting(
            setting,
            _plain(field.get_default(call_default_factory=True)),
            values_of(field),
            field.description or "",
        )
        for setting, field in SETTINGS[name].model_fields.items()
    )
    return PolicyLine(name, tuple(settings))


def values_of(field: FieldInfo) -> str:
    """What it may be, in a few words."""
    kind, optional = field.annotation, False
    if get_origin(kind) in (Union, UnionType):
        kinds = [one for one in get_args(kind) if one is not type(None)]
        kind, optional = kinds[0], len(kinds) < len(get_args(kind))
    return _kind(kind, field) + (", or null" if optional else "")


def _kind(kind: Any, field: FieldInfo) -> str:
    if get_origin(kind) is Literal:
        return ", ".join(get_args(kind))
    if get_origin(kind) is tuple:
        return f"a list of {_many(get_args(kind)[0])}"
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return f"an object of {', '.join(kind.model_fields)}"
    bounds = list(_bounds(field))
    closed = [one.partition(" ")[0] for one in bounds] == ["from", "to"]
    return f"{ARTICLES.get(kind, 'a value')} {(' ' if closed else ', ').join(bounds)}".strip()


def _many(kind: Any) -> str:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return f"objects of {', '.join(kind.model_fields)}"
    return {str: "texts", int: "whole numbers", float: "numbers"}[kind]


def _bounds(field: FieldInfo) -> Iterator[str]:
    """The bounds in words: `from 1`, `below 5`."""
    words = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}
    for one in field.metadata:
        for name, word in words.items():
            if hasattr(one, name):
                yield f"{word} {getattr(one, name):,}"


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def document() -> str:
    """The page with all of them."""
    return HEAD + "".join(_chapter(name) for name in BUILT_IN)


def _chapter(name: str) -> str:
    lines = [
        f"| `{row.setting}` | `{_cell(row.default)}` | {row.values} | {row.meaning} |"
        for row in policy(name).settings
    ]
    head = ["| setting | default | values | meaning |", "| --- | --- | --- | --- |"]
    return "\n".join(["", f"## `{name}`", "", *head, *lines, ""])


def _cell(value: Any) -> str:
    return canonical_json(value).replace("|", "\\|")


def main() -> int:
    """0 when the page is written."""
    DOCUMENT.write_text(document(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
