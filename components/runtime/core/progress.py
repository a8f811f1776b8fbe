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


class _Notes:
    """Of one place. Not frozen, and one object: it is looked up for each record that is read."""

    __slots__ = ("high_ms", "mark_ms", "offsets", "start", "start_ms", "times")

    def __init__(self, start: int) -> None:
        self.start = start
        self.start_ms: int | None = None  # by when all before the start is known to be there
        self.high_ms = 0
        self.mark_ms = 0  # when the next mark is due
        self.offsets, self.times = array("q"), array("q")


class ReadProgress:
    """The notes of one owner. `start` is where its reading begins; others read what lies before."""

    def __init__(self, start: Mapping[str, int], possible: Possible) -> None:
        self._possible = possible
        self._notes = {place: _Notes(offset) for place, offset in start.items()}

    def note(self, place: str, offset: int, at_ms: int) -> None:
        """A record was read there that was appended at that time."""
        notes = self._notes.get(place) or self._begin(place)
        if at_ms <= notes.high_ms:
            return
        notes.high_ms = at_ms
        if at_ms >= notes.mark_ms:
            notes.mark_ms = at_ms + MARK_MS
            notes.offsets.append(offset)
            notes.times.append(at_ms)
            if len(notes.offsets) > 2 * MARKS_MOST:
                del notes.offsets[:MARKS_MOST], notes.times[:MARKS_MOST]

    def was_there(self, place: str, offset: int, by_ms: int) -> bool:
        """Was all below the offset, which was read by now, appended by then, as far as we know?"""
        notes = self._notes.get(place) or self._begin(place)
        if offset > notes.start:
            if notes.high_ms <= by_ms:
                return True  # the usual case: nothing that was read there is younger
            at = bisect_left(notes.offsets, offset) - 1  # the last mark below it
            return at >= 0 and notes.times[at] + MARK_MS <= by_ms
        # Read by whoever kept the key before: how late that was, only the log can tell, once.
        if notes.start_ms is None and self._possible(place, notes.start, by_ms):
            notes.start_ms = by_ms
        return notes.start_ms is not None and notes.start_ms <= by_ms

    def _begin(self, place: str) -> _Notes:
        self._notes[place] = _Notes(0)
        return self._notes[place]
