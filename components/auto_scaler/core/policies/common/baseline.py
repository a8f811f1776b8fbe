"""What policies share that count in tasks: the room there is, and a number as a verdict. Pure."""

from __future__ import annotations

from components.auto_scaler.core.verdict import (
    Clamped,
    ScalingVerdict,
    stay,
)
from events.generated.records import Alternative
from projections.scaling.actions import (
    SCALE_DOWN,
    SCALE_UP,
    JobSize,
)
from projections.scaling.seen import JobFacts


def within(job: JobFacts, wanted: Clamped, partitions: int | None) -> Clamped:
    """A number of tasks in the room that the platform leaves it; no source knows of this."""
    wanted = wanted.through("one-task", lambda n: max(n, 1), "a job has a task")
    if partitions is not None:
        note = "more tasks than partitions have nothing to read"
        wanted = wanted.through("partitions", lambda n: min(n, max(partitions, 1)), note)
    wanted = wanted.through("limits.tasks", lambda n: min(n, job.tasks_max), "the job's own limit")
    if job.granted is not None:
        # A grant limits growth. To take tasks away is for the capacity manager alone.
        most = max(job.granted, min(job.tasks, wanted.value))
        wanted = wanted.through("granted", lambda n: min(n, most), "the tier has no more room")
    return wanted


def resized(
    job: JobFacts,
    wanted: Clamped,
    found: tuple[str, str],
    *,
    explanation: str,
    raw: int,
    alternatives: tuple[Alternative, ...] = (),
    until_ms: int | None = None,
) -> ScalingVerdict:
    """The verdict that a number of tasks amounts to; each task keeps what it has."""
    tasks = int(wanted.value)
    if tasks == job.tasks:
        return stay(
            explanation,
            *found,
            raw=raw,
            constraints=wanted.constraints,
            alternatives=alternatives,
            until_ms=until_ms,
        )
    return ScalingVerdict(
        SCALE_UP if tasks > job.tasks else SCALE_DOWN,
        *found,
        explanation,
        raw,
        JobSize(tasks, job.threads, job.cpu_cores, job.memory_mb),
        wanted.constraints,
        alternatives,
    )
