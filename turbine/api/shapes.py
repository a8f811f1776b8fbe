"""The form of requests, and of answers that are put together here: /openapi.json is of these.

Named as the command line's `-o json` names them. What is unknown is null, never 0.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from turbine.read.answers.alerts import Alert
from turbine.read.answers.jobs import Layer
from turbine.read.answers.journal import DecisionLine
from turbine.read.answers.lines import JobLine
from turbine.read.answers.scaling import Sizing
from turbine.read.plain import JsonObject


class AnswerShape(BaseModel):
    """Part of an answer. A newer build may say more than is told here; a test sees that this one
    does not."""

    model_config = ConfigDict(extra="allow", frozen=True)


class JobAnswer(AnswerShape):
    """One job in full, as `turbine describe job -o json` shows it."""

    job: str
    alive: bool
    versions: dict[str, int]
    expected: JsonObject
    origins: dict[str, str]
    layers: dict[str, Layer]
    sync: JsonObject = Field(
        description="Its way from expected to running; empty where nobody told."
    )
    scaling: Sizing
    decisions: list[DecisionLine]
    line: JobLine
    open_alerts: list[Alert]


class LogLine(AnswerShape):
    """One line of what a task printed."""

    at_ms: int
    run: str = Field(description="Of its container's life: one start of the task.")
    stream: str = Field(description="engine, output, stdout, stderr or log.")
    text: str


class TaskLogAnswer(AnswerShape):
    """What a task printed last."""

    job: str
    task: int
    name: str
    container: str
    host: str | None
    read_ms: int
    cut: bool = Field(description="There were more lines than an answer holds.")
    lines: list[LogLine]


class SeriesAnswer(AnswerShape):
    """How a job did over time; null where nothing was reported."""

    job: str
    t_ms: list[int] = Field(description="Where each bucket begins.")
    end_ms: int = Field(description="Where the last of them ends.")
    rate_in: list[float | None]
    rate_out: list[float | None]
    lag_seconds: list[float | None]
    lag_records: list[float | None]
    tasks: list[float | None] = Field(description="That had reported as the bucket began.")
    cores: list[float | None]


class DecisionsAnswer(AnswerShape):
    """A page of decisions, the newest first."""

    items: list[DecisionLine]
    next: str | None


class MarkersAnswer(AnswerShape):
    """What was decided when, for a bar of time."""

    t_ms: list[int]
    config: list[int]
    sync: list[int]
    scaling: list[int]
    placement: list[int]
    alert: list[int]


# --- a fleet over time


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


# --- tiers


class Balance(AnswerShape):
    """How a container's load compares with the tier's mean in one resource."""

    container: str
    resource: str
    of_mean: float
    low: float
    high: float
    in_band: bool


class Spread(AnswerShape):
    """The fullest and the emptiest container, in thousandths of the mean."""

    fullest: float
    emptiest: float


class BalanceAnswer(AnswerShape):
    """A tier's balance now, and what its last plan found and wanted."""

    tier: str
    items: list[Balance]
    plan: str | None
    plan_at_ms: int | None
    explanation: str | None
    before: dict[str, Spread]
    after: dict[str, Spread]


# --- changes


class RequestShape(BaseModel):
    """What is sent to this server: nothing that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ChangeAsked(RequestShape):
    """A change of one layer of a job's config."""

    job: str = Field(min_length=1, max_length=128)
    layer: Literal["base", "provisioner", "scaler", "oncall"] = "base"
    create: bool = Field(default=False, description="A job that is not there is to be made.")
    set: JsonObject = Field(default_factory=dict)
    clear: list[str] = Field(default_factory=list, max_length=256)
    reason: str = Field(default="", max_length=1000)
    expires: str | None = Field(default=None, description="A span such as 2h; of oncall changes.")
    author: str = Field(default="", max_length=200, description="By default this server's user.")
    expected_version: int | None = Field(default=None, ge=0, lt=2**31)
    dry_run: bool = Field(default=False, description="Only plan it; apply the plan by its id.")
    wait_s: float = Field(default=30.0, ge=0.1, le=120)


class WishAsked(RequestShape):
    """What an operator asks for about a job or a container."""

    reason: str = Field(min_length=1, max_length=1000)
    author: str = Field(default="", max_length=200)
    dry_run: bool = False
    wait_s: float = Field(default=30.0, ge=0.1, le=120)


class ApplyAsked(RequestShape):
    """How long to wait for the verdict on a plan."""

    wait_s: float = Field(default=30.0, ge=0.1, le=120)


class VerdictAnswer(AnswerShape):
    """What became of a change, or, with `plan`, what would become of it."""

    verdict: str = Field(
        description="accepted, rejected, unknown or planned; asked, of what needs none."
    )
    job: str | None = None
    container: str | None = None
    layer: str | None = None
    version: int | None = None
    change_id: str | None = None
    decision_id: str | None = None
    position: str | None = None
    effect: str | None = None
    reason: str | None = None
    path: str | None = None
    explanation: str | None = None
    plan: str | None = Field(default=None, description="Id of the plan; POST /plans/{id}/apply.")
    base: str | None = Field(default=None, description="The position that it was planned on.")
    expires_ms: int | None = Field(default=None, description="When the plan is forgotten.")
    command: str | None = Field(default=None, description="The same, on the command line.")
    differences: list[JsonObject] | None = None
    before: JsonObject | None = None
    after: JsonObject | None = None


class WhatIfAsked(RequestShape):
    """A policy to play on what a job was recorded to read."""

    job: str = Field(min_length=1, max_length=128)
    policy: str | None = Field(
        default=None, max_length=64, description="By default the job's own, with other settings."
    )
    settings: JsonObject = Field(default_factory=dict)
    since: str | None = Field(default=None, alias="from", max_length=100)
    until: str | None = Field(default=None, alias="to", max_length=100)


class WhatIfSide(AnswerShape):
    """What really happened, or what the plant did under a policy."""

    side: str = Field(description="recorded, replayed or other.")
    policy: JsonObject
    figures: dict[str, float | None]
    decisions: list[JsonObject]


class WhatIfAnswer(AnswerShape):
    """What another policy would have done, as `turbine whatif -o json` shows it."""

    job: str
    from_ms: int
    to_ms: int
    minutes: int
    interval_ms: int
    slo_s: float
    sides: list[WhatIfSide]
    honesty: JsonObject = Field(
        description="How far the model is off where both ran the same policy."
    )
    nature: list[JsonObject] = Field(description="What was learnt of the job.")
    notes: list[str]
    series: JsonObject
