"""How the row of a tier's capacity follows the log (Turbine V-F). Pure.

Containers, jobs and the tier's own chain are read from different places, in any order: what one of
them says is kept beside what the others say, and what follows from several is made again from all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from immutables import Map

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    CapacityBorrowed,
    CapacityGranted,
    CapacityLent,
    CapacityReported,
    CapacityShared,
    ContainerFailedOver,
    ContainerHeartbeat,
    ContainerReassigned,
    ContainerStarted,
    DrainRequested,
    JobConfigChanged,
    JobDeleted,
    JobLimit,
    JobsPreempted,
    JobsRestored,
    OverrideExpired,
    PreemptionRequested,
    ResourceUse,
    ScalingDecided,
    ScalingDeclined,
    ShardLoadsReported,
    TierDefined,
    UndrainRequested,
)
from events.wire.codec import Read
from projections.capacity import (
    CAPACITY,
    GRANT,
    PLACEMENT,
    SHORT,
    STOP,
    Capacity,
    Moving,
    Neighbour,
    OwedEffect,
    Stopped,
    TierLoan,
    TierReport,
)
from projections.demands import demand_of, wish_of
from projections.headroom import counted, drained, lived, reassigned, weighed
from projections.loads import RESOURCES, units_of
from projections.resource_sums import NOTHING, minus, plus
from projections.settings import placing_of, sharing_of
from turbine_client.identity import effect_id


def fold(row: Capacity | None, read: Read, tier: str = "default") -> Capacity:
    """The row after the record. What is read first may be about another tier, so that the tier's
    name is the reader's to know."""
    row = row or Capacity(tier)
    record = read.record
    body = record.body
    if body is None:
        return row
    turn = _FACTS.get(type(body))
    if turn is not None:
        return turn(row, body, read)
    if record.key == f"{tier}/{CAPACITY}":
        return apply(row, body, record.tick_ms, record.id)
    return _of_another(row, body, record.tick_ms, record.id)


def apply(row: Capacity, body: Body, now_ms: int, decision_id: str = "") -> Capacity:
    """After a decision of that instant; deciders look ahead of their own words with it."""
    match body:
        case CapacityReported():
            return _reported(row, body, now_ms)
        case CapacityShared():
            row = _limited(row, body.limits, body.explanation, decision_id)
            return row._replace(more=body.more, shared_ms=now_ms)
        case JobsPreempted():
            return _preempted(row, body, now_ms, decision_id)
        case JobsRestored():
            gone = row.preempted.mutate()
            for one in body.limits:
                gone.pop(one.job, None)
            row = row._replace(preempted=gone.finish(), stepped_ms=now_ms)
            return _limited(row, body.limits, body.explanation, decision_id)
        case CapacityLent() | CapacityBorrowed():
            return _loaned(row, body, now_ms, decision_id)
        case AlertRaised():
            return row._replace(alerts=row.alerts.set(body.alert, None))
        case AlertCleared():
            return row._replace(alerts=_without(row.alerts, body.alert))
        case _:
            return row


# --- jobs


def _configured(row: Capacity, body: JobConfigChanged | OverrideExpired, _: Read) -> Capacity:
    return _demanded(row, body.job, body.expected_json)


def _deleted(row: Capacity, body: JobDeleted, _: Read) -> Capacity:
    return _demanded(row, body.job, "{}")


def _demanded(row: Capacity, job: str, expected_json: str) -> Capacity:
    before, now = row.jobs.get(job), demand_of(expected_json, row.tier)
    if now != before:
        asked = before.asked if before is not None else NOTHING
        reserved = plus(minus(row.reserved, asked), now.asked if now is not None else NOTHING)
        jobs = _without(row.jobs, job) if now is None else row.jobs.set(job, now)
        row = row._replace(jobs=jobs, reserved=reserved)
    if now is None or row.wishes.get(job, now.tasks + 1) <= now.tasks:
        row = row._replace(wishes=_without(row.wishes, job))
    return _opened(row, job)


