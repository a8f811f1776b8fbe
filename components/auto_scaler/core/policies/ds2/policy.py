"""The baseline DS2: as many tasks as the input needs at each task's true rate. Pure.

A job is one operator behind its topic: what arrives is the source's rate, which DS2 has told to it
from outside, and is never scaled. Several epochs pass in a minute and see its values. An epoch
counts once every instance has written its log, and so a minute counts only if all tasks reported.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from components.auto_scaler.core.policies.common.baseline import resized, within
from components.auto_scaler.core.policies.common.texts import plain
from components.auto_scaler.core.policies.ds2.model import (
    Dataflow,
    DataflowOperator,
    Rates,
    adjusted,
    configuration,
    considered,
    needs,
    true_rate,
)
from components.auto_scaler.core.policy import ScalingPolicy
from components.auto_scaler.core.verdict import Clamped, ScalingVerdict
from events.generated.records import Alternative
from events.job_config.policies.ds2 import Ds2Settings
from events.job_config.policies.settings import PolicySettings
from projections.scaling.seen import JobFacts, Minute, Profile

SOURCE, OPERATOR = "topic", "job"
GROWS, SHRINKS = "the input needs more tasks", "the input needs fewer tasks"
TRUE_RATE = "the true rate of a task times the tasks is not the input"


class Ds2Memory(NamedTuple):
    """Rates of the newest whole minute, and the epochs since the job was changed."""

    tasks: int = 0
    arrived: float | None = None
    seen: float = 0.0
    true: float | None = None  # None: no task told how busy it was
    epochs: int = 0


class Ds2(ScalingPolicy[Ds2Memory]):
    """All operators at once to what the sources need, without a pause in between."""

    name: ClassVar[str] = "ds2"
    model: ClassVar[type[PolicySettings]] = Ds2Settings

    def __init__(self, settings: Ds2Settings) -> None:
        self.settings: Ds2Settings = settings
        self._epochs = max(1, 60 // settings.policy_interval_s)

    def begin(self, job: JobFacts) -> Ds2Memory:
        return Ds2Memory(tasks=job.tasks)

    def learn(self, memory: Ds2Memory, job: JobFacts, minute: Minute) -> Ds2Memory:
        epochs = memory.epochs if memory.tasks == job.tasks else 0
        if minute.heard < 1 or minute.tasks != job.tasks:
            return Ds2Memory(
                job.tasks, epochs=epochs
            )  # not all logs are there: no epoch has passed
        return Ds2Memory(
            job.tasks, minute.arrived, minute.rate, true_of(minute), epochs + self._epochs
        )

    def detect(self, memory: Ds2Memory, job: JobFacts, now_ms: int) -> str:  # noqa: ARG002 - epochs are its clock
        if memory.arrived is None or memory.true is None or not self._evaluations(memory):
            return ""
        before, after = job.tasks, self._wanted(memory, job)
        if before == after:
            return ""
        return GROWS if after > before else SHRINKS

    def diagnose(self, memory: Ds2Memory, job: JobFacts, symptom: str, profile: Profile) -> str:  # noqa: ARG002 - DS2 knows no usual days
        ready = self._evaluations(memory) >= self.settings.activation_time
        worth = considered([job.tasks], [self._wanted(memory, job)])
        return TRUE_RATE if ready and worth else ""

    def resolve(
        self,
        memory: Ds2Memory,
        job: JobFacts,
        found: tuple[str, str],
        profile: Profile,  # noqa: ARG002 - DS2 knows no usual days
        now_ms: int,  # noqa: ARG002 - epochs are its clock
    ) -> tuple[Ds2Memory, ScalingVerdict]:
        assert memory.arrived is not None, "a symptom was found in it"
        assert memory.true is not None, "a symptom was found in it"
        raw = self._wanted(memory, job)
        wanted = within(job, Clamped(raw), job.partitions)
        each = memory.true / job.tasks
        told = f"{plain(memory.arrived)} records a second at {plain(each)} a task need {raw} tasks"
        if wanted.value == job.tasks:
            weighed = (Alternative(f"{raw} tasks", "the room of the job does not let it"),)
            return memory, resized(
                job, wanted, found, explanation=told, raw=raw, alternatives=weighed
            )
        # DS2 expects nothing that it looks for afterwards: its history of decisions is not used.
        verdict = resized(job, wanted, found, explanation=told, raw=raw)
        return memory._replace(epochs=0), verdict

    def _evaluations(self, memory: Ds2Memory) -> int:
        """Epochs that were evaluated since the change: the first ones only warm up."""
        return max(0, memory.epochs - self.settings.warm_up_time)

    def _wanted(self, memory: Ds2Memory, job: JobFacts) -> int:
        flow = flow_of(memory, job.tasks)
        factor, ratio = self.settings.scaling_factor, self.settings.target_rate_ratio
        if ratio is None:
            return configuration(flow, factor)[OPERATOR]
        return adjusted(flow, needs(flow, factor), ratio)[OPERATOR]


def true_of(minute: Minute) -> float | None:
    """The true rate of all tasks together; None where it is not told how busy they were."""
    if minute.parts:
        busy = [(part.rate, part.busy) for part in minute.parts if part.busy is not None]
        if len(busy) == len(minute.parts):
            return sum(true_rate(rate, useful) for rate, useful in busy)
    return None if minute.busy is None else true_rate(minute.rate, minute.busy)


def flow_of(memory: Ds2Memory, tasks: int) -> Dataflow:
    """The job as DS2 sees it: a source that is as it is, and one operator."""
    assert memory.arrived is not None, "the source's rate is known"
    assert memory.true is not None, "the operator's rate is known"
    return Dataflow(
        (
            DataflowOperator(SOURCE, 1, Rates(0.0, memory.arrived, memory.seen)),
            DataflowOperator(OPERATOR, tasks, Rates(memory.true, memory.true)),
        ),
        ((SOURCE, OPERATOR),),
    )
