"""How a job's row changes by what is read of it. Pure, total, and blind to the order of topics."""

from __future__ import annotations

from array import array
from math import nan

from events.generated.records import (
    CapacityGranted,
    ConfigChangeProposed,
    PreemptionRequested,
    TaskLoadReported,
    WorkloadProfiled,
)
from events.topics import CHANGES
from events.wire.codec import Read
from projections.ingress import admit
from projections.scaling import ring
from projections.scaling.apply import apply
from projections.scaling.model import Watch, learn, watched
from projections.scaling.rounds import rounds_after
from projections.scaling.row import SHRINK, STOP, Days, Grant, LearntLoads, ScalingRow
from projections.scaling.seen import DAY_MS
from projections.scaling.splits import MOST

ASKS = CHANGES["scaler"]
SLOTS_MOST = 1_440
"""Of a day: a minute each."""
TEXT_CHARS = 512
DAYS_MOST = 3_650


def fold(row: ScalingRow | None, read: Read, watch: Watch = watched) -> ScalingRow:
    """The row after the record. Total; what does not concern it changes nothing."""
    record = read.record
    row = ScalingRow(record.key) if row is None else row
    match record.body:
        case TaskLoadReported() as body:
            return _learnt(row, body, read.at_ms, watch)
        case ConfigChangeProposed() as body:
            return _asked(row, read, body) if read.topic == ASKS else row
        case CapacityGranted() | PreemptionRequested() as body:
            return row._replace(grant=_grant(body))
        case WorkloadProfiled() as body:
            return row._replace(days=_days(row.days, body))
        case None:
            return row
        case body:
            return apply(row, body, record.tick_ms)


def _learnt(row: ScalingRow, body: TaskLoadReported, at_ms: int, watch: Watch) -> ScalingRow:
    before = row.learnt
    rounds, minutes = rounds_after(before.rounds, body, at_ms)
    if rounds is before.rounds:
        return row
    known, packed = before.known, before.ring
    for minute in minutes:
        known = learn(known, minute.tasks * (minute.threads or 1), minute, watch)
        packed = ring.kept(packed, minute)
    return row._replace(learnt=LearntLoads(rounds, known, packed))


def _asked(row: ScalingRow, read: Read, body: ConfigChangeProposed) -> ScalingRow:
    """Our own proposal is read back, or somebody else's: the authority is the topic."""
    name = read.record.id
    ingress, counts = admit(row.ingress, name, body, len(read.record.value), read.at_ms)
    ours = any(owed.id == name for owed in row.owed)
    change = row.change
    if ours and not counts and change is not None and change.id == name:
        change = change._replace(lapsed=True)
    owed = tuple([one for one in row.owed if one.id != name]) if ours else row.owed
    return row._replace(ingress=ingress, change=change, owed=owed)


def _grant(body: CapacityGranted | PreemptionRequested) -> Grant:
    said = body.explanation[:TEXT_CHARS]
    most = None if body.tasks_max is None else max(0, body.tasks_max)
    if isinstance(body, CapacityGranted):
        name, priority = body.grant_id[:TEXT_CHARS], body.priority
        return Grant(name, most, False, False, said, body.until_ms, priority)
    stop = body.action == STOP or most == 0
    name, shrink = body.request_id[:TEXT_CHARS], body.action == SHRINK and not stop
    return Grant(name, most, stop, shrink, said, body.until_ms)


def _days(before: Days, body: WorkloadProfiled) -> Days:
    """The newest profile; one that a row cannot hold is none."""
    if body.to_ms <= before.to_ms or body.slot_ms <= 0 or DAY_MS % body.slot_ms:
        return before
    count = DAY_MS // body.slot_ms
    if count > SLOTS_MOST:
        return before
    mean, peak, days = [nan] * count, [nan] * count, 0
    for one in body.slots:
        if 0 <= one.slot < count:
            mean[one.slot] = _single(one.records_in_per_s_mean)
            peak[one.slot] = _single(one.records_in_per_s_peak)
            days = max(days, min(one.days, DAYS_MOST))
    packed_mean, packed_peak = array("f", mean).tobytes(), array("f", peak).tobytes()
    return Days(body.to_ms, body.slot_ms, days, packed_mean, packed_peak)


def _single(value: float) -> float:
    return min(max(0.0, value), MOST)