def _wished(row: Capacity, body: ScalingDecided | ScalingDeclined, _: Read) -> Capacity:
    """What the scaler would give the job if its tier had room for it."""
    demand, wish = row.jobs.get(body.job), wish_of(body)
    if demand is None:
        return row
    wishes = _without(row.wishes, body.job)
    if wish > demand.tasks:
        wishes = wishes.set(body.job, wish)
    return _opened(row._replace(wishes=wishes), body.job)


def _opened(row: Capacity, job: str) -> Capacity:
    """Whether the job's limit has to be looked at, as long as the tier is tight."""
    demand, limit = row.jobs.get(job), row.limits.get(job)
    fits = limit is None if demand is None else limit in (None, demand.tasks)
    if fits and job not in row.wishes:
        return row._replace(open=_without(row.open, job)) if job in row.open else row
    return row if job in row.open else row._replace(open=row.open.set(job, None))


# --- what was read back


def _heard(row: Capacity, body: CapacityGranted | PreemptionRequested, read: Read) -> Capacity:
    """What is owed was said. A copy of an older word that came late, or one of a tier that the job
    has left, counts for its scaler, as it is the last one there: so the job is told again."""
    job, owed = body.job, row.owed.get(body.job)
    if owed is not None:
        return row._replace(owed=row.owed.delete(job)) if owed.id == read.record.id else row
    if body.tier == row.tier:
        stray = row.words.get(job, read.record.id) != read.record.id
    else:
        # By own decisions alone: a config may be read before or after the other tier's word.
        stray = job in row.limits or job in row.preempted
    if not stray:
        return row
    stopped = row.preempted.get(job)
    if stopped is None:
        return row._replace(stray=row.stray.set(job, None))
    why, decided = stopped.explanation, stopped.decision_id
    again = OwedEffect(stopped.id, STOP, 0, why, decision_id=decided)
    return row._replace(owed=row.owed.set(job, again))


# --- decisions


def _defined(row: Capacity, body: TierDefined, read: Read) -> Capacity:
    if read.record.key != f"{body.tier}/{PLACEMENT}":
        return row
    row = row._replace(regions=row.regions.set(body.tier, body.regions))
    if body.tier != row.tier:
        return row
    settings = body.settings_json
    return row._replace(defined=True, sharing=sharing_of(settings), placing=placing_of(settings))


def _reported(row: Capacity, body: CapacityReported, now_ms: int) -> Capacity:
    numbers = [(one.capacity, one.reserved, one.used, one.lent, one.borrowed) for one in _all(body)]
    said = TierReport(
        now_ms,
        body.state,
        body.containers,
        body.jobs_waiting,
        tuple(
            tuple(units_of(amount, at) for at, amount in enumerate(column))
            for column in zip(*numbers, strict=True)
        ),
    )
    short_ms = None if body.state != SHORT else now_ms if row.short_ms is None else row.short_ms
    return row._replace(said=said, short_ms=short_ms)


def _all(body: CapacityReported) -> list[ResourceUse]:
    """What the report says of each resource, by `RESOURCES`; nothing of one it does not name."""
    known = {one.resource: one for one in body.resources}
    return [known.get(name) or ResourceUse(name, 0.0, 0.0) for name in RESOURCES]


def _limited(
    row: Capacity, told: tuple[JobLimit, ...], explanation: str, decision_id: str
) -> Capacity:
    limits, owed, words = row.limits.mutate(), row.owed.mutate(), row.words.mutate()
    for one in told:
        if one.tasks_max is None:
            limits.pop(one.job, None)
        else:
            limits[one.job] = one.tasks_max
        words[one.job] = effect_id(decision_id, one.job)
        owed[one.job] = OwedEffect(
            words[one.job],
            GRANT,
            one.priority,
            explanation,
            one.tasks_max,
            tuple((amount.resource, amount.amount) for amount in one.resources),
            decision_id,
        )
    row = row._replace(limits=limits.finish(), owed=owed.finish(), words=words.finish())
    for one in told:
        row = _opened(row._replace(stray=_without(row.stray, one.job)), one.job)
    return row


