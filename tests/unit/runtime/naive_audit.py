"""The dumb twin of the audit: all records in memory, key by key, from one evidence to the next."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.runtime.core.component import Component
from components.runtime.core.progress import Possible
from components.runtime.core.step import SKEW_MS, KeyState, Stepper
from events.wire.codec import SKIPPED, Read, Record

STATES_MOST = 64
"""Stretches of one key's past that are kept to go on from; older evidence starts from nothing."""


END_OF_TIME_MS = 1 << 62
SHARED = frozenset({"AlertRaised", "AlertCleared"})
"""Kinds that any component may say on its journal: only their source tells whose they are."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the audit has to say about one record."""

    verdict: str  # same, differs, impossible, or not checkable
    read: Read
    component: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Known:
    """What holds for all keys of the partition."""

    possible: Possible
    places: Sequence[str]
    ticks: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class _State:
    cut: tuple[int, ...]
    held: KeyState[Any]


def audit_places(
    component: Component[Any],
    reads: Iterable[Read],
    ticks: Iterable[int],
    possible: Possible,
    places: Iterable[str],
) -> Iterator[Finding]:
    """A finding for each record that the component said in the places it reads, key by key."""
    known = Known(possible, sorted(places), frozenset(ticks))
    by_key: dict[str, list[Read]] = defaultdict(list)
    for read in reads:
        key = read.record.key if component.key_of is None else component.key_of(read)
        if key is not None:
            by_key[key].append(read)
    for key in sorted(by_key):
        yield from _Key(component, key, by_key[key], known).findings()


def say_again(  # noqa: PLR0917 - a decision's headers, in their order, and what is known beside
    component: Component[Any],
    key: str,
    reads: Iterable[Read],
    evidence: Mapping[str, int],
    tick_ms: int,
    known: Known,
) -> list[tuple[str, Record]]:
    """All that the component says of the key at that tick, knowing what the evidence names."""
    held = _Key(component, key, list(reads), known).at(evidence)
    owner = Stepper(component, known.places, known.possible, held={key: held})
    return owner.would_emit(key, tick_ms)


