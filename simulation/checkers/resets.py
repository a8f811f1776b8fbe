"""What operators want to be read anew: it stands until another wish, and every list says it.

Told from the log alone. What becomes of it at the broker is the seat's, and tested there.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from events.generated.records import (
    Body,
    JobDeleted,
    OffsetResetRequested,
    SyncCommitted,
    SyncPlanned,
    TaskSpecsPublished,
)
from events.wire.codec import Read
from simulation.checkers.history import History
from simulation.checkers.sync_story import Lore

RUNNING = "running"


@dataclass(slots=True)
class _ResetJob:
    """What stands at a point of the journal."""

    wish: str = ""
    state: str = ""
    committed: str = ""  # the wish that was in effect at the last commit


def check_resets(history: History) -> Iterator[str]:
    """Every violation, as a sentence."""
    lore = Lore(history)
    jobs: dict[str, _ResetJob] = defaultdict(_ResetJob)
    for read in history.standing:
        for said in _look(jobs[read.record.key], read, lore):
            yield f"{read.record.key}: {read.record.kind} at {read.offset} {said}"


def _look(job: _ResetJob, read: Read, lore: Lore) -> Iterator[str]:
    match read.record.body:
        case SyncPlanned() | SyncCommitted() as body:
            yield from _carried(job, read, body, lore)
        case TaskSpecsPublished(tasks=tasks, config_json=config_json) if tasks:
            told, wish = json.loads(config_json).get("reset"), json.loads(job.wish or "null")
            if told != wish:
                yield f"tells tasks {told}, and {wish} is what operators want"
        case JobDeleted():
            job.wish = ""
        case _:
            return


def _carried(
    job: _ResetJob, read: Read, body: SyncPlanned | SyncCommitted, lore: Lore
) -> Iterator[str]:
    asked: Body | None = None
    if body.change_id is not None and (isinstance(body, SyncPlanned) or body.kind == "simple"):
        asked = lore.asked(read, body.change_id)  # what comes of a plan is about what stands
    if isinstance(asked, OffsetResetRequested):
        told = json.loads(body.reset_json or "{}")
        if (told.get("id"), told.get("to")) != (body.change_id, asked.to):
            yield f"is for the reset {body.change_id} to {asked.to}, and says {told}"
    elif body.reset_json != job.wish:
        yield f"says {body.reset_json!r}, and {job.wish!r} is what operators want"
    job.wish = body.reset_json
    if isinstance(body, SyncPlanned):
        return
    anew = body.reset_json not in ("", job.committed)
    if anew and body.kind == "simple" and job.state == body.state == RUNNING:
        yield "has tasks that run read anew, and they were not stopped"
    job.state, job.committed = body.state, body.reset_json
