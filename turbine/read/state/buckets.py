"""Equal parts of a span of time, and what measures come to in each of them. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float32]
"""The measures at one point."""
HELD_MS = 2 * 60_000
"""How long a count holds of which nothing new is heard: tasks report once a minute, and one report
may fall just beyond the next minute."""


class Sums:
    """Points are given one after the other, in the order of their times."""

    def __init__(self, begin_ms: int, end_ms: int, buckets: int, measures: int) -> None:
        self._begin_ms, self._end_ms, self._buckets = begin_ms, end_ms, buckets
        self._width = max(1, end_ms - begin_ms)
        self._sums = np.zeros((measures, buckets))
        self._most = np.full((measures, buckets), np.nan)
        self._counts = np.zeros((measures, buckets))

    @property
    def times(self) -> list[int]:
        """The times at which the parts begin."""
        return [self._begin_ms + self._width * at // self._buckets for at in range(self._buckets)]

    def add(self, at_ms: int, step: int, column: Column) -> None:
        """A point stands for all of its minute, or of its hour."""
        low, high = max(at_ms, self._begin_ms), min(at_ms + step, self._end_ms)
        if low >= high:
            return
        first = (low - self._begin_ms) * self._buckets // self._width
        last = (high - 1 - self._begin_ms) * self._buckets // self._width
        parts, known = slice(first, last + 1), ~np.isnan(column)
        self._sums[:, parts] += np.where(known, column, 0)[:, None]
        self._counts[:, parts] += known[:, None]
        self._most[:, parts] = np.fmax(self._most[:, parts], column[:, None])

    def means(self) -> list[list[float | None]]:
        """Of each measure what it was on average; None where nothing is known."""
        return [
            [round(float(one / many), 3) if many else None for one, many in zip(*both, strict=True)]
            for both in zip(self._sums, self._counts, strict=True)
        ]

    def most(self, measure: int) -> list[float | None]:
        """What a measure was at worst."""
        return [None if np.isnan(one) else round(float(one), 3) for one in self._most[measure]]

    def held(self, told: Sequence[tuple[int, float]]) -> list[float | None]:
        """What held as each part began, of instants and counts in their order; in the part in which
        the last was told, that one."""
        instants, found = [at_ms for at_ms, _ in told], list[float | None]()
        for begin_ms, next_ms in zip(self.times, [*self.times[1:], self._end_ms], strict=True):
            newest = instants and begin_ms <= instants[-1] < next_ms
            at = len(told) - 1 if newest else bisect_right(instants, begin_ms) - 1
            known = at >= 0 and begin_ms - instants[at] < HELD_MS
            found.append(told[at][1] if known else None)
        return found
