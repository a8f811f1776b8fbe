"""The form of the answers about tiers and changes."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from turbine.api.shapes import AnswerShape, Json

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
    set: dict[str, Any] = Field(default_factory=dict)
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
    differences: list[Json] | None = None
    before: Json | None = None
    after: Json | None = None


class WhatIfAsked(RequestShape):
    """A policy to play on what a job was recorded to read."""

    job: str = Field(min_length=1, max_length=128)
    policy: str | None = Field(
        default=None, max_length=64, description="By default the job's own, with other settings."
    )
    settings: dict[str, Any] = Field(default_factory=dict)
    since: str | None = Field(default=None, alias="from", max_length=100)
    until: str | None = Field(default=None, alias="to", max_length=100)


class WhatIfSide(AnswerShape):
    """What really happened, or what the plant did under a policy."""

    side: str = Field(description="recorded, replayed or other.")
    policy: Json
    figures: dict[str, float | None]
    decisions: list[Json]


class WhatIfAnswer(AnswerShape):
    """What another policy would have done, as `turbine whatif -o json` shows it."""

    job: str
    from_ms: int
    to_ms: int
    minutes: int
    interval_ms: int
    slo_s: float
    sides: list[WhatIfSide]
    honesty: Json = Field(description="How far the model is off where both ran the same policy.")
    nature: list[Json] = Field(description="What was learnt of the job.")
    notes: list[str]
    series: Json
