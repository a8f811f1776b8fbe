"""The settings of Dhalion, as Heron's dynamic resource allocation has it. Pure."""

from __future__ import annotations

from pydantic import Field

from events.job_config.policies.settings import RECORDS_MAX, WEEK_S, PolicySettings


class DhalionSettings(PolicySettings):
    """The thresholds of Dhalion's detectors of symptoms."""

    noise_ms: float = Field(
        default=20,
        ge=0,
        le=1000,
        description="back-pressure that does not count, in ms of a second",
    )
    queue_limit: float = Field(
        default=1000, ge=0, le=RECORDS_MAX, description="mean records that wait for a task"
    )
    slope_limit: float = Field(
        default=10,
        ge=0,
        le=RECORDS_MAX,
        description="records a second by which a task's queue may grow",
    )
    rate_skew_ratio: float = Field(
        default=1.5,
        ge=1,
        le=RECORDS_MAX,
        description="greatest by least rate of a task that is no skew",
    )
    queue_skew_ratio: float = Field(
        default=20,
        ge=1,
        le=RECORDS_MAX,
        description="greatest by least queue of a task that is no skew",
    )
    wait_s: int = Field(
        default=180, ge=0, le=WEEK_S, description="seconds without a look after an action"
    )
