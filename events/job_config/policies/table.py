"""The scaling policies by name, and what is wrong with the settings of one. Pure.

Those of Turbine are here; what is installed beside it is added by the process that starts
(`turbine.policies`), before it reads or decides anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

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
from events.job_config.policies.settings import PolicySettings
from events.job_config.policies.streamops import StreamOpsSettings
from events.job_config.policies.turbine import TurbineSettings

SETTINGS: dict[str, type[PolicySettings]] = {
    "turbine": TurbineSettings,
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
BUILT_IN = tuple(SETTINGS)
"""Policies that every installation has: what a log says of them is judged alike everywhere."""


def trouble_in(name: str, settings: Mapping[str, Any]) -> Invalid | None:
    """The first problem of these settings by path; the path begins below `policy.settings`."""
    try:
        SETTINGS[name].model_validate(dict(settings))
    except ValidationError as error:
        return _explainer(name, SETTINGS[name]).explain(error)
    return None


@cache
def _explainer(name: str, model: type[PolicySettings]) -> Explainer:
    return Explainer(model, known=f"a setting of policy {name}")


NAMES = re.compile(r"[a-z][a-z0-9_-]{0,31}")
"""Of policies; they end up in records, in metrics and in options of commands."""


def not_here(name: str) -> str:
    """The sentence about a decision that rests on a policy which is not installed; "" if it is."""
    if name in SETTINGS:
        return ""
    return (
        f"made with the policy {name}, which is not installed here; install the distribution that"
        " brings it, and audit again"
    )
