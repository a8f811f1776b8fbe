"""How many tasks began again in each minute of two weeks. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

MINUTES = 14 * 24 * 60


class Starts:
    """Of a whole fleet. Written by one thread, read by any."""

    def __init__(self, minutes: int = MINUTES) -> None:
        self._minutes = minutes
        self._counts: dict[int, int] = {}
        self._new: Counter[int] = Counter()

    def add(self, minute: int, count: int = 1) -> None:
        """Some more; what is older than is held goes."""
        self._new[minute] += count
        self._counts[minute] = self._counts.get(minute, 0) + count
        while len(self._counts) > self._minutes:
            del self._counts[min(self._counts)]

    def by_minute(self) -> list[tuple[int, int]]:
        """Each minute in which any did, in their order."""
        return sorted(dict(self._counts).items())

    # --- keeping

    def take_new(self) -> list[tuple[int, int]]:
        """Since it was asked last."""
        new, self._new = sorted(self._new.items()), Counter()
        return new

    def put_back(self, kept: Iterable[tuple[int, int]]) -> None:
        """Takes back what `take_new` had given."""
        for minute, count in kept:
            self.add(minute, count)
        self._new = Counter()
