"""The settings of the paper's three generations: each has those of the one before. Pure."""

from __future__ import annotations

from math import ceil
from typing import Self

from pydantic import Field, model_validator

from events.job_config.invalid import conflict, show
from events.job_config.policies.settings import LEAST, PolicySettings

KEPT_MINUTES = 30
"""Minutes of input that are kept: what V-C holds against the days before."""


class Basics(PolicySettings):
    """What Algorithm 2 leaves open, and every generation needs."""

    rate_minutes: int = Field(
        default=3,
        ge=1,
        le=KEPT_MINUTES,
        description="minutes over which rates are averaged: one alone is noise, and more of them"
        " make a backlog look young",
    )
    settle_minutes: int = Field(
        default=5,
        ge=0,
        le=120,
        description="minutes after a change in which nothing is decided: tasks start within two"
        " (Turbine IV), then rates need their minutes, or a restart reads as a backlog",
    )
    spread_most: float = Field(
        default=0.3,
        ge=LEAST,
        le=100,
        description="standard deviation of the tasks' rates above which input is imbalanced, in"
        " parts of their mean; the paper gives none, and at 0.3 some task is a third off",
    )
    quiet_hours: float = Field(
        default=24.0,
        ge=LEAST,
        le=14 * 24,
        description="hours without lag and OOM before a job is made smaller: a day in Algorithm 2",
    )
    step_up: float = Field(
        default=1.5,
        gt=1,
        le=100,
        description="factor for tasks that lag while nothing is known of P; half as many again"
        " ends most backlogs within three steps",
    )
    step_down: float = Field(
        default=0.1,
        ge=LEAST,
        lt=1,
        description="share of tasks or memory that is given back at once, at least one task; what"
        " saves less memory is not worth a restart",
    )
    memory_up: float = Field(
        default=1.5,
        gt=1,
        le=100,
        description="factor for the reserved memory of tasks that ran out of it",
    )
    memory_soft: float = Field(
        default=0.9,
        ge=LEAST,
        le=1,
        description="the soft limit of V-A, in parts of the reserved memory: above it a task"
        " counts as out of memory",
    )
    memory_base_mb: int = Field(
        default=128,
        ge=1,
        le=2**24,
        description="MiB that a task needs whatever it holds, and the least that is reserved; 400"
        " in the paper (figure 5b), less here since tasks share an engine",
    )


class ReactiveSettings(Basics):
    """Algorithm 2's own: it has no other."""


class ProactiveSettings(Basics):
    """The numbers that section V-B of the paper leaves open."""

    recover_minutes: float = Field(
        default=10.0,
        ge=LEAST,
        le=14 * 24 * 60,
        description="minutes in which a backlog is to be read, `t` of equation 3; ten keep a plan"
        " near the input's own need and end a backlog before people ask",
    )
    at_capacity: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description="share of P*k*n that a lagging job has to read for its backlog to call for"
        " more: below it something else holds the job up (untriaged, V-D); 0 believes equation 3"
        " alone, which grows jobs in every outage of what they depend on",
    )
    memory_margin: float = Field(
        default=1.2,
        ge=1,
        le=100,
        description="memory that is reserved, in parts of what is used; above one by the soft"
        " limit, or the reserve is at its limit at once",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.memory_margin * self.memory_soft < 1:
            least = ceil(100 / self.memory_soft) / 100
            raise conflict(
                "memory_margin",
                f"a number of at least {show(least)}, as memory_soft is {show(self.memory_soft)}:"
                " less would count as out of memory at once",
                show(self.memory_margin),
            )
        return self


class PreactiveSettings(ProactiveSettings):
    """What V-C to V-E leave open."""

    horizon_hours: float = Field(
        default=12.0,
        ge=LEAST,
        le=24,
        description="hours to come that a smaller size has to do for, `x` of V-C, and in which a"
        " broken SLO is put down to it; twelve reach from the trough of a day to its peak",
    )
    deviation: float = Field(
        default=0.1,
        ge=LEAST,
        le=100,
        description="share by which the last 30 minutes may differ from the days before, or history"
        " is set aside; ten times the 1 % of V-C, and below the 16 % of a storm (VI)",
    )
    between: float = Field(
        default=0.5,
        ge=LEAST,
        le=1,
        description="how far P goes from its old value towards X/n where a smaller size broke the"
        " SLO: half way, as in a bisection; V-C says between",
    )
    container_share: float = Field(
        default=0.2,
        ge=LEAST,
        le=1,
        description="share of a container that one task may have: a fifth (V-E)",
    )
