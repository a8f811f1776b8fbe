"""The options of Flink's autoscaler that mean something for one job of one source vertex. Pure.

Names and defaults are the source's (`job.autoscaler.`), durations in whole seconds. Left out is
what has nothing to act on here: `enabled` and `scaling.event.interval` are the job's mode and the
log, `vertex.exclude.ids` is to leave the job alone; the REST timeout, custom evaluators, executors
and alignment classes belong to code that is loaded; `memory.gc-pressure.threshold` has no signal,
and managed memory no twin.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from events.job_config.invalid import conflict, show
from events.job_config.policies.flink_periods import period
from events.job_config.policies.settings import LEAST, LIST, TASKS_MAX, WEEK_S, PolicySettings

WINDOW_S_MAX = 6 * 3600
"""A window is read whole at every minute, so it is bounded."""
Mode = Literal[
    "balanced", "evenly_spread", "off", "legacy_evenly_spread", "legacy_maximize_utilisation"
]
"""How a target is moved towards the number of partitions."""


class FlinkSettings(PolicySettings):
    """The settings of the policy `flink`, by the names of Flink's own."""

    scaling_enabled: bool = Field(True, description="act; otherwise only recommend")
    metrics_window_s: int = Field(
        900, ge=60, le=WINDOW_S_MAX, description="what is looked back on, and filled first"
    )
    stabilization_interval_s: int = Field(
        300, ge=0, le=WEEK_S, description="of a restart, that the window does not begin in"
    )
    excluded_periods: Annotated[tuple[str, ...], LIST] = Field(
        (), description="UTC times of the day, crons or both joined by &&"
    )
    utilization_target: float = Field(0.7, ge=LEAST, le=1, description="what a task should be busy")
    target_utilization_boundary: float = Field(
        0.3, ge=0, le=1, description="the band to both sides, where max and min are not given"
    )
    utilization_max: float | None = Field(None, ge=0, le=1, description="above it: more tasks")
    utilization_min: float | None = Field(None, ge=0, le=1, description="below it: fewer tasks")
    scale_down_interval_s: int = Field(
        3600, ge=0, le=WEEK_S, description="for which shrinking is put off; 0: not at all"
    )
    vertex_min_parallelism: int = Field(1, ge=1, le=TASKS_MAX, description="not below it")
    vertex_max_parallelism: int = Field(200, ge=1, le=TASKS_MAX, description="not above it")
    scale_down_max_factor: float = Field(0.6, ge=0, le=1, description="share cut at once, at most")
    scale_up_max_factor: float = Field(
        100_000, ge=0, le=10**6, description="growth at once, at most"
    )
    catch_up_duration_s: int = Field(
        1800, ge=0, le=WEEK_S, description="to drain a backlog in; 0: backlogs do not count"
    )
    restart_time_s: int = Field(300, ge=0, le=WEEK_S, description="that a restart is taken to last")
    restart_time_tracking_enabled: bool = Field(False, description="take the longest known restart")
    restart_time_tracking_limit_s: int = Field(900, ge=0, le=WEEK_S, description="of a known one")
    backlog_processing_lag_threshold_s: int = Field(
        300, ge=0, le=WEEK_S, description="of backlog above which nothing shrinks"
    )
    observed_true_processing_rate_lag_threshold_s: int = Field(
        30, ge=0, le=WEEK_S, description="of backlog from which rates are observed"
    )
    observed_true_processing_rate_switch_threshold: float = Field(
        0.15,
        ge=0,
        le=1000,
        description="by which busy time has to overstate, for the observed rate to count",
    )
    observed_true_processing_rate_min_observations: int = Field(
        2, ge=1, le=1000, description="before the observed rate counts"
    )
    scaling_effectiveness_detection_enabled: bool = Field(
        False, description="do not grow again after growth that did not help"
    )
    scaling_effectiveness_threshold: float = Field(
        0.1, ge=0, le=1, description="share of the hoped increase, below which it did not help"
    )
    memory_heap_usage_threshold: float = Field(
        1.0, ge=0, le=1, description="mean share of a task's memory above which nothing is done"
    )
    memory_tuning_enabled: bool = Field(False, description="change memory where tasks change")
    memory_tuning_scale_down_compensation_enabled: bool = Field(
        True, description="give those who stay the memory of those who go"
    )
    memory_tuning_overhead: float = Field(0.2, ge=0, le=1, description="above the memory used")
    history_max_count: int = Field(3, ge=1, le=1000, description="changes that are remembered")
    history_max_age_s: int = Field(86_400, ge=0, le=10 * WEEK_S, description="of a change")
    metrics_busy_time_aggregator: Literal["max", "avg", "min"] = Field(
        "max", description="whose busy time counts"
    )
    quota_cpu: float | None = Field(
        None, ge=LEAST, le=10**7, description="cores of the job; all or nothing"
    )
    quota_memory_mb: float | None = Field(
        None, ge=LEAST, le=10**12, description="of the job; all or nothing"
    )
    scaling_parallelism_alignment_mode: Mode = Field(
        "balanced", description="how a target is moved towards the number of partitions"
    )
    observed_scalability_enabled: bool = Field(
        False, description="grow more where growth helps less"
    )
    observed_scalability_min_observations: int = Field(
        3, ge=1, le=1000, description="changes it rests on"
    )
    observed_scalability_coefficient_min: float = Field(
        0.5, ge=0.01, le=1, description="of growth, at worst"
    )
    # Two options of Flink itself, which the autoscaler reads.
    number_of_task_slots: int = Field(
        1, ge=1, le=1024, description="tasks that share a process, for quotas"
    )
    max_parallelism: int = Field(128, ge=1, le=32_768, description="key groups: no more tasks")

    @model_validator(mode="after")
    def _fit(self) -> Self:
        for at, one in enumerate(self.excluded_periods):
            try:
                period(one)
            except ValueError as bad:
                raise conflict(f"excluded_periods.{at}", str(bad), show(one)) from None
        target, most, least = self.utilization_target, self.utilization_max, self.utilization_min
        if most is not None and most < target:
            expected = f"at least utilization_target, which is {show(target)}"
            raise conflict("utilization_max", expected, show(most))
        if least is not None and least > target:
            expected = f"at most utilization_target, which is {show(target)}"
            raise conflict("utilization_min", expected, show(least))
        return self

    @property
    def most(self) -> float:
        """The utilization at which the band ends."""
        if self.utilization_max is not None:
            return self.utilization_max
        return self.utilization_target + self.target_utilization_boundary

    @property
    def least(self) -> float:
        """The utilization at which the band begins."""
        if self.utilization_min is not None:
            return self.utilization_min
        return self.utilization_target - self.target_utilization_boundary
