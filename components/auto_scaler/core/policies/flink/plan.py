"""The size that Flink's autoscaler gives a job, with its memory, and the quota it is held to. Pure.

A task's memory is its heap; the other pools of a task manager have no twin here.
"""

from __future__ import annotations

import math

from components.auto_scaler.core.policies.flink import formulas as f
from components.auto_scaler.core.policies.flink import resources
from components.auto_scaler.core.policies.flink.look import HEAP, Window
from components.auto_scaler.core.verdict import Clamped
from events.generated.records import Constraint
from events.job_config.policies.flink import FlinkSettings
from projections.scaling.actions import JobSize
from projections.scaling.seen import JobFacts

MIB = 1 << 20


def sized(
    window: Window, job: JobFacts, wanted: int, spec_mb: int, settings: FlinkSettings
) -> tuple[JobSize, tuple[Constraint, ...]]:
    """So many tasks, with memory tuned where it is to be, and what limited that.

    Unknown use tunes nothing. The source would take it for no use at all, and a task without memory
    is no config.
    """
    size = JobSize(wanted, job.threads, job.cpu_cores, job.memory_mb)
    used = f.mean(window, HEAP) if settings.memory_tuning_enabled else None
    if used is None:
        return size, ()
    growth = 1.0
    if settings.memory_tuning_scale_down_compensation_enabled:
        growth = resources.heap_growth(job.tasks, wanted, settings.number_of_task_slots)
    heap = resources.Pools(heap=int(used * job.memory_mb * MIB))
    spec = resources.Pools(heap=spec_mb * MIB)
    tuning = resources.Tuning(settings.memory_tuning_overhead, growth=growth)
    memory_mb = max(1, math.ceil(resources.tuned(heap, spec, tuning).total / MIB))
    wished = math.ceil(heap.heap / MIB * (1 + tuning.overhead) * growth)
    told = Clamped(float(max(1, wished)))
    if wished > spec_mb:
        told = told.through("memory.spec", lambda _: float(memory_mb), "MiB of the job's config")
    return size._replace(memory_mb=memory_mb), told.constraints


def exceeds(job: JobFacts, size: JobSize, settings: FlinkSettings) -> bool:
    """Would a size take more than the job's quota?"""
    slots, vertex = settings.number_of_task_slots, job.name
    before = resources.group_slots([[vertex]], {vertex: job.tasks})
    after = resources.group_slots([[vertex]], {vertex: size.tasks})
    each = (size.cpu_cores * slots, float(size.memory_mb * slots))
    quota = resources.Quota(settings.quota_cpu, settings.quota_memory_mb)
    return resources.over_quota((before, after), slots, each, quota)
