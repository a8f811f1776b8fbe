"""The state syncer as it decided first. Pure.

Of requests that live 64 were kept, answered or not, and further ones refused. A start was brought
to its end although nobody was there to begin it, and a stop waited for tasks that nobody had begun.
What had been said to run was taken to run, whatever its tasks were told meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from components.state_syncer.decide import Rules
from components.state_syncer.decide import component as newest
from components.state_syncer.decide import decide as decide_now
from events.codec import Read
from events.records import Body
from projections.ingress import CROWDED, FIRST_ROOM
from projections.syncs import Sync
from projections.syncs import fold as fold_now

RULES = Rules(no_room=CROWDED, unheard=False, by_list=False)


def fold(row: Sync | None, read: Read) -> Sync:
    """The row as it was then."""
    return fold_now(row, read, FIRST_ROOM)


def decide(row: Sync, now_ms: int) -> Iterator[Body]:
    """What was said of the job then."""
    return decide_now(row, now_ms, RULES)


component = replace(newest, logic="state-syncer/1", fold=fold, decide=decide)
