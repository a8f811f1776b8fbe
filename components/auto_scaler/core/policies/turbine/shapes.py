"""The cheapest size that reads as much as a job needs: tasks, and threads of each. Pure.

A job whose tasks have whole partitions is as fast as the task with most of them, so some numbers of
tasks waste what others use. A task is at most a share of a container, so that it can be moved
(Turbine V-E). Larger tasks share what each process needs for itself; more of them come in finer
steps.
"""

from __future__ import annotations

from math import ceil, inf
from typing import NamedTuple

from components.auto_scaler.core.policies.common.sizing import size_of, threads_most
from projections.scaling.actions import JobSize
from projections.scaling.capacity import Curve
from projections.scaling.seen import GB_OF_A_CORE, JobFacts

ALIKE = 0.05
"""Of a price: for no more than that, fewer and larger tasks are taken (vertical first, V-E)."""


MEMORY_STEP = 32
"""MiB: less is not worth a change."""


class SizeRoom(NamedTuple):
    """What a size has to keep to."""

    share: float = 0.2  # of a container, for one task
    memory_mb: int = 256  # of one task, at least
    state_mb: float = 0.0  # that tasks share: with fewer of them each has more

    def memory_of(self, tasks: int) -> int:
        """MiB of one of so many tasks."""
        if self.state_mb <= tasks * self.memory_mb:
            return self.memory_mb
        return MEMORY_STEP * ceil(self.state_mb / tasks / MEMORY_STEP)


def even(partitions: int | None, tasks: int) -> float:
    """What tasks with whole partitions read of what they could, the slowest counting for all."""
    if partitions is None:
        return 1.0
    return partitions / (tasks * -(-partitions // tasks))


def price(cores: float, memory_mb: float) -> float:
    """Of a size, in cores."""
    return cores + memory_mb / 1024 / GB_OF_A_CORE


def price_of(job: JobFacts) -> float:
    """Of the size that it has."""
    return price_of_size(size_of(job))


def price_of_size(size: JobSize) -> float:
    """The price of a size that the job need not have."""
    return price(size.tasks * size.cpu_cores, size.tasks * size.memory_mb)


def reads(curve: Curve, job: JobFacts) -> float:
    """Records a second that the job reads at its size."""
    return curve.reads(job.tasks * job.threads) * even(job.partitions, job.tasks)


def tasks_most(job: JobFacts) -> int:
    """By its limit, its partitions, and what its tier has granted."""
    most = job.tasks_max
    if job.partitions is not None:
        most = min(most, job.partitions)
    if job.granted is not None:
        most = min(most, max(job.granted, job.tasks))
    return max(1, most)


def price_least(curve: Curve, job: JobFacts, need: float, room: SizeRoom) -> float:
    """No size that reads so much costs less: whole threads, none wasted, in the largest tasks."""
    threads = max(1, ceil(curve.threads_for(need) - 1e-9))
    tasks = -(-threads // threads_most(job, room.share))
    return price(threads * job.cpu_cores / job.threads, tasks * room.memory_mb)


def reads_most(curve: Curve, job: JobFacts, cost: float, room: SizeRoom) -> float:
    """Records a second: no size that costs no more reads more. Its tasks are the largest there are,
    and none of it is wasted."""
    each, most = job.cpu_cores / job.threads, threads_most(job, room.share)
    memory, left = price(0.0, room.memory_mb), cost * (1 + 1e-9)
    full = int(left / (most * each + memory))
    left -= full * (most * each + memory)
    threads = full * most + max(0, int((left - memory) / each))
    return curve.reads(threads) if threads else 0.0


def shaped(curve: Curve, job: JobFacts, need: float, room: SizeRoom) -> JobSize:
    """The fewest tasks that read so many records a second for hardly more than the cheapest size;
    the largest size where none does."""
    each = job.cpu_cores / job.threads
    most, limit = threads_most(job, room.share), tasks_most(job)
    threads, power = curve.threads_for(need), curve.power
    fits, cheapest = list[tuple[float, int, int]](), inf
    for tasks in range(max(1, int(threads / most)), limit + 1):
        if price(threads * each, tasks * room.memory_mb) > cheapest * (1 + ALIKE):
            break  # more tasks only cost more memory
        wasted = even(job.partitions, tasks) ** (1 / power)
        own = max(1, ceil(threads / (tasks * wasted) - 1e-9))
        if own <= most and _holds(job, tasks, room):
            found = price(tasks * own * each, tasks * room.memory_of(tasks))
            fits.append((found, tasks, own))
            cheapest = min(cheapest, found)
    for found, tasks, own in fits:
        if found <= cheapest * (1 + ALIKE):
            return JobSize(tasks, own, round(own * each, 6), room.memory_of(tasks))
    return JobSize(limit, most, round(most * each, 6), room.memory_of(limit))


def _holds(job: JobFacts, tasks: int, room: SizeRoom) -> bool:
    """May fewer tasks have the memory that their state takes then?"""
    return tasks >= job.tasks or room.memory_of(tasks) <= job.container_mb * room.share
