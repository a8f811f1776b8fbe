"""How far an audit has read each place, when that was there, and which ticks the clock told. Pure.

Shared by all who audit what was read once, whatever component they are about.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from components.runtime.core.progress import Possible, ReadProgress
from components.runtime.core.step import SKEW_MS
from events.wire.codec import Read

TICKS_MOST = 8_192
"""Of one place: more than two hours. An older one is asked for."""

Ticked = Callable[[str, int], bool]
"""(place of a clock, instant): was there a tick at that instant? Asked where notes do not reach."""


def _never(_place: str, _at_ms: int) -> bool:
    return False


class AuditProgress:
    """What was read of the places so far."""

    def __init__(
        self,
        possible: Possible,
        ticked: Ticked = _never,
        *,
        seen: Mapping[str, int] | None = None,
        high_ms: int = 0,
    ) -> None:
        self.seen = dict(seen or {})
        self.high_ms = high_ms  # nothing that was read is younger
        self.now_ms = 0  # the greatest tick
        self._times = ReadProgress(self.seen, possible)
        self._possible, self._ticked = possible, ticked
        self._ticks: dict[str, array[int]] = {}

    def note(self, place: str, offset: int, at_ms: int) -> None:
        """A record was read there."""
        if offset >= self.seen.get(place, 0):
            self.seen[place] = offset + 1
        self.high_ms = max(self.high_ms, at_ms)
        self._times.note(place, offset, at_ms)

    def tick(self, place: str, offset: int, at_ms: int) -> None:
        """A tick of the clock was read."""
        self.note(place, offset, at_ms)
        self.now_ms = max(self.now_ms, at_ms)
        ticks = self._ticks.get(place)
        if ticks is None:
            ticks = self._ticks[place] = array("q")
        if ticks and at_ms < ticks[-1]:
            place_at: Any = ticks  # a sequence as `insort` needs it, but not by its type
            insort(place_at, at_ms)
        else:
            ticks.append(at_ms)
        if len(ticks) > 2 * TICKS_MOST:
            del ticks[:TICKS_MOST]

    def there(self, place: str, offset: int, by_ms: int) -> bool | None:
        """Was all of the place below the offset in the log by then? None: it may come yet."""
        # The usual case: it was read by now, and no later than it had to be.
        if self.seen.get(place, 0) >= offset and (
            self.high_ms <= by_ms or self._times.was_there(place, offset, by_ms)
        ):
            return True
        return self._possible(place, offset, by_ms)

    def met(self, read: Read) -> bool:
        """Was all that its author knew read by now, and had it been there in time?"""
        by_ms, seen, evidence = read.at_ms + SKEW_MS, self.seen, read.record.evidence
        if read.record.tick_ms > by_ms or evidence.get(read.place, 0) > read.offset:
            return False
        there = self._times.was_there
        late = self.high_ms > by_ms
        for place, offset in evidence.items():
            if seen.get(place, 0) < offset or (late and not there(place, offset, by_ms)):
                return False
        return True

    def honest(self, read: Read) -> bool:
        """Can its author have known what it names, read by us or not?"""
        by_ms, evidence = read.at_ms + SKEW_MS, read.record.evidence
        if read.record.tick_ms > by_ms or evidence.get(read.place, 0) > read.offset:
            return False
        return all(self.there(at, offset, by_ms) for at, offset in evidence.items())

    def ticked(self, clocks: Iterable[str], at_ms: int, *, whole: bool) -> bool | None:
        """Did one of the clocks tick at that instant? None: they are not read that far.

        With `whole`, what is not read by now is not there.
        """
        later = whole
        for place in clocks:
            ticks = self._ticks.get(place)
            if ticks:
                at = bisect_left(ticks, at_ms)
                if at < len(ticks) and ticks[at] == at_ms:
                    return True
                later = later or bisect_right(ticks, at_ms) < len(ticks)
        if not later:
            return None
        asked = [at for at in clocks if not (self._ticks.get(at) and self._ticks[at][0] <= at_ms)]
        return any(self._ticked(place, at_ms) for place in asked)
