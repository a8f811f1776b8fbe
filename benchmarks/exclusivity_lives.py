"""When each life of a container held a lease, by the log: what may run then, and nothing else.

A lease is the longest here that a holder can believe in: it begins when a heartbeat is in the log,
not when it is read back, and ends as long after its sending as the holder's own clock allows.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks.exclusivity_watch import Seen, Span
from events.generated.records import ContainerFailedOver, ContainerHeartbeat, ContainerStarted
from events.wire.codec import Read

Life = tuple[str, int]
"""A container and its epoch."""


class FailOver(NamedTuple):
    """A valid one."""

    container: str
    epoch: int
    at_ms: int


@dataclass(slots=True)
class Lives:
    """All lives, on the clock that leases are held by."""

    leases: dict[Life, list[Span]] = field(default_factory=lambda: defaultdict(list))
    fail_overs: list[FailOver] = field(default_factory=list)


def lives_of(reads: Iterable[Read], lease_ms: int, wall_ms: int) -> Lives:
    """From the partition of the containers. `wall_ms`: the broker's clock less the holders'."""
    found = Lives()
    newest: dict[str, int] = {}
    last: dict[Life, int] = {}
    over: set[Life] = set()
    for read in reads:
        at_ms = read.at_ms - wall_ms
        match read.record.body:
            case ContainerStarted() as body:
                newest[body.container] = max(newest.get(body.container, 0), body.epoch)
            case ContainerHeartbeat() as body:
                life = body.container, body.epoch
                if newest.get(body.container) == body.epoch and life not in over:
                    last[life] = read.offset
                    _renew(found.leases[life], at_ms, body.sent_ms + lease_ms)
            case ContainerFailedOver() as body:
                life = body.container, body.epoch
                fits = last.get(life) == body.last_heartbeat_offset
                if fits and newest.get(body.container) == body.epoch and life not in over:
                    over.add(life)
                    found.fail_overs.append(FailOver(*life, at_ms))
                    found.leases[life] = clipped(found.leases[life], [(0, at_ms)])
    return found


def _renew(spans: list[Span], begin: int, end: int) -> None:
    if end <= begin:
        return  # it was so long under way that it renewed nothing
    if spans and begin <= spans[-1][1]:
        spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
    else:
        spans.append((begin, end))


def clipped(spans: Sequence[Span], to: Sequence[Span]) -> list[Span]:
    """What lies in both; each is in order and without overlaps."""
    found: list[Span] = []
    for begin, end in spans:
        for low, high in to:
            if max(begin, low) < min(end, high):
                found.append((max(begin, low), min(end, high)))
    return found


def outside(spans: Sequence[Span], of: Sequence[Span]) -> list[Span]:
    """What lies in the first and not in the second."""
    free, at = list[Span](), 0
    for begin, end in of:
        free.append((at, begin))
        at = end
    return clipped(spans, [*free, (at, 1 << 60)])


def epochs_in(logs: Mapping[str, Path]) -> dict[tuple[str, int], int]:
    """Which epoch each supervisor's process lived, by what it wrote when it began."""
    found: dict[tuple[str, int], int] = {}
    for container, path in logs.items():
        for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
            if '"life begins"' not in line:
                continue
            try:
                said = json.loads(line)
            except ValueError:
                continue  # killed while it wrote
            found[container, said["pid"]] = said["epoch"]
    return found


def life_of(seen: Seen, epochs: Mapping[tuple[str, int], int]) -> Life:
    """The life that a process was part of; epoch 0: of one that had not begun."""
    return seen.container, epochs.get((seen.container, seen.root), 0)
