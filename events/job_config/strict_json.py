"""What counts as JSON here: strict reading within bounds, one canonical text, paths. Pure.

JSON arrives inside events from any program in any language, so what differs between readers
(duplicate keys, NaN, 1e999, numbers past 2^53, lone surrogates) is refused instead of guessed,
and what costs more to read than to send (depth, nodes) has a bound that is checked first.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TypeAlias

from turbine_client.errors import BadRequest
from turbine_client.texts import printable, shorten

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

BYTES_MAX = 64 * 1024
"""Default size of a text: a layer of a job's config is at most that, and nothing asks for more."""
DEPTH_MAX = 32
"""Objects and arrays within each other. The parser recurses, so deeper texts never reach it."""
NODES_MAX = 10_000
"""Values in one text, containers included: 10 MB of `{}` would take 274 MB once parsed."""
KEYS_MAX = 512
"""Keys in one object."""
KEY_BYTES_MAX = 256
"""Length of one key in UTF-8."""
NUMBER_MAX = 2**53
"""Beyond it a reader that holds numbers as doubles, as JavaScript does, reads another number."""

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_DIGITS_MAX = len(str(NUMBER_MAX)) + 1  # and a sign; int() of a longer text costs its square
_LONG_NUMBER = re.compile(r"[0-9]{16}")
_BRACKETS = b"[]{}"
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_STEPS = bytes.maketrans(_BRACKETS, bytes([1, 255, 1, 255]))  # 255 is -1 in a signed byte
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SEGMENT = re.compile(r"((?:[^.\\]|\\[.\\])*+)(\.|\Z)", re.DOTALL)


class Malformed(BadRequest):
    """A text that is no JSON of ours: a code for machines, a sentence for people, the place."""

    def __init__(self, reason_code: str, sentence: str, path: str = "") -> None:
        super().__init__(sentence)
        self.reason_code = reason_code
        self.sentence = sentence
        self.path = path

    def __reduce__(self) -> tuple[type[Malformed], tuple[str, str, str]]:
        # Exceptions are rebuilt from `args`, which hold one text here and three at construction.
        return type(self), (self.reason_code, self.sentence, self.path)


def parse_json(
    text: str | bytes, *, what: str, max_bytes: int = BYTES_MAX, max_values: int = NODES_MAX
) -> Json:
    """The value that `text` stands for; `what` names the text in the sentence of a Malformed.

    A number without a fraction is an int however it is written: 4, 4.0 and 4e0 are one number to
    most languages, and which of them a program prints is not its user's choice.
    """
    body = _encode(text, what)
    if len(body) > max_bytes:
        raise Malformed(
            "too-large",
            f"{what} has {len(body)} bytes and may have {max_bytes}; "
            "make it shorter or split the change",
        )
    plain = _decode(body, what)
    if _depth(body) > DEPTH_MAX:
        raise Malformed(
            "too-deep", f"{what} nests deeper than {DEPTH_MAX} objects and arrays; flatten it"
        )
    value = _Parser(what).parse(plain)
    if _values_at_most(plain) > max_values and sum(1 for _ in _walk(value)) > max_values:
        raise Malformed(
            "too-many-values", f"{what} holds more than {max_values} values; split the change"
        )
    if _ESCAPED_SURROGATE.search(plain):
        _refuse_surrogates(value, what)
    return value


def canonical_json(value: Json) -> str:
    """The one text of a value: keys sorted by code point, no spaces, 4.0 written as 4.

    Values that are equal as JSON have equal texts, so ids can be hashes of it. For values within
    the bounds of `parse_json`: the encoder recurses.
    """
    text = _encode_sorted(value)
    # Only floats without a fraction need another text, and each of them shows one of these two.
    if ".0" in text or "e+" in text:
        return _encode_sorted(_without_whole_floats(value))
    return text


def write_path(keys: Iterable[str | int]) -> str:
    """Dotted text of a place in a value: a key's own dot is written `\\.`, a backslash `\\\\`."""
    return ".".join(str(key).replace("\\", "\\\\").replace(".", "\\.") for key in keys)


def split_path(path: str) -> tuple[str, ...]:
    """The keys of a dotted path, at least one; the inverse of `write_path`."""
    if not path:
        raise Malformed(
            "bad-path", "an empty path names nothing; name a field, such as resources.memory_mb"
        )
    if "\\" not in path:
        return tuple(path.split("."))
    keys, at = [], 0
    while True:
        segment = _SEGMENT.match(path, at)
        if segment is None:
            raise Malformed(
                "bad-path",
                f"the path {shorten(path)} has a backslash that stands for nothing; "
                "write a dot within a key as \\. and a backslash as \\\\",
                path,
            )
        keys.append(re.sub(r"\\(.)", r"\1", segment[1]))
        if not segment[2]:
            return tuple(keys)
        at = segment.end()


def _encode(text: str | bytes, what: str) -> bytes:
    if isinstance(text, bytes):
        return text
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise _surrogate(what, f"at character {error.start + 1}") from error


def _decode(body: bytes, what: str) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise Malformed(
            "not-utf-8", f"{what} is not UTF-8 at byte {error.start + 1}; encode it as UTF-8"
        ) from error


def _depth(body: bytes) -> int:
    """At least how deep a parser would get in the text, valid or not, and exact if it is valid."""
    if body.count(b"[") + body.count(b"{") <= DEPTH_MAX:
        return 0  # it cannot be deeper than it has brackets; nearly every text ends here
    steps = _STRING.sub(b"", body).translate(_STEPS, _NO_BRACKETS)
    return max(accumulate(array("b", steps)), default=0)


