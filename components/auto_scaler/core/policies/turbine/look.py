"""One look of the policy `turbine` at a job, and what it makes of a decision. Pure."""

from __future__ import annotations

from typing import NamedTuple

from components.auto_scaler.core.policies.common.sizing import size_of
from components.auto_scaler.core.policies.turbine.demand import Usual
from components.auto_scaler.core.verdict import ScalingVerdict, deed_of
from projections.scaling.decision_memory import done_after
from projections.scaling.model import JobModel
from projections.scaling.seen import JobFacts


def decided(known: JobModel, verdict: ScalingVerdict, job: JobFacts, now_ms: int) -> JobModel:
    """What is known, with a verdict that is carried out."""
    done = done_after(known.done, deed_of(verdict), size_of(job), now_ms)
    return known if done == known.done else known._replace(done=done)


class JobLook(NamedTuple):
    """One look at a job."""

    memory: JobModel
    job: JobFacts
    days: Usual
    now_ms: int
    minute_ms: int

    def ahead(self, minutes: int) -> float:
        """What usual days say of that time; 0 where they say nothing."""
        return self.days.most(self.now_ms, self.now_ms + minutes * self.minute_ms) or 0.0
