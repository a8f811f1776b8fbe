"""The one step: fold what is read; say what the row calls for once all that was said is read back.

Pure: no clock, no randomness, no I/O. The Faust shell, the reader loops, the simulator and the
auditor all drive this file; nothing else folds or decides. docs/adr/0003 argues each rule.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

from components.runtime.core.component import Component, passed_by
from components.runtime.core.counts import Counts
from components.runtime.core.cycles import cycle
from components.runtime.core.following import MARKED, cause_of, mark, note, trace_of
from components.runtime.core.progress import Possible, ReadProgress
from events.generated.records import Body
from events.wire.codec import Read, Record, encode
from turbine_client.identity import ROOT, SKEW_MS, decision_id

R = TypeVar("R")

AT_ONCE = 200
"""Records about one key between two read-backs; a longer answer follows in pieces."""
UNREAD_MS = 30_000
"""Of ticks, until what was said and not read back is taken for lost and is decided again, where
words that were said after it have been read back."""
LOST_MS = 120_000
"""The same where none have. A worker with a backlog of a minute is not to say all of it again: it
would have the more to read, and fall behind for good."""


@dataclass(slots=True)
class KeyState(Generic[R]):
    """One key as its owner holds it. Kept whole over restarts, but for what is unread."""

    row: R | None = None
    vector: dict[str, int] = field(default_factory=dict)
    """Closed: the positions folded, and the evidence of all that was folded."""
    last: dict[str, str] = field(default_factory=dict)
    """Topic to the id of its last standing decision about the key; of a decision about another key
    that moves the row, topic and key."""
    early: dict[str, list[Read]] = field(default_factory=dict)
    """Held back, per place: read before their evidence, or after one that was."""
    tick_ms: int = 0
    """The greatest tick in what was folded."""
    frozen: bool = False
    """A standing decision was met that this build cannot read."""
    marks: dict[str, str] = field(default_factory=dict)
    """Ids of what later words about the key may follow from, the newest last."""
    unread: dict[str, str] = field(default_factory=dict)
    """Said and not read back: id to topic. Memory only: a restart reads it or says it again."""
    since_ms: int = 0
    turn: int = 0
    """The owner's turn of speaking in which it was said."""


