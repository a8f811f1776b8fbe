"""The form of the answers about a fleet over time, and about what changed in it."""

from __future__ import annotations

from pydantic import Field

from turbine.api.shapes import AnswerShape, Json
from turbine.read.answers.fleet import Totals


class FleetSeriesAnswer(AnswerShape):
    """All jobs together, by buckets of equal length. What nobody knows is null."""

    t_ms: list[int] = Field(description="When each bucket begins.")
    end_ms: int = Field(description="When the last of them ends.")
    rate_in: list[float | None] = Field(description="Records a second, of the jobs that report.")
    lag_seconds: list[float | None] = Field(description="Of the job that is behind most.")
    tasks: list[float | None] = Field(description="That report.")
    cores: list[float | None]
    jobs: list[float | None] = Field(description="That report: of so many is all else told.")
    lag_unknown: list[float | None] = Field(description="Of these, whose lag nobody knows.")
    restarts: list[int | None] = Field(
        description="Tasks that began again: after a failure, a move, or in another shape."
    )


class DigestJob(AnswerShape):
    """What happened to a job."""

    job: str
    stands: str = Field(description="At the end of the span: needs you, look, fine.")
    open: list[Json] = Field(description="Alerts, the gravest first.")
    quarantine: Json | None
    failed: Json | None = Field(description="The last plan, where it came to nothing.")
    waits_ms: int | None = Field(
        description="Since when at least what is expected is not in effect."
    )
    scaling: list[Json]
    config: list[Json]
    rejected: list[Json]
    cleared: list[Json]
    released: list[Json]
    syncs: dict[str, int]


class DigestAnswer(AnswerShape):
    """What changed in a span of time, as `turbine digest -o json` shows it, worst first."""

    since_ms: int
    until_ms: int
    whole: bool = Field(description="False where so much happened that only the last is told.")
    jobs: list[DigestJob]
    quiet: int = Field(description="Jobs to which nothing happened.")
    tiers: list[Json]
    totals: Totals = Field(description="At the end of the span.")
