"""The policies by name, and how one is made from what a job's config says. Pure.

A policy is one class: its name, the model of its settings, its version and what it does. Those of
Turbine stand here; `install` adds one of another distribution, before anything is read or decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import isabstract
from typing import Any

from components.auto_scaler.core.policies.dhalion.policy import Dhalion
from components.auto_scaler.core.policies.ds2.policy import Ds2
from components.auto_scaler.core.policies.flink.policy import Flink
from components.auto_scaler.core.policies.keda.policy import Keda
from components.auto_scaler.core.policies.paper.preactive import Preactive
from components.auto_scaler.core.policies.paper.proactive import Proactive
from components.auto_scaler.core.policies.paper.reactive import Reactive
from components.auto_scaler.core.policies.streamops.policy import StreamOps
from components.auto_scaler.core.policies.turbine.policy import Turbine
from components.auto_scaler.core.policy import ScalingPolicy
from events.job_config.policies.settings import PolicySettings
from events.job_config.policies.table import BUILT_IN, NAMES, SETTINGS, trouble_in
from turbine_client.errors import BadRequest

POLICIES: dict[str, type[ScalingPolicy[Any]]] = {
    one.name: one
    for one in (Turbine, Reactive, Proactive, Preactive, Flink, Keda, Dhalion, Ds2, StreamOps)
}
BASELINES = tuple(name for name in POLICIES if name != Turbine.name)


class BadPolicy(BadRequest):
    """A name or a setting that no policy has, or a policy that cannot be used; the sentence says
    which there are, or what is wrong."""


def policy_of(name: str, settings: Mapping[str, Any]) -> ScalingPolicy[Any]:
    """The policy of that name with these settings."""
    made = POLICIES.get(name)
    if made is None:
        known = ", ".join(POLICIES)
        raise BadPolicy(f"there is no policy {name[:64]!r}; use one of {known}")
    wrong = trouble_in(name, settings)
    if wrong is not None:
        raise BadPolicy(f"policy.settings.{wrong} (policy {name})")
    return made.made(settings)


def install(policy: object) -> None:
    """Adds a policy of another distribution; the same again is none more."""
    wrong = _unfit(policy)
    if wrong:
        raise BadPolicy(wrong)
    assert isinstance(policy, type)
    assert issubclass(policy, ScalingPolicy)
    POLICIES[policy.name], SETTINGS[policy.name] = policy, policy.model


def logic_of(name: str) -> str:
    """What a decision tells of a policy that is not of Turbine itself; "" where none is installed
    of that name."""
    return POLICIES[name].logic() if name in POLICIES else ""


def replays(name: str) -> bool:
    """Is that policy played again over the minutes of a job, at each look?"""
    return name not in POLICIES or POLICIES[name].replayed


def _unfit(policy: object) -> str:
    """Why it cannot be used; "" where it can."""
    if not (isinstance(policy, type) and issubclass(policy, ScalingPolicy)) or isabstract(policy):
        return "it does not derive from turbine.policies.ScalingPolicy, or lacks a method of it"
    name, model = getattr(policy, "name", None), getattr(policy, "model", None)
    if not isinstance(name, str) or not NAMES.fullmatch(name):
        return f"its name is {name!r}, and has to be up to 32 of a-z, 0-9, '-', '_', a letter first"
    if POLICIES.get(name, policy) is not policy:
        whose = "of Turbine" if name in BUILT_IN else "installed"
        return f"there is a policy {name} {whose} already; give yours another name"
    if not (isinstance(model, type) and issubclass(model, PolicySettings)):
        return f"the model of policy {name} does not derive from turbine.policies.PolicySettings"
    bare = [at for at, field in model.model_fields.items() if not field.description]
    if bare:
        return f"setting {bare[0]} of policy {name} has no description; refusals need one"
    needed = [at for at, field in model.model_fields.items() if field.is_required()]
    if needed:
        return f"setting {needed[0]} of policy {name} has no default; all need one"
    if type(policy.version) is not int or policy.version < 1:
        return f"the version of policy {name} is {policy.version!r}, and has to be 1 or more"
    return ""
