"""Keeps how far a subscriber has come in a file, and which ids it has seen lately.

A position is kept after what lies before it was dealt with: a subscriber that dies sees some of it
again and nothing never: at least once, each with its id, by which `Once` tells the second time.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from turbine_client.errors import Corrupt
from turbine_client.positions import VectorError, format_vector, parse_vector

BYTES_MAX = 64 * 1024
ONCE_MAX = 100_000


class BadBookmark(Corrupt, ValueError):
    """A file that holds no positions, or cannot be read or written; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A file that holds a position vector as one line, as `--from` takes it."""

    path: Path

    def read(self) -> dict[str, int] | None:
        """The positions; None where nothing was kept yet."""
        try:
            with self.path.open("rb") as file:
                text = file.read(BYTES_MAX).decode("ascii").strip()
            # An empty vector would stand for the beginning of everything.
            return parse_vector(text or "nothing")
        except FileNotFoundError:
            return None
        except OSError as bad:
            raise BadBookmark(
                f"{self.path} cannot be read ({bad.strerror}); name another"
            ) from None
        except (UnicodeDecodeError, VectorError):
            raise BadBookmark(
                f"{self.path} holds no positions; name the file that --resume wrote, or a new one"
            ) from None

    def keep(self, positions: Mapping[str, int]) -> None:
        """Whole or not at all, whenever this process or the machine dies."""
        fresh = self.path.with_name(self.path.name + ".new")
        try:
            with fresh.open("w", encoding="ascii") as file:
                file.write(format_vector(positions) + "\n")
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
        except OSError as bad:
            raise BadBookmark(
                f"{self.path} cannot be written ({bad.strerror}); name one that can"
            ) from None


class Once:
    """Tells the first time from the second: `if once.first(outcome.id): …`.

    It remembers the newest `most` ids. Whoever restarts hands over those that it kept (`known`),
    best in the same transaction as what it made of them.
    """

    def __init__(self, known: Iterable[str] = (), *, most: int = ONCE_MAX) -> None:
        if most < 1:
            raise ValueError(f"most is at least 1, not {most}")
        self._most = most
        self._seen: OrderedDict[str, None] = OrderedDict()
        for one in known:
            self.first(one)

    def first(self, name: str) -> bool:
        """Was this id never seen? It is from now on."""
        if name in self._seen:
            self._seen.move_to_end(name)
            return False
        self._seen[name] = None
        if len(self._seen) > self._most:
            self._seen.popitem(last=False)
        return True

    @property
    def known(self) -> list[str]:
        """The ids that are remembered, the oldest first."""
        return list(self._seen)
