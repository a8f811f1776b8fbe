"""One history, as plain records: what a simulated run, a chaos run or a real log leaves behind."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from events.wire.codec import Read

SKEW_MS = 5_000
ROOT = "root"

Spot = tuple[str, int]
"""Place and offset."""


@dataclass(frozen=True, slots=True)
class ReaderTally:
    """What one reader says became of the records it read."""

    reader: str
    read: int
    folded: int
    void: int
    repeated: int
    passed: int
    held: int


@dataclass(frozen=True, slots=True)
class FinalRows:
    """What one reader holds of each key at the end: canonical text of row, vector and chain."""

    reader: str
    component: str
    text: Mapping[str, str]


class SeenRun(Protocol):
    """One run of one shard, as one who stood beside it saw it."""

    @property
    def shard(self) -> int: ...
    @property
    def generation(self) -> int: ...
    @property
    def container(self) -> str: ...
    @property
    def epoch(self) -> int: ...
    @property
    def start_ms(self) -> int: ...
    @property
    def end_ms(self) -> int | None: ...
    @property
    def asleep(self) -> Sequence[tuple[int, int | None]]: ...


class SinkEffect(Protocol):
    """What a sink was asked to take, and whether it did."""

    @property
    def at_ms(self) -> int: ...
    @property
    def shard(self) -> int: ...
    @property
    def generation(self) -> int: ...
    @property
    def container(self) -> str: ...
    @property
    def epoch(self) -> int: ...
    @property
    def taken(self) -> bool: ...


@dataclass(frozen=True)
class History:
    """The log, place by place in offset order, and what its readers made of it."""

    log: Mapping[str, Sequence[Read]]
    journal: str  # the place of the decisions
    # (component, topic, id) of all that some instance tried to say.
    sent: frozenset[tuple[str, str, str]] = frozenset()
    tallies: Sequence[ReaderTally] = ()
    rows: Sequence[FinalRows] = ()
    forged: frozenset[str] = frozenset()
    instances: Sequence[SeenRun] = ()
    accepted: Sequence[SinkEffect] = ()
    wild: bool = False  # whether clocks ran at rates that no lease allows for

    @cached_property
    def times(self) -> dict[str, list[int]]:
        """Append times, place by place."""
        return {at: [read.at_ms for read in reads] for at, reads in self.log.items()}

    def impossible(self, read: Read) -> bool:
        """Did its author claim to know what was not in the log when it was appended?"""
        by_ms = read.at_ms + SKEW_MS
        if read.record.tick_ms > by_ms or (read.place, read.offset) in self.circles:
            return True
        for at, offset in read.record.evidence.items():
            if at == read.place and offset > read.offset:
                return True
            if offset > bisect_right(self.times.get(at, []), by_ms):
                return True
        return False

    @cached_property
    def circles(self) -> frozenset[Spot]:
        """Requests that claim, one through the other, to have known themselves."""
        claims = [
            read
            for reads in self.log.values()
            for read in reads
            if read.record.evidence and read.topic.partition(".")[0] in ("changes", "operator")
        ]
        knows = {
            (one.place, one.offset): [
                (other.place, other.offset)
                for other in claims
                if other.record.key == one.record.key
                and other.offset < one.record.evidence.get(other.place, 0)
            ]
            for one in claims
        }
        return frozenset(at for at in knows if _reaches(knows, at))

    @cached_property
    def standing(self) -> list[Read]:
        """The decisions that count: each the first valid child of the one before it."""
        last: dict[str, str] = {}
        out: list[Read] = []
        for read in self.log[self.journal]:
            record = read.record
            if record.parent == last.get(record.key, ROOT) and not self.impossible(read):
                last[record.key] = record.id
                out.append(read)
        return out


def _reaches(knows: Mapping[Spot, Sequence[Spot]], at: Spot) -> bool:
    """Does the way from what is known to what that knows lead back?"""
    met: set[Spot] = set()
    todo = list(knows[at])
    while todo:
        one = todo.pop()
        if one == at:
            return True
        if one not in met:
            met.add(one)
            todo.extend(knows[one])
    return False
