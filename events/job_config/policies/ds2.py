"""The settings of DS2. Pure."""

from __future__ import annotations

from pydantic import Field

from events.job_config.policies.settings import PolicySettings


class Ds2Settings(PolicySettings):
    """Of its manager, and how long an epoch is."""

    scaling_factor: float = Field(
        default=0, ge=0, le=1000, description="share of tasks on top of the need"
    )
    activation_time: int = Field(
        default=1, ge=1, le=10_000, description="evaluations before a change may follow"
    )
    warm_up_time: int = Field(
        default=2, ge=0, le=10_000, description="epochs that are skipped after a change"
    )
    policy_interval_s: int = Field(
        default=10, ge=1, le=60, description="length of an epoch, in seconds"
    )
    target_rate_ratio: float | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="input by rate read above which the need is raised once more; none: never",
    )
