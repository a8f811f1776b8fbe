"""Turbine's first generation: symptoms and steps, no estimate (V-A, Algorithm 2). Pure.

It has the three flaws that the paper tells of it: it nears the right size in steps, shrinks a job
without knowing what it needs, and grows one whatever its lag is caused by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from components.auto_scaler.core.policies.common.estimates import whole, whole_below
from components.auto_scaler.core.policies.common.sizing import size_of, within
from components.auto_scaler.core.policies.common.texts import plain
from components.auto_scaler.core.policies.paper.telling import (
    limited,
    quiet_told,
    rebalanced,
    settling,
    symptom_told,
    unbalanced,
)
from components.auto_scaler.core.policies.paper.watch import (
    IMBALANCE,
    LAG,
    LOAD,
    MEMORY,
    OOM,
    QUIET,
    SETTLING,
    SPARE,
    RateWatch,
    acted,
    begun,
    imbalanced,
    rebalanceable,
    seen,
    symptom,
)
from components.auto_scaler.core.policy import ScalingPolicy
from components.auto_scaler.core.verdict import (
    Clamped,
    ScalingVerdict,
    stay,
)
from events.generated.records import Alternative
from events.job_config.policies.generations import Basics, ReactiveSettings
from events.job_config.policies.settings import PolicySettings
from projections.scaling.actions import (
    MEMORY_DOWN,
    MEMORY_UP,
    REBALANCE,
    SCALE_DOWN,
    SCALE_UP,
)
from projections.scaling.seen import JobFacts, Minute, Profile


class Reactive(ScalingPolicy[RateWatch]):
    """If it lags, rebalance or add tasks; else if out of memory, add some; else shrink."""

    name: ClassVar[str] = "reactive"
    model: ClassVar[type[PolicySettings]] = ReactiveSettings

    settings: ReactiveSettings

    def begin(self, job: JobFacts) -> RateWatch:
        """An empty watch, of a job that was not seen yet."""
        return begun(job)

    def learn(self, memory: RateWatch, job: JobFacts, minute: Minute) -> RateWatch:
        """Rates, lag and memory of a minute."""
        return seen(memory, job, minute, self.settings)

    def detect(self, memory: RateWatch, job: JobFacts, now_ms: int) -> str:
        """Lag, OOM, or a day without either."""
        return symptom(memory, job, self.settings, now_ms)

    def diagnose(self, memory: RateWatch, job: JobFacts, symptom: str, profile: Profile) -> str:  # noqa: ARG002  # it has no history
        """The one question that Algorithm 2 asks: is the input imbalanced?"""
        if symptom == LAG:
            skewed = imbalanced(memory, self.settings) and rebalanceable(memory, job)
            return IMBALANCE if skewed else LOAD
        return {OOM: MEMORY, SETTLING: SETTLING}.get(symptom, SPARE)

    def resolve(
        self,
        memory: RateWatch,
        job: JobFacts,
        found: tuple[str, str],
        profile: Profile,
        now_ms: int,
    ) -> tuple[RateWatch, ScalingVerdict]:
        """One branch of Algorithm 2."""
        del profile  # it has no history
        cause = found[1]
        if cause == SETTLING:
            return memory, settling(memory, self.settings)
        verdict = _BRANCHES[cause](memory, job, self.settings)
        changes = verdict.acts or verdict.action == REBALANCE
        return (acted(memory, now_ms, verdict.action) if changes else memory), verdict


def stepped_up(
    watch: RateWatch, job: JobFacts, basics: Basics, cause: str = LOAD
) -> ScalingVerdict:
    """Half as many tasks again: nobody knows how many it takes."""
    raw = whole(job.tasks * basics.step_up)
    clamped = within(job, raw)
    told = symptom_told(watch, job)
    if clamped.value <= job.tasks:
        return limited(told, (LAG, cause), int(raw), job, clamped.constraints)
    tasks = int(clamped.value)
    return ScalingVerdict(
        SCALE_UP,
        LAG,
        cause,
        f"{told}: {job.tasks} tasks become {tasks}, a step of {plain(basics.step_up)} up to limits",
        int(raw),
        size_of(job)._replace(tasks=tasks),
        clamped.constraints,
        (unbalanced(watch, job, basics),),
    )


def more_memory(watch: RateWatch, job: JobFacts, basics: Basics) -> ScalingVerdict:
    """Reserve more for each task, up to a whole container."""
    clamped = Clamped(whole(job.memory_mb * basics.memory_up))
    room = float(job.container_mb)
    clamped = clamped.through("container", lambda value: min(value, room), "all that there is")
    told = symptom_told(watch, job, OOM)
    if clamped.value <= job.memory_mb:
        return limited(told, (OOM, MEMORY), job.tasks, job, clamped.constraints)
    memory = int(clamped.value)
    return ScalingVerdict(
        MEMORY_UP,
        OOM,
        MEMORY,
        f"{told}: {job.memory_mb} MiB of each task become {memory}",
        job.tasks,
        size_of(job)._replace(memory_mb=memory),
        clamped.constraints,
        (Alternative(SCALE_UP, "no lag, so nothing asks for more tasks"),),
    )


def stepped_down(watch: RateWatch, job: JobFacts, basics: Basics) -> ScalingVerdict:
    """A tenth less, whatever the job needs; memory only where no task is left to take away."""
    told = quiet_told(watch)
    raw = whole_below(job.tasks * (1 - basics.step_down))
    clamped = Clamped(raw).through("one-task", lambda value: max(value, 1.0), "a job has a task")
    tasks = int(clamped.value)
    if tasks < job.tasks:
        return ScalingVerdict(
            SCALE_DOWN,
            QUIET,
            SPARE,
            f"{told}: {job.tasks} tasks become {tasks}",
            int(raw),
            size_of(job)._replace(tasks=tasks),
            clamped.constraints,
            (Alternative(MEMORY_DOWN, "tasks are taken first"),),
        )
    need = None if watch.memory_most is None else watch.memory_most / basics.memory_soft
    if need is None:
        return stay(f"{told}, but it has one task of which nobody knows the memory", QUIET, SPARE)
    less = Clamped(whole_below(job.memory_mb * (1 - basics.step_down)))
    used, base = whole(need), float(basics.memory_base_mb)
    less = less.through("memory-used", lambda value: max(value, used), "what a task used at most")
    less = less.through("memory-base", lambda value: max(value, base), "of an idle task")
    if less.value >= job.memory_mb:
        text = f"{told}, but it has one task, and that uses {plain(watch.memory_most)} MiB"
        return stay(text, QUIET, SPARE, constraints=less.constraints)
    memory = int(less.value)
    return ScalingVerdict(
        MEMORY_DOWN,
        QUIET,
        SPARE,
        f"{told}, and no task can go: {job.memory_mb} MiB become {memory}",
        job.tasks,
        size_of(job)._replace(memory_mb=memory),
        less.constraints,
        (Alternative(SCALE_DOWN, "a job has a task"),),
    )


_BRANCHES: Mapping[str, Callable[[RateWatch, JobFacts, Basics], ScalingVerdict]] = {
    IMBALANCE: rebalanced,
    LOAD: stepped_up,
    MEMORY: more_memory,
    SPARE: stepped_down,
}
