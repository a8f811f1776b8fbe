"""The options of KEDA's scaler and scaled object and of the HPA, with their defaults. Pure."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from events.job_config.invalid import conflict, show
from events.job_config.policies.settings import LIST, RECORDS_MAX, TASKS_MAX, WEEK_S, PolicySettings

PERIOD_S_MAX = 1800
"""The longest period of a rate that Kubernetes takes."""
WINDOW_S_MAX = 3600
"""The longest window of a direction that Kubernetes takes."""

Select = Literal["max", "min", "disabled"]
"""Which of several rates counts."""


class Fallback(PolicySettings):
    """How many replicas there are while the lag cannot be read."""

    failure_threshold: int = Field(
        ge=0, le=10**6, description="failed readings in a row that are put up with"
    )
    replicas: int = Field(ge=0, le=TASKS_MAX, description="tasks to fall back to")
    behavior: Literal[
        "static", "currentReplicas", "currentReplicasIfHigher", "currentReplicasIfLower"
    ] = Field(default="static", description="whether the tasks that run are kept instead")


class ScalingRate(PolicySettings):
    """One of the HPA's policies."""

    kind: Literal["pods", "percent"] = Field(description="what the value counts")
    value: int = Field(ge=1, le=TASKS_MAX, description="tasks, or per cent of them, in a period")
    period_s: int = Field(ge=1, le=PERIOD_S_MAX, description="the period, in seconds")


_TOLERANCE = 0.1
_UP_RATES = (
    ScalingRate(kind="pods", value=4, period_s=15),
    ScalingRate(kind="percent", value=100, period_s=15),
)
_DOWN_RATES = (ScalingRate(kind="percent", value=100, period_s=15),)


class KedaSettings(PolicySettings):
    """The settings of KEDA and of the HPA beneath it."""

    lag_threshold: int = Field(
        default=10, ge=1, le=RECORDS_MAX, description="records of lag that one task holds"
    )
    activation_lag_threshold: int = Field(
        default=0, ge=0, le=RECORDS_MAX, description="records of lag above which the job is active"
    )
    exclude_persistent_lag: bool = Field(
        default=False, description="whether lag of a task that reads nothing does not count"
    )
    limit_to_partitions_with_lag: bool = Field(
        default=False, description="whether partitions without lag get no task"
    )
    ensure_even_distribution: bool = Field(
        default=False, description="whether tasks are raised to a divisor of the partitions"
    )
    allow_idle_consumers: bool = Field(
        default=False, description="whether there may be more tasks than partitions"
    )
    min_replica_count: int = Field(default=0, ge=0, le=TASKS_MAX, description="fewest tasks")
    max_replica_count: int = Field(default=100, ge=1, le=TASKS_MAX, description="most tasks")
    idle_replica_count: int | None = Field(
        default=None,
        ge=0,
        le=TASKS_MAX,
        description="tasks while the job is not active; fewer than the minimum",
    )
    cooldown_period_s: int = Field(
        default=300,
        ge=0,
        le=WEEK_S,
        description="seconds without activity before there are no tasks",
    )
    fallback: Fallback | None = Field(
        default=None, description="tasks while the lag cannot be read; none: they stay"
    )
    paused: bool = Field(default=False, description="whether nothing is done at all")
    paused_replicas: int | None = Field(
        default=None, ge=0, le=TASKS_MAX, description="tasks that are held, whatever the lag"
    )
    paused_scale_in: bool = Field(default=False, description="whether tasks are never taken away")
    paused_scale_out: bool = Field(default=False, description="whether tasks are never added")
    force_activation: bool = Field(
        default=False, description="whether the job is active without any lag"
    )
    sync_s: int = Field(default=15, ge=1, le=60, description="seconds between looks of the HPA")
    tolerance_up: float = Field(
        default=_TOLERANCE, ge=0, le=1000, description="share above the target that changes nothing"
    )
    tolerance_down: float = Field(
        default=_TOLERANCE, ge=0, le=1, description="share below the target that changes nothing"
    )
    up_window_s: int = Field(
        default=0,
        ge=0,
        le=WINDOW_S_MAX,
        description="window of the least, in seconds",
    )
    down_window_s: int = Field(
        default=300,
        ge=0,
        le=WINDOW_S_MAX,
        description="window of the most, in seconds",
    )
    up_select: Select = Field(default="max", description="which of the rates up counts")
    down_select: Select = Field(default="max", description="which of the rates down counts")
    up_rates: Annotated[tuple[ScalingRate, ...], LIST] = Field(
        default=_UP_RATES, min_length=1, description="how fast tasks are added"
    )
    down_rates: Annotated[tuple[ScalingRate, ...], LIST] = Field(
        default=_DOWN_RATES, min_length=1, description="how fast tasks are taken away"
    )
    plain_hpa: bool = Field(
        default=False,
        description="whether growth is held by twice the tasks or 4, as without a `behavior`",
    )

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.limit_to_partitions_with_lag:
            for name in ("allow_idle_consumers", "ensure_even_distribution"):
                if getattr(self, name):
                    expected = "false, as limit_to_partitions_with_lag is true"
                    raise conflict(name, expected, "true")
        least, most = self.min_replica_count, self.max_replica_count
        idle = self.idle_replica_count
        if idle is not None and idle >= least:
            expected = f"a number below min_replica_count, which is {least}"
            raise conflict("idle_replica_count", expected, show(idle))
        if least > most:
            expected = f"at most max_replica_count, which is {most}"
            raise conflict("min_replica_count", expected, show(least))
        return self
