"""The shell of one component's instance on a bad day: it may stop between any two of its acts."""

from __future__ import annotations

import random  # noqa: TID251 - the type of a seeded stream; nothing is drawn from the module
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from components.runtime.core.component import Component, places_of
from components.runtime.core.step import KeyState, Stepper
from components.runtime.core.store import KEEP_MOST, POSITIONS, Keeper, RowEntry, restore
from events.wire.codec import Record
from simulation.bounds import SeedBounds, overgrown
from simulation.log import PARTITION, TICKS, Keep, SimulatedLog, ends_of

BUILDS = ("build 1", "build 2")
MOST_AT_A_POLL = 60
TICKS_UNKEPT = 60
UNKEPT = (4, 40, KEEP_MOST)
"""Records that a restart may have to read again, in one life or another."""
"""How far the clock may go on before positions are kept for its sake alone."""


@dataclass(frozen=True, slots=True)
class Emit:
    """A record that is on its way to the log."""

    topic: str
    record: Record


@dataclass(slots=True)
class ReadLedger:
    """What one instance read: every record is folded, void, repeated, held back or passed by."""

    read: int = 0
    passed: int = 0


@dataclass(slots=True, eq=False)
class SimulatedProcess:
    """One instance: poll, emit, keep, in this order; one act at a time, so it can die between."""

    component: Component[Any]
    log: SimulatedLog
    keep: Keep
    number: int
    build: int
    rng: random.Random
    send: Callable[[SimulatedProcess, Emit], None]
    counts: Counter[str]
    bounds: SeedBounds
    rewind: bool = False
    frozen_until_ms: int = 0
    alive: bool = True
    asleep: bool = False
    acts_left: int | None = None  # it dies once it has done as many more
    stalled: set[str] = field(default_factory=set)  # places that nothing comes from at present
    owner: Stepper[Any] = field(init=False)
    ledger: ReadLedger = field(init=False, default_factory=ReadLedger)
    restored_early: int = field(init=False, default=0)
    _keeper: Keeper[Any] = field(init=False)
    _at: dict[str, int] = field(init=False)
    _pace: dict[str, int] = field(init=False)
    _orderly: bool = field(init=False)
    _keeps: float = field(init=False)  # how often a poll ends with keeping what changed
    _lazy: bool = field(init=False)  # keeps what has waited for long, or all that changed
    _todo: deque[Emit | RowEntry] = field(init=False, default_factory=deque)
    _kept_ticks: int = field(init=False, default=0)
    _ready: bool = field(init=False, default=False)  # once it is, it stays so

    def __post_init__(self) -> None:
        claim = self.keep.claim(self.number)
        build = BUILDS[self.build - 1]
        restored = restore(self.component, self.keep.entries, build)
        _note_restored(self, restored.held, self.keep.entries)
        for one in restored.held.values():
            self._look_again(one)
        places = sorted(places_of(self.component, [PARTITION]))
        self._at = {at: restored.seen.get(at, 0) for at in places}
        if self.rewind:  # the group's positions lag behind: all since is delivered again
            self._at = {at: self.rng.randint(0, offset) for at, offset in self._at.items()}
        self._pace = {at: self.rng.choice([1, 1, 3, 10]) for at in places}
        self._pace[TICKS] = self.rng.choice([3, 10, 30])
        self._keeps = self.rng.choice([0.2, 1.0])
        self._orderly = self.rng.random() < 0.66
        self._lazy = self.rng.random() < 0.5
        self.owner = Stepper(
            self.component,
            places,
            self.log.possible,
            ends=ends_of(self.log, places),
            seen=restored.seen,
            held=restored.held,
        )
        most = self.rng.choice(UNKEPT)
        self._keeper = Keeper(self.owner, claim, build, restored, keep_most=most)

    def _look_again(self, one: KeyState[Any]) -> None:
        """What was held back came back as it lies in the log, as far as this build can read it."""
        for place, queue in one.early.items():
            for i, read in enumerate(queue):
                again = self.log.read(place, read.offset, self.component.folds, self.build)
                legible = self.log.lines[place][read.offset].build <= self.build
                assert not legible or read == again, f"kept as {read}, in the log as {again}"
                queue[i] = again
                self.restored_early += 1

    # --- when it has something to do

    @property
    def doomed(self) -> bool:
        """Has it come to the act after which it dies?"""
        return self.acts_left is not None and self.acts_left <= 0

    @property
    def idle(self) -> bool:
        """Nothing to do, and nothing to read but ticks that nobody waits for."""
        return not self._todo and not any(self.minds(at) for at in self._live())

    def _live(self) -> list[str]:
        lines, stalled = self.log.lines, self.stalled
        return [
            at for at, offset in self._at.items() if offset < len(lines[at]) and at not in stalled
        ]

    def minds(self, at: str) -> bool:
        """Could what is new in that place change anything? Most ticks cannot."""
        if at != TICKS:
            return at in self._at and at not in self.stalled
        owner = self.owner
        if not self._ready or owner.blocked:
            return True
        lines, due_ms = self.log.lines[TICKS], owner.next_wake_ms()
        if due_ms is not None and lines and lines[-1].at_ms >= due_ms:
            return True
        return len(lines) - self._kept_ticks > TICKS_UNKEPT

    def wake(self, at: str) -> None:
        """Something came. The ticks before it were read while it slept, and called for nothing."""
        self.asleep = False
        self._tick_to(self.log.end(TICKS) - (at == TICKS))

    # --- what it does

    def step(self) -> bool:
        """One act, or one poll; False where there was nothing to do."""
        if self._todo:
            if self.acts_left is not None:
                self.acts_left -= 1
            act = self._todo.popleft()
            if isinstance(act, Emit):
                self.send(self, act)
            else:
                self.keep.append(act)
            return True
        live = self._live()
        if not live:
            return False
        if self._orderly and not self._ready:
            self._read_in_order(live)
        else:
            self._read_anyhow(live)
        self._speak()
        return True

    def finish(self) -> bool:
        """Polls and acts until there is nothing to do; True if there was something."""
        moved = False
        while self.step():
            moved = True
        return moved

    def _read_anyhow(self, live: list[str]) -> None:
        """A poll brings records of some places and none of others, of each as many as it likes."""
        rng = self.rng
        for _ in range(rng.choice([1, 1, 2, 8] if self._ready else [8, 40])):
            at = rng.choices(live, [self._pace[one] for one in live])[0]
            self._read_to(at, self._at[at] + rng.randrange(1, 2 + self._pace[at]))
            live = [at for at in live if self._at[at] < self.log.end(at)]
            if not live:
                return

    def _read_in_order(self, live: list[str]) -> None:
        """Catching up by append time, so that little is held back: some shells do."""
        lines = self.log.lines
        come = [
            (line.at_ms, at, line.offset)
            for at in live
            if at != TICKS
            for line in islice(lines[at], self._at[at], self._at[at] + MOST_AT_A_POLL)
        ]
        for _, at, offset in sorted(come)[:MOST_AT_A_POLL]:
            self._read_to(at, offset + 1)
        if len(come) <= MOST_AT_A_POLL:
            self._read_to(TICKS, len(lines[TICKS]))

    def _read_to(self, at: str, end: int) -> None:
        end = min(end, self.log.end(at))
        if at == TICKS:
            self._tick_to(end)
            return
        log, read, folds = self.log, self.owner.read, self.component.folds
        for offset in range(self._at[at], end):
            read(log.read(at, offset, folds, self.build))
        self.ledger.read += end - self._at[at]
        self._at[at] = end

    def _tick_to(self, end: int) -> None:
        """Of ticks that are read between two looks at the keys the last one says all."""
        count = end - self._at[TICKS]
        if count > 0:
            self.owner.tick(TICKS, end - 1, self.log.lines[TICKS][end - 1].at_ms)
            self.ledger.read += count
            self.ledger.passed += count
            self._at[TICKS] = end

    def _speak(self) -> None:
        owner = self.owner
        for key in owner.dirty:
            over = overgrown(owner.held[key].row, self.bounds)
            assert not over, f"the row of {key} is over its bound: {over}"
        said = owner.flush()
        self.counts["held back"] += bool(owner.blocked)
        for key, count in Counter(record.key for _, record in said).items():
            assert count <= self.bounds.at_once, f"{count} records about {key} at once"
            self.counts["as many as may be said at once"] += count == self.bounds.at_once
        self._todo.extend(Emit(topic, record) for topic, record in said)
        self._ready = self._ready or owner.ready
        if not self._ready:
            return  # a row that is read anew never replaces one that is ahead of it
        far = owner.seen.get(TICKS, 0) - self._kept_ticks > TICKS_UNKEPT
        if far or (owner.changed and self.rng.random() < self._keeps):
            self._kept_ticks = owner.seen.get(TICKS, 0)
            self.counts["key frozen"] += any(owner.held[key].frozen for key in owner.changed)
            keeper = self._keeper
            self._todo.extend(keeper.due() if self._lazy else keeper.entries())


