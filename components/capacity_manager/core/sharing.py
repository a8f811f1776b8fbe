"""Which job may have how many tasks (Turbine V-F). Pure.

Where there is plenty nobody has a limit, and the scaler of each job decides alone. Once a tier is
tight everyone keeps what it has, and what is left goes to those who wait, the privileged first. A
job for which not all fits gets as much as does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from components.capacity_manager.core.levels import Levels, fits, levels_of, told_share
from events.generated.records import CapacityShared, JobLimit
from projections.capacity import PLENTY, UNKNOWN, Capacity, Demand
from projections.resource_sums import minus, times, told

LIMITS_MOST = 200
"""In one record. Each owes its job a grant, and no more than so many are said at once."""


def rank(job: str, demand: Demand | None) -> tuple[bool, int, str]:
    """Who is served first: the privileged, then by priority, then by name."""
    if demand is None:
        return True, 0, job
    return not demand.privileged, -demand.priority, job


def share_out(row: Capacity, now_ms: int) -> Iterator[CapacityShared]:
    """The limits that change; once a minute, or until all of them are told."""
    said = row.said
    if said is None or said.state == UNKNOWN:
        return  # nothing is known, so what stands stands
    if not row.more and row.shared_ms and now_ms < row.shared_ms + row.sharing.pause_ms:
        return
    levels = levels_of(row, now_ms)
    if said.state == PLENTY:
        why = f"tier {row.tier} has plenty again: {told_share(levels)}"
        changes = _lifted(row)
    else:
        waiting = sum(1 for _ in row.waiting())
        why = (
            f"tier {row.tier} is {said.state}: {told_share(levels)}; every job keeps its tasks,"
            f" and what is left goes by priority to {waiting} that want more"
        )
        changes = _limited(row, levels)
    found = list(islice(changes, LIMITS_MOST + 1))
    if found:
        more = len(found) > LIMITS_MOST
        yield CapacityShared(row.tier, tuple(found[:LIMITS_MOST]), why, more)


def limit_of(job: str, demand: Demand, tasks_max: int | None, wanted: int | None) -> JobLimit:
    """A job's limit as a record has it."""
    return JobLimit(
        job=job,
        tasks=demand.tasks,
        tasks_max=tasks_max,
        tasks_wanted=wanted,
        priority=demand.priority,
        resources=() if tasks_max is None else told(times(demand.each, tasks_max)),
    )


def no_limit(job: str, demand: Demand | None) -> JobLimit:
    """None any more, also for a job that is gone: it may come again under its name."""
    if demand is None:
        return JobLimit(job, 0)
    return limit_of(job, demand, None, None)


def _lifted(row: Capacity) -> Iterator[JobLimit]:
    """Of all: there is no plenty as long as a job is stopped, which a grant would let run again."""
    for job in sorted({*row.limits, *row.stray}, key=lambda one: rank(one, row.jobs.get(one))):
        yield no_limit(job, row.jobs.get(job))


def _limited(row: Capacity, levels: Levels) -> Iterator[JobLimit]:
    found = dict(_waiters(row, levels))
    new = [job for job in row.jobs if job not in row.limits]
    candidates = {*row.open, *new, *row.stray} - set(row.preempted)
    for job in sorted(candidates, key=lambda one: rank(one, row.jobs.get(one))):
        demand = row.jobs.get(job)
        if demand is None:
            if job in row.limits or job in row.stray:
                yield no_limit(job, None)
            continue
        tasks_max, wanted = found.get(job, (demand.tasks, None))
        if row.limits.get(job) != tasks_max or job in row.stray:
            yield limit_of(job, demand, tasks_max, wanted)


def _waiters(row: Capacity, levels: Levels) -> Iterator[tuple[str, tuple[int, int]]]:
    """What each job that waits may have, and what it wants.

    Room is given up to what is usable, and what was given is left where it still fits into the
    head-room: else each report of loads would take some back.
    """
    usable = levels.usable
    room, spare = minus(usable, levels.load), minus(levels.capacity, levels.load)
    for job, demand, wanted in sorted(row.waiting(), key=lambda one: rank(one[0], one[1])):
        more = fits(room, demand.each, usable, wanted - demand.tasks)
        kept = min(row.limits.get(job, 0), wanted) - demand.tasks
        if kept > more:
            more = max(more, fits(spare, demand.each, usable, kept))
        room = minus(room, times(demand.each, more))
        spare = minus(spare, times(demand.each, more))
        yield job, (demand.tasks + more, wanted)
