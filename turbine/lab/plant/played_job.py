"""What a job that is played consists of: its minutes, what was decided, what is wanted of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from events.generated.records import LayerVersions
from projections.scaling.actions import JobSize


class PlayedMinute(NamedTuple):
    """One minute of the job."""

    at_ms: int  # its end
    rate: float  # records a second that came in
    lag_s: float  # age of the oldest record at its end
    size: JobSize
    down_s: float  # for which no task ran


class SizeChange(NamedTuple):
    """One change of its size, or of who reads what, that was decided."""

    at_ms: int
    action: str
    before: JobSize
    after: JobSize
    explanation: str


class Pause(NamedTuple):
    """One restart that was measured."""

    took_s: float  # from the begin of its plan to its end
    seen_s: float  # of which no report tells


class PolicyWish(NamedTuple):
    """A policy instead of the one that the job's config names."""

    name: str
    settings: Mapping[str, Any]


@dataclass(slots=True)
class PlantLayers:
    """What each authority wants of the job, with the version of its last change."""

    configs: list[dict[str, Any]] = field(default_factory=lambda: [{}, {}, {}, {}])
    versions: list[int] = field(default_factory=lambda: [0, 0, 0, 0])

    @property
    def vector(self) -> LayerVersions:
        """The versions of all four layers."""
        return LayerVersions(*self.versions)


def sized(before: JobSize, made: Mapping[str, Any]) -> JobSize:
    """The size once that is set."""
    resources = made.get("resources", {})
    return JobSize(
        made.get("tasks", before.tasks),
        made.get("threads_per_task", before.threads),
        resources.get("cpu_cores", before.cpu_cores),
        resources.get("memory_mb", before.memory_mb),
    )