class Stepper(Generic[R]):
    """Owns the keys of some partitions; made at each assignment, from what was kept or nothing."""

    def __init__(
        self,
        component: Component[R],
        places: Iterable[str],
        possible: Possible,
        *,
        ends: dict[str, int] | None = None,
        seen: dict[str, int] | None = None,
        held: dict[str, KeyState[R]] | None = None,
        observer: Callable[[Read, bool], None] | None = None,
    ) -> None:
        self.component = component
        self._key_of = component.key_of
        self._passed_by = passed_by(component.inputs, component.folds)
        self.places = frozenset(places)
        self.held = held if held is not None else {}
        self.seen = dict(seen or {})  # where reading begins, then how far it has come
        self._times = ReadProgress(self.seen, possible)
        self.now_ms = 0
        self.counts = Counts()
        self.dirty = set(self.held)  # keys to look at
        self.changed: set[str] = set()  # keys to keep
        self.blocked = {key for key, one in self.held.items() if one.early}
        self._possible = possible
        self._observer = observer  # is told of each record, and whether it stands, in causal order
        self.ends = {place: ends.get(place, 0) for place in self.places} if ends else {}
        # Blocked key: positions of which one has to be read before it is worth another look, and
        # the instant from which what is not there yet can only be a forgery.
        self._unmet: dict[str, tuple[list[tuple[str, int]], int]] = {}
        self._missing: tuple[str, int] | None = None
        self._turn = self._turn_back = 0  # of speaking: the latest, and the latest read back
        self._wakes: list[tuple[int, str]] = []
        self._armed: dict[str, int] = {}

    # --- reading

    def tick(self, place: str, offset: int, at_ms: int) -> None:
        """The log's own clock moved: `at_ms` is the broker's append time of the tick."""
        self.pass_by(place, offset, at_ms)
        self.now_ms = max(self.now_ms, at_ms)

    def pass_by(self, place: str, offset: int, at_ms: int) -> None:
        """A record that concerns no key (a tick, a dead letter) moves the position only."""
        if offset >= self.seen.get(place, 0):
            self.seen[place] = offset + 1
        self._times.note(place, offset, at_ms)

    def pass_ends(self) -> None:
        """All that there is below the ends was read.

        The last offsets there may be no records: the marker of an author's transaction, or a
        beginning that has expired. Whoever waits to read them waits for ever.
        """
        for place, end in self.ends.items():
            if self.seen.get(place, 0) < end:
                self.pass_by(place, end - 1, 0)

    def read(self, read: Read) -> None:
        """Folds the record, or holds it back until all that its author knew has been read.

        Whoever reads settles after each poll, by a flush if not by itself.
        """
        place, key, offset, seen = read.place, read.record.key, read.offset, self.seen
        if self._key_of is not None:
            name = self._key_of(read)
            if name is None:
                self.pass_by(place, offset, read.at_ms)
                return
            key = name
        if offset >= seen.get(place, 0):
            seen[place] = offset + 1
        self._times.note(place, offset, read.at_ms)
        one = self.held.get(key)
        if one is None:
            one = self.held[key] = KeyState()
        queue = one.early.get(place) if one.early else None
        if offset < (queue[-1].offset + 1 if queue else one.vector.get(place, 0)):
            self.counts.repeated += 1
            return
        self.dirty.add(key)
        self.changed.add(key)
        if one.early:
            one.early.setdefault(place, []).append(read)
            # Looked at once after the poll, not at each of its records.
            due_ms = self._unmet[key][1] if key in self._unmet else 0
            self._unmet[key] = ([], min(due_ms, read.at_ms + 2 * SKEW_MS))
        elif self._met(one, read):
            self.fold(one, read)
        else:
            one.early[place] = [read]
            self.blocked.add(key)
            self._settle(key, one)

    def _settle(self, key: str, one: KeyState[R], *, due: bool = False) -> None:
        """Causal order: a record is folded after all its author knew, whichever topic is faster."""
        moved, missing = True, list[tuple[str, int] | None]()
        before = self.counts.folded + self.counts.void
        while moved:
            moved, missing = False, []
            for place in sorted(one.early):
                while queue := one.early.get(place):
                    met = self._met(one, queue[0], due=due)
                    if met is None:
                        missing.append(self._missing)
                        break
                    self._take(one, place, impossible=not met)
                    moved = True
            for place in [] if moved else self._forged_together(one):
                self._take(one, place, impossible=True)
                moved = True
        if self.counts.folded + self.counts.void > before:
            self.dirty.add(key)
            self.changed.add(key)
        if not one.early:
            self.blocked.discard(key)
            self._unmet.pop(key, None)
            return
        waits = [] if None in missing else [at for at in missing if at is not None]
        soonest_ms = min(queue[0].at_ms for queue in one.early.values()) + 2 * SKEW_MS
        self._unmet[key] = (waits, self.now_ms + SKEW_MS if due else soonest_ms)

    def _forged_together(self, one: KeyState[R]) -> list[str]:
        """First records that are possible one by one, and cannot all have known each other."""
        places = cycle(one.early)
        for place in places:
            read = one.early[place][0]
            for at, offset in read.record.evidence.items():
                possible = self._possible(at, offset, read.at_ms + SKEW_MS)
                if possible is False:
                    return [place]  # by itself, which proves nothing about the others
                if possible is None or (at in self.places and self.seen.get(at, 0) < offset):
                    return []  # what is still to be read may belong to the cycle
        return places

    def _take(self, one: KeyState[R], place: str, *, impossible: bool) -> None:
        queue = one.early[place]
        self.fold(one, queue.pop(0), impossible=impossible)
        if not queue:
            del one.early[place]

    def _met(self, one: KeyState[R], read: Read, *, due: bool = False) -> bool | None:
        """True: fold it. False: it knew the future, so it is void. None: hold it back."""
        by_ms, evidence = read.at_ms + SKEW_MS, read.record.evidence
        if read.record.tick_ms > by_ms or evidence.get(read.place, 0) > read.offset:
            return False
        seen, was_there, early = self.seen, self._times.was_there, one.early
        for place, offset in evidence.items():
            # The usual case: we have read that far, and no later than its author can have.
            if (
                seen.get(place, 0) < offset
                or not was_there(place, offset, by_ms)
                or (place in early and early[place][0].offset < offset)
            ):
                return self._met_closely(one, read, by_ms, due=due)
        return True

    def _met_closely(self, one: KeyState[R], read: Read, by_ms: int, *, due: bool) -> bool | None:
        met = True
        self._missing = None
        for place, offset in read.record.evidence.items():
            seen, ours = self.seen.get(place, 0), place in self.places
            unread = ours and seen < offset and one.vector.get(place, 0) < offset
            if unread and not due:
                # It will most likely be read in a moment: the log is not asked where it ends.
                self._missing = (place, offset) if met else None
                return None
            if seen < offset or not self._times.was_there(place, offset, by_ms):
                possible = self._possible(place, offset, by_ms)
                if possible is False or (possible is None and self.now_ms > by_ms + SKEW_MS):
                    return False
                met = met and possible is True
            if unread:
                self._missing = (place, offset) if met else None
                return None
            early = one.early.get(place) if ours else None
            if early is not None and early[0].offset < offset:
                met = False
        return met or None

    def fold(self, one: KeyState[R], read: Read, *, impossible: bool = False) -> None:
        """The record moves the key; whoever calls knows that its evidence is met."""
        record, vector = read.record, one.vector
        vector[read.place] = read.offset + 1
        if impossible:
            self.counts.impossible += 1
            self._void(read)
            return
        for place, offset in record.evidence.items():
            if offset > vector.get(place, 0):
                vector[place] = offset
        one.tick_ms = max(one.tick_ms, record.tick_ms)
        ours = one.unread.pop(record.id, None) if one.unread else None
        if ours and one.turn > self._turn_back:
            self._turn_back = one.turn
        moves = record.kind not in self._passed_by
        if record.parent:
            chain = read.topic if self._key_of is None else self._chain(read)
            if record.parent != one.last.get(chain, ROOT):
                self._void(read)
                return
            one.last[chain] = record.id
            if one.unread and not ours and chain == self.component.output:
                # Somebody else's stands, so what we said on the same parent is void.
                one.unread = {i: t for i, t in one.unread.items() if t != chain}
            one.frozen = one.frozen or (record.body is None and moves)
        self.counts.folded += 1
        if record.kind in MARKED or record.trace:
            note(one.marks, self.component, read)
        if record.body is not None and moves:
            one.row = self.component.fold(one.row, read)
        if self._observer is not None:
            self._observer(read, True)

    def _chain(self, read: Read) -> str:
        """Where the ids of the last standing decisions are kept: a tier's row may be moved by
        decisions about other keys, each of which has a chain of its own."""
        assert self._key_of is not None
        key = read.record.key
        return read.topic if self._key_of(read) == key else f"{read.topic} {key}"

    def _void(self, read: Read) -> None:
        self.counts.void += 1
        if self._observer is not None:
            self._observer(read, False)

    def settle(self) -> None:
        """Looks again at what is held back, where something was read or time has passed."""
        # The clock may be read far ahead of the rest: what is still to come is not missing.
        ready = self.ready
        for key in sorted(self.blocked):
            waits, due_ms = self._unmet.get(key, ([], 0))
            due = ready and self.now_ms > due_ms
            if due or not waits or any(self.seen.get(at, 0) >= offset for at, offset in waits):
                self._settle(key, self.held[key], due=due)

    # --- speaking

    @property
    def ready(self) -> bool:
        """All inputs and the clock were read to the end seen at assignment, and a tick is known."""
        return bool(self.now_ms) and all(self.seen.get(p, 0) >= n for p, n in self.ends.items())

    def flush(self) -> list[tuple[str, Record]]:
        """After each poll: what is to be said now about keys that changed or are due, once each."""
        self.settle()
        while self._wakes and self._wakes[0][0] <= self.now_ms:
            at_ms, key = heapq.heappop(self._wakes)
            if self._armed.get(key) == at_ms:
                del self._armed[key]
                self.dirty.add(key)
        if not self.dirty or not self.ready:
            return []
        keys, self.dirty = sorted(self.dirty), set()
        self._turn += 1
        return [said for key in keys for said in self._speak(key, self.held[key])]

    def _speak(self, key: str, one: KeyState[R]) -> list[tuple[str, Record]]:
        if one.row is None or one.frozen or one.early:
            return []  # the next record about the key looks again
        now_ms = max(self.now_ms, one.tick_ms)
        if one.unread and self._lost(one, now_ms):
            one.unread = {}
        out: list[tuple[str, Record]] = []
        if not one.unread:
            out = self.would_emit(key, now_ms)
            one.unread = {record.id: topic for topic, record in out}
            one.since_ms, one.turn = now_ms, self._turn
        if one.unread:
            look_ms = one.since_ms + UNREAD_MS + 1
            self._arm(key, look_ms if look_ms > now_ms else now_ms + UNREAD_MS)
        else:
            at_ms = self.component.wake_ms(one.row, now_ms)
            assert at_ms is None or at_ms > now_ms, "a wake-up that is due already would never end"
            if at_ms is not None:
                self._arm(key, at_ms)
        return out

    def _lost(self, one: KeyState[R], now_ms: int) -> bool:
        """Is what was said not in the log? It lies there in the order in which it was said."""
        passed_ms = now_ms - one.since_ms
        if passed_ms <= UNREAD_MS or passed_ms > LOST_MS:
            return passed_ms > LOST_MS
        return one.turn < self._turn_back

    def would_emit(self, key: str, now_ms: int) -> list[tuple[str, Record]]:
        """All that the key's row calls for at that instant: what it owes, then what it decides."""
        component, one = self.component, self.held[key]
        if (row := one.row) is None:
            return []
        parent = one.last.get(component.output, ROOT)
        evidence, marks = dict(one.vector), dict(one.marks)

        def say(  # noqa: PLR0917 - as they stand in the record
            name: str, body: Body, parent: str, value: bytes, about: str = "", by: str = ""
        ) -> Record:
            cause = by or cause_of(body, marks)
            return Record(
                key=about or key,
                id=name,
                kind=type(body).__name__,
                value=value,
                body=body,
                parent=parent,
                evidence=evidence,
                tick_ms=now_ms,
                logic=component.logic,
                source=component.name,
                trace=trace_of(body, cause, marks),
                cause=cause,
            )

        out = [
            (effect.topic, say(effect.id, effect.body, "", encode(effect.body), *effect.about))
            for effect in islice(component.effects(row), AT_ONCE)
        ]
        for body in islice(component.decide(row, now_ms), AT_ONCE - len(out)):
            value = encode(body)
            name = decision_id(parent, key, type(body).__name__, value)
            out.append((component.output, say(name, body, parent, value)))
            mark(marks, out[-1][1])
            parent = name
        return out

    def _arm(self, key: str, at_ms: int) -> None:
        """One wake-up a key: an earlier one comes first, looks again and arms the next."""
        if at_ms < self._armed.get(key, at_ms + 1):
            self._armed[key] = at_ms
            heapq.heappush(self._wakes, (at_ms, key))

    def next_wake_ms(self) -> int | None:
        """The earliest instant at which a flush may say something although nothing arrives."""
        return self._wakes[0][0] if self._wakes else None
