"""A publisher's memory in the simulator: what stands, kept for others to begin with.

It is the pure half of the real one: the same owner and keeper, in transactions. Of one that breaks
off no reader sees anything, wherever it broke off.
"""

from __future__ import annotations

from components.runtime.standing import Row, places_of, standing
from components.runtime.step import Owner
from components.runtime.store import Keeper, Restored, restore
from events.topics import CLOCK, place
from simulation.log import PARTITION, Keep, Log

PLACES = places_of(PARTITION)
TICKS = place(CLOCK, PARTITION)
BUILD = "build 1"


class Standing:
    """One publisher after the other, on one log; each goes on from what was kept."""

    def __init__(self, log: Log, newest_build: int) -> None:
        self.log, self.keep = log, Keep()
        self._newest_build, self._number = newest_build, 0
        self.begin()

    def begin(self) -> None:
        """Another publisher: the one before it is dead, or fenced."""
        self._number += 1
        claim, restored = self.keep.claim(self._number), self.kept()
        self.owner: Owner[Row] = Owner(
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

    def transact(self, *, dies: bool = False) -> bool:
        """Keeps what changed; whether it did. One that dies amid it is followed by another."""
        if self.owner.blocked or not self.owner.changed:
            return False  # as the real one: a position never passes by what is held back
        entries = list(self._keeper.entries())
        if dies:
            self.begin()
            return False
        for entry in entries:
            self.keep.append(entry)
        return True

    def kept(self) -> Restored[Row]:
        """What one who begins now finds, through its bytes."""
        return restore(standing, self.keep.entries, BUILD)
