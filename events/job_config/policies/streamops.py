"""The settings of StreamOps' scaler; a description says of a default that it is ours. Pure."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from events.job_config.invalid import conflict, show
from events.job_config.policies.settings import LEAST, RECORDS_MAX, WEEK_S, PolicySettings


class StreamOpsSettings(PolicySettings):
    """The thresholds, which the paper leaves to each job."""

    lag_high: float = Field(
        default=200_000,
        ge=0,
        le=RECORDS_MAX,
        description="records of lag that are high; jobs stay below (6.4)",
    )
    lag_low: float = Field(
        default=20_000, ge=0, le=RECORDS_MAX, description="records of lag that are low; ours"
    )
    window_s: int = Field(
        default=300, ge=60, le=3600, description="time that is looked at, in seconds; ours"
    )
    schedule_s: int = Field(
        default=21_600,
        ge=60,
        le=WEEK_S,
        description="seconds between requests: 4 times a day (6.2)",
    )
    on_high_lag: bool = Field(
        default=True, description="whether high lag makes a request of its own (3.2.1)"
    )
    overloaded_ratio: float = Field(
        default=0.8, ge=0, le=1, description="useful time ratio of an overloaded task; ours"
    )
    underloaded_ratio: float = Field(
        default=0.3, ge=0, le=1, description="useful time ratio of an underloaded task; ours"
    )
    overloaded_share: float = Field(
        default=0.5, ge=LEAST, le=1, description="share of tasks that is n1, most of them; ours"
    )
    underloaded_share: float = Field(
        default=0.9, ge=LEAST, le=1, description="share of tasks that is n2, stricter than n1; ours"
    )
    balance_spread: float = Field(
        default=0.2, ge=0, le=1, description="difference of ratios that is similar; ours"
    )
    balance_share: float = Field(
        default=0.8, ge=LEAST, le=1, description="share of tasks that is most, for balance; ours"
    )
    z_score: float = Field(
        default=1.5,
        ge=LEAST,
        le=1000,
        description="deviations above the mean that are higher load; ours",
    )
    stragglers_share: float = Field(
        default=0.2, ge=LEAST, le=1, description="share of tasks that is few enough; ours"
    )

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.lag_low >= self.lag_high:
            raise conflict(
                "lag_low",
                f"a number below lag_high, which is {show(self.lag_high)}",
                show(self.lag_low),
            )
        if self.underloaded_ratio >= self.overloaded_ratio:
            raise conflict(
                "underloaded_ratio",
                f"a number below overloaded_ratio, which is {show(self.overloaded_ratio)}",
                show(self.underloaded_ratio),
            )
        return self
