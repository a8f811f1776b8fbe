"""Settings of Turbine's own policy: one table for all jobs, each number with its reason. Pure."""

from __future__ import annotations

from pydantic import Field

from events.job_config.policies.settings import LEAST, PolicySettings

LOOK_BACK_MOST = 150
"""Minutes of a job that the scaler keeps."""


class TurbineSettings(PolicySettings):
    """Rates are shares of what the job reads at its size, unless said otherwise."""

    margin: float = Field(
        default=1.0,
        ge=1,
        le=3,
        description="of what came in that a smaller size reads; more of it for the backlog that a"
        " restart leaves",
    )
    margin_up: float = Field(
        default=1.1, ge=1, le=3, description="of what comes in that a larger size reads at least"
    )
    wait_share: float = Field(
        default=0.8,
        ge=LEAST,
        le=1,
        description="of a job's patience that short peaks may use up: what waits for longer would"
        " have asked for more",
    )
    late_share: float = Field(
        default=0.9,
        ge=LEAST,
        le=1,
        description="of the SLO within which a restart has to end: what is left of it is the"
        " patience of a job that falls behind",
    )
    lost_share: float = Field(
        default=0.9,
        ge=LEAST,
        le=1,
        description="of the SLO from which lag that does not fall is mended, whatever can be read",
    )
    full: float = Field(
        default=1.0,
        gt=0.5,
        le=1.2,
        description="of what the job reads: with more coming in its lag grows",
    )
    last_share: float = Field(
        default=0.9,
        ge=0,
        le=1,
        description="of the newest minute that is taken to go on: so a step is met at once",
    )
    lead_minutes: float = Field(
        default=1.0,
        ge=0,
        le=60,
        description="that input is foreseen by its trend, and lag with it: until the next look",
    )
    look_back_minutes: int = Field(
        default=120,
        ge=10,
        le=LOOK_BACK_MOST,
        description="that a smaller size must have carried if it saves little",
    )
    look_ahead_minutes: int = Field(
        default=15,
        ge=0,
        le=720,
        description="of usual days that a size must carry: a change that lasts less costs more"
        " than it saves",
    )
    ramp_minutes: int = Field(
        default=5,
        ge=0,
        le=120,
        description="ahead of which a usual rise is met: a change takes some, its backlog more",
    )
    differs: float = Field(
        default=2.0,
        ge=1,
        le=100,
        description="factor between today's last half hour and usual days beyond which these say"
        " nothing (Turbine V-C)",
    )
    drain_minutes: float = Field(
        default=6.0,
        ge=LEAST,
        le=240,
        description="in which a larger size reads the backlog: faster takes more than is needed"
        " later",
    )
    spare_minutes: float = Field(
        default=15.0,
        ge=LEAST,
        le=240,
        description="in which a smaller size reads what its restart leaves",
    )
    settle_minutes: int = Field(
        default=1, ge=1, le=120, description="after a change before lag is looked at again"
    )
    down_minutes: int = Field(
        default=5, ge=1, le=1440, description="after a change before a job may be made smaller"
    )
    payback_times: float = Field(
        default=12.0,
        ge=LEAST,
        le=1000,
        description="of what the job costs while it restarts: a smaller size has to have been"
        " enough, since the last change, for so long that it would have saved as much",
    )
    saves_share: float = Field(
        default=0.03,
        ge=LEAST,
        lt=1,
        description="of its cost that a smaller size saves at least: what saves less is not worth"
        " a restart",
    )
    vertical_share: float = Field(
        default=0.2,
        ge=LEAST,
        le=1,
        description="of a container for one task, so that it can be moved (Turbine V-E)",
    )
    memory_room: float = Field(
        default=1.1, ge=1, le=4, description="of the memory that a task has used at most"
    )
    memory_up: float = Field(
        default=1.5, gt=1, le=10, description="factor for tasks that ran out of memory"
    )
    gain_least: float = Field(
        default=0.1,
        ge=0,
        lt=1,
        description="of the gain that was expected of a change, below which it is taken back",
    )
    verify_minutes: int = Field(
        default=12, ge=2, le=240, description="after which a change is held against its expectation"
    )
    hold_minutes: int = Field(
        default=30,
        ge=1,
        le=1440,
        description="without another try after a change that did not help; twice that each time",
    )