def _note_restored(
    process: SimulatedProcess, held: dict[str, KeyState[Any]], entries: Iterable[RowEntry]
) -> None:
    """Marks by what kind of start the instance came to its rows."""
    counts, component = process.counts, process.component
    entries = list(entries)
    if not any(entry.key == POSITIONS for entry in entries):
        counts["start: nothing was kept"] += 1
    elif held:
        counts["start: from kept rows"] += 1
        counts["start: records held back"] += any(one.early for one in held.values())
        rows = [one.row for one in held.values() if one.row is not None]
        counts["start: effects owed"] += any(list(component.effects(row)) for row in rows)
    elif any(restore(component, entries, other).held for other in BUILDS):
        counts["start: from nothing, a key was frozen"] += 1
    else:
        counts["start: from nothing, rows were lost"] += 1


def reader(component: Component[Any], log: SimulatedLog) -> Stepper[Any]:
    """An owner that never speaks, of the newest build."""
    return Stepper(component, places_of(component, [PARTITION]), log.possible)


def read_on(owner: Stepper[Any], log: SimulatedLog, order: Iterable[str]) -> None:
    """Reads whole places one after another, in that order, from where the reader stands."""
    for at in order:
        begin, end = owner.seen.get(at, 0), log.end(at)
        if at == TICKS and begin < end:
            owner.tick(at, end - 1, log.lines[at][end - 1].at_ms)
        elif at != TICKS:
            for offset in range(begin, end):
                owner.read(log.read(at, offset, owner.component.folds, len(BUILDS)))
    owner.flush()
