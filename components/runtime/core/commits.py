"""Which of a group's positions are worth a commit: those that moved. Pure.

Offsets of the group serve lag tools, nothing else. A commit of all of them each second was more
than half of all that a quiet fleet's broker wrote.
"""

from __future__ import annotations

from collections.abc import Mapping

from events.topics import CLOCK, short_of

At = tuple[str, int]
"""A topic's full name and a partition."""

TICKS_MOST = 60
"""That a clock's position may be behind where nothing else comes in its partition."""


class Commits:
    """What was committed since the last assignment."""

    def __init__(self) -> None:
        self._done: dict[At, int] = {}

    def forget(self) -> None:
        """Partitions were shared out anew: others may have committed since."""
        self._done = {}

    def moved(self, positions: Mapping[At, int]) -> dict[At, int]:
        """Positions to commit now. A clock's goes along with the others of its partition."""
        found = {at: offset for at, offset in positions.items() if offset > self._done.get(at, 0)}
        busy = {partition for topic, partition in found if short_of(topic) != CLOCK}
        return {
            (topic, partition): offset
            for (topic, partition), offset in found.items()
            if short_of(topic) != CLOCK
            or partition in busy
            or offset - self._done.get((topic, partition), 0) >= TICKS_MOST
        }

    def done(self, positions: Mapping[At, int]) -> None:
        """Notes positions that the broker has accepted."""
        self._done.update(positions)
