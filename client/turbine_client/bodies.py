"""What a record says, and how its fields become what Avro and JSON hold, and back. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from operator import attrgetter, itemgetter
from typing import Any, ClassVar, Self, TypeVar, get_args, get_origin, get_type_hints

Convert = Callable[[Any], Any]


class Structure:
    """A type of the log that has fields: what a record says, or a part of that."""

    __slots__ = ()
    SCHEMA: ClassVar[str] = ""

    def to_plain(self) -> dict[str, Any]:
        """The fields as Avro and JSON hold them."""
        plain: dict[str, Any] = _writer(type(self))(self)
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The record of fields as Avro and JSON hold them; each of them has to be there."""
        record: Self = _reader(cls)(plain)
        return record


class Body(Structure):
    """What a record says: the value of a message, without the headers around it."""

    __slots__ = ()


B = TypeVar("B", bound=Body)


def to_plain(record: Body) -> dict[str, Any]:
    """The fields of a record as Avro and JSON hold them."""
    return record.to_plain()


def from_plain(cls: type[B], plain: Mapping[str, Any]) -> B:
    """The record of that type with these fields; each of them has to be there."""
    return cls.from_plain(plain)


def _writer_of(cls: type[Structure]) -> Convert:
    """What makes a plain value of one of these; it asks for all fields at once."""
    hints = _hints_of(cls)
    names, values = [*hints], _all_of(attrgetter, hints)
    found = ((name, _conversion(hint, list, _writer)) for name, hint in hints.items())
    writes = [(name, write) for name, write in found if write]

    def write_record(record: Any) -> dict[str, Any]:
        plain = dict(zip(names, values(record)))  # noqa: B905 - by far the most of the time here
        for name, write in writes:
            plain[name] = write(plain[name])
        return plain

    return write_record


def _reader_of(cls: type[Structure]) -> Convert:
    """What makes one of these of a plain value."""
    hints = _hints_of(cls)
    values = _all_of(itemgetter, hints)
    found = (_conversion(hint, tuple, _reader) for hint in hints.values())
    reads = [(at, read) for at, read in enumerate(found) if read]

    def read_record(plain: Mapping[str, Any]) -> Structure:
        held = [*values(plain)]
        for at, read in reads:
            held[at] = read(held[at])
        return cls(*held)

    return read_record


_writer: Callable[[Any], Convert] = cache(_writer_of)
_reader: Callable[[Any], Convert] = cache(_reader_of)


def _hints_of(cls: type[Structure]) -> dict[str, Any]:
    if not is_dataclass(cls):
        raise NotImplementedError(cls.__name__)
    hints = get_type_hints(cls)
    return {one.name: hints[one.name] for one in fields(cls)}


def _all_of(getter: Callable[..., Any], names: Iterable[str]) -> Callable[[Any], Iterable[Any]]:
    get = getter(*names)
    # Of one name, these getters give the value alone.
    return get if len([*names]) > 1 else lambda held: (get(held),)


def _conversion(
    hint: Any, several: Callable[[Any], Any], convert: Callable[[Any], Convert]
) -> Convert | None:
    """How a value of a type is converted; None where it stays as it is."""
    if hint is float:
        return _finite
    if isinstance(hint, type) and issubclass(hint, Structure):
        return convert(hint)
    if get_origin(hint) is tuple:
        item = _conversion(get_args(hint)[0], several, convert)
        return several if item is None else lambda held: several([item(one) for one in held])
    if type(None) in get_args(hint):
        inner = _conversion(get_args(hint)[0], several, convert)
        return inner and (lambda held: None if held is None else inner(held))
    return None


def _finite(number: float) -> float:
    # NaN is not equal to itself: one of them in a row, and no two readers would agree any more.
    if isfinite(number):
        return number
    raise ValueError(f"{number} is not a finite number")
