"""Audits a log in memory: as the audit does, in some order of its places, and as its dumb twin."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from components.runtime.core.audit.auditing import AuditDesk
from components.runtime.core.audit.judging import AuditFinding
from components.runtime.core.audit.progress import AuditProgress
from components.runtime.core.component import Component
from components.runtime.core.progress import Possible
from events.topics import CLOCK
from events.wire.codec import Read

Told = tuple[str, str, int, str]


def interleaved(
    reads: Iterable[Read], ticks: Mapping[str, Sequence[int]], chance: random.Random | None
) -> Iterator[Read | tuple[str, int, int]]:
    """Records and ticks by time, or by chance; each place in its order."""
    queues: dict[str, list[Any]] = {}
    for read in reads:
        queues.setdefault(read.place, []).append(read)
    for at, times in ticks.items():
        queues[at] = [(at, offset, at_ms) for offset, at_ms in enumerate(times)]
    for queue in queues.values():
        queue.reverse()

    def due(at: str) -> int:
        one = queues[at][-1]
        return int(one.at_ms if isinstance(one, Read) else one[2])

    while queues:
        at = min(queues, key=due) if chance is None else chance.choice(sorted(queues))
        for _ in range(1 if chance is None else chance.choice([1, 3, 40])):
            if queues.get(at):
                yield queues[at].pop()
        if not queues[at]:
            del queues[at]


def audited(  # noqa: PLR0917 - what its dumb twin takes, and an order
    component: Component[Any],
    reads: Sequence[Read],
    ticks: Mapping[str, Sequence[int]],
    possible: Possible,
    places: Iterable[str],
    chance: random.Random | None = None,
) -> list[AuditFinding]:
    """What a desk finds, whichever way the log is read."""
    hearing = AuditProgress(possible, lambda at, at_ms: at_ms in ticks[at])
    desk = AuditDesk(component, places, list(ticks), hearing)
    found: list[AuditFinding] = []

    def again(places: Iterable[str], ends: Mapping[str, int]) -> Iterator[Read]:
        wanted = set(places)
        return iter([r for r in reads if r.place in wanted and r.offset < ends[r.place]])

    for number, one in enumerate(interleaved(reads, ticks, chance)):
        if not isinstance(one, Read):
            hearing.tick(*one)
        elif one.place in desk.places:
            hearing.note(one.place, one.offset, one.at_ms)
            desk.read(one, met=hearing.met(one))
        if not number % 7:
            found += desk.findings()
    found += desk.findings(whole=True)
    found += desk.read_late(again)
    assert not desk.waiting
    return found


def told(findings: Iterable[Any]) -> set[Told]:
    """What the findings have in common with those of another way to find them."""
    return {(f.verdict, f.read.place, f.read.offset, f.component) for f in findings}


def clocked(times: Sequence[int]) -> dict[str, Sequence[int]]:
    """Ticks of the only partition."""
    return {f"{CLOCK}/0": times}
