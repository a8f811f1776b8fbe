"""A publisher's memory in the simulator: what stands, kept for others to begin with.

It is the pure half of the real one: the same owner and keeper, in transactions. Of one that breaks
off no reader sees anything.
"""

from __future__ import annotations

from collections.abc import Callable

from components.runtime.core.standing import Row, places_of, standing
from components.runtime.core.step import Stepper
from components.runtime.core.store import Keeper, Restored, by_key, restore
from events.topics import CLOCK, place
from simulation.log import PARTITION, Keep, SimulatedLog

PLACES = places_of(PARTITION)
TICKS = place(CLOCK, PARTITION)
BUILD = "build 1"


class StandingPublishers:
    """One publisher after the other, on one log; each goes on from what was kept."""

    def __init__(self, log: SimulatedLog, newest_build: int, keep: Keep | None = None) -> None:
        self.log, self.keep = log, keep or Keep()
        self._newest_build, self._number = newest_build, 0
        self.begin()

    def begin(self) -> None:
        """Another publisher: the one before it is dead, or fenced."""
        self._number += 1
        claim, restored = self.keep.claim(self._number), self.kept()
        self.owner: Stepper[Row] = Stepper(
            standing, PLACES, self.log.possible, seen=restored.seen, held=restored.held
        )
        self._keeper = Keeper(self.owner, claim, BUILD, restored)

    def read(self, most: int) -> None:
        """So many records of each place, and the time by the clock's last tick."""
        if ticks := self.log.lines[TICKS]:
            self.owner.now_ms = max(self.owner.now_ms, ticks[-1].at_ms)
        for at in PLACES:
            begin = self.owner.seen.get(at, 0)
            for offset in range(begin, min(begin + most, self.log.end(at))):
                read = self.log.read(at, offset, standing.folds, self._newest_build)
                self.owner.now_ms = max(self.owner.now_ms, read.at_ms)
                self.owner.read(read)
        self.owner.settle()

    def transact(self, *, dies: Callable[[int], int] | None = None) -> None:
        """Keeps what changed. Where that is much it takes more than one transaction, each of whole
        keys; one who dies after so many of them is followed by another."""
        if self.owner.blocked or not self.owner.changed:
            return  # as the real one: a position never passes by what is held back
        groups = list(by_key(self._keeper.entries()))
        if dies is not None:
            groups = groups[: dies(len(groups))]
        for group in groups:
            for entry in group:
                self.keep.append(entry)
        if dies is not None:
            self.begin()

    def kept(self) -> Restored[Row]:
        """What one who begins now finds, through its bytes."""
        return restore(standing, self.keep.entries, BUILD)
