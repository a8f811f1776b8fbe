"""The scaling policies by name, and what is wrong with the settings of one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from pydantic import ValidationError

from events.job_config.invalid import Explainer, Invalid
from events.job_config.policies.dhalion import DhalionSettings
from events.job_config.policies.ds2 import Ds2Settings
from events.job_config.policies.flink import FlinkSettings
from events.job_config.policies.generations import (
    PreactiveSettings,
    ProactiveSettings,
    ReactiveSettings,
)
from events.job_config.policies.keda import KedaSettings
from events.job_config.policies.settings import Settings
from events.job_config.policies.streamops import StreamOpsSettings
from events.job_config.policies.turbine import OurSettings

PolicyName = Literal[
    "turbine",
    "reactive",
    "proactive",
    "preactive",
    "flink",
    "keda",
    "dhalion",
    "ds2",
    "streamops",
]

SETTINGS: Mapping[str, type[Settings]] = {
    "turbine": OurSettings,
    "reactive": ReactiveSettings,
    "proactive": ProactiveSettings,
    "preactive": PreactiveSettings,
    "flink": FlinkSettings,
    "keda": KedaSettings,
    "dhalion": DhalionSettings,
    "ds2": Ds2Settings,
    "streamops": StreamOpsSettings,
}
"""What each lets itself be told; none has to be told anything."""


def trouble_in(name: str, settings: Mapping[str, Any]) -> Invalid | None:
    """The first problem of these settings by path; the path begins below `policy.settings`."""
    try:
        SETTINGS[name].model_validate(dict(settings))
    except ValidationError as error:
        return _explainer(name).explain(error)
    return None


@cache
def _explainer(name: str) -> Explainer:
    return Explainer(SETTINGS[name], known=f"a setting of policy {name}")
