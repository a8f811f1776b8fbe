"""Lists of tasks to try things on."""

from __future__ import annotations

from events.generated.records import (
    InputPartitions,
    LayerVersions,
    SyncStepStarted,
    TaskSpec,
    TaskSpecsPublished,
)

JOB = "orders"


def spec(task: int, memory_bytes: int | None = None) -> TaskSpec:
    inputs = (InputPartitions("clicks", (task,)),)
    return TaskSpec(task, (), inputs, f"/c/{JOB}/{task}", memory_bytes=memory_bytes)


def published(
    generation: int,
    tasks: int,
    *,
    job: str = JOB,
    base: int = 1,
    package: str = "1.0",
    tier: str = "default",
    regions: tuple[str, ...] = (),
) -> TaskSpecsPublished:
    return TaskSpecsPublished(
        job=job,
        plan_id=f"{base}#{generation}",
        generation=generation,
        part=1,
        parts=1,
        tasks=tasks,
        versions=LayerVersions(base, 0, 0, 0),
        tier=tier if tasks else "",
        operator="a.b:c",
        guarantee="exactly_once",
        specs=tuple(spec(task) for task in range(tasks)),
        regions=regions,
        package="counts",
        package_version=package,
    )


def step(name: str, plan: str) -> SyncStepStarted:
    return SyncStepStarted(JOB, plan, 0, name, 3)
