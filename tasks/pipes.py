"""The engine's end of the pipes to its supervisor: orders come in, events go out (see `orders`).

All engines have it, whatever they run tasks in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

CHUNK = 65_536


def tell(text: bytes, voice: int = 1) -> None:
    """To the supervisor, all of it."""
    left = memoryview(text)
    while left:
        left = left[os.write(voice, left) :]


class Orders:
    """Lines on standard input. Their end is the supervisor's, and ours."""

    def __init__(self) -> None:
        self._text = b""

    def read(self, handle: Callable[[Mapping[str, Any]], None]) -> None:
        """Reads what has come, and hands over each whole line of it."""
        chunk = os.read(0, CHUNK)
        if not chunk:
            os._exit(0)
        *lines, self._text = (self._text + chunk).split(b"\n")
        for one in lines:
            handle(json.loads(one))


def first_line() -> bytes:
    """Of standard input, and nothing that follows it."""
    with open(0, "rb", buffering=0, closefd=False) as file:
        return file.readline()
