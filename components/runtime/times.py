"""How far each place had come, and when: whether an author could have read what it says it did.

Pure, but for the question that it asks where its own notes do not reach.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping

Possible = Callable[[str, int, int], bool | None]
"""(place, next offset, by_ms): was all below it in the log by then? None: it may be yet."""

MARK_MS = 4_000
"""How often it is noted how far a place had come. Below the step's SKEW_MS, so that what an author
had read when it spoke is told by the notes alone, without a question to the broker."""
MARKS_MOST = 4_096
"""Of one place: four hours of a busy one. What is older is asked for."""


class Times:
    """The notes of one owner. `start` is where its reading begins; others read what lies before."""

    def __init__(self, start: Mapping[str, int], possible: Possible) -> None:
        self._start = dict(start)
        self._possible = possible
        self._start_ms: dict[str, int] = {}  # by when all before the start is known to be there
        self._high_ms: dict[str, int] = {}
        self._marks: dict[str, tuple[array[int], array[int]]] = {}  # offsets, and their times

    def note(self, place: str, offset: int, at_ms: int) -> None:
        """A record was read there that was appended at that time."""
        if at_ms <= self._high_ms.get(place, 0):
            return
        self._high_ms[place] = at_ms
        marks = self._marks.get(place)
        if marks is None:
            marks = self._marks[place] = (array("q"), array("q"))
        if not marks[1] or at_ms >= marks[1][-1] + MARK_MS:
            marks[0].append(offset)
            marks[1].append(at_ms)
            if len(marks[0]) > 2 * MARKS_MOST:
                del marks[0][:MARKS_MOST], marks[1][:MARKS_MOST]

    def was_there(self, place: str, offset: int, by_ms: int) -> bool:
        """Was all below the offset, which was read by now, appended by then, as far as we know?"""
        start = self._start.get(place, 0)
        if offset > start:
            if self._high_ms.get(place, 0) <= by_ms:
                return True  # the usual case: nothing that was read there is younger
            marks = self._marks.get(place)
            at = bisect_left(marks[0], offset) - 1 if marks else -1  # the last mark below it
            return marks is not None and at >= 0 and marks[1][at] + MARK_MS <= by_ms
        # Read by whoever kept the key before: how late that was, only the log can tell, once.
        if place not in self._start_ms and self._possible(place, start, by_ms):
            self._start_ms[place] = by_ms
        return self._start_ms.get(place, by_ms + 1) <= by_ms
