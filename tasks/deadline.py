"""Until when tasks may have effects: a few numbers in a file that all processes of a container map.

The supervisor writes the deadline, the guard and every task read it, and none of them can make
another wait: there is no lock. Each number is eight aligned bytes with one writer, so that a reader
sees an old or a new one and never half of each. Instants are of the clock that runs on while the
machine sleeps, which is the same in all processes.
"""

from __future__ import annotations

import mmap
import os
import time  # noqa: TID251 - a lease is held by the holder's own clock
from pathlib import Path

_LEASE, _PATIENCE, _POLL, _FROZEN, _KILLED, _GROUPS = range(6)
GROUPS_MOST = 64
"""Engines of a container: one that tasks share, and those of tasks that want one for themselves,
each a Python and a Java process."""
_BYTES = 8 * (_GROUPS + GROUPS_MOST)


def own_ms() -> int:
    """Now, by this machine's clock since its start, sleep included."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return int(time.clock_gettime(clock) * 1000)


class Deadline:
    """The mapped file. Forked processes see what is written by others."""

    def __init__(self, file: int) -> None:
        self._words = memoryview(mmap.mmap(file, _BYTES)).cast("q")

    @classmethod
    def create(cls, path: Path) -> Deadline:
        """A new file, in which nothing may run yet."""
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        return cls._mapped(file, _BYTES)

    @classmethod
    def open(cls, path: Path) -> Deadline:
        """The file that the supervisor made."""
        return cls._mapped(os.open(path, os.O_RDWR), 0)

    @classmethod
    def _mapped(cls, file: int, size: int) -> Deadline:
        try:
            if size:
                os.ftruncate(file, size)
            return cls(file)
        finally:
            os.close(file)

    @property
    def lease_ms(self) -> int | None:
        """Until when; None: never yet. Written by the supervisor."""
        return self._words[_LEASE] or None

    @lease_ms.setter
    def lease_ms(self, at_ms: int | None) -> None:
        self._words[_LEASE] = at_ms or 0

    @property
    def groups(self) -> list[int]:
        """The process groups of the engines that live. Written by the supervisor."""
        return [group for group in self._words[_GROUPS:] if group]

    def join(self, group: int) -> None:
        """An engine lives from now on. There are never more than GROUPS_MOST."""
        self._words[self._place_of(0)] = group

    def leave(self, group: int) -> None:
        """Nothing of that engine lives any more."""
        if group in self.groups:
            self._words[self._place_of(group)] = 0

    def _place_of(self, group: int) -> int:
        return _GROUPS + self._words[_GROUPS:].tolist().index(group)

    @property
    def patience_ms(self) -> int:
        """How long all may stand still before it is ended. Written by the supervisor."""
        return self._words[_PATIENCE]

    @property
    def poll_ms(self) -> int:
        """How often the guard looks. Written by the supervisor."""
        return self._words[_POLL]

    def pace(self, patience_ms: int, poll_ms: int) -> None:
        """At the tier's scale of time, once that is known."""
        self._words[_PATIENCE], self._words[_POLL] = patience_ms, poll_ms

    @property
    def frozen_since_ms(self) -> int | None:
        """Since when all stands still. Written by the guard."""
        return self._words[_FROZEN] or None

    @frozen_since_ms.setter
    def frozen_since_ms(self, at_ms: int | None) -> None:
        self._words[_FROZEN] = at_ms or 0

    @property
    def killed(self) -> bool:
        """It stood still for too long, and was ended. Written by the guard."""
        return self._words[_KILLED] != 0

    @killed.setter
    def killed(self, killed: bool) -> None:
        self._words[_KILLED] = int(killed)

    def holds(self, now_ms: int) -> bool:
        """May anything have an effect at that instant?"""
        return now_ms < self._words[_LEASE]
