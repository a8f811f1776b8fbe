"""What stands of the tier and of all jobs, from what was kept on or from the first record on. Pure.

It tells the same either way. What is kept is the publisher's: of each chain the last id, by which
the next decision is judged, and with it all that is known of the job, and its lists.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from components.runtime.core.component import onlooker
from components.runtime.core.ground import Ground, misfit
from components.runtime.core.progress import Possible
from components.runtime.core.standing import Row, places_of
from components.runtime.core.step import KeyState, Stepper
from components.runtime.core.store import Restored
from events.generated.records import Body, TierDefined
from events.topics import JOURNAL, TIERS, place
from events.wire.codec import Read
from projections.hold import FOLDED_KINDS as HOLD_KINDS
from projections.lists import FOLDED_KINDS as LIST_KINDS

CHAIN = place(TIERS, 0)
KINDS = HOLD_KINDS | LIST_KINDS
# Whoever only wants to know what stands.
_VIEW = onlooker(
    "task-manager",
    logic="task-manager/1",
    output=JOURNAL,
    inputs=frozenset({JOURNAL, TIERS}),
    folds=KINDS,
)


class StandingDecision(NamedTuple):
    """A decision that stands, and all that was known of its key with it."""

    read: Read
    vector: Mapping[str, int]


class KeptChain(NamedTuple):
    """What stood of a key where reading began."""

    key: str
    row: Row
    vector: Mapping[str, int]


class Chains:
    """Of all partitions, each with an owner of its own; decides nothing."""

    def __init__(self, partitions: int, tier: str, possible: Possible) -> None:
        self._tier = f"{tier}/placement"
        self._possible = possible
        self.owners: dict[str, Stepper[None]] = {}
        self.standing: deque[StandingDecision | KeptChain] = deque()
        self._first = [place(JOURNAL, p) for p in range(partitions)]  # one of each owner's
        for partition in range(partitions):
            self._own(partition, Restored())

    def begin(self, partition: int, kept: Restored[Row]) -> None:
        """With what was kept, before anything is read of the partition."""
        self._own(partition, kept)
        for key, held in sorted(kept.held.items()):
            if not isinstance(held.row, TierDefined) or key == self._tier:
                self.standing.append(KeptChain(key, held.row, dict(held.vector)))

    def _own(self, partition: int, kept: Restored[Row]) -> None:
        places = places_of(partition)
        held: dict[str, KeyState[None]] = {
            key: KeyState(None, dict(one.vector), dict(one.last), tick_ms=one.tick_ms)
            for key, one in kept.held.items()
        }
        owner: Stepper[None] = Stepper(
            _VIEW, places, self._possible, seen=kept.seen, held=held, observer=self._observe
        )
        self.owners |= dict.fromkeys(places, owner)

    def read(self, read: Read) -> None:
        """A record of one of the places, in their order."""
        owner = self.owners[read.place]
        owner.now_ms = max(owner.now_ms, read.at_ms)
        owner.read(read)

    def pass_by(self, at: str, offset: int, at_ms: int) -> None:
        """Moves past a message of the place that is no record."""
        owner = self.owners[at]
        owner.now_ms = max(owner.now_ms, at_ms)
        owner.pass_by(at, offset, at_ms)

    def settle(self, now_ms: int) -> None:
        """After each poll: what was held back may stand by now."""
        for at in self._first:
            owner = self.owners[at]
            owner.now_ms = max(owner.now_ms, now_ms)
            owner.settle()

    def seen(self, at: str) -> int:
        """How far the place was read."""
        return self.owners[at].seen.get(at, 0)

    def _observe(self, read: Read, stands: bool) -> None:
        record = read.record
        if not stands or not isinstance(record.body, Body) or record.kind not in KINDS:
            return
        if read.place == CHAIN and record.key != self._tier:
            return
        vector = dict(self.owners[read.place].held[record.key].vector)
        self.standing.append(StandingDecision(read, vector))


def unfit(kept: Restored[Row], ground: Ground) -> str:
    """Why one cannot begin with what was kept; "" where one can."""
    if not kept.seen:
        return "nothing is kept"
    if any(held.early for held in kept.held.values()):
        return "some of it waits for what was not read yet"
    return misfit(kept.log, kept.seen, ground)
