"""A row that is kept apart from its chain lies in pieces, as it may outgrow any message. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

ROW = "\x00row/"
"""Before a piece's number, and the key of the row."""
PIECE_BYTES = 256 * 1024
"""Below any limit of a message; a job's list of tasks may be as long as 199 of them."""


def name_of(key: str, number: int) -> str:
    """The key of a piece."""
    return f"{ROW}{number}\x00{key}"


def key_of(name: str) -> str:
    """The key of the row of which it is a piece."""
    return name.removeprefix(ROW).partition("\x00")[2]


def cut(value: bytes) -> Iterator[bytes]:
    """The pieces of a row, of which there is one at least."""
    for at in range(0, len(value), PIECE_BYTES):
        yield value[at : at + PIECE_BYTES]


def joined(key: str, count: int, kept: Mapping[str, bytes | None]) -> bytes:
    """The row of so many pieces; ValueError where one is missing."""
    pieces = [kept.get(name_of(key, number)) for number in range(count)]
    if None in pieces:
        raise ValueError(f"of the row of {key} not all is there")
    return b"".join(piece or b"" for piece in pieces)