def _values_at_most(plain: str) -> int:
    """A bound on the values of a text: each but the outermost follows one of these characters."""
    return 1 + plain.count(",") + plain.count(":") + plain.count("[")


def _not_json(plain: str, at: int, what: str) -> Malformed:
    # The sentence ends up in a decision, which an auditor derives again under another Python, so
    # it has none of the parser's words, and one place for what newer parsers place on the comma.
    before = plain[:at].rstrip()
    if before.endswith(",") and plain[at : at + 1] in ("}", "]"):
        at = len(before) - 1
    line, column = plain.count("\n", 0, at) + 1, at - plain.rfind("\n", 0, at)
    return Malformed(
        "not-json", f"{what} is not JSON from line {line}, column {column} on; correct it there"
    )


class _Refused:
    """Stands in the parsed value where something was refused, so that its path can be told."""

    __slots__ = ("code", "key", "sentence")

    def __init__(self, code: str, sentence: str, key: str | None = None) -> None:
        self.code = code
        self.sentence = sentence
        self.key = key  # within the object that is refused


class _Parser:
    """One reading of one text: the parser's hooks see values but not where they stand."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._refused = False

    def parse(self, plain: str) -> Json:
        decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            # Most texts have no long number, and then the parser's own int is right and faster.
            parse_int=self._whole if _LONG_NUMBER.search(plain) else None,
            parse_float=self._number,
            parse_constant=self._constant,
        )
        try:
            value: Json = decoder.decode(plain)
        except json.JSONDecodeError as error:
            raise _not_json(plain, error.pos, self._what) from error
        if self._refused:
            raise self._first_refusal(value)
        return value

    def _object(self, pairs: list[tuple[str, Json]]) -> object:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice = next(key for key, count in counts.items() if count > 1)
            return self._refuse(
                "duplicate-key", f"has the key {shorten(twice)} twice; keep one of the two", twice
            )
        if len(found) > KEYS_MAX:
            return self._refuse(
                "too-many-keys", f"has {len(found)} keys and may have {KEYS_MAX}; group them"
            )
        if found and len(max(found, key=len)) * 4 > KEY_BYTES_MAX:  # 4 bytes a character at most
            key = max(found, key=_utf8_length)
            if _utf8_length(key) > KEY_BYTES_MAX:
                return self._refuse(
                    "key-too-long",
                    f"has a key of {_utf8_length(key)} bytes ({shorten(key, 24)}) "
                    f"and a key may have {KEY_BYTES_MAX}; shorten it",
                )
        return found

    def _whole(self, digits: str) -> object:
        if len(digits) <= _DIGITS_MAX and abs(number := int(digits)) <= NUMBER_MAX:
            return number
        return self._too_large(digits)

    def _number(self, digits: str) -> object:
        number = float(digits)
        if not abs(number) < NUMBER_MAX:  # at the limit itself, 2^53 + 1 was rounded perhaps
            return self._too_large(digits)
        return int(number) if number.is_integer() else number

    def _constant(self, name: str) -> object:
        return self._refuse("not-a-number", f"is {name}, which is no JSON number; leave it out")

    def _too_large(self, digits: str) -> _Refused:
        return self._refuse(
            "number-too-large",
            f"is the number {shorten(digits, 24)[1:-1]}, beyond 2^53, which readers round "
            "differently; write it as a string",
        )

    def _refuse(self, code: str, sentence: str, key: str | None = None) -> _Refused:
        self._refused = True
        return _Refused(code, sentence, key)

    def _first_refusal(self, value: Json) -> Malformed:
        for keys, found in _walk(value):
            if isinstance(found, _Refused):
                where = f" at {shorten(write_path(keys))}" if keys else ""
                place = keys if found.key is None else (*keys, found.key)
                sentence = f"{self._what}{where} {found.sentence}"
                return Malformed(found.code, sentence, printable(write_path(place)))
        # A refused value is lost only with the object around it, and that one is refused itself.
        raise AssertionError("something was refused and is nowhere in the value")


def _walk(value: object) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Every value within with its keys, in the order of the text."""
    stack: list[tuple[tuple[str | int, ...], object]] = [((), value)]
    while stack:
        keys, found = stack.pop()
        yield keys, found
        if isinstance(found, dict):
            stack.extend([((*keys, key), one) for key, one in found.items()][::-1])
        elif isinstance(found, list):
            stack.extend([((*keys, at), one) for at, one in enumerate(found)][::-1])


def _refuse_surrogates(value: Json, what: str) -> None:
    for keys, found in _walk(value):
        texts: Sequence[str] = ()
        if isinstance(found, str):
            texts = (found,)
        elif isinstance(found, dict):
            texts = tuple(found)
        if any(map(_SURROGATE.search, texts)):
            path = printable(write_path(keys))
            raise _surrogate(what, f"at {shorten(path)}" if path else "at its top", path)


def _surrogate(what: str, where: str, path: str = "") -> Malformed:
    return Malformed(
        "lone-surrogate",
        f"{what} has half of a surrogate pair {where}, which is no character; remove it",
        path,
    )


def _utf8_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _encode_sorted(value: Json) -> str:
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _without_whole_floats(value: Json) -> Json:
    """A copy in which 4.0 is 4: the two are equal, so they have one text."""
    if isinstance(value, dict):
        return {key: _without_whole_floats(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_whole_floats(one) for one in value]
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    return value
