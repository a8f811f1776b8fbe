"""A distribution with a scaling policy of its own, as `pip` would leave it in a folder."""

from __future__ import annotations

from pathlib import Path

MODULE = '''
"""One task more or fewer, by how busy the tasks are."""

from typing import ClassVar, NamedTuple

from pydantic import Field

from turbine.policies import (
    SCALE_DOWN,
    SCALE_UP,
    Job,
    Minute,
    Policy,
    Profile,
    Settings,
    Size,
    Verdict,
)


class StepsSettings(Settings):
    """Shares of their time that tasks are to work."""

    busy_most: float = Field(default=0.8, ge=0.1, le=1, description="from which a task is added")
    busy_least: float = Field(default=0.3, ge=0, le=0.9, description="below which one is taken")


class Memory(NamedTuple):
    """What it knows of a job."""

    busy: float | None = None


class Steps(Policy[Memory]):
    """A task more where they are busy, one fewer where they are not."""

    name: ClassVar[str] = "steps"
    model: ClassVar[type[Settings]] = StepsSettings
    version: ClassVar[int] = 1

    def begin(self, job: Job) -> Memory:
        return Memory()

    def learn(self, memory: Memory, job: Job, minute: Minute) -> Memory:
        return Memory(minute.busy)

    def detect(self, memory: Memory, job: Job, now_ms: int) -> str:
        if memory.busy is None:
            return ""
        if memory.busy >= self.settings.busy_most and job.tasks < job.tasks_max:
            return "busy"
        return "idle" if memory.busy < self.settings.busy_least and job.tasks > 1 else ""

    def diagnose(self, memory: Memory, job: Job, symptom: str, profile: Profile) -> str:
        return "too-few" if symptom == "busy" else "too-many"

    def resolve(
        self, memory: Memory, job: Job, found: tuple[str, str], profile: Profile, now_ms: int
    ) -> tuple[Memory, Verdict]:
        tasks = job.tasks + (1 if found[0] == "busy" else -1)
        size = Size(tasks, job.threads, job.cpu_cores, job.memory_mb)
        action = SCALE_UP if found[0] == "busy" else SCALE_DOWN
        said = f"tasks work {memory.busy:.0%} of their time"
        return memory, Verdict(action, *found, said, raw=tasks, size=size)
'''


def distribution(
    folder: Path, module: str = MODULE, *, points: str = "steps = steps:Steps"
) -> Path:
    """The folder, which whoever has it on its path finds the policy in."""
    (folder / "steps.py").write_text(MODULE)
    about = folder / "steps_policy-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: steps-policy\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[turbine.policies]\n{points}\n")
    return folder
