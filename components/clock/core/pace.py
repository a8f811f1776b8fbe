"""Which partitions are ticked now: each second where something goes on, rarely elsewhere. Pure.

A tick tells how late it is to whom it concerns. Where no container lives nobody is silent, and
where nothing was decided for minutes nothing is waited for but what was set for later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from events.topics import BY_SHORT, CLOCK, CONTAINERS, LOADS

Spot = tuple[str, int]
"""A topic's short name and a partition."""

BUSY_S = 600
"""Partitions are ticked each second for as long after a word: what a decision started has ended by
then or is overdue (a task has 300 s to start), and a silent container was failed over (60 s)."""
QUIET_S = 30
"""From tick to tick of jobs elsewhere: as late may be what was set for later, such as the end of an
override. Where no container lives there is nothing to be late for."""
EASY_S = 2
"""From tick to tick where little is said: as much of a gap as counts for silence. At usual times a
container that is silent is failed over after 62 s, so one second more is no matter."""
BRISK, BRISK_S = 2, 60
"""So many words of containers between two looks, and their partition and the tiers' one are ticked
each second for so long: one beats at a tenth of the usual times, many beat, one starts or moves."""
TICKED = (CLOCK, CONTAINERS)
ALWAYS: Spot = (CLOCK, 0)
"""Tier-wide components read this one, and people who ask what time it is in the log."""
WATCHED = tuple(
    sorted(
        topic.short
        for topic in BY_SHORT.values()
        if topic.partitions is None
        and topic.kind in {"ingress", "operator", "journal", "facts"}
        and topic.short != CLOCK
    )
)
"""In which something may go on."""


class TickPace:
    """What one clock knows of where something goes on. Seconds are counted by its own clock."""

    def __init__(self, partitions: int, second: int) -> None:
        self._spots = [(topic, partition) for topic in TICKED for partition in range(partitions)]
        self._ends: dict[Spot, int] = {}
        self._ours: dict[Spot, int] = {}  # ticks since the last look
        self._busy_until: dict[Spot, int] = {}
        self._brisk_until: dict[Spot, int] = {}
        self.lose(second)

    def lose(self, second: int) -> None:
        """Nobody knows where something goes on, so it may be everywhere."""
        self._busy_until = dict.fromkeys(self._spots, second + BUSY_S)
        self._brisk_until = dict.fromkeys(self._spots, second + BRISK_S)

    def look(self, ends: Mapping[Spot, int], second: int) -> None:
        """How far the watched places have come; the ticks of our own are nothing new."""
        for (topic, partition), end in ends.items():
            spot = (topic, partition)
            come = end - self._ends.get(spot, end) - self._ours.pop(spot, 0)
            self._ends[spot] = end
            if come > 0:
                ticked = (CONTAINERS if topic == CONTAINERS else CLOCK, partition)
                # Loads come for ever, one each minute: one tick tells how late they are.
                until = second + (1 if topic == LOADS else BUSY_S)
                self._busy_until[ticked] = max(self._busy_until[ticked], until)
                if topic == CONTAINERS and come >= BRISK:
                    self._brisk_until[spot] = self._brisk_until[ALWAYS] = second + BRISK_S

    def due(self, second: int) -> Iterable[Spot]:
        """What is to be ticked in this second."""
        for spot in self._spots:
            if self._is_due(spot, second):
                self._ours[spot] = self._ours.get(spot, 0) + 1
                yield spot

    def _is_due(self, spot: Spot, second: int) -> bool:
        topic, partition = spot
        busy, brisk = second < self._busy_until[spot], second < self._brisk_until[spot]
        easy = brisk or second % EASY_S == 0
        if topic == CONTAINERS:
            return busy and easy
        return busy or (easy if spot == ALWAYS else (second + partition) % QUIET_S == 0)
