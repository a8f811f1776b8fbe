"""Plans of the proactive and the preactive policy, as verdicts with all their numbers. Pure."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from components.auto_scaler.core.policies.common.estimates import drain_s, whole
from components.auto_scaler.core.policies.common.sizing import (
    Reserve,
    SizePlan,
    correlated,
    counted,
    holds,
    reserved,
    size_of,
    smaller,
    within,
)
from components.auto_scaler.core.policies.common.texts import plain
from components.auto_scaler.core.policies.paper.telling import (
    limited,
    quiet_told,
    symptom_told,
    unbalanced,
)
from components.auto_scaler.core.policies.paper.watch import (
    HARDWARE,
    LAG,
    LOAD,
    MEMORY,
    QUIET,
    SPARE,
    RateWatch,
    late_task,
)
from components.auto_scaler.core.verdict import (
    Clamped,
    Expectation,
    ScalingVerdict,
    stay,
)
from events.generated.records import Alternative
from events.job_config.policies.generations import Basics
from projections.scaling.actions import (
    ALERT,
    MEMORY_DOWN,
    MEMORY_UP,
    MOVE,
    SCALE_DOWN,
    SCALE_UP,
    JobSize,
)
from projections.scaling.seen import JobFacts


class PlanInputs(NamedTuple):
    """What a plan is made from."""

    watch: RateWatch
    job: JobFacts
    basics: Basics
    reserve: Reserve
    need: float  # threads of all tasks, not rounded
    p: float | None
    x: float | None
    backlog: float
    t: float  # seconds
    unit: float  # bytes of a record where P, X and the backlog are in bytes, else 1


class Spare(NamedTuple):
    """What a smaller size has to do, and until when."""

    threads: float  # of all tasks, for now and for the hours to come
    note: str  # about these hours
    until_ms: int
    vertical: bool  # may tasks become smaller?


def enlarged(asked: PlanInputs, plan: SizePlan, from_ms: int) -> ScalingVerdict:
    """More threads, in tasks of a memory that goes with it."""
    job, watch = asked.job, asked.watch
    told = symptom_told(watch, job)
    if (plan.size.tasks, plan.size.threads) == (job.tasks, job.threads):
        return limited(told, (LAG, LOAD), plan.raw, job, plan.constraints)
    if watch.oom:
        grown = _memory(asked)
        kept = plan.constraints + grown.constraints
        plan = plan._replace(size=_with(plan.size, grown.value), constraints=kept)
    else:
        plan = correlated(job, plan, watch.memory_most, asked.reserve)
    size = plan.size
    text = (
        f"{told}: {plain(asked.need)} threads of P carry the input and read the backlog in"
        f" {plain(asked.t / 60)} min, so {_told(size_of(job))} become {_told(size)}"
    )
    return ScalingVerdict(
        SCALE_UP,
        LAG,
        LOAD,
        text,
        plan.raw,
        size,
        plan.constraints,
        (unbalanced(watch, job, asked.basics), _other(plan, job)),
        _expected(asked, size, from_ms),
    )


def reduced(asked: PlanInputs, plan: SizePlan, spare: Spare) -> ScalingVerdict:
    """Fewer tasks, else smaller ones, else less memory: what is not needed goes back."""
    job, told, threads = asked.job, quiet_told(asked.watch), spare.threads
    if spare.vertical and plan.size.tasks == job.tasks:
        plan = plan._replace(size=smaller(job, threads))
    threads_go = (plan.size.tasks, plan.size.threads) != (job.tasks, job.threads)
    plan = _less_memory(asked, plan, bounded=threads_go)
    size = plan.size
    why = f" ({spare.note})" if spare.note else ""
    if holds(size, job):
        text = f"{told}, and {_told(size)} are what {plain(threads)} threads of P need{why}"
        return stay(text, QUIET, SPARE, raw=plan.raw, constraints=plan.constraints)
    kept = Alternative("stay", f"{plain(asked.need)} threads of P carry the input of now")
    text = f"{told}: {plain(threads)} threads of P do, so {_told(size_of(job))} become"
    return ScalingVerdict(
        SCALE_DOWN if threads_go else MEMORY_DOWN,
        QUIET,
        SPARE,
        f"{text} {_told(size)}{why}",
        plan.raw,
        size,
        plan.constraints,
        (kept,),
        Expectation(spare.until_ms, lag_s=job.slo_s),
    )


def more_memory(asked: PlanInputs, symptom: str, spread: float | None) -> ScalingVerdict:
    """Larger tasks as far as they may grow, then more of them if memory may be spread."""
    job, watch = asked.job, asked.watch
    told = symptom_told(watch, job, "oom")
    want = _memory(asked)
    if want.value > job.memory_mb:
        size = _with(size_of(job), want.value)
        text = f"{told}: {job.memory_mb} MiB of each task become {size.memory_mb}"
        other = (Alternative(SCALE_UP, "tasks may still grow, which restarts them and no more"),)
        return ScalingVerdict(
            MEMORY_UP, symptom, MEMORY, text, job.tasks, size, want.constraints, other
        )
    raw = job.tasks if spread is None else int(counted(spread))
    clamped = within(job, float(raw))
    constraints = want.constraints + clamped.constraints
    if spread is None or clamped.value <= job.tasks:
        return limited(told, (symptom, MEMORY), raw, job, constraints)
    tasks = int(clamped.value)
    text = f"{told}, and no task may have more: {job.tasks} tasks become {tasks}"
    other = (Alternative(MEMORY_UP, f"{plain(asked.reserve.most)} MiB are the most of a task"),)
    size = size_of(job)._replace(tasks=tasks)
    return ScalingVerdict(SCALE_UP, symptom, MEMORY, text, raw, size, constraints, other)


def untriaged(asked: PlanInputs, cause: str) -> ScalingVerdict:
    """The estimates say that it has enough: no size mends that (V-D)."""
    job = asked.job
    told = (
        f"{symptom_told(asked.watch, job)}, though its {job.tasks * job.threads} threads need not"
        f" be more than {plain(asked.need)} by the estimates"
    )
    if asked.need > job.tasks * job.threads:
        told = f"{symptom_told(asked.watch, job)}, though it reads less than its threads can"
    other = (Alternative(SCALE_UP, "it has enough for its input by the estimates"),)
    if cause == HARDWARE:
        late = late_task(asked.watch, job)
        text = f"{told}: task {late} alone is late, so it moves to another container"
        return ScalingVerdict(MOVE, LAG, cause, text, job.tasks, alternatives=other, task=late)
    text = f"{told}: somebody has to look at what it depends on"
    return ScalingVerdict(ALERT, LAG, cause, text, job.tasks, alternatives=other)


def _memory(asked: PlanInputs) -> Clamped:
    """MiB for a task that ran out of memory: a step, and room above what it used."""
    job, used = asked.job, asked.watch.memory_most or 0.0
    step = whole(job.memory_mb * asked.basics.memory_up)
    want = Clamped(max(step, whole(used * asked.reserve.margin)))
    most = max(float(job.memory_mb), float(int(asked.reserve.most)))
    return want.through("memory-most", lambda value: min(value, most), "of one task")


def _less_memory(asked: PlanInputs, plan: SizePlan, *, bounded: bool) -> SizePlan:
    """Memory that no task used goes back: with a restart that comes anyway, or if it is enough."""
    job, used = asked.job, asked.watch.memory_most
    plan = correlated(job, plan, used, asked.reserve)
    if used is None or plan.size.tasks != job.tasks:
        return plan  # what each of fewer tasks will use has not been seen
    want = reserved(used, asked.reserve)
    least = job.memory_mb * (0.0 if bounded else asked.basics.step_down)
    if job.memory_mb - want.value <= least:
        return plan
    told = plan.constraints + want.constraints
    return plan._replace(size=_with(plan.size, want.value), constraints=told)


def _expected(asked: PlanInputs, size: JobSize, from_ms: int) -> Expectation | None:
    """The rate that P promises, and an end of the lag by the time that equation 3 gives."""
    if asked.p is None or asked.x is None:
        return None
    capacity = asked.p * size.threads * size.tasks
    backlog_s = drain_s(asked.x, asked.backlog, capacity)
    rate = capacity / asked.unit
    if not isfinite(backlog_s):  # limits leave it less than what comes in
        return Expectation(from_ms + int(asked.t * 1000), rate)
    return Expectation(from_ms + int(max(asked.t, backlog_s) * 1000), rate, asked.job.slo_s)


def _other(plan: SizePlan, job: JobFacts) -> Alternative:
    if plan.size.threads == job.threads:
        return Alternative("larger tasks", "a task has all the threads that it may have")
    if plan.size.tasks == job.tasks:
        return Alternative("more tasks", "tasks may still grow, which redistributes nothing")
    return Alternative("more tasks alone", "tasks grow first, as far as they may")


def _with(size: JobSize, memory_mb: float) -> JobSize:
    return size._replace(memory_mb=int(memory_mb))


def _told(size: JobSize) -> str:
    threads = f"{size.threads} thread" + "s" * (size.threads != 1)
    tasks = f"{size.tasks} task" + "s" * (size.tasks != 1)
    return f"{tasks} of {threads} and {size.memory_mb} MiB"