def _preempted(row: Capacity, body: JobsPreempted, now_ms: int, decision_id: str) -> Capacity:
    preempted, owed, words = row.preempted.mutate(), row.owed.mutate(), row.words.mutate()
    for job in body.jobs:
        words[job] = effect_id(decision_id, job)
        preempted[job] = Stopped(now_ms, words[job], body.explanation, decision_id)
        owed[job] = OwedEffect(words[job], STOP, 0, body.explanation, decision_id=decision_id)
        row = row._replace(stray=_without(row.stray, job))
    return row._replace(
        preempted=preempted.finish(),
        owed=owed.finish(),
        words=words.finish(),
        stepped_ms=now_ms,
    )


# --- loans


def _of_another(row: Capacity, body: Body, now_ms: int, decision_id: str) -> Capacity:
    match body:
        case CapacityReported():
            lacking = tuple(units_of(one.lacking, at) for at, one in enumerate(_all(body)))
            one = Neighbour(body.state, now_ms, lacking)
            return row._replace(neighbours=row.neighbours.set(body.tier, one))
        case CapacityLent() | CapacityBorrowed():
            return _loaned(row, body, now_ms, decision_id)
        case _:
            return row


def _loaned(
    row: Capacity, body: CapacityLent | CapacityBorrowed, now_ms: int, decision_id: str
) -> Capacity:
    if isinstance(body, CapacityBorrowed):
        loan = row.loans.get(body.loan_id)
        if loan is None or loan.borrower != body.tier:
            return row
        loan = loan._replace(taken=True, offered=not body.containers)
        return row._replace(loans=row.loans.set(body.loan_id, loan))
    before = row.loans.get(body.loan_id)
    other = before is not None and before.lender != body.tier
    if other or row.tier not in (body.tier, body.borrower):
        return row
    ours, to = body.tier == row.tier, body.borrower if body.containers else body.tier
    names = body.containers or (before.containers if before is not None else ())
    loan = TierLoan(body.tier, body.borrower, names, now_ms)
    loans = row.loans.set(body.loan_id, loan)
    row = row._replace(
        loans=loans if body.containers else loans.delete(body.loan_id),
        made=row.made + ours,
        lent_ms=now_ms,
    )
    for name in names:
        row = counted(row._replace(tenants=row.tenants.set(name, to)), name)
        if ours:  # the lender tells: one author, whose changes have numbers
            told = effect_id(decision_id, name)
            one = Moving(told, to, row.made, decision_id, body.explanation)
            row = row._replace(moving=row.moving.set(name, one))
    return row


_FACTS: dict[type, Callable[[Capacity, Any, Read], Capacity]] = {
    ContainerStarted: lived,
    ContainerHeartbeat: lived,
    ContainerFailedOver: lived,
    ContainerReassigned: reassigned,
    ShardLoadsReported: weighed,
    DrainRequested: drained,
    UndrainRequested: drained,
    JobConfigChanged: _configured,
    OverrideExpired: _configured,
    JobDeleted: _deleted,
    ScalingDecided: _wished,
    ScalingDeclined: _wished,
    CapacityGranted: _heard,
    PreemptionRequested: _heard,
    TierDefined: _defined,
}
_DECISIONS = (
    AlertCleared,
    AlertRaised,
    CapacityBorrowed,
    CapacityLent,
    CapacityReported,
    CapacityShared,
    JobsPreempted,
    JobsRestored,
)
FOLDED_KINDS = frozenset(one.__name__ for one in (*_FACTS, *_DECISIONS))


def _without(known: Map, key: object) -> Map:  # type: ignore[type-arg]  # of any keys and values
    return known.delete(key) if key in known else known
