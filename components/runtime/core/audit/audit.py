"""Audits what several components said: who judges which record, over all partitions. Pure.

One reading of the log serves all of them. Where a component has had several logics, each judges
what it said itself, and the newest says of all others that nobody here can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from components.runtime.core.audit.auditing import AuditDesk, ReadAgain
from components.runtime.core.audit.judging import AuditFinding
from components.runtime.core.audit.progress import AuditProgress
from components.runtime.core.component import Component
from components.runtime.core.step import KeyState
from events.topics import BY_SHORT, CLOCK, place
from events.wire.codec import Read

Family = Sequence[Component[Any]]
"""One component by all logics that can be run here, the newest first."""


class Audit:
    """All desks. Feed it every record of every place; each place in its order, places in any."""

    def __init__(
        self,
        families: Iterable[Family],
        partitions: int,
        hearing: AuditProgress,
        *,
        held: Mapping[tuple[str, str], dict[str, KeyState[Any]]] | None = None,
        since: Mapping[str, int] | None = None,
    ) -> None:
        """`held`: what was kept of each desk, by logic and where. `since`: decisions before that
        position get no verdict."""
        self.partitions, self.hearing = partitions, hearing
        self.families = [tuple(family) for family in families]
        self.desks: dict[tuple[str, str], AuditDesk] = {}
        self._by_place: dict[str, list[AuditDesk]] = {}
        for family in self.families:
            for number, component in enumerate(family):
                older = frozenset(one.logic for one in family[1:])
                self._seat(component, None if number else older, held or {}, since or {})

    def _seat(
        self,
        component: Component[Any],
        older: frozenset[str] | None,
        held: Mapping[tuple[str, str], dict[str, KeyState[Any]]],
        since: Mapping[str, int],
    ) -> None:
        """The desks of one logic; `older` is None for one that judges nothing but its own."""
        logic = component.logic
        for where, partitions in _groups(component, self.partitions):
            places = [at for topic in component.inputs for at in self._places(topic, partitions)]
            name = (logic, where)
            desk = self.desks[name] = AuditDesk(
                component,
                places,
                [place(CLOCK, p) for p in partitions],
                self.hearing,
                judges=logic.__eq__ if older is None else lambda one: one not in older,
                since=since,
                held=held.get(name),
            )
            for at in places:
                self._by_place.setdefault(at, []).append(desk)

    def _places(self, topic: str, partitions: Iterable[int]) -> list[str]:
        alone = BY_SHORT[topic].partitions
        return [place(topic, p) for p in (range(alone) if alone else partitions)]

    def seal(self, expired: Mapping[str, str]) -> None:
        """Nothing is made again that rests on a topic of which a part has expired; why that is."""
        for desk in self.desks.values():
            inputs = sorted(desk.component.inputs)
            desk.sealed = next((expired[topic] for topic in inputs if topic in expired), "")

    @property
    def places(self) -> list[str]:
        """All that is to be read: what any of the components reads, and the clock."""
        clocks = {place(CLOCK, p) for p in range(self.partitions)}
        return sorted(clocks | self._by_place.keys())

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds whose bodies are to be decoded."""
        components = [component for family in self.families for component in family]
        return frozenset[str]().union(*(one.folds | one.says for one in components))

    def read(self, read: Read) -> None:
        """Takes the next record of the log, and judges it where it is a decision."""
        hearing = self.hearing
        hearing.note(read.place, read.offset, read.at_ms)
        met = hearing.met(read)
        for desk in self._by_place.get(read.place, ()):
            desk.read(read, met=met)

    def findings(self, *, whole: bool = False) -> Iterator[AuditFinding]:
        """A finding for each decision that can be judged by now; after each poll."""
        for desk in self.desks.values():
            if desk.asked:
                yield from desk.findings(whole=whole)

    def read_late(self, again: ReadAgain, least: int = 1) -> Iterator[AuditFinding]:
        """Findings of what has to be read again, where there are at least so many of it."""
        for desk in self.desks.values():
            if len(desk.late) >= least:
                yield from desk.read_late(again)

    @property
    def waiting(self) -> int:
        """Decisions that were read and not judged yet."""
        return sum(desk.waiting for desk in self.desks.values())


def _groups(component: Component[Any], partitions: int) -> Iterator[tuple[str, list[int]]]:
    """Which partitions are audited together: each by itself, or all that a tier's row rests on.

    A tier-wide component hears the first partition of the clock alone, and decides no earlier than
    what it reads was said, by any of them.
    """
    if component.key_of is not None:
        yield "all", list(range(partitions))
        return
    for partition in range(partitions):
        yield str(partition), [partition]
