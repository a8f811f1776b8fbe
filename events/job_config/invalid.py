"""What is wrong with a value that a pydantic model refuses: one field, in words of our own. Pure.

pydantic's own messages change from version to version and carry addresses; these stand in
decisions that are derived again later and compared byte by byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from events.job_config.strict_json import NUMBER_MAX, printable, shorten, write_path

_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "text",
    "string_too_long": "text of at most {max_length} characters",
    "string_unicode": "text without halves of surrogate pairs",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "too_short": "a list of {min_length} or more",
    "too_long": "a list of at most {max_length}",
}
"""By pydantic's type of error; what else can be wrong is explained from the field itself."""


_BOUNDED = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal"})


@dataclass(frozen=True, slots=True)
class Invalid:
    """What is wrong with a config: the dotted path of one field, and what belongs there."""

    path: str
    expected: str
    found: str
    unknown: bool = False  # nobody knows the key
    meant: str = ""  # of an unknown key: the known one that is most like it

    def __str__(self) -> str:
        return f"{self.path or 'the config'}: expected {self.expected}, found {self.found}"


class Explainer:
    """Explains what one model refuses."""

    def __init__(
        self,
        model: type[BaseModel],
        patterns: Mapping[str, str] = MappingProxyType({}),
        unions: frozenset[tuple[str, ...]] = frozenset(),
        *,
        known: str = "a known field",
    ) -> None:
        """`patterns` says in words what each pattern allows; `unions` are the paths of tagged
        unions, below which pydantic names the tag as if it were a key; `known` is what a key that
        nobody knows should have been."""
        self._fields = dict(_fields(model, ()))
        self._patterns = patterns
        self._unions = unions
        self._known = known

    def explain(self, error: ValidationError) -> Invalid:
        """The first problem by path; keys are compared as text, places in a list as numbers."""
        problems = [
            (self._keys(one), one) for one in error.errors(include_url=False) if not _is_echo(one)
        ]
        keys, first = min(problems, key=lambda problem: (_order(problem[0]), problem[1]["type"]))
        if first["type"] == "conflict":
            context = first["ctx"]
            at = ".".join(part for part in (_text(keys), context["at"]) if part)
            return Invalid(at, context["expected"], context["found"])
        return Invalid(_text(keys), self._expected(keys, first), _found(keys, first))

    def problems(self, error: ValidationError) -> list[Invalid]:
        """All that is wrong: keys that nobody knows first, then by path as above. A key that is
        missing only because it is misspelt is not told twice."""
        found = [
            (self._keys(one), one) for one in error.errors(include_url=False) if not _is_echo(one)
        ]
        found.sort(key=lambda each: (_order(each[0]), each[1]["type"]))
        told = [one for keys, problem in found for one in self._told(keys, problem)]
        unknown = [one for one in told if one.unknown]
        meant = {".".join([*one.path.split(".")[:-1], one.meant]) for one in unknown if one.meant}
        return unknown + [
            one
            for one in told
            if not one.unknown and not (one.found == "nothing" and one.path in meant)
        ]

    def _told(self, keys: tuple[str | int, ...], problem: ErrorDetails) -> Iterator[Invalid]:
        if problem["type"] == "conflict":
            context = problem["ctx"]
            for each in ((context["at"], context["expected"], context["found"]), *context["more"]):
                at, expected, found = each
                yield Invalid(".".join(part for part in (_text(keys), at) if part), expected, found)
            return
        unknown = problem["type"] == "extra_forbidden"
        yield Invalid(
            _text(keys),
            self._expected(keys, problem),
            _found(keys, problem),
            unknown,
            self._near(keys) if unknown else "",
        )

    def _near(self, keys: tuple[str | int, ...]) -> str:
        place = tuple(key for key in keys if isinstance(key, str))
        return next(iter(get_close_matches(place[-1][:64], self._known_at(place), 1)), "")

    def _known_at(self, place: tuple[str, ...]) -> list[str]:
        return sorted(path[-1] for path in self._fields if path[:-1] == place[:-1])

    def _keys(self, problem: ErrorDetails) -> tuple[str | int, ...]:
        keys = problem["loc"]
        for end in range(1, len(keys)):
            if keys[:end] in self._unions:
                return keys[:end] + keys[end + 1 :]
        return keys

    def _expected(self, keys: tuple[str | int, ...], problem: ErrorDetails) -> str:
        kind, context = problem["type"], problem.get("ctx", {})
        place = tuple(key for key in keys if isinstance(key, str))
        if kind == "extra_forbidden":
            close = self._near(keys)
            known = ", ".join(self._known_at(place))
            return f"{self._known}, perhaps {close}" if close else f"one of {known}"
        if kind == "string_pattern_mismatch":
            return self._patterns[context["pattern"]]
        field = self._fields.get(place)
        if kind == "literal_error" and field is not None:
            return f"one of {', '.join(get_args(field.annotation))}"
        if kind in _BOUNDED:
            return _numbers(field, context)
        if kind in _EXPECTED and place not in self._unions:
            return _EXPECTED[kind].format(**context)
        # A missing field, or a union that got neither of its kinds.
        return str(field.description) if field is not None else "something else"


