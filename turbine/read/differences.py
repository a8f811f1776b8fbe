"""What differs between two JSON objects, path by path, and which change turns one into another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import JsonValue

from events.job_config.strict_json import canonical_json, printable, write_path
from turbine.read.plain import means

Json = dict[str, JsonValue]


class _Absent:
    """Nothing stands at a path; null would be a value."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT = _Absent()


def _is_absent(value: object) -> bool:
    return value is ABSENT


def _absent() -> object:
    return ABSENT


@dataclass(frozen=True, slots=True)
class Difference:
    """One path whose value is another, is new, or is gone."""

    path: str
    before: Annotated[Any, means("Left out where nothing was there.", exclude_if=_is_absent)] = (
        field(default_factory=_absent)
    )
    after: Annotated[Any, means("Left out where nothing is there.", exclude_if=_is_absent)] = field(
        default_factory=_absent
    )

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Difference:
        """What its plain form tells."""
        return cls(plain["path"], plain.get("before", ABSENT), plain.get("after", ABSENT))

    def __str__(self) -> str:
        path = printable(self.path)
        if self.before is ABSENT:
            return f"+ {path}: {_text(self.after)}"
        if self.after is ABSENT:
            return f"- {path}: {_text(self.before)}"
        return f"~ {path}: {_text(self.before)} -> {_text(self.after)}"


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """By path. Objects are compared within; a list is one value, as it is for the layers."""
    return sorted(_walk(before, after), key=lambda one: one.path)


def _walk(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    stack: list[tuple[tuple[str, ...], Any, Any]] = [((), before, after)]
    while stack:
        keys, old, new = stack.pop()
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            stack += [
                ((*keys, key), old.get(key, ABSENT), new.get(key, ABSENT)) for key in {**old, **new}
            ]
        elif old is ABSENT and isinstance(new, Mapping) and new:
            stack += [((*keys, key), ABSENT, value) for key, value in new.items()]
        elif new is ABSENT and isinstance(old, Mapping) and old:
            stack += [((*keys, key), value, ABSENT) for key, value in old.items()]
        elif not _same(old, new):
            yield Difference(write_path(keys), old, new)


def _same(old: object, new: object) -> bool:
    # By the one text of a value: for Python, 1 equals true.
    if old is ABSENT or new is ABSENT:
        return old is new
    return canonical_json(old) == canonical_json(new)  # type: ignore[arg-type]  # both are JSON


def change_between(layer: Mapping[str, Any], wanted: Mapping[str, Any]) -> tuple[Json, list[str]]:
    """What to set and what to clear so that the layer becomes what is wanted, and no more.

    A change merges what it sets, so what the layer has and the wish has not is cleared by path.
    """
    clear: list[str] = []
    set_: Json = {}
    stack: list[tuple[tuple[str, ...], Mapping[str, Any], Mapping[str, Any], Json]] = [
        ((), layer, wanted, set_)
    ]
    while stack:
        keys, old, new, into = stack.pop()
        clear += [write_path((*keys, key)) for key in old if key not in new]
        for key, value in new.items():
            was = old.get(key, ABSENT)
            if isinstance(value, dict) and isinstance(was, dict):
                if not _same(was, value):
                    below: Json = {}
                    into[key] = below
                    stack.append(((*keys, key), was, value, below))
            elif not _same(was, value):
                into[key] = value
    return set_, sorted(clear)


def change_through(
    configs: Sequence[Mapping[str, Any]], wanted: Mapping[str, Any]
) -> tuple[Json, list[str]]:
    """The same of a layer that becomes one after another as its temporary changes end: what is
    wanted is set whole, so that it holds through all of them."""
    if len(configs) == 1:
        return change_between(configs[0], wanted)
    clear = {path for config in configs for path in change_between(config, wanted)[1]}
    return dict(wanted), sorted(clear)


def _text(value: object) -> str:
    text = canonical_json(value)  # type: ignore[arg-type]  # what stands in a config is JSON
    return printable(text)
