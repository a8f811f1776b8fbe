"""How Avro's values lie in bytes: a decoder of any type, put together by the types of its fields.

A reader takes bytes and where to begin, and gives a value and where that ended; this lies beyond
the bytes when a text was cut short, so whoever calls compares. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from struct import Struct
from typing import Any

from events.wire.avsc import short_name

Reader = Callable[[bytes, int], tuple[Any, int]]
INT_MAX = 2**31
NEGATIVE = "a text has a negative length"
TOO_WIDE = "a number has more than 32 bits"
NOT_FINITE = "a number is infinite or none at all"
NO_BOOLEAN = "a boolean is neither true nor false"
NO_SYMBOL = "an enum has no such symbol"
NO_BRANCH = "a union has no such branch"
new = object.__new__
double = Struct("<d").unpack_from


def read_more(b: bytes, i: int, n: int) -> tuple[int, int]:
    """A number of several bytes, the first of which is `n`, before its sign is taken out of it."""
    n, shift = n & 127, 7
    while True:
        x = b[i]
        i += 1
        n |= (x & 127) << shift
        if x < 128:
            break
        shift += 7
        if shift > 63:
            raise ValueError("a number has more than ten bytes")
    if n >> 64:
        raise ValueError("a number has more than 64 bits")
    return n, i


def read_count(b: bytes, i: int) -> tuple[int, int]:
    """How many items the next block of an array has, by either of the two ways to write it."""
    n = b[i]
    i += 1
    if n > 127:
        n, i = read_more(b, i, n)
    if n & 1:
        m = b[i]
        i += 1
        if m > 127:
            m, i = read_more(b, i, m)
    count = abs((n >> 1) ^ -(n & 1))
    # No item is empty, so a count beyond the bytes that are left is a lie that costs memory.
    if count > len(b) - i:
        raise IndexError("an array has more items than there are bytes")
    return count, i


def reader_of(schema: Any, classes: Mapping[str, Any]) -> Reader:
    """The reader of any type that a record may have, a record too; `classes` are by their names."""
    return _reader_of(schema, classes, {})


def _reader_of(schema: Any, classes: Mapping[str, Any], known: dict[str, Reader]) -> Reader:
    match schema:
        case ["null", branch]:
            return _option(_reader_of(branch, classes, known))
        case {"type": "array", "items": items}:
            return _array(_reader_of(items, classes, known))
        case {"type": "enum", "name": name, "symbols": symbols}:
            read = _enum(symbols)
        case {"type": "record", "name": name, "fields": fields}:
            steps = [(one["name"], _reader_of(one["type"], classes, known)) for one in fields]
            read = _record(classes[name], steps)
        case _:
            return _SIMPLE.get(schema) or known[short_name(schema)]
    known[name] = read
    return read


def _record(cls: Any, fields: list[tuple[str, Reader]]) -> Reader:
    # A frozen class sets its fields four times slower, each by its name; a slot knows no guard.
    steps = [(getattr(cls, name).__set__, read) for name, read in fields]

    def read_record(b: bytes, i: int) -> tuple[Any, int]:
        one = new(cls)
        for put, read in steps:
            value, i = read(b, i)
            put(one, value)
        return one, i

    return read_record


def _array(read: Reader) -> Reader:
    def read_array(b: bytes, i: int) -> tuple[Any, int]:
        items = []
        count, i = read_count(b, i)
        while count:
            for _ in range(count):
                item, i = read(b, i)
                items.append(item)
            count, i = read_count(b, i)
        return tuple(items), i

    return read_array


def _option(read: Reader) -> Reader:
    def read_option(b: bytes, i: int) -> tuple[Any, int]:
        n = b[i]
        if n == 0:
            return None, i + 1
        if n != 2:
            raise ValueError(NO_BRANCH)
        return read(b, i + 1)

    return read_option


def _enum(symbols: list[str]) -> Reader:
    last = 2 * len(symbols) - 2

    def read_enum(b: bytes, i: int) -> tuple[Any, int]:
        n, i = _number(b, i)
        if n & 1 or n > last:
            raise ValueError(NO_SYMBOL)
        return symbols[n >> 1], i

    return read_enum


def _number(b: bytes, i: int) -> tuple[int, int]:
    n = b[i]
    return read_more(b, i + 1, n) if n > 127 else (n, i + 1)


def _text(b: bytes, i: int) -> tuple[Any, int]:
    n = b[i]
    i += 1
    if n > 127:
        n, i = read_more(b, i, n)
    if n & 1:
        raise ValueError(NEGATIVE)
    end = i + (n >> 1)
    return b[i:end].decode(), end


def _long(b: bytes, i: int) -> tuple[Any, int]:
    n = b[i]
    i += 1
    if n > 127:
        n, i = read_more(b, i, n)
    return (n >> 1) ^ -(n & 1), i


def _int(b: bytes, i: int) -> tuple[Any, int]:
    n, i = _long(b, i)
    if not -INT_MAX <= n < INT_MAX:
        raise ValueError(TOO_WIDE)
    return n, i


def _double(b: bytes, i: int) -> tuple[Any, int]:
    number = double(b, i)[0]
    if not isfinite(number):
        raise ValueError(NOT_FINITE)
    return number, i + 8


def _boolean(b: bytes, i: int) -> tuple[Any, int]:
    n = b[i]
    if n > 1:
        raise ValueError(NO_BOOLEAN)
    return n == 1, i + 1


_SIMPLE: dict[Any, Reader] = {
    "string": _text,
    "int": _int,
    "long": _long,
    "double": _double,
    "boolean": _boolean,
}
