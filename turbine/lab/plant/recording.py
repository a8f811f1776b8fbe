"""A job's history as its log would tell it: a case played by the auto scaler, record by record.

What is told of a job that really ran can be held against this: here its nature is known. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from events.generated.records import ProfileSlot, WorkloadProfiled
from events.topics import PROFILES
from events.wire.codec import Read
from projections.scaling.actions import JobSize
from projections.scaling.row import ScalingRow
from projections.scaling.seen import MINUTE_MS, JobFacts, Profile
from turbine.lab.kernel import Streams
from turbine.lab.plant.backtest import DAY_MINUTES, Case, PastDays
from turbine.lab.plant.closed_loop import ClosedLoop
from turbine.lab.plant.plant import Plant
from turbine.lab.plant.played_job import PlantLayers

BEGIN_MS = 1_800_000_000_000 // 86_400_000 * 86_400_000
"""Of histories: midnight of a day, so that usual days begin with it."""
TOPIC = "input"


def record(
    case: Case,
    name: str,
    policy: Mapping[str, Any],
    *,
    begin_ms: int = BEGIN_MS,
    interval_ms: int = MINUTE_MS,
    disturbed: bool = False,
) -> list[Read]:
    """All that was said about the job, in the log's order. Where it is disturbed, reports come late
    and restarts take as long as they happen to."""
    job = case.job
    size = JobSize(job.tasks, job.threads, job.cpu_cores, job.memory_mb)
    plant = Plant(case.nature, size, Streams(case.seed).fork("plant"))
    count = case.nature.partitions
    base = config_of(job, count) | {"policy": {**policy, "interval_ms": interval_ms}}
    layers = PlantLayers([base, {}, {}, {}])
    uneven = bool(case.nature.weights) or any(
        one.kind in {"hot", "poison"} for one in case.nature.faults
    )
    topics = [(TOPIC, count)] if uneven else []
    chance = Streams(case.seed).fork("disturbed") if disturbed else None
    stage = ClosedLoop(
        plant, ScalingRow(name), layers, begin_ms, topics=topics, keep=True, chance=chance
    )
    past = PastDays(case.history)
    stage.begin()
    _profiled(stage, past.profile)
    for minute, rate in enumerate(case.rates):
        stage.step(begin_ms + (minute + 1) * interval_ms, rate)
        past.add(rate)
        if (minute + 1) % DAY_MINUTES == 0:
            _profiled(stage, past.profile)
    return stage.reads


def config_of(job: JobFacts, partitions: int) -> dict[str, Any]:
    """A config under which it is what it is."""
    return {
        "operator": "recorded.job:run",
        "inputs": [{"topic": TOPIC, "partitions": partitions}],
        "package": {"name": "recorded", "version": "1.0.0"},
        "checkpoint": {"root": "/checkpoints"},
        "tasks": job.tasks,
        "threads_per_task": job.threads,
        "resources": {"cpu_cores": job.cpu_cores, "memory_mb": job.memory_mb},
        "slo": {"lag_seconds": job.slo_s},
        "limits": {"tasks": job.tasks_max, "privileged": True},
    }


def _profiled(stage: ClosedLoop, profile: Profile) -> None:
    """The usual day, as the history's job tells it."""
    if not profile.days:
        return
    slots = tuple(
        ProfileSlot(at, profile.days, mean, peak, 0.0, 0.0)
        for at, (mean, peak) in enumerate(zip(profile.mean, profile.peak, strict=True))
        if mean is not None and peak is not None
    )
    stage.tell(
        PROFILES,
        WorkloadProfiled(stage.row.name, 0, stage.now_ms, profile.slot_ms, slots),
    )
