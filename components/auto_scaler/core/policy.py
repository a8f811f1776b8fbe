"""The one shape of a scaling policy: it learns minute by minute, and is asked now and then. Pure.

A policy is a value: its name stands in the job's config, and its settings are checked like the
rest. What it remembers is a value too, so that a decision can be made again from the log.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, Generic, Self, TypeVar

from components.auto_scaler.core.verdict import ScalingVerdict, stay
from events.job_config.policies.settings import PolicySettings
from projections.scaling.seen import MINUTE_MS, JobFacts, Minute, Profile

Memory = TypeVar("Memory")


class ScalingPolicy(ABC, Generic[Memory]):
    """Detect, diagnose, resolve (Turbine V-A, StreamOps 4)."""

    name: ClassVar[str]  # by which a job's config chooses it
    model: ClassVar[type[PolicySettings]]  # what it may be told under `policy.settings`
    version: ClassVar[int] = 1  # one more with each change that makes it decide otherwise
    every_ms: ClassVar[int] = 60_000  # how often it is asked
    replayed: ClassVar[bool] = True  # at each look over the minutes that the job's row has kept
    minute_ms: int = MINUTE_MS  # as long as one lasts, by the log's clock

    def __init__(self, settings: Any) -> None:
        """`settings` is of its model."""
        self.settings = settings

    @classmethod
    def made(cls, settings: Mapping[str, Any]) -> Self:
        """With these settings; pydantic's ValidationError names the first that does not fit."""
        return cls(cls.model.model_validate(dict(settings)))

    @classmethod
    def logic(cls) -> str:
        """Name and version, as decisions tell it whose policy is not of Turbine itself."""
        return f"{cls.name}/{cls.version}"

    def paced(self, minute_ms: int) -> Self:
        """The same with minutes of another length, where it can count in them."""
        made = copy(self)
        made.minute_ms = minute_ms
        return made

    @abstractmethod
    def begin(self, job: JobFacts) -> Memory:
        """What it knows before the first minute."""

    @abstractmethod
    def learn(self, memory: Memory, job: JobFacts, minute: Minute) -> Memory:
        """The memory with one more minute in it."""

    @abstractmethod
    def detect(self, memory: Memory, job: JobFacts, now_ms: int) -> str:
        """The symptom; "" for none."""

    @abstractmethod
    def diagnose(self, memory: Memory, job: JobFacts, symptom: str, profile: Profile) -> str:
        """The cause of it; "" where there is none that calls for anything."""

    @abstractmethod
    def resolve(
        self, memory: Memory, job: JobFacts, found: tuple[str, str], profile: Profile, now_ms: int
    ) -> tuple[Memory, ScalingVerdict]:
        """What is done about symptom and cause."""

    def outcome(self, memory: Memory, job: JobFacts, now_ms: int) -> ScalingVerdict | None:  # noqa: ARG002 - most policies do not look back
        """Whether its last change helped, once that can be told: verified or revert."""
        return None

    def look(
        self, memory: Memory, job: JobFacts, profile: Profile, now_ms: int
    ) -> tuple[Memory, ScalingVerdict]:
        """One look at a job as it stands."""
        symptom = self.detect(memory, job, now_ms)
        if not symptom:
            return memory, stay("nothing is wrong")
        cause = self.diagnose(memory, job, symptom, profile)
        if not cause:
            return memory, stay(f"{symptom}: nothing calls for another size", symptom)
        return self.resolve(memory, job, (symptom, cause), profile, now_ms)

    def decide(
        self, memory: Memory, job: JobFacts, profile: Profile, now_ms: int
    ) -> tuple[Memory, ScalingVerdict]:
        """A look, with all that is to be remembered of it."""
        return self.look(memory, job, profile, now_ms)
