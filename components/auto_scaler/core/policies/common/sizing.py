"""Sizes that give a job the threads and the memory it needs, within what it may have. Pure.

Vertical before horizontal (Turbine V-E): the threads of a task and its cores grow together up to a
share of a container, and only then the tasks become more. Fewer tasks come before smaller ones, as
V-C has it: what is left are few tasks near that share.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from components.auto_scaler.core.policies.common import baseline
from components.auto_scaler.core.policies.common.estimates import (
    SLACK,
    memory_of_task,
    whole,
    whole_below,
)
from components.auto_scaler.core.verdict import Clamped
from events.generated.records import Constraint
from projections.scaling.actions import JobSize
from projections.scaling.seen import JobFacts

COUNT_MOST = float(2**31 - 1)
"""What a record's count holds at most; no job comes near."""


class SizePlan(NamedTuple):
    """A size, and what became of the number of tasks on the way to it."""

    size: JobSize
    raw: int  # tasks before any constraint
    constraints: tuple[Constraint, ...] = ()


class Reserve(NamedTuple):
    """The rule by which memory is reserved: a base, a margin and a limit."""

    base: float  # MiB of a task that holds nothing
    margin: float  # what is reserved, in parts of what is used
    most: float  # MiB of one task


def size_of(job: JobFacts) -> JobSize:
    """The size that the job has now."""
    return JobSize(job.tasks, job.threads, job.cpu_cores, job.memory_mb)


def counted(value: float) -> float:
    """A number of tasks for a record, which holds nothing that is without end."""
    return min(value, COUNT_MOST)


def cores(job: JobFacts, threads: int) -> float:
    """Of a task of so many threads: as many for each as now."""
    if threads == job.threads:
        return job.cpu_cores
    return round(job.cpu_cores * threads / job.threads, 3)


def threads_most(job: JobFacts, share: float) -> int:
    """Threads for which a task has that share of a container; at least as many as it has."""
    each = job.cpu_cores / job.threads
    return max(job.threads, int(whole_below(job.container_cores * share / each)))


def within(job: JobFacts, tasks: float) -> Clamped:
    """Tasks after all that limits them."""
    return baseline.within(job, Clamped(counted(tasks)), job.partitions)


def wider(job: JobFacts, threads: float) -> SizePlan:
    """More tasks of the size they have."""
    raw = whole(threads / job.threads)
    clamped = within(job, raw)
    tasks = max(job.tasks, int(clamped.value))
    return SizePlan(size_of(job)._replace(tasks=tasks), int(counted(raw)), clamped.constraints)


def larger(job: JobFacts, threads: float, share: float) -> SizePlan:
    """Larger tasks up to a share of a container, and more of them beyond it (V-E)."""
    most = float(threads_most(job, share))
    each = Clamped(counted(max(float(job.threads), whole(threads / job.tasks))))
    note = f"a task has at most {share:.2f} of a container"
    each = each.through("container-share", lambda value: min(value, most), note)
    raw = max(float(job.tasks), whole(threads / each.value))
    clamped = within(job, raw)
    tasks, own = max(job.tasks, int(clamped.value)), int(each.value)
    size = JobSize(tasks, own, cores(job, own), job.memory_mb)
    return SizePlan(size, int(counted(raw)), each.constraints + clamped.constraints)


def narrower(
    job: JobFacts, threads: float, least: tuple[tuple[str, float, str], ...] = ()
) -> SizePlan:
    """Fewer tasks of the size they have: `ceil(X/P)` (V-C), and not below what else needs them."""
    raw = max(1.0, whole(threads / job.threads))
    clamped = Clamped(raw)
    for name, bound, note in least:
        clamped = clamped.through(name, partial(max, counted(bound)), note)
    now = float(job.tasks)
    note = "a quiet job is not made larger"
    clamped = clamped.through("as-it-is", lambda value: min(value, now), note)
    tasks = int(clamped.value)
    return SizePlan(size_of(job)._replace(tasks=tasks), int(counted(raw)), clamped.constraints)


def smaller(job: JobFacts, threads: float) -> JobSize:
    """As many tasks with fewer threads: what is left to give back where no task can go."""
    own = min(job.threads, max(1, int(whole(threads / job.tasks))))
    return size_of(job)._replace(threads=own, cpu_cores=cores(job, own))


def reserved(used: float, reserve: Reserve) -> Clamped:
    """MiB that are reserved for a task that uses so much."""
    clamped = Clamped(whole(used * reserve.margin))
    least, most = float(int(reserve.base)), float(int(reserve.most))
    clamped = clamped.through("memory-base", lambda value: max(value, least), "of an idle task")
    return clamped.through("memory-most", lambda value: min(value, most), "of one task")


def correlated(job: JobFacts, plan: SizePlan, used: float | None, reserve: Reserve) -> SizePlan:
    """The memory of each task follows where their number changes (V-B, the third rule).

    A stateful job divides what it holds among its tasks. Where nobody knows what they use, nothing
    is taken from them, and fewer tasks are given what the ones before had together. More tasks are
    never given more than now, fewer never less: both would be another decision.
    """
    size = plan.size
    if not job.stateful or size.tasks == job.tasks:
        return plan
    if used is None:
        each = max(float(job.memory_mb), job.memory_mb * job.tasks / size.tasks)
        need = Clamped(each).through("memory-most", lambda value: min(value, reserve.most))
    else:
        each = memory_of_task(used, reserve.base, job.tasks, size.tasks)
        need = reserved(each, reserve)
    bound = min if size.tasks > job.tasks else max
    memory = int(whole(bound(need.value, float(job.memory_mb))))
    told = plan.constraints + (need.constraints if memory != job.memory_mb else ())
    return plan._replace(size=size._replace(memory_mb=memory), constraints=told)


def holds(size: JobSize, job: JobFacts) -> bool:
    """Is it what the job has already?"""
    same = (size.tasks, size.threads, size.memory_mb) == (job.tasks, job.threads, job.memory_mb)
    return same and abs(size.cpu_cores - job.cpu_cores) <= SLACK
