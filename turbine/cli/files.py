"""Files that a line names: read up to a bound, or written, with a sentence where that fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from turbine.failures import Code, Failed
from turbine_client.errors import BadRequest


def read_bytes(name: str, most: int, remedy: str) -> bytes:
    """The first bytes of a file; `-` is standard input."""
    try:
        if name == "-":
            return sys.stdin.buffer.read(most)
        with Path(name).open("rb") as file:
            return file.read(most)
    except OSError as bad:
        raise BadRequest(f"{name} cannot be read ({bad.strerror}); {remedy}") from None


@contextmanager
def writing(what: str, remedy: str = "name another file") -> Iterator[None]:
    """A sentence about the file, where what is done within cannot write it."""
    try:
        yield
    except OSError as bad:
        sentence = f"{what} cannot be written ({bad.strerror}); {remedy}"
        raise Failed(Code.FAILED, sentence) from None
