"""What is told of a job beside the projections' rows: lists, loads, last words and failures. Pure.

Each part is folded by the function that the command line folds it with.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from immutables import Map

from events.generated.records import (
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    SyncFailed,
    TaskFailed,
    TaskLoadReported,
    TaskStarted,
    TaskStopped,
)
from events.wire.codec import SKIPPED, Read
from projections import lists
from projections.lists import TaskLists
from projections.reports import Report, report_of
from turbine.read.state.running import FAILURES_KEPT

FRESH_MS = 300_000
"""Tasks report every minute: who has not for five says nothing about now."""

Rank = tuple[int, int, int, int]
Loads = Map[int, tuple[Rank, TaskLoadReported, int]]
"""Of each task the report with the greatest rank, whichever comes last, and its instant. Apart from
the other notes: it changes every minute, and they do not."""
UNLOADED: Loads = Map()

WORDS = (ScalingDecided, ScalingDeclined, ScalingVerified, ScalingReverted)


class Notes(NamedTuple):
    """What is noted of one job."""

    lists: TaskLists | None = None
    words: Map[str, Read] = Map()  # the scaler's last standing word of each kind
    last: str = ""  # the kind of the last of them
    seen: Map[int, tuple[Report, str, int]] = Map()  # each task's last report, container, epoch
    failures: tuple[tuple[SyncFailed, int], ...] = ()  # the last ones, with their instants
    fell: Map[int, tuple[str, int]] = Map()  # where the last failure of each task lies in the log
    updated_ms: int = 0  # when anything was said of it last
    decisions: int = 0  # that stand


NOTHING = Notes()


def decided(notes: Notes, read: Read) -> Notes:
    """After a decision of the journal that stands."""
    record, body = read.record, read.record.body
    notes = notes._replace(
        updated_ms=max(notes.updated_ms, read.at_ms), decisions=notes.decisions + 1
    )
    if body is None or body is SKIPPED:
        return notes
    if isinstance(body, WORDS):
        # Its bytes are in the log: thousands of jobs would hold them for nothing.
        slim = replace(read, record=replace(record, value=b""))
        return notes._replace(words=notes.words.set(record.kind, slim), last=record.kind)
    return notes


def synced(notes: Notes, read: Read, *, stands: bool) -> Notes:
    """After what the state syncer has folded: it waits for what tasks report, and so do these."""
    record, body = read.record, read.record.body
    if isinstance(body, TaskStarted | TaskStopped | TaskFailed):
        return _reported(_fell(notes, body, read), body, read.at_ms)
    if not stands:
        return notes
    if record.kind in lists.FOLDED_KINDS:
        notes = notes._replace(lists=lists.fold(notes.lists, read))
    if isinstance(body, SyncFailed) and body.change_id is None:
        kept = (*notes.failures, (body, read.at_ms))
        return notes._replace(failures=kept[-FAILURES_KEPT:])
    return notes


def _fell(notes: Notes, body: TaskStarted | TaskStopped | TaskFailed, read: Read) -> Notes:
    """Its traceback stays in the log: thousands of them would be held for nobody."""
    if not isinstance(body, TaskFailed):
        return notes
    known = notes.fell.get(body.task)
    if known is not None and known[1] >= read.offset:
        return notes
    return notes._replace(fell=notes.fell.set(body.task, (read.place, read.offset)))


def _reported(notes: Notes, body: TaskStarted | TaskStopped | TaskFailed, at_ms: int) -> Notes:
    now, known = report_of(body, at_ms), notes.seen.get(body.task)
    if known is not None and known[0] >= now:
        return notes
    return notes._replace(seen=notes.seen.set(body.task, (now, body.container, body.epoch)))


def begins_again(before: Notes, read: Read) -> bool:
    """Does a task run that has run before: after a failure, a move, or in another shape?"""
    body = read.record.body
    return isinstance(body, TaskStarted) and body.task in before.seen


def loaded(loads: Loads, read: Read) -> Loads:
    """After a task has said what it did."""
    body = read.record.body
    if not isinstance(body, TaskLoadReported):
        return loads
    rank = (body.generation.specs, body.generation.shard, body.epoch, body.count)
    known = loads.get(body.task)
    if known is not None and known[0] >= rank:
        return loads
    return loads.set(body.task, (rank, body, read.at_ms))