class _Key:
    """The records about one key, and states from which its evidence is reached quickly."""

    def __init__(
        self, component: Component[Any], key: str, reads: Sequence[Read], known: Known
    ) -> None:
        self.component, self.key = component, key
        self.ticks, self.possible, self.places = known.ticks, known.possible, known.places
        self.reads: dict[str, list[Read]] = {at: [] for at in self.places}
        for read in reads:
            if read.place in self.reads:
                self.reads[read.place].append(read)
        self.offsets = {at: [r.offset for r in rs] for at, rs in self.reads.items()}
        self.states = [_State((0,) * len(self.places), KeyState())]
        self._cut: tuple[int, ...] = ()
        self._held: KeyState[Any] = KeyState()
        self._tick_ms = -1
        self._again: list[tuple[str, Record]] = []

    def findings(self) -> Iterator[Finding]:
        """From the least evidence to the most, so that one state leads to the next."""
        said = [read for at in self.places for read in self.reads[at] if self._ours(read)]
        for read in sorted(said, key=_order):
            verdict, sentence = self._judge(read)
            yield Finding(verdict, read, self.component.name, sentence)

    def _ours(self, read: Read) -> bool:
        if read.topic != self.component.output or read.record.kind in SHARED:
            return read.record.source == self.component.name
        return read.record.kind in self.component.says

    def _judge(self, read: Read) -> tuple[str, str]:
        record = read.record
        if record.logic != self.component.logic:
            return "not checkable", f"made by {record.logic or 'an unknown logic'}, not run here"
        if self._impossible(read):
            return "impossible", "claims to have known what was not in the log; void"
        one = self.at(record.evidence)
        if one.vector != dict(record.evidence):
            return "differs", f"its evidence is not closed: it adds up to {one.vector}"
        if record.tick_ms not in self.ticks | {one.tick_ms}:
            return "differs", f"said at {record.tick_ms}, which is no tick of the clock"
        if record.tick_ms < one.tick_ms:
            return "differs", f"said at {record.tick_ms}, before {one.tick_ms} which it had folded"
        return self._compare(read, one)

    def _impossible(self, read: Read) -> bool:
        by_ms = read.at_ms + SKEW_MS
        return read.record.tick_ms > by_ms or any(
            (at == read.place and offset > read.offset) or not self.possible(at, offset, by_ms)
            for at, offset in read.record.evidence.items()
        )

    def at(self, evidence: Mapping[str, int]) -> KeyState[Any]:
        """The key as far as the evidence says, folded by the one step."""
        cut = tuple(bisect_left(self.offsets[at], evidence.get(at, 0)) for at in self.places)
        if cut == self._cut:
            return self._held  # one poll's decisions about a key were all said on one evidence
        below = next(
            state
            for state in reversed(self.states)
            if all(a <= b for a, b in zip(state.cut, cut, strict=True))
        )
        held = {self.key: _copy(below.held)}
        # What is not fed yet counts as not read: a record that rests on it has to wait for it, as
        # it had to wait for its author.
        seen = dict(below.held.vector)
        owner = Stepper(self.component, self.places, self.possible, seen=seen, held=held)
        for at, first, end in zip(self.places, below.cut, cut, strict=True):
            for read in self.reads[at][first:end]:
                owner.read(read)
            if evidence.get(at, 0):
                owner.pass_by(at, evidence[at] - 1, 0)
        owner.now_ms = END_OF_TIME_MS  # what is not there by now never was
        owner.settle()
        if len(self.states) > STATES_MOST:
            del self.states[1 : STATES_MOST // 2]
        self._cut, self._held, self._tick_ms = cut, held[self.key], -1
        self.states.append(_State(cut, self._held))
        return self._held

    def _compare(self, read: Read, one: KeyState[Any]) -> tuple[str, str]:
        if read.record.tick_ms != self._tick_ms:
            owner = Stepper(self.component, self.places, self.possible, held={self.key: one})
            self._tick_ms = read.record.tick_ms
            self._again = owner.would_emit(self.key, self._tick_ms)
        for topic, record in self._again:
            if topic == read.topic and _same(record, read.record):
                return "same", ""
        named = [record for _, record in self._again if record.kind == read.record.kind]
        if not named:
            told = ", ".join(record.kind for _, record in self._again) or "nothing"
            return "differs", f"its evidence calls for {told}"
        return "differs", _first_difference(named[0], read.record)


def _order(read: Read) -> tuple[int, int]:
    return sum(read.record.evidence.values()), read.record.tick_ms


def _copy(one: KeyState[Any]) -> KeyState[Any]:
    early = {at: list(queue) for at, queue in one.early.items()}
    return KeyState(one.row, dict(one.vector), dict(one.last), early, one.tick_ms, one.frozen)


def _same(again: Record, found: Record) -> bool:
    return (again.id, again.parent, again.value, again.tick_ms) == (
        found.id,
        found.parent,
        found.value,
        found.tick_ms,
    )


def _first_difference(again: Record, found: Record) -> str:
    for name in ("parent", "value", "id"):
        mine, theirs = getattr(again, name), getattr(found, name)
        if mine == theirs:
            continue
        if name != "value":
            return f"its {name} is {theirs}, derived again it is {mine}"
        at = next((i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), None)
        at = min(len(mine), len(theirs)) if at is None else at
        field = _field(again, found)
        return f"byte {at} of {found.kind} differs{field}"
    return "a header differs"


def _field(again: Record, found: Record) -> str:
    if again.body in (None, SKIPPED) or found.body in (None, SKIPPED):
        return ""
    assert again.body is not None
    assert found.body is not None
    mine, theirs = again.body.to_plain(), found.body.to_plain()
    name = next((name for name in mine if mine[name] != theirs.get(name)), None)
    return "" if name is None else f": {name} is {theirs[name]!r}, again it is {mine[name]!r}"
