"""K9: evidence. Every decision and effect comes out again, byte for byte, from what it names.

The ordering of records is this file's own; of the code under test only fold, decide and effects
are asked, since these are what an audit re-runs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from components.runtime.core.component import Component
from events.wire.codec import Read, encode
from simulation.checkers.history import ROOT, History
from turbine_client.identity import decision_id


@dataclass(slots=True)
class CutState:
    """One key, as far as the cut says, record by record of each input."""

    cut: list[int]
    row: Any = None
    last: dict[str, str] = field(default_factory=dict)
    vector: dict[str, int] = field(default_factory=dict)
    tick_ms: int = 0

    def copy(self) -> CutState:
        """A state of its own to go on from."""
        return CutState(list(self.cut), self.row, dict(self.last), dict(self.vector), self.tick_ms)


def check_evidence(history: History, component: Component[Any]) -> Iterator[str]:
    """Every violation in what instances of the component said, as a sentence."""
    said = {name for author, _, name in history.sent if author == component.name}
    ticks = {read.at_ms for at, rs in history.log.items() if "clock" in at for read in rs}
    todo: dict[str, list[Read]] = defaultdict(list)
    for at, reads in history.log.items():
        topic = at.partition("/")[0]
        if topic != component.output and topic not in component.inputs:
            continue
        for read in reads:
            record = read.record
            if record.id not in said or record.id in history.forged:
                continue
            if topic != component.output or record.kind in component.says:
                todo[_key_of(component, read) or record.key].append(read)
    for key, reads in sorted(todo.items()):
        yield from _KeyRecords(history, component, key, ticks).check(reads)


def _key_of(component: Component[Any], read: Read) -> str | None:
    return read.record.key if component.key_of is None else component.key_of(read)


class _KeyRecords:
    """The records about one key, and the states that were met on the way through them."""

    def __init__(
        self, history: History, component: Component[Any], key: str, ticks: set[int]
    ) -> None:
        self.history, self.component, self.key, self.ticks = history, component, key, ticks
        partition = history.journal.partition("/")[2]
        self.places = sorted(f"{topic}/{partition}" for topic in component.inputs)
        self.reads = [
            [read for read in history.log[at] if _key_of(component, read) == key]
            for at in self.places
        ]
        self.offsets = [[read.offset for read in reads] for reads in self.reads]

    def check(self, todo: list[Read]) -> Iterator[str]:
        """Each word of the component about this key, from the least evidence to the most."""
        states = [CutState([0] * len(self.places))]
        for read in sorted(todo, key=lambda one: sum(one.record.evidence.values())):
            target = self._cut(read.record.evidence)
            below = next(
                s
                for s in reversed(states)
                if all(a <= b for a, b in zip(s.cut, target, strict=True))
            )
            state = self._advance(below.copy(), target)
            yield from self._judge(read, state, target)
            states.append(state)

    def _cut(self, evidence: Any) -> list[int]:
        return [
            bisect_left(offsets, evidence.get(at, 0))
            for at, offsets in zip(self.places, self.offsets, strict=True)
        ]

    def _advance(self, state: CutState, target: list[int]) -> CutState:
        moved = True
        while moved:
            moved = False
            for i in range(len(self.places)):
                while state.cut[i] < target[i] and self._take(state, i):
                    moved = True
        return state

    def _take(self, state: CutState, i: int) -> bool:
        read = self.reads[i][state.cut[i]]
        record, bad = read.record, self.history.impossible(read)
        if not bad and any(
            have < need for have, need in zip(state.cut, self._cut(record.evidence), strict=True)
        ):
            return False
        state.cut[i] += 1
        at = self.places[i]
        state.vector[at] = max(state.vector.get(at, 0), read.offset + 1)
        if bad:
            return True
        for place, offset in record.evidence.items():
            state.vector[place] = max(state.vector.get(place, 0), offset)
        state.tick_ms = max(state.tick_ms, record.tick_ms)
        if record.parent:
            if record.parent != state.last.get(read.topic, ROOT):
                return True
            state.last[read.topic] = record.id
        if record.kind in self.component.folds:
            state.row = self.component.fold(state.row, read)
        return True

    def _judge(self, read: Read, state: CutState, target: list[int]) -> Iterator[str]:
        record = read.record
        name = f"{self.component.name} {record.kind} {record.id} at {read.place}:{read.offset}"
        if state.cut != target or state.vector != dict(record.evidence):
            yield f"{name}: its evidence is not closed"
            return
        if record.tick_ms not in self.ticks:
            yield f"{name}: said at no tick"
        if record.tick_ms < state.tick_ms:
            yield f"{name}: said at an older tick than it had folded"
        if state.row is None:
            yield f"{name}: said on nothing"
            return
        if not self._comes_out(read, state):
            yield f"{name}: does not come out again"

    def _comes_out(self, read: Read, state: CutState) -> bool:
        record, component = read.record, self.component
        if read.topic != component.output:
            return any(
                (effect.topic, effect.id, encode(effect.body))
                == (read.topic, record.id, record.value)
                for effect in component.effects(state.row)
            )
        parent = state.last.get(component.output, ROOT)
        for body in component.decide(state.row, record.tick_ms):
            value = encode(body)
            again = decision_id(parent, self.key, type(body).__name__, value)
            if (again, parent, value) == (record.id, record.parent, record.value):
                return True
            parent = again
        return False
