"""Makes again what one logic said, as the log is read once, in any order of its places. Pure.

A decision names the position vector that it was made on. What is read about a key waits in a
window until a decision asks for it: then the key is folded exactly so far, by the one step, and has
to call for the same bytes. So most decisions cost their folds and one `decide`. One whose evidence
lies before what was folded already (a rival's, a zombie's) is made again from the state before, or
else by reading the log once more. docs/adr/0016 argues it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from components.runtime.core.audit.alone import Alone, end_at
from components.runtime.core.audit.judging import AuditFinding, is_of, judge_state, judge_words
from components.runtime.core.audit.progress import AuditProgress
from components.runtime.core.component import Component
from components.runtime.core.step import SKEW_MS, KeyState, Stepper
from events.wire.codec import Read, Record

WINDOW_MOST = 16
"""Records about a key that wait for a decision on them; beyond it the older half is folded. An
author that lags behind its inputs by more is followed by reading again."""
WINDOW_KEPT = 8
AGAIN_MOST = 1_000
"""Decisions for which the log is read again at once: each has a state of its own meanwhile."""

ReadAgain = Callable[[Iterable[str], Mapping[str, int]], Iterator[Read]]
"""(places, ends): all that lies there below the ends, each place in its order."""


@dataclass(slots=True)
class _AuditedKey:
    """What is known of a key beside its row: what is read and not folded, said and not judged."""

    window: list[Read] = field(default_factory=list)
    waiting: list[Read] = field(default_factory=list)
    unmet: set[tuple[str, int]] = field(default_factory=set)
    """Of the window: read before what its author knew."""
    before: tuple[KeyState[Any], Sequence[Read]] | None = None
    """The state before the last advance, and what was folded since."""
    tick_ms: int = -1  # at which it was last made again; -1: not on this row
    again: Sequence[tuple[str, Record]] = ()


class AuditDesk:
    """The decisions of one component by one logic, in the places that are audited together."""

    def __init__(
        self,
        component: Component[Any],
        places: Iterable[str],
        clocks: Iterable[str],
        hearing: AuditProgress,
        *,
        judges: Callable[[str], bool] = lambda _: True,
        since: Mapping[str, int] | None = None,
        held: dict[str, KeyState[Any]] | None = None,
    ) -> None:
        self.component, self.places, self.clocks = component, frozenset(places), sorted(clocks)
        self.sealed = ""
        """Why nothing here can be made again; "" where it can."""
        self.late: list[Read] = []
        """Decisions that only another reading of the log can judge."""
        self._hearing, self._judges, self._since = hearing, judges, since or {}
        self._owner: Stepper[Any] = Stepper(component, self.places, hearing.there)
        self._keys: dict[str, _AuditedKey] = {}
        self._todo: dict[str, None] = {}  # keys with decisions that wait, in order
        for key, one in (held or {}).items():
            self._restore(key, one)

    # --- reading

    def read(self, read: Read, *, met: bool) -> None:
        """Takes a record of one of the places; the hearing is told of it by whoever reads.

        `met`: all that its author knew was read before it, and had been there in time.
        """
        component = self.component
        key = read.record.key if component.key_of is None else component.key_of(read)
        if key is None or self.sealed:
            # Of a tier that nobody defined, a decision has no row here, and a verdict all the same.
            if self._ours(read) and (key is not None or read.record.logic != component.logic):
                self._key(read.record.key).waiting.append(read)
                self._todo[read.record.key] = None
            return
        one = self._keys.get(key)
        if one is None:
            one = self._key(key)
        elif read.offset < self._owner.held[key].vector.get(read.place, 0):
            return  # read again, and folded already
        one.window.append(read)
        if not met:
            one.unmet.add((read.place, read.offset))
        if self._ours(read):
            one.waiting.append(read)
            self._todo[key] = None
        elif len(one.window) >= WINDOW_MOST and not one.waiting:
            self._fold_older(key, one)

    def _key(self, key: str) -> _AuditedKey:
        one = self._keys.get(key)
        if one is None:
            one = self._keys[key] = _AuditedKey()
            self._owner.held[key] = KeyState()
        return one

    def _ours(self, read: Read) -> bool:
        return (
            is_of(self.component, read)
            and self._judges(read.record.logic)
            and read.offset >= self._since.get(read.place, 0)
        )

    @property
    def windows(self) -> dict[str, int]:
        """How many records of each key are held that nobody has decided on."""
        return {key: len(one.window) for key, one in self._keys.items()}

    @property
    def asked(self) -> bool:
        """Does a decision wait for a verdict?"""
        return bool(self._todo)

    @property
    def waiting(self) -> int:
        """Decisions that were read and not judged yet."""
        return sum(len(self._keys[key].waiting) for key in self._todo) + len(self.late)

    def findings(self, *, whole: bool = False) -> Iterator[AuditFinding]:
        """A finding for each decision whose evidence has been read.

        With `whole`, there is no more to come: what was not read is not there.
        """
        for key in list(self._todo):
            one = self._keys[key]
            if len(one.waiting) > 1:
                one.waiting.sort(key=_order)  # so that one state leads to the next
            left = []
            for read in one.waiting:
                found = self._judge(key, one, read, whole=whole)
                if found is None:
                    left.append(read)
                elif found.verdict:
                    yield found
                else:
                    self.late.append(read)
            one.waiting = left
            if not left:
                del self._todo[key]

    # --- judging

    def _judge(self, key: str, one: _AuditedKey, read: Read, *, whole: bool) -> AuditFinding | None:
        """None: to be looked at again. Without a verdict: to be read again."""
        record = read.record
        if record.logic != self.component.logic:
            made = record.logic or "an unknown logic"
            return self._say("not checkable", read, f"made by {made}, not run here")
        if self.sealed:
            return self._say("not checkable", read, self.sealed)
        # What came after all that its author knew could be known by it.
        known = (read.place, read.offset) not in one.unmet or self._known(read, whole=whole)
        if known is None:
            return None
        if not known:
            sentence = "claims to have known what was not in the log; void"
            return self._say("impossible", read, sentence)
        ticked = self._hearing.ticked(self.clocks, record.tick_ms, whole=whole)
        if ticked is None:
            return None
        held = self._at(key, one, record.evidence)
        if held is None:
            return AuditFinding("", read, "", "")
        return self._compare(key, one, read, held, ticked=ticked)

    def _say(self, verdict: str, read: Read, sentence: str) -> AuditFinding:
        return AuditFinding(verdict, read, self.component.name, sentence)

    def _known(self, read: Read, *, whole: bool) -> bool | None:
        """Can its author have known all that it names? None: that, or our reading, is to come."""
        record, by_ms, wait = read.record, read.at_ms + SKEW_MS, False
        hearing, seen = self._hearing, self._hearing.seen
        if record.tick_ms > by_ms or record.evidence.get(read.place, 0) > read.offset:
            return False
        for at, offset in record.evidence.items():
            there = hearing.there(at, offset, by_ms)
            if there is None and not whole and hearing.now_ms <= by_ms + SKEW_MS:
                wait = True
            elif not there:
                return False
            elif not whole and at in self.places and seen.get(at, 0) < offset:
                wait = True
        return None if wait else True

    def _at(self, key: str, one: _AuditedKey, evidence: Mapping[str, int]) -> KeyState[Any] | None:
        """The key as far as the evidence says; None: that lies before what is kept of it."""
        held = self._owner.held[key]
        get = evidence.get
        if all(offset <= get(at, 0) for at, offset in held.vector.items()):
            below = [read for read in one.window if read.offset < get(read.place, 0)]
            return self._advance(key, one, below, evidence) if below else held
        if one.before is not None:
            held, since = one.before
            if all(offset <= get(at, 0) for at, offset in held.vector.items()):
                reads = [r for r in (*since, *one.window) if r.offset < get(r.place, 0)]
                return self._fold_closely(key, held, reads, evidence)
        return None

    def _advance(
        self, key: str, one: _AuditedKey, below: Sequence[Read], evidence: Mapping[str, int]
    ) -> KeyState[Any]:
        """Folds what the evidence names. A lie is folded beside the row, which stays as it was."""
        owner, held = self._owner, self._owner.held[key]
        before = _copy(held)
        # Where each was read after what its author knew, they stand in causal order.
        if not one.unmet or not any((read.place, read.offset) in one.unmet for read in below):
            for read in below:
                owner.fold(held, read)
            if held.vector != evidence:  # one of them knew more than that: it has to wait
                owner.held[key] = before
        if (held := owner.held[key]) is before or held.vector != evidence:
            held = self._fold_closely(key, before, below, evidence)
            if held.early or held.vector != evidence:
                return held
            owner.held[key] = held
        get = evidence.get
        one.window = [read for read in one.window if read.offset >= get(read.place, 0)]
        if one.unmet:
            one.unmet = {(at, offset) for at, offset in one.unmet if offset >= get(at, 0)}
        one.before, one.tick_ms = (before, below), -1
        return held

    def _compare(
        self, key: str, one: _AuditedKey, read: Read, held: KeyState[Any], *, ticked: bool
    ) -> AuditFinding:
        tick_ms = read.record.tick_ms
        wrong = judge_state(read, held, self.component.name, ticked=ticked)
        if wrong is not None:
            return wrong
        if held is not self._owner.held[key]:
            again: Sequence[tuple[str, Record]] = self._beside(key, held).would_emit(key, tick_ms)
        elif one.tick_ms == tick_ms:  # a poll's decisions about a key were said on one evidence
            again = one.again
        else:
            again = one.again = self._owner.would_emit(key, tick_ms)
            one.tick_ms = tick_ms
        return self._judge_words(read, again, held)

    def _judge_words(
        self, read: Read, again: Sequence[tuple[str, Record]], held: KeyState[Any]
    ) -> AuditFinding:
        """What differs only because of what is installed here is not called a difference."""
        found = judge_words(read, again, self.component.name)
        if found.verdict == "same":
            return found
        why = self.component.doubt(held.row, read, [record for _, record in again])
        return self._say("not checkable", read, why) if why else found

    def _beside(self, key: str, held: KeyState[Any]) -> Stepper[Any]:
        """An owner of one state alone, which has read no more than that."""
        seen = dict(held.vector)
        return Stepper(
            self.component, self.places, self._hearing.there, seen=seen, held={key: held}
        )

    def _fold_closely(
        self, key: str, held: KeyState[Any], reads: Iterable[Read], evidence: Mapping[str, int]
    ) -> KeyState[Any]:
        """The key with these records, as the step folds them if there is no more to come.

        What is not fed counts as not read: a record that rests on it has to wait for it, as it had
        to wait for its author.
        """
        alone = self._beside(key, _copy(held))
        for read in sorted(reads, key=lambda read: (read.place, read.offset)):
            alone.read(read)
        end_at(alone, evidence)
        return alone.held[key]

    def _fold_older(self, key: str, one: _AuditedKey) -> None:
        """Nobody decided on them for long, so the next one who does most likely knows them all."""
        if len(one.window) % WINDOW_KEPT:
            return  # what cannot be folded yet is not tried again at each record
        ends = dict(self._owner.held[key].vector)
        older = one.window[:-WINDOW_KEPT]
        for read in older:
            ends[read.place] = max(ends.get(read.place, 0), read.offset + 1)
            for at, offset in read.record.evidence.items() if self._hearing.honest(read) else ():
                ends[at] = max(ends.get(at, 0), offset)
        if all(self._hearing.seen.get(at, 0) >= ends[at] for at in ends if at in self.places):
            below = [read for read in one.window if read.offset < ends.get(read.place, 0)]
            self._advance(key, one, below, ends)
            one.before = None  # it would hold as much again, of every key

    # --- late ones

    def read_late(self, again: ReadAgain) -> Iterator[AuditFinding]:
        """Judges what is late, by reading the places once more for so many at a time."""
        while self.late:
            now, self.late = self.late[:AGAIN_MOST], self.late[AGAIN_MOST:]
            yield from self._read_again(now, again)

    def _read_again(self, late: Sequence[Read], again: ReadAgain) -> Iterator[AuditFinding]:
        component, key_of = self.component, self.component.key_of
        ends: dict[str, int] = {}
        alone: dict[str, list[Alone]] = {}
        ones: dict[tuple[str, tuple[tuple[str, int], ...]], Alone] = {}
        said: dict[tuple[str, tuple[tuple[str, int], ...]], list[Read]] = {}
        for read in late:
            key = read.record.key if key_of is None else key_of(read)
            assert key is not None, "a decision without a key was put aside"
            name = (key, tuple(sorted(read.record.evidence.items())))
            if name not in ones:
                there = self._hearing.there
                ones[name] = Alone(component, self.places, there, key, read.record.evidence)
                alone.setdefault(key, []).append(ones[name])
            said.setdefault(name, []).append(read)
            for at, offset in read.record.evidence.items():
                if at in self.places:
                    ends[at] = max(ends.get(at, 0), offset)
        for read in again(sorted(ends), ends):
            key = read.record.key if key_of is None else key_of(read)
            for one in alone.get(key, ()) if key is not None else ():
                one.read(read)
        for name, one in ones.items():
            yield from self._judge_alone(one, said[name])

    def _judge_alone(self, one: Alone, said: Iterable[Read]) -> Iterator[AuditFinding]:
        """All that was said of a key on one evidence."""
        held, name = one.end(), self.component.name
        for read in said:
            tick_ms = read.record.tick_ms
            ticked = bool(self._hearing.ticked(self.clocks, tick_ms, whole=True))
            wrong = judge_state(read, held, name, ticked=ticked)
            yield wrong or self._judge_words(read, one.say(tick_ms), held)

    # --- keeping

    def kept(self) -> Stepper[Any]:
        """An owner whose keys are all that has to be kept; what waits is held back there."""
        held = {}
        for key, one in self._keys.items():
            early: dict[str, list[Read]] = {}
            for read in one.window:
                early.setdefault(read.place, []).append(read)
            state = _copy(self._owner.held[key])
            held[key] = replace(state, early=early)
        seen = {at: self._hearing.seen.get(at, 0) for at in self.places}
        return Stepper(self.component, self.places, self._hearing.there, seen=seen, held=held)

    def _restore(self, key: str, kept: KeyState[Any]) -> None:
        """What was held back is the window; `wait_for` tells what of it has no verdict yet."""
        one = self._key(key)
        one.window = [read for queue in kept.early.values() for read in queue]
        one.unmet = {(read.place, read.offset) for read in one.window}
        self._owner.held[key] = replace(kept, early={})

    def unjudged(self) -> list[tuple[str, int]]:
        """Where the decisions lie that still wait."""
        reads = [read for key in self._todo for read in self._keys[key].waiting] + self.late
        return sorted((read.place, read.offset) for read in reads)

    def wait_for(self, unjudged: Iterable[tuple[str, int]]) -> None:
        """After a start from what was kept: these have no verdict yet."""
        wanted = set(unjudged)
        for key, one in self._keys.items():
            one.waiting = [read for read in one.window if (read.place, read.offset) in wanted]
            if one.waiting:
                self._todo[key] = None


def _order(read: Read) -> tuple[int, int]:
    return sum(read.record.evidence.values()), read.record.tick_ms


def _copy(one: KeyState[Any]) -> KeyState[Any]:
    early = {at: list(queue) for at, queue in one.early.items()}
    marks = dict(one.marks)
    return KeyState(
        one.row, dict(one.vector), dict(one.last), early, one.tick_ms, one.frozen, marks
    )
