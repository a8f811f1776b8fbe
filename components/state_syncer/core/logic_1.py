"""The state syncer as it decided first. Pure.

Of requests that live 64 were kept, answered or not, and further ones refused. A start was brought
to its end although nobody was there to begin it, and a stop waited for tasks that nobody had begun.
What had been said to run was taken to run, whatever its tasks were told meanwhile. A deletion was
taken to leave no state behind, and one who was created again amid it to read anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from components.state_syncer.decide import SyncRules
from components.state_syncer.decide import component as newest
from components.state_syncer.decide import decide as decide_now
from events.generated.records import Body, SyncCommitted
from events.wire.codec import Read
from projections.ingress import CROWDED, FIRST_ROOM
from projections.kept_state import DELETED, PAUSED, StatefulJob, Stay, stays_behind, wish_of
from projections.syncs import Sync
from projections.syncs import fold as fold_now


def _stays(kept: StatefulJob, config_json: str) -> Stay | None:
    return None if kept.wish != kept.reset else stays_behind(kept, config_json)


RULES = SyncRules(no_room=CROWDED, unheard=False, first=True, stays=_stays)


def fold(row: Sync | None, read: Read) -> Sync:
    """The row as it was then."""
    after, body = fold_now(row, read, FIRST_ROOM), read.record.body
    if not isinstance(body, SyncCommitted):
        return after
    before, state = row or Sync(read.record.key), (body.generation + 1, False)
    empty = body.state == PAUSED and wish_of(body.reset_json) != before.kept.reset
    if empty or body.state == DELETED:
        after = after._replace(state=max(before.state, state))
    return after._replace(left=("", ""))


def decide(row: Sync, now_ms: int) -> Iterator[Body]:
    """What was said of the job then."""
    return decide_now(row, now_ms, RULES)


component = replace(newest, logic="state-syncer/1", fold=fold, decide=decide)
