"""What a policy makes of what it sees: to act or not, each with its reason. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from events.generated.records import Alternative, Constraint
from projections.scaling.actions import ACTIONS, STAY, JobSize
from projections.scaling.decision_memory import PastDecision

COUNT_MOST = 2**31
"""Of a record's counts."""


class Expectation(NamedTuple):
    """What has to be seen by when, for an action to have been right."""

    by_ms: int
    rate: float | None = None  # records a second that can be read
    lag_s: float | None = None  # below it


@dataclass(frozen=True, slots=True)
class ScalingVerdict:
    """Of one look at one job."""

    action: str
    symptom: str  # what was seen; "" for nothing
    diagnosis: str  # the cause that was found; "" for none
    explanation: str  # one sentence
    raw: int = 0  # tasks before any constraint
    size: JobSize | None = None  # None: as it is
    constraints: tuple[Constraint, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    expects: Expectation | None = None
    task: int | None = None  # that is to be moved
    until_ms: int | None = None  # the reason to stay holds at least as long
    reads: float | None = None  # records a second that the job can read as it is

    @property
    def acts(self) -> bool:
        """Does it change the job?"""
        return self.size is not None


def stay(
    explanation: str, symptom: str = "", diagnosis: str = "", **more: object
) -> ScalingVerdict:
    """Nothing is done, and why."""
    return ScalingVerdict(STAY, symptom, diagnosis, explanation, **more)  # type: ignore[arg-type]  # fields of a verdict


def trouble_with(verdict: object) -> str:
    """What no record can hold of a verdict, or no job be; "" for nothing."""
    if not isinstance(verdict, ScalingVerdict):
        return f"it answered with {type(verdict).__name__}, and not with a ScalingVerdict"
    texts = (verdict.action, verdict.symptom, verdict.diagnosis, verdict.explanation)
    if not all(isinstance(one, str) for one in texts) or verdict.action not in ACTIONS:
        return "its verdict needs a known action, and texts for symptom, diagnosis, explanation"
    size = () if verdict.size is None else (*verdict.size[:2], verdict.size[3])
    if not all(type(one) is int and 0 < one < COUNT_MOST for one in size):
        return "the tasks, threads and MiB of its size have to be whole numbers above 0"
    if type(verdict.raw) is not int:
        return "its raw number of tasks has to be whole"
    times = (verdict.until_ms, verdict.task, verdict.expects and verdict.expects.by_ms)
    if not all(one is None or type(one) is int for one in times):
        return "its times and its task have to be whole numbers"
    if verdict.size is not None and not 0 < verdict.size.cpu_cores < COUNT_MOST:
        return "its cores of a task have to be above 0"
    return ""


def deed_of(verdict: ScalingVerdict) -> PastDecision:
    """What counts of a verdict."""
    expects = verdict.expects
    return PastDecision(
        verdict.action,
        verdict.diagnosis,
        verdict.acts,
        verdict.until_ms,
        None if expects is None else expects.by_ms,
        verdict.reads,
        None if expects is None else expects.rate,
    )


class Clamped(NamedTuple):
    """A number on its way through constraints."""

    value: float
    constraints: tuple[Constraint, ...] = ()

    def through(self, name: str, make: Callable[[float], float], note: str = "") -> Clamped:
        """What a constraint makes of it, told where it changes it."""
        after = make(self.value)
        if after == self.value:
            return self
        told = Constraint(name, self.value, after, note)
        return Clamped(after, (*self.constraints, told))
