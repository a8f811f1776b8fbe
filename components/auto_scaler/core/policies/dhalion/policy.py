"""The baseline Dhalion, as Heron's dynamic resource allocation has it: it only ever grows. Pure.

A job is one component and its tasks are the instances. `Minute.blocked_ms` stands for the
back-pressure that all instances make, a task's lag for its queue, and what it reads for what it
executes. A job that reads Kafka holds nobody up by itself: without `blocked_ms` this policy does
not see lag, however large, which is what StreamOps found wanting in it (5.1).
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from components.auto_scaler.core.policies.common.baseline import resized, within
from components.auto_scaler.core.policies.dhalion.rules import (
    GROWTH_MAX,
    UNDER_PROVISIONED,
    DetectorLimits,
    Diagnosis,
    HeronComponent,
    HeronInstance,
    blocked,
    counted_ms,
    diagnosed,
    growing_queue,
    large_queue,
    parallelism,
    queue_skewed,
    rate_skewed,
    slope,
    unused_capacity,
)
from components.auto_scaler.core.policy import ScalingPolicy
from components.auto_scaler.core.verdict import Clamped, ScalingVerdict, stay
from events.generated.records import Alternative
from events.job_config.policies.dhalion import DhalionSettings
from events.job_config.policies.settings import PolicySettings
from projections.scaling.seen import JobFacts, Minute, Profile

BACKPRESSURE = "back-pressure"
HISTORY_MINUTES = 5
"""Queue sizes that a slope is drawn through; three are the fewest."""


class DhalionMemory(NamedTuple):
    """What the detectors need, of the newest minute and of some before."""

    blocked_ms: float = 0.0
    instances: tuple[HeronInstance, ...] = ()
    queues: tuple[tuple[int, tuple[tuple[int, float], ...]], ...] = ()  # by minute, by task
    wait_until_ms: int = 0


class Dhalion(ScalingPolicy[DhalionMemory]):
    """More instances for the one component that holds up its senders."""

    name: ClassVar[str] = "dhalion"
    model: ClassVar[type[PolicySettings]] = DhalionSettings

    def __init__(self, settings: DhalionSettings) -> None:
        self.settings: DhalionSettings = settings
        self._limits = DetectorLimits(
            settings.noise_ms,
            settings.queue_limit,
            settings.slope_limit,
            settings.rate_skew_ratio,
            settings.queue_skew_ratio,
        )

    def begin(self, job: JobFacts) -> DhalionMemory:  # noqa: ARG002 - nothing of a job counts before a minute
        return DhalionMemory()

    def learn(self, memory: DhalionMemory, job: JobFacts, minute: Minute) -> DhalionMemory:  # noqa: ARG002 - the minute tells all
        queues = tuple((one.task, one.lag) for one in minute.parts if one.lag is not None)
        return memory._replace(
            blocked_ms=minute.blocked_ms,
            instances=tuple(
                HeronInstance(str(one.task), one.rate, one.lag) for one in minute.parts
            ),
            queues=(*memory.queues[1 - HISTORY_MINUTES :], (minute.at_ms, queues)),
        )

    def detect(self, memory: DhalionMemory, job: JobFacts, now_ms: int) -> str:  # noqa: ARG002 - a wait is told by what resolves
        if memory.blocked_ms <= self._limits.noise_ms:
            return ""
        component = self._component(memory, job)
        seen = [BACKPRESSURE] if blocked((component,), self._limits) else []
        for name, detector in (
            ("large queues", large_queue),
            ("growing queues", growing_queue),
            ("skewed rates", rate_skewed),
            ("skewed queues", queue_skewed),
        ):
            if detector(component, self._limits):
                seen.append(name)
        return ", ".join(seen)

    def diagnose(self, memory: DhalionMemory, job: JobFacts, symptom: str, profile: Profile) -> str:  # noqa: ARG002 - Dhalion knows no usual days
        found = self._diagnosis(memory, job)
        return found.cause if found else ""

    def resolve(
        self,
        memory: DhalionMemory,
        job: JobFacts,
        found: tuple[str, str],
        profile: Profile,  # noqa: ARG002 - Dhalion knows no usual days
        now_ms: int,
    ) -> tuple[DhalionMemory, ScalingVerdict]:
        if found[1] != UNDER_PROVISIONED:
            diagnosis = self._diagnosis(memory, job)
            assert diagnosis is not None, "a cause was found"
            slow = ", ".join(diagnosis.instances)
            told = f"{found[1]} at task {slow}, and Heron has no resolver for it"
            weighed = (Alternative("scale-up", "only what is under-provisioned grows"),)
            return memory, stay(told, *found, raw=job.tasks, alternatives=weighed)
        wanted, raw = self._wanted(memory, job)
        tasks = int(wanted.value)
        told = f"blocked for {memory.blocked_ms:g} ms of a second: {tasks} tasks for {job.tasks}"
        if now_ms < memory.wait_until_ms:
            weighed = (Alternative(f"{tasks} tasks", "the last action is still awaited"),)
            until = memory.wait_until_ms
            told = f"no look before {self.settings.wait_s} s have passed since the last action"
            return memory, stay(told, *found, raw=raw, alternatives=weighed, until_ms=until)
        verdict = resized(job, wanted, found, explanation=told, raw=raw)
        if verdict.acts:
            memory = memory._replace(wait_until_ms=now_ms + self.settings.wait_s * 1000)
        return memory, verdict

    def _wanted(self, memory: DhalionMemory, job: JobFacts) -> tuple[Clamped, int]:
        share = Clamped(memory.blocked_ms)
        share = share.through("blocked-max", counted_ms, "ms of a second")
        unused = Clamped(unused_capacity(share.value), share.constraints)
        unused = unused.through("growth-max", lambda more: min(GROWTH_MAX, more), "times as many")
        instances = len(memory.instances) or job.tasks
        wanted = Clamped(parallelism(instances, unused.value), unused.constraints)
        raw = parallelism(instances, unused_capacity(memory.blocked_ms))
        # Dhalion adds to what runs. Where fewer report than there are, it would take some away.
        wanted = wanted.through("never-down", lambda n: max(n, job.tasks), "it has no way down")
        return within(job, wanted, job.partitions), raw

    def _diagnosis(self, memory: DhalionMemory, job: JobFacts) -> Diagnosis | None:
        # No diagnoser looks at how a queue grows, so that no slope is drawn for them.
        component = HeronComponent(job.name, memory.blocked_ms, memory.instances)
        return diagnosed((component,), self._limits)

    def _component(self, memory: DhalionMemory, job: JobFacts) -> HeronComponent:
        points: dict[int, list[tuple[float, float]]] = {}
        for at, queues in memory.queues:
            for task, queue in queues:
                points.setdefault(task, []).append((at / 1000, queue))
        steepest = max((slope(one) for one in points.values()), default=0.0)
        return HeronComponent(job.name, memory.blocked_ms, memory.instances, max(0.0, steepest))
