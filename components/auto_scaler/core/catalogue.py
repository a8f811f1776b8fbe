"""The policies by name, and how one is made from what a job's config says. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.auto_scaler.core.policies.dhalion import Dhalion
from components.auto_scaler.core.policies.ds2 import Ds2
from components.auto_scaler.core.policies.flink import Flink
from components.auto_scaler.core.policies.keda import Keda
from components.auto_scaler.core.policies.ours import Ours
from components.auto_scaler.core.policies.preactive import Preactive
from components.auto_scaler.core.policies.proactive import Proactive
from components.auto_scaler.core.policies.reactive import Reactive
from components.auto_scaler.core.policies.streamops import StreamOps
from components.auto_scaler.core.policy import Policy
from events.job_config.policies.table import trouble_in
from turbine_client.errors import BadRequest

POLICIES: Mapping[str, type[Policy[Any]]] = {
    one.name: one
    for one in (Ours, Reactive, Proactive, Preactive, Flink, Keda, Dhalion, Ds2, StreamOps)
}
BASELINES = tuple(name for name in POLICIES if name != Ours.name)


class BadPolicy(BadRequest):
    """A name or a setting that no policy has; the sentence says which there are."""


def policy_of(name: str, settings: Mapping[str, Any]) -> Policy[Any]:
    """The policy of that name with these settings."""
    made = POLICIES.get(name)
    if made is None:
        known = ", ".join(POLICIES)
        raise BadPolicy(f"there is no policy {name[:64]!r}; use one of {known}")
    wrong = trouble_in(name, settings)
    if wrong is not None:
        raise BadPolicy(f"policy.settings.{wrong} (policy {name})")
    return made.made(settings)
