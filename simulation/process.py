"""The shell of one component's instance, as it is on a bad day: it may stop between any two acts."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from components.runtime.step import Component, Owner, places_of
from components.runtime.store import Entry, Keeper, restore
from events.codec import Record
from events.topics import CLOCK, place
from simulation.log import PARTITION, Keep, Log, ends_of

TICKS = place(CLOCK, PARTITION)


@dataclass(frozen=True, slots=True)
class Emit:
    """A record that is on its way to the log."""

    topic: str
    record: Record


@dataclass(slots=True)
class Ledger:
    """What one instance read: every record is folded, void, repeated, held back or passed by."""

    read: int = 0
    passed: int = 0


@dataclass(slots=True)
class Process:
    """One instance: poll, emit, keep, in this order; an act at a time, so that it can die between."""

    component: Component[Any]
    log: Log
    keep: Keep
    number: int
    build: int
    rng: random.Random
    send: Callable[[Process, Emit], None]
    rewind: bool = False
    frozen_until_ms: int = 0
    owner: Owner[Any] = field(init=False)
    ledger: Ledger = field(init=False, default_factory=Ledger)
    restored_early: int = field(init=False, default=0)
    _keeper: Keeper[Any] = field(init=False)
    _at: dict[str, int] = field(init=False)
    _pace: dict[str, int] = field(init=False)
    _todo: list[Emit | Entry] = field(init=False, default_factory=list)
    _kept_at_ms: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        claim = self.keep.claim(self.number)
        restored = restore(self.component, self.keep.entries, f"build {self.build}")
        self.restored_early = sum(
            len(queue) for one in restored.held.values() for queue in one.early.values()
        )
        places = sorted(places_of(self.component, [PARTITION]))
        self._at = {at: restored.seen.get(at, 0) for at in places}
        if self.rewind:  # the group's positions lag behind: all since is delivered again
            self._at = {at: self.rng.randint(0, offset) for at, offset in self._at.items()}
        self._pace = {at: self.rng.choice([1, 1, 3, 10]) for at in places}
        self.owner = Owner(
            self.component,
            places,
            self.log.possible,
            ends=ends_of(self.log, places),
            seen=restored.seen,
            held=restored.held,
        )
        self._keeper = Keeper(self.owner, claim, f"build {self.build}", restored)

    @property
    def idle(self) -> bool:
        """Nothing to read and nothing to do."""
        return not self._todo and all(n >= self.log.end(at) for at, n in self._at.items())

    def step(self) -> bool:
        """One act, or one poll; False where there was nothing to do."""
        if self._todo:
            self._act(self._todo.pop(0))
            return True
        live = [at for at, offset in self._at.items() if offset < self.log.end(at)]
        if not live:
            return False
        for _ in range(self.rng.choice([1, 1, 2, 8])):
            at = self.rng.choices(live, [self._pace[one] for one in live])[0]
            self._read_some(at, self.rng.randrange(1, 2 + self._pace[at]))
            live = [at for at in live if self._at[at] < self.log.end(at)]
            if not live:
                break
        self._todo.extend(Emit(topic, record) for topic, record in self.owner.flush())
        if self.owner.ready and (self.owner.changed or self.rng.random() < 0.02):
            # Until the ends of assignment are read nothing is kept: a row that is read anew
            # never replaces one that is ahead of it.
            self._todo.extend(self._keeper.entries())
        return True

    def finish(self) -> bool:
        """Polls and acts until there is nothing to do; True if there was something."""
        moved = False
        while self.step():
            moved = True
        return moved

    def _read_some(self, at: str, count: int) -> None:
        log, owner = self.log, self.owner
        for offset in range(self._at[at], min(self._at[at] + count, log.end(at))):
            self.ledger.read += 1
            if at == TICKS:
                owner.tick(at, offset, log.lines[at][offset].at_ms)
                self.ledger.passed += 1
            else:
                owner.read(log.read(at, offset, self.component.folds, self.build))
            self._at[at] = offset + 1

    def _act(self, act: Emit | Entry) -> None:
        if isinstance(act, Emit):
            self.send(self, act)
        else:
            self.keep.append(act)


def reader(component: Component[Any], log: Log, order: list[str]) -> Owner[Any]:
    """An owner that reads whole topics one after another, in that order, and never speaks."""
    owner: Owner[Any] = Owner(component, places_of(component, [PARTITION]), log.possible)
    for at in order:
        for offset in range(log.end(at)):
            if at == TICKS:
                owner.tick(at, offset, log.lines[at][offset].at_ms)
            else:
                owner.read(log.read(at, offset, component.folds, 2))
    owner.flush()
    return owner
