"""A job under Flink's autoscaler, minute by minute, for its tests."""

from __future__ import annotations

from typing import Any

from components.auto_scaler.core.policies.flink.policy import Flink, FlinkMemory
from components.auto_scaler.core.verdict import ScalingVerdict
from projections.scaling.seen import MINUTE_MS, UNKNOWN, JobFacts, Minute

START_MS = 1_700_000_000_000 // MINUTE_MS * MINUTE_MS
FULL = 21
"""Minutes until the window is full: the first one that ends 5 minutes after the start, and 15."""


class Played:
    """A policy and the minutes that it has been given."""

    def __init__(self, tasks: int = 10, settings: dict[str, Any] | None = None, **job: Any) -> None:
        self.policy = Flink.made(settings or {})
        self.job = JobFacts("job", tasks, **{"tasks_max": 200, **job})
        self.memory: FlinkMemory = self.policy.begin(self.job)
        self.at_ms = START_MS

    def see(
        self, minutes: int = 1, rate: float = 1000.0, busy: float | None = 0.7, **more: Any
    ) -> None:
        for _ in range(minutes):
            self.at_ms += MINUTE_MS
            given = {"lag": 0.0, "busy": busy, "busy_most": busy, "tasks": self.job.tasks, **more}
            minute = Minute(self.at_ms, arrived=None, rate=rate, lag_s=None, **given)
            self.memory = self.policy.learn(self.memory, self.job, minute)

    def decide(self) -> ScalingVerdict:
        self.memory, verdict = self.policy.decide(self.memory, self.job, UNKNOWN, self.at_ms)
        return verdict

    def rescale(self, verdict: ScalingVerdict, down_s: float = 30.0, **seen: Any) -> None:
        assert verdict.size
        size = verdict.size
        self.job = self.job._replace(tasks=size.tasks, memory_mb=size.memory_mb)
        self.see(down_s=down_s, **seen)


def full(tasks: int = 10, settings: dict[str, Any] | None = None, **seen: Any) -> Played:
    """With a full window of such minutes."""
    job = {one: seen.pop(one) for one in JobFacts._fields if one in seen and one != "tasks"}
    played = Played(tasks, settings, **job)
    played.see(FULL, **seen)
    return played
