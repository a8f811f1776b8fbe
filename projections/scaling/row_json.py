"""A row as plain JSON and back, by the types of its fields: a new one needs no word here. Pure.

Long runs of numbers are kept as their bytes, as text they would be most of a row; and column by
column: all first bytes, all second bytes. What differs little from number to number packs better.
"""

from __future__ import annotations

import base64
import types
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from immutables import Map

from events.generated.records import LayerVersions
from projections.ingress import Ingress, dump_ingress, load_ingress
from projections.scaling.row import ScalingRow

NUMBERS = "d"
"""How runs of numbers are kept: in the machine's double precision, little-endian on all of ours."""


class Form(NamedTuple):
    """Of a type: to plain JSON, and from it."""

    dump: Callable[[Any], Any]
    load: Callable[[Any], Any]


def dump(row: ScalingRow) -> object:
    """Plain JSON of the row, for keeping; `load` is its inverse."""
    return form_of(ScalingRow).dump(row)


def load(plain: Any) -> ScalingRow:
    """The row that `dump` made plain."""
    row: ScalingRow = form_of(ScalingRow).load(plain)
    return row


AS_IT_IS = Form(lambda value: value, lambda plain: plain)
BYTES = Form(lambda value: base64.b64encode(value).decode(), base64.b64decode)
SET = Form(sorted, frozenset)
VERSIONS = Form(lambda value: value.to_plain(), lambda plain: LayerVersions(**plain))
INGRESS = Form(dump_ingress, load_ingress)


def _columns(width: int) -> Form:
    """Of records of so many bytes each."""

    def dump(value: bytes) -> Any:
        return BYTES.dump(b"".join([value[first::width] for first in range(width)]))

    def load(plain: Any) -> bytes:
        packed = BYTES.load(plain)
        value, count = bytearray(len(packed)), len(packed) // width
        for first in range(width):
            value[first::width] = packed[first * count : (first + 1) * count]
        return bytes(value)

    return Form(dump, load)


_DOUBLES = _columns(array(NUMBERS).itemsize)
FLOATS = Form(
    lambda value: _DOUBLES.dump(array(NUMBERS, value).tobytes()),
    lambda plain: tuple(array(NUMBERS, _DOUBLES.load(plain))),
)
PLAIN: dict[Any, Form] = {
    bool: AS_IT_IS,
    int: AS_IT_IS,
    float: AS_IT_IS,
    str: AS_IT_IS,
    bytes: BYTES,
    frozenset[str]: SET,
    LayerVersions: VERSIONS,
    Ingress: INGRESS,
    tuple[float, ...]: FLOATS,
}


@cache
def form_of(kind: Any) -> Form:
    """How values of a type are kept."""
    if kind in PLAIN:
        return PLAIN[kind]
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _columns(parts[1])
    if origin in {Union, types.UnionType}:
        [inner] = [part for part in parts if part is not type(None)]
        return _optional(form_of(inner))
    if origin is Map:
        return _mapped(form_of(parts[1]))
    if origin is tuple and parts[-1] is not Ellipsis:
        return _fields(tuple, [form_of(part) for part in parts])
    if origin in {tuple, Sequence}:
        return _run(form_of(parts[0]))
    hints = get_type_hints(kind, include_extras=True)
    return _fields(kind._make, [form_of(hints[name]) for name in kind._fields])


def _optional(form: Form) -> Form:
    return Form(
        lambda value: None if value is None else form.dump(value),
        lambda plain: None if plain is None else form.load(plain),
    )


def _mapped(form: Form) -> Form:
    return Form(
        lambda value: [[key, form.dump(one)] for key, one in sorted(value.items())],
        lambda plain: Map({key: form.load(one) for key, one in plain}),
    )


def _run(form: Form) -> Form:
    return Form(
        lambda value: [form.dump(one) for one in value],
        lambda plain: tuple([form.load(one) for one in plain]),
    )


def _fields(make: Callable[[Any], Any], forms: list[Form]) -> Form:
    dumps, loads = [form.dump for form in forms], [form.load for form in forms]
    return Form(
        lambda value: [each(one) for each, one in zip(dumps, value, strict=True)],
        lambda plain: make([each(one) for each, one in zip(loads, plain, strict=True)]),
    )
