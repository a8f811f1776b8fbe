"""A scaling policy of one's own: one task more or fewer, by how busy the tasks are. Pure."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from pydantic import Field

from turbine.policies import (
    SCALE_DOWN,
    SCALE_UP,
    JobFacts,
    JobSize,
    Minute,
    PolicySettings,
    Profile,
    ScalingPolicy,
    ScalingVerdict,
)


class StepsSettings(PolicySettings):
    """Shares of their time that tasks are to work."""

    busy_most: float = Field(default=0.8, ge=0.1, le=1, description="from which a task is added")
    busy_least: float = Field(default=0.3, ge=0, le=0.9, description="below which one is taken")


class BusyShare(NamedTuple):
    """What the policy knows of a job: how busy its tasks were in the last minute."""

    busy: float | None = None


class StepsPolicy(ScalingPolicy[BusyShare]):
    """The policy that jobs choose by the name `steps`."""

    name: ClassVar[str] = "steps"
    model: ClassVar[type[PolicySettings]] = StepsSettings
    version: ClassVar[int] = 1  # one more with every change that makes it decide otherwise
    settings: StepsSettings

    def begin(self, job: JobFacts) -> BusyShare:
        return BusyShare()

    def learn(self, memory: BusyShare, job: JobFacts, minute: Minute) -> BusyShare:
        return BusyShare(minute.busy)

    def detect(self, memory: BusyShare, job: JobFacts, now_ms: int) -> str:
        if memory.busy is None:
            return ""
        if memory.busy >= self.settings.busy_most and job.tasks < job.tasks_max:
            return "busy"
        return "idle" if memory.busy < self.settings.busy_least and job.tasks > 1 else ""

    def diagnose(self, memory: BusyShare, job: JobFacts, symptom: str, profile: Profile) -> str:
        return "too-few" if symptom == "busy" else "too-many"

    def resolve(
        self,
        memory: BusyShare,
        job: JobFacts,
        found: tuple[str, str],
        profile: Profile,
        now_ms: int,
    ) -> tuple[BusyShare, ScalingVerdict]:
        tasks = job.tasks + (1 if found[0] == "busy" else -1)
        size = JobSize(tasks, job.threads, job.cpu_cores, job.memory_mb)
        action = SCALE_UP if found[0] == "busy" else SCALE_DOWN
        told = f"tasks work {memory.busy:.0%} of their time"
        return memory, ScalingVerdict(action, *found, told, raw=tasks, size=size)
