"""What the tasks of a plant report of a minute, each for itself, as real ones do. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from events.generated.records import Generation, PartitionLag, TaskLoadReported
from projections.scaling.seen import Minute, Part
from turbine.lab.plant.plant import MINUTE_S, Plant

SPLIT_MOST = 2_048
"""Partitions of a job that its tasks tell one by one."""
SHARD = 2**40
"""Generation of their shards: above that of any task that ran before."""
WINDOW_LEAST_S = 1.0
Place = tuple[str, int]


class ReportShape(NamedTuple):
    """The shape under which tasks report."""

    job: str
    specs: int
    number: int  # of the report
    pace: float  # how long a minute of the job lasts, in minutes
    unseen_s: float  # of the window, of which nothing is told


def reports(
    plant: Plant, told: Minute, shape: ReportShape, places: Sequence[Place]
) -> Iterator[TaskLoadReported]:
    """One of each task, of the time in which it ran; what a task does not tell of its first minute
    counts as time in which it stood still."""
    up_s = MINUTE_S - told.down_s
    window_s = min(MINUTE_S, max(WINDOW_LEAST_S, up_s - shape.unseen_s / shape.pace))
    lag_s = told.lag_s or 0.0
    splits = _splits(plant, lag_s, shape.pace, places)
    parts = told.parts or (Part(0, told.rate, told.busy, told.lag, lag_s, told.memory_mb),)
    worst = max(parts, key=lambda one: one.lag or 0.0).task
    for one in parts:
        age_s = lag_s if one.task == worst or one.lag_s is None else min(lag_s, one.lag_s)
        rate = one.rate * MINUTE_S / up_s
        bytes_rate = rate * (told.bytes_per_record or 0.0)
        yield TaskLoadReported(
            job=shape.job,
            task=one.task,
            generation=Generation(specs=shape.specs, shard=SHARD),
            epoch=1,
            count=shape.number,
            window_ms=round(window_s * shape.pace * 1000),
            records_in_per_s=rate,
            bytes_in_per_s=bytes_rate,
            records_out_per_s=rate,
            bytes_out_per_s=bytes_rate,
            lag_records=round((one.lag or 0.0) * shape.pace),
            lag_ms=round(age_s * shape.pace * 1000),
            memory_bytes=None if one.memory_mb is None else round(one.memory_mb * 2**20),
            state_rows=1 if plant.nature.stateful else None,
            busy_share=one.busy,
            oom=told.oom,
            partitions=splits.get(one.task, ()),
            tasks=told.tasks,
            threads=plant.size.threads,
            container=f"c{one.task}",
        )


def _splits(
    plant: Plant, lag_s: float, pace: float, places: Sequence[Place]
) -> dict[int, tuple[PartitionLag, ...]]:
    """By task what its partitions got, where they are told."""
    if not places or len(places) * plant.size.tasks > SPLIT_MOST:
        return {}
    found: defaultdict[int, list[PartitionLag]] = defaultdict(list)
    for (topic, number), (task, lag, rate) in zip(places, plant.shares(), strict=True):
        age_s = min(lag_s, lag / rate) if rate > 0 else (lag_s if lag > 0 else 0.0)
        age_ms = round(age_s * pace * 1000)
        found[task].append(PartitionLag(topic, number, round(lag * pace), None, age_ms, rate))
    return {task: tuple(ones) for task, ones in found.items()}
