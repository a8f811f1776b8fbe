"""Turbine's third generation: patterns, and vertical before horizontal (V-C to V-E). Pure.

It adjusts P by what a smaller size led to, and makes no job smaller than the next hours needed on
the days before. What nobody can explain is told to people, except one late task, which moves. A
recent update of the job, the other cause in V-D, is not seen: a policy is not told of packages.
"""

from __future__ import annotations

from typing import ClassVar

from components.auto_scaler.core.policies.common.estimates import (
    deviates,
    lowered,
    mean,
    tasks_for_memory,
    threads_needed,
    usual,
)
from components.auto_scaler.core.policies.common.sizing import Reserve, SizePlan, larger, size_of
from components.auto_scaler.core.policies.common.texts import plain
from components.auto_scaler.core.policies.paper.proactive import Proactive, ProactiveMemory, demand
from components.auto_scaler.core.policies.paper.watch import (
    HARDWARE,
    UNTRIAGED,
    late_task,
    settled_ms,
)
from events.job_config.policies.generations import PreactiveSettings, ProactiveSettings
from projections.scaling.actions import MOVE
from projections.scaling.seen import JobFacts, Minute, Profile

HOUR_MS = 3_600_000


class Preactive(Proactive):
    """The proactive policy with a memory of actions and of days."""

    name: ClassVar[str] = "preactive"
    model: ClassVar[type[ProactiveSettings]] = PreactiveSettings
    vertical: ClassVar[bool] = True

    settings: PreactiveSettings

    def learn(self, memory: ProactiveMemory, job: JobFacts, minute: Minute) -> ProactiveMemory:
        """As before; a broken SLO after a reduction proves P too great (V-C, 1)."""
        known = super().learn(memory, job, minute)
        x, p = demand(known), known.p
        if known.reduced is None or x is None or p is None:
            return known
        at_ms, size = known.reduced
        lagged_s = known.watch.lagged_s
        broken = lagged_s is not None and lagged_s > job.slo_s
        settled = minute.at_ms >= settled_ms(known.watch, self.settings)
        if not (broken and settled and size[:2] == size_of(job)[:2]):
            return known
        if minute.at_ms > self.until_ms(at_ms):
            return known
        return known._replace(p=lowered(p, x, job.threads, job.tasks, self.settings.between))

    def unexplained(self, memory: ProactiveMemory, job: JobFacts) -> str:
        """Hardware impacts a single task; what impacts more of them is for people (V-D)."""
        if MOVE in memory.watch.tried:  # it was not the hardware
            return UNTRIAGED
        return UNTRIAGED if late_task(memory.watch, job) is None else HARDWARE

    def plan(self, job: JobFacts, threads: float) -> SizePlan:
        """Larger tasks up to a share of a container, then more of them (V-E)."""
        return larger(job, threads, self.settings.container_share)

    def reserve(self, job: JobFacts) -> Reserve:
        """Up to the same share of a container; what a job has beyond it, it keeps."""
        share = job.container_mb * self.settings.container_share
        return self._reserve(max(float(job.memory_mb), float(int(share))))

    def spread(self, memory: ProactiveMemory, job: JobFacts) -> float | None:
        """The tasks of which none would hold more than it may have."""
        base, margin, most = self.reserve(job)
        used = max(memory.watch.memory_most or 0.0, float(job.memory_mb))
        return tasks_for_memory(used, base, job.tasks, most / margin)

    def least(
        self,
        memory: ProactiveMemory,
        job: JobFacts,  # noqa: ARG002  # as its base has it
        profile: Profile,
        now_ms: int,
    ) -> tuple[float, str]:
        """What the next hours needed on the days before, unless today is another day (V-C, 2)."""
        recent, before = mean(memory.watch.arrivals), usual(profile, now_ms)
        differs = deviates(recent, before, self.settings.deviation)
        most = profile.most(now_ms, self.until_ms(now_ms))
        if differs is None or most is None or memory.p is None:
            return 0.0, "nothing is known of the days before"
        if differs:
            told = f"{plain(recent)}/s where the days before had {plain(before)}/s"
            return 0.0, f"history is set aside: the last 30 min brought {told}"
        hours = plain(self.settings.horizon_hours)
        note = f"the next {hours} h brought up to {plain(most)}/s on the days before"
        return threads_needed(most * (memory.unit or 1.0), memory.p), note

    def until_ms(self, now_ms: int) -> int:
        """The hours that a smaller size has to do for."""
        return now_ms + int(self.settings.horizon_hours * HOUR_MS)
