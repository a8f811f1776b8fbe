"""The form of the answer about a fleet over time."""

from __future__ import annotations

from pydantic import Field

from turbine.api.shapes import AnswerShape


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
