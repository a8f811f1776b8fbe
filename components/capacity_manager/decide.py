"""How much each job of a tier may have, what tiers lend each other, and who stops (Turbine V-F)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

from components.capacity_manager.core.lending import lend
from components.capacity_manager.core.levels import levels_of, told_over, told_share
from components.capacity_manager.core.reporting import report
from components.capacity_manager.core.row_json import dump, load
from components.capacity_manager.core.sharing import share_out
from components.capacity_manager.core.stopping import bring_back, stop_jobs, stop_ms
from components.runtime.core.component import Component, Effect
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    CapacityGranted,
    ContainerReassigned,
    PreemptionRequested,
    ResourceAmount,
)
from events.topics import CONTAINERS, GRANTS, JOURNAL, OPERATOR, TIERS
from events.wire.codec import Read
from projections.capacity import CAPACITY, STOP, Capacity, OwedEffect
from projections.capacity_folds import FOLDED_KINDS, apply, fold

SHORTAGE = "tier-short"
RUNBOOK = "docs/runbooks/tier-short.md"
LOGIC = "capacity-manager/1"
JOBS_TOLD = 20
SAYS = frozenset(
    {
        "AlertCleared",
        "AlertRaised",
        "CapacityBorrowed",
        "CapacityLent",
        "CapacityReported",
        "CapacityShared",
        "JobsPreempted",
        "JobsRestored",
    }
)


def decide(row: Capacity, now_ms: int) -> Iterator[Body]:
    """How the tier stands comes first: all else follows from what was said of that."""
    if not row.defined:
        return
    for turn in (report, stop_jobs, bring_back, _tell, lend, share_out):
        for body in turn(row, now_ms):
            yield body
            row = apply(row, body, now_ms)


def effects(row: Capacity) -> Iterator[Effect]:
    """What containers and jobs are told in their own partitions, where their task managers and
    scalers read it. Stops come before grants: who gets what they free is decided later."""
    for name, one in sorted(row.moving.items()):
        reason = one.explanation
        told = ContainerReassigned(name, one.tier, one.number, one.decision_id, reason)
        yield Effect(CONTAINERS, one.id, told, name, one.decision_id)
    for job, owed in sorted(row.owed.items(), key=_urgent):
        body: Body
        if owed.kind == STOP:
            body = PreemptionRequested(job, owed.id, row.tier, "stop", owed.explanation)
        else:
            body = CapacityGranted(
                job=job,
                grant_id=owed.id,
                tier=row.tier,
                resources=tuple(ResourceAmount(*one) for one in owed.resources),
                explanation=owed.explanation,
                tasks_max=owed.tasks_max,
                priority=owed.priority,
            )
        yield Effect(GRANTS, owed.id, body, job, owed.decision_id)


def wake_ms(row: Capacity, now_ms: int) -> int | None:
    """The next instant at which something may be due although nothing arrives."""
    if not row.defined:
        return None
    sharing, stepped_ms = row.sharing, row.stepped_ms + row.sharing.step_ms
    due = [stepped_ms, row.lent_ms + sharing.step_ms, row.shared_ms + sharing.pause_ms]
    if row.said is not None:
        due += [row.said.at_ms + sharing.pause_ms, row.said.at_ms + sharing.report_ms]
    if row.short_ms is not None:
        due.append(row.short_ms + sharing.short_ms)
    if (stop := stop_ms(row)) is not None:
        due.append(stop)
    due += [loan.since_ms + sharing.loan_ms for loan in row.loans.values()]
    due += [one.at_ms + sharing.step_ms for one in row.preempted.values()]
    return min((at_ms for at_ms in due if at_ms > now_ms), default=None)


def _urgent(one: tuple[str, OwedEffect]) -> tuple[bool, int, str]:
    job, owed = one
    return owed.kind != STOP, -owed.priority, job


def _tell(row: Capacity, now_ms: int) -> Iterator[Body]:
    """One alert while a tier is short for longer than it takes to recover by itself, or keeps jobs
    from running."""
    since_ms = row.short_ms
    lasting = since_ms is not None and now_ms >= since_ms + row.sharing.short_ms
    if (lasting or row.preempted) and SHORTAGE not in row.alerts:
        levels, jobs = levels_of(row, now_ms), sorted(row.preempted)
        said = told_over(levels) or told_share(levels)
        cause = f"tier {row.tier} has not enough: {said}"
        if jobs:
            cause += f"; {len(jobs)} jobs are stopped for the others, {jobs[0]} among them"
        details = {"jobs": jobs[:JOBS_TOLD], "lacking": list(levels.lacking)}
        yield AlertRaised(
            subject=row.tier,
            alert=SHORTAGE,
            severity="critical",
            cause=cause,
            runbook=RUNBOOK,
            details_json=json.dumps(details, separators=(",", ":")),
        )
    elif SHORTAGE in row.alerts and since_ms is None and not row.preempted:
        yield AlertCleared(row.tier, SHORTAGE, "there is enough for all of its jobs again")


def key_of(_: Read, tier: str = "default") -> str:
    """One row for the tier: all that is read moves it, as it may borrow from any other."""
    return f"{tier}/{CAPACITY}"


def component_of(tier: str) -> Component[Capacity]:
    """The capacity manager of one tier."""
    return Component(
        name="capacity-manager",
        # What is kept of another tier must not be taken for this one's.
        logic=LOGIC if tier == "default" else f"{LOGIC}@{tier}",
        output=TIERS,
        inputs=frozenset({TIERS, CONTAINERS, JOURNAL, GRANTS, OPERATOR}),
        folds=FOLDED_KINDS,
        says=SAYS,
        fold=partial(fold, tier=tier),
        decide=decide,
        effects=effects,
        wake_ms=wake_ms,
        dump=dump,
        load=load,
        key_of=partial(key_of, tier=tier),
    )


component = component_of("default")
