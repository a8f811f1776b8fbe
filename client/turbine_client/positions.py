"""How a position vector is written and read: "changes.base.v1/3:12,journal.v1/3:40"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from turbine_client.errors import BadRequest

# All partitions of a dozen topics at P = 128 take half of it; a longer vector is an attack.
TEXT_MAX = 64 * 1024
# More digits than an offset can have, and few enough to stay below 2^63 without a comparison.
_DIGITS_MAX = 18
_PLACES_MAX = 65_536
_PLACE = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}/(0|[1-9][0-9]{0,5})", re.ASCII)


class VectorError(BadRequest, ValueError):
    """A text is not a position vector."""


class _Places(dict[str, str]):
    """Each place once: checked when it is first seen, then always the same object."""

    def __missing__(self, place: str) -> str:
        if not _PLACE.fullmatch(place):
            raise VectorError(
                f"{place[:80]!r} is no place; write topic/partition, as in journal.v1/3"
            )
        if len(self) >= _PLACES_MAX:
            self.clear()  # evidence comes from outside too, and could name new places for ever
        self[place] = place
        return place


_places = _Places()


def parse_vector(text: str) -> dict[str, int]:
    """The position vector that a text holds: place to next offset; the empty text holds none."""
    vector: dict[str, int] = {}
    if not text:
        return vector
    if len(text) > TEXT_MAX or not text.isascii():
        raise VectorError(f"a vector is at most {TEXT_MAX} ASCII characters")
    known = _places
    pairs = text.split(",")
    for pair in pairs:
        place, _, offset = pair.partition(":")
        if not offset.isdigit() or len(offset) > _DIGITS_MAX:
            raise VectorError(f"{pair[:80]!r} is no position; write place:offset")
        vector[known[place]] = int(offset)
    if len(vector) < len(pairs):
        raise VectorError("a vector names each place once")
    return vector


def format_vector(vector: Mapping[str, int]) -> str:
    """The text of a position vector, sorted by place, so that equal vectors have equal texts."""
    return ",".join([f"{place}:{vector[place]}" for place in sorted(vector)])
