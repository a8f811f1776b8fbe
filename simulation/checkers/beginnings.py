"""A life that begins with what was kept knows what it would know by the whole log.

At every instant at which a publisher may have kept something last, whichever of them died amid a
transaction, and whatever compaction took: chains, lists and the tier come out as by a fold from 0.
"""

from __future__ import annotations

import random  # noqa: TID251 - the type of a seeded stream; nothing is drawn from the module
from collections.abc import Iterator
from typing import Any, NamedTuple

from components.runtime.core.ground import Ground
from components.runtime.core.standing import Row
from components.runtime.core.store import Restored
from components.task_manager.core.chains import KINDS, Chains, KeptChain, unfit
from components.task_manager.core.known import ContainerKnowledge
from components.task_manager.core.periods import Periods
from projections.lists import TaskLists
from projections.timing import Timing
from simulation.log import SimulatedLog
from simulation.standing import PLACES, TICKS, StandingPublishers

TIER, PARTITION = "default", 0
STARTS, STEPS = 12, 20
DIES, COMPACTS = 0.2, 0.1


class ContainerStart(NamedTuple):
    """All that a container's start comes to."""

    lists: dict[str, TaskLists]
    tier: tuple[bool, Timing, Periods]
    chains: dict[str, tuple[dict[str, str], dict[str, int], int]]


def check_beginnings(log: SimulatedLog, build: int, rng: random.Random) -> Iterator[str]:
    """Every violation, as a sentence."""
    whole, begun = told(log, build, None), list[Restored[Row]]()
    publisher = StandingPublishers(log, build)
    most = max(2, 2 * max(map(log.end, PLACES)) // STEPS)
    while any(publisher.owner.seen.get(at, 0) < log.end(at) for at in PLACES):
        publisher.read(rng.randint(1, most))
        publisher.transact(dies=rng.randrange if rng.random() < DIES else None)
        if rng.random() < COMPACTS:
            publisher.keep.compact()
        begun.append(publisher.kept())
    for kept in rng.sample(begun, min(STARTS, len(begun))) + begun[-1:]:
        found = told(log, build, kept)
        for name, one, other in zip(ContainerStart._fields, found, whole, strict=True):
            if one != other:
                yield f"begun at {kept.seen}: {name} {_difference(one, other)}"


def told(log: SimulatedLog, build: int, kept: Restored[Row] | None) -> ContainerStart:
    """What a container knows of this log, from what was kept on; None: from its first record."""
    chains, known = Chains(1, TIER, log.possible), ContainerKnowledge("c0", 1, TIER)
    ends = {at: log.end(at) for at in PLACES}
    if kept is not None and not unfit(kept, Ground({}, dict.fromkeys(PLACES, 0), ends)):
        chains.begin(PARTITION, kept)
    for at in PLACES:
        for offset in range(chains.seen(at), ends[at]):
            chains.read(log.read(at, offset, KINDS, build))
    ticks = log.lines[TICKS]
    chains.settle(ticks[-1].at_ms if ticks else 0)
    while chains.standing:
        one = chains.standing.popleft()
        if isinstance(one, KeptChain):
            known.begin(one.key, one.row, one.vector)
        else:
            known.learn(one.read, one.vector)
    held = {
        key: (one.last, one.vector, one.tick_ms)
        for at in PLACES
        for key, one in chains.owners[at].held.items()
        if one.vector
    }
    return ContainerStart(
        dict(known.lists), (known.hold.defined, known.hold.timing, known.periods), held
    )


def _difference(one: Any, other: Any) -> str:
    if isinstance(one, dict):
        keys = sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
        one, other = ({key: which.get(key) for key in keys[:3]} for which in (one, other))
    return f"are {one}, and by the whole log {other}"
