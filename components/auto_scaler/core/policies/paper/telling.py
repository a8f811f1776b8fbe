"""What the paper's three policies say in the same words, whichever of them says it. Pure."""

from __future__ import annotations

from components.auto_scaler.core.policies.common.estimates import spread
from components.auto_scaler.core.policies.common.texts import plain
from components.auto_scaler.core.policies.paper.watch import (
    IMBALANCE,
    LAG,
    SETTLING,
    RateWatch,
    imbalanced,
    settled_ms,
)
from components.auto_scaler.core.verdict import (
    ScalingVerdict,
    stay,
)
from events.generated.records import Alternative, Constraint
from events.job_config.policies.generations import Basics
from projections.scaling.actions import (
    REBALANCE,
    SCALE_UP,
)
from projections.scaling.seen import JobFacts


def symptom_told(watch: RateWatch, job: JobFacts, symptom: str = LAG) -> str:
    """What is wrong, with its numbers."""
    if symptom == LAG:
        behind = watch.lagged_s
        late = "without end" if behind == float("inf") else f"{plain(behind)} s"
        return f"the job lags {late}, and {plain(job.slo_s)} s are allowed"
    used = "" if watch.memory_mb is None else f", and one uses {plain(watch.memory_mb)} MiB"
    return f"a task ran out of its {job.memory_mb} MiB{used}"


def quiet_told(watch: RateWatch) -> str:
    """How long all was well."""
    return f"no lag and no OOM for {plain(watch.clean / 60)} h"


def settling(watch: RateWatch, basics: Basics) -> ScalingVerdict:
    """What is measured now is of the change."""
    text = f"the last change is less than {basics.settle_minutes} min old"
    return stay(text, SETTLING, SETTLING, until_ms=settled_ms(watch, basics))


def rebalanced(watch: RateWatch, job: JobFacts, basics: Basics) -> ScalingVerdict:
    """Input is spread anew; which partition goes where is not the policy's to say."""
    parts = plain(spread(watch.task_rates))
    return ScalingVerdict(
        REBALANCE,
        LAG,
        IMBALANCE,
        f"{symptom_told(watch, job)}, and its tasks' rates differ by {parts} of their mean, above"
        f" {plain(basics.spread_most)}: its input is spread anew",
        job.tasks,
        alternatives=(Alternative(SCALE_UP, "the input is imbalanced, which is mended first"),),
    )


def limited(
    told: str, found: tuple[str, str], raw: int, job: JobFacts, constraints: tuple[Constraint, ...]
) -> ScalingVerdict:
    """More is needed and not to be had."""
    names = ", ".join(one.name for one in constraints)
    text = f"{told}, but {job.tasks} tasks of {job.memory_mb} MiB are all it may have ({names})"
    return stay(text, *found, raw=raw, constraints=constraints)


def unbalanced(watch: RateWatch, job: JobFacts, basics: Basics) -> Alternative:
    """Why the input is not spread anew."""
    if not imbalanced(watch, basics):
        most = plain(basics.spread_most)
        return Alternative(REBALANCE, f"the tasks' rates differ by at most {most} of their mean")
    if REBALANCE in watch.tried:
        return Alternative(REBALANCE, "the input was spread anew, and the lag is still there")
    return Alternative(REBALANCE, f"no partition of the {job.tasks} tasks is known to be spare")
