"""Which scaling policy a config chooses, and what it tells it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from events.job_config.invalid import conflict, show
from events.job_config.policies.table import BUILT_IN, NAMES, SETTINGS, trouble_in

STOOD: Mapping[str, bool] = MappingProxyType({"stood": True})
"""Context of a config that was accepted: its policy need not be installed where it is read."""


class Policy(BaseModel):
    """Who decides about the size of the job, and what comes of it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    name: str = Field(default="turbine", description="the name of the scaling policy")
    mode: Literal["off", "observe", "advise", "act"] = Field(
        default="act",
        description="whether decisions are made, shown, proposed to people, or carried out",
    )
    settings: dict[str, Any] = Field(
        default_factory=dict, description="settings of that policy; any other is refused"
    )
    interval_ms: int = Field(
        default=60_000,
        ge=1000,
        le=3_600_000,
        description="milliseconds from one look to the next, no less than tasks take to report;"
        " its settings count in minutes of that length",
    )

    @field_validator("name", mode="before")
    @classmethod
    def _is_known(cls, name: object, info: ValidationInfo) -> object:
        known = name in SETTINGS if isinstance(name, str) else False
        stood = info.context is STOOD and isinstance(name, str) and NAMES.fullmatch(name)
        if not known and not stood:
            raise conflict("", f"one of {', '.join(SETTINGS)}", show(name))
        return name

    @field_validator("settings")
    @classmethod
    def _belong_to_it(cls, settings: dict[str, Any], beside: ValidationInfo) -> dict[str, Any]:
        # They stay as they were said: what a policy takes for the rest is for it to know.
        name = beside.data.get("name")  # absent if it was refused itself
        if name is None or (beside.context is STOOD and name not in BUILT_IN):
            return settings
        wrong = trouble_in(name, settings) if settings else None
        if wrong is not None:
            raise conflict(wrong.path, wrong.expected, wrong.found)
        return settings
