"""Turbine's second generation: resource estimators and a plan generator (V-B). Pure.

P starts from staging and is adjusted as V-C says. Without staging it is what a thread read while
the job lagged, when it reads all that it can. Algorithm 2's steps are left for a job of which no P
is known yet. P is kept in bytes, to which CPU is proportional, or in records while their size is
unknown.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from components.auto_scaler.core.policies.common.estimates import (
    SLACK,
    cpu_units,
    cpu_units_to_recover,
    raised,
    tasks_for_memory,
    tasks_needed,
    threads_needed,
    whole,
)
from components.auto_scaler.core.policies.common.sizing import Reserve, SizePlan, narrower, wider
from components.auto_scaler.core.policies.paper.planning import (
    PlanInputs,
    Spare,
    enlarged,
    more_memory,
    reduced,
    untriaged,
)
from components.auto_scaler.core.policies.paper.reactive import stepped_up
from components.auto_scaler.core.policies.paper.telling import quiet_told, rebalanced, settling
from components.auto_scaler.core.policies.paper.watch import (
    IMBALANCE,
    LAG,
    LOAD,
    MEMORY,
    OOM,
    QUIET,
    SETTLING,
    SPARE,
    UNESTIMATED,
    UNTRIAGED,
    RateWatch,
    acted,
    begun,
    imbalanced,
    rebalanceable,
    seen,
    settled_ms,
    symptom,
)
from components.auto_scaler.core.policy import ScalingPolicy
from components.auto_scaler.core.verdict import (
    ScalingVerdict,
    stay,
)
from events.job_config.policies.generations import Basics, ProactiveSettings
from projections.scaling.actions import (
    MOVE,
    REBALANCE,
    SCALE_DOWN,
    JobSize,
)
from projections.scaling.seen import MINUTE_MS, JobFacts, Minute, Profile


class ProactiveMemory(NamedTuple):
    """The minutes, and P of one thread."""

    watch: RateWatch
    p: float | None = None
    unit: float | None = None  # bytes of a record; None: P and all rates are in records
    reduced: tuple[int, JobSize] | None = None  # when tasks or threads were last taken, and to what


def demand(known: ProactiveMemory) -> float | None:
    """X, in the unit of P."""
    arrived = known.watch.arrived
    return None if arrived is None else arrived * (known.unit or 1.0)


def learnt(
    known: ProactiveMemory, job: JobFacts, minute: Minute, basics: Basics
) -> ProactiveMemory:
    """The minute, and P from staging or from what was read while the job lagged."""
    watch = seen(known.watch, job, minute, basics)
    unit = minute.bytes_per_record or known.unit
    p = known.p
    if p is not None and known.unit is None and unit is not None:
        p *= unit  # from records to bytes
    if p is None and unit is not None:
        p = job.staging_rate
    lags = watch.lagged_s is not None and watch.lagged_s > job.slo_s
    if lags and watch.rate and minute.at_ms >= settled_ms(watch, basics):
        p = raised(p, watch.rate * (unit or 1.0), job.threads, job.tasks)
    return ProactiveMemory(watch, p, unit, known.reduced)


class Proactive(ScalingPolicy[ProactiveMemory]):
    """Algorithm 2 with a lower bound: no size below the estimates, none above for no cause."""

    name: ClassVar[str] = "proactive"
    model: ClassVar[type[ProactiveSettings]] = ProactiveSettings
    vertical: ClassVar[bool] = False  # V-E is the third generation's

    settings: ProactiveSettings

    def begin(self, job: JobFacts) -> ProactiveMemory:
        """Nothing but what staging has told."""
        return ProactiveMemory(begun(job))

    def learn(self, memory: ProactiveMemory, job: JobFacts, minute: Minute) -> ProactiveMemory:
        """Rates, lag and memory of a minute, and P."""
        return learnt(memory, job, minute, self.settings)

    def detect(self, memory: ProactiveMemory, job: JobFacts, now_ms: int) -> str:
        """Lag, OOM, or a day without either."""
        return symptom(memory.watch, job, self.settings, now_ms)

    def diagnose(
        self,
        memory: ProactiveMemory,
        job: JobFacts,
        symptom: str,
        profile: Profile,  # noqa: ARG002  # history is the third generation's
    ) -> str:
        """Is it the input's spread, its amount, the memory, or something that no size mends?"""
        if symptom != LAG:
            return {OOM: MEMORY, SETTLING: SETTLING}.get(symptom, SPARE)
        if imbalanced(memory.watch, self.settings) and rebalanceable(memory.watch, job):
            return IMBALANCE
        if memory.p is None or demand(memory) is None:
            return UNESTIMATED
        if self._short(memory, job):
            return LOAD
        return MEMORY if memory.watch.oom else self.unexplained(memory, job)

    def unexplained(self, memory: ProactiveMemory, job: JobFacts) -> str:  # noqa: ARG002  # the third generation looks
        """The cause of a lag that is no matter of size."""
        return UNTRIAGED

    def resolve(
        self,
        memory: ProactiveMemory,
        job: JobFacts,
        found: tuple[str, str],
        profile: Profile,
        now_ms: int,
    ) -> tuple[ProactiveMemory, ScalingVerdict]:
        """A plan for all resources at once."""
        symptom, cause = found
        if cause == SETTLING:
            return memory, settling(memory.watch, self.settings)
        if cause == SPARE:
            return self._shrunk(memory, job, profile, now_ms)
        if cause == IMBALANCE:
            verdict = rebalanced(memory.watch, job, self.settings)
        elif cause == UNESTIMATED:
            verdict = stepped_up(memory.watch, job, self.settings, UNESTIMATED)
        elif cause == LOAD:
            verdict = self._grown(memory, job, now_ms)
        elif cause == MEMORY:
            verdict = more_memory(self._asked(memory, job), symptom, self.spread(memory, job))
        else:
            verdict = untriaged(self._asked(memory, job), cause)
        changes = verdict.acts or verdict.action in {REBALANCE, MOVE}
        watch = acted(memory.watch, now_ms, verdict.action) if changes else memory.watch
        return memory._replace(watch=watch), verdict

    def plan(self, job: JobFacts, threads: float) -> SizePlan:
        """A size with so many threads: more tasks of the size they have."""
        return wider(job, threads)

    def spread(self, memory: ProactiveMemory, job: JobFacts) -> float | None:  # noqa: ARG002  # the third generation does
        """Tasks among which memory is divided that one task may not have; None: it is not."""
        return None

    def reserve(self, job: JobFacts) -> Reserve:
        """How memory is reserved: up to all of a container."""
        return self._reserve(float(job.container_mb))

    def least(  # history is the third generation's
        self,
        memory: ProactiveMemory,  # noqa: ARG002  # as the third has it
        job: JobFacts,  # noqa: ARG002  # as the third has it
        profile: Profile,  # noqa: ARG002  # as the third has it
        now_ms: int,  # noqa: ARG002  # as the third has it
    ) -> tuple[float, str]:
        """Threads that the hours to come need, and what is said of them."""
        return 0.0, ""

    def _reserve(self, most: float) -> Reserve:
        return Reserve(float(self.settings.memory_base_mb), self.settings.memory_margin, most)

    def _asked(self, memory: ProactiveMemory, job: JobFacts) -> PlanInputs:
        x, unit = demand(memory), memory.unit or 1.0
        backlog = (memory.watch.lag or 0.0) * unit
        t = self.settings.recover_minutes * 60
        need = 0.0 if x is None or not memory.p else threads_needed(x, memory.p, backlog, t)
        return PlanInputs(
            memory.watch, job, self.settings, self.reserve(job), need, memory.p, x, backlog, t, unit
        )

    def _short(self, memory: ProactiveMemory, job: JobFacts) -> bool:
        """Do the estimates ask for more, and does the job read all that they allow it (V-B, 2)?"""
        asked = self._asked(memory, job)
        if asked.p is None or asked.x is None:
            return False
        threads = job.threads, job.tasks
        if cpu_units(asked.x, asked.p, *threads) > 1 + SLACK:
            return True
        both = cpu_units_to_recover(asked.x, asked.p, *threads, b=asked.backlog, t=asked.t)
        read = (memory.watch.rate or 0.0) * asked.unit
        reads_all = cpu_units(read, asked.p, *threads) >= self.settings.at_capacity
        return both > 1 + SLACK and reads_all

    def _grown(self, memory: ProactiveMemory, job: JobFacts, now_ms: int) -> ScalingVerdict:
        asked = self._asked(memory, job)
        wait_s = self.settings.settle_minutes * 60
        return enlarged(asked, self.plan(job, asked.need), now_ms + wait_s * 1000)

    def _shrunk(
        self, memory: ProactiveMemory, job: JobFacts, profile: Profile, now_ms: int
    ) -> tuple[ProactiveMemory, ScalingVerdict]:
        """`n' = ceil(X/P)` unless P is found to be too small, or something needs more tasks."""
        told, x = quiet_told(memory.watch), demand(memory)
        if not x:
            came = "nothing came in" if x == 0 else "nobody knows what came in"
            return memory, stay(f"{told}, but {came}, so no need is known", QUIET, SPARE)
        if memory.p is None or tasks_needed(x, memory.p, job.threads) > job.tasks:
            p = raised(memory.p, x, job.threads, job.tasks)
            text = f"{told}: P is at least the mean throughput of {p:.6g}/s, so nothing is planned"
            return memory._replace(p=p), stay(text, QUIET, SPARE)
        asked = self._asked(memory, job)._replace(need=threads_needed(x, memory.p))
        later, note, bounds = 0.0, "", []
        if whole(asked.need) < job.tasks * job.threads:  # else history has nothing to prevent
            later, note = self.least(memory, job, profile, now_ms)
            bounds.append(("history", whole(later / job.threads), note))
        if job.stateful and memory.watch.memory_most is not None:
            base, _, most = asked.reserve
            most /= self.settings.memory_margin
            held = tasks_for_memory(memory.watch.memory_most, base, job.tasks, most)
            bounds.append(("memory", held, "fewer tasks would not hold the state"))
        plan = narrower(job, asked.need, tuple(bounds))
        threads = max(asked.need, later)
        verdict = reduced(asked, plan, Spare(threads, note, self.until_ms(now_ms), self.vertical))
        if verdict.size is None:
            return memory, verdict
        watch = acted(memory.watch, now_ms, verdict.action)
        if verdict.action != SCALE_DOWN:
            return memory._replace(watch=watch), verdict
        return memory._replace(watch=watch, reduced=(now_ms, verdict.size)), verdict

    def until_ms(self, now_ms: int) -> int:
        """How long a smaller size has to do."""
        return now_ms + self.settings.settle_minutes * MINUTE_MS