def conflict(
    at: str, expected: str, found: str, more: Sequence[tuple[str, str, str]] = ()
) -> PydanticCustomError:
    """What a model's own check raises of a field that does not fit the others; `more` of them."""
    told = {"at": at, "expected": expected, "found": found, "more": tuple(more)}
    return PydanticCustomError("conflict", "{at}: expected {expected}, found {found}", told)


def _fields(
    model: type[BaseModel], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    for name, field in model.model_fields.items():
        yield (*path, name), field
        for inner in _models(field.annotation):
            yield from _fields(inner, (*path, name))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _numbers(field: FieldInfo | None, bounds: Mapping[str, Any]) -> str:
    """All bounds of a number, whichever of them was broken."""
    kind = "a number"
    if field is not None:
        if int in (field.annotation, *get_args(field.annotation)):
            kind = "a whole number"
        names = ("gt", "ge", "lt", "le")
        bounds = {
            name: getattr(one, name)
            for one in field.metadata
            for name in names
            if hasattr(one, name)
        }
    if bounds.keys() == {"ge", "le"}:
        return f"{kind} from {show(bounds['ge'])} to {show(bounds['le'])}"
    said = {"gt": "above", "ge": "of at least", "lt": "below", "le": "of at most"}
    return f"{kind} " + " and ".join(
        f"{said[name]} {show(bounds[name])}" for name in sorted(bounds)
    )


def _is_echo(problem: ErrorDetails) -> bool:
    """A list that is called short only because items in it were refused, each on its own."""
    return problem["type"] == "too_short" and len(problem["input"]) >= problem["ctx"]["min_length"]


def _order(keys: tuple[str | int, ...]) -> tuple[tuple[int, str], ...]:
    return tuple((key, "") if isinstance(key, int) else (-1, key) for key in keys)


def _text(keys: tuple[str | int, ...]) -> str:
    """The path, which is anybody's text where the field is unknown: short and printable."""
    path = printable(write_path(keys))
    return path if len(path) <= 256 else path[:255] + "…"


def _found(keys: tuple[str | int, ...], problem: ErrorDetails) -> str:
    if problem["type"] == "missing":
        return "nothing"
    if problem["type"] == "extra_forbidden":
        return shorten(str(keys[-1]))
    return show(problem["input"])


def show(value: object) -> str:
    """A value in a few words: whole if it is short, else what kind it is."""
    if isinstance(value, str):
        return shorten(value)
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, int | float) and not abs(value) <= NUMBER_MAX:
        return "no number within 2^53"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a model made it a float: it was said without a fraction
    return json.dumps(value)
