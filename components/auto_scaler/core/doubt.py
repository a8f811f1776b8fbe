"""Why a decision cannot be made again where its policy is another one, or missing. Pure."""

from __future__ import annotations

import json
from typing import Any

from components.auto_scaler.core.catalogue import logic_of
from components.auto_scaler.core.evaluation import POLICY_LOGIC
from events.generated.records import ScalingDecided, ScalingDeclined
from events.job_config.policies.table import BUILT_IN, not_here
from events.wire.codec import Read
from projections.scaling.row import ScalingRow


def doubt(row: ScalingRow | None, read: Read, _: object) -> str:
    """The sentence; "" where the policy is of Turbine, or is here as it was there."""
    facts, body = None if row is None else row.config.facts, read.record.body
    if facts is None or facts.policy in BUILT_IN:
        return ""
    if missing := not_here(facts.policy):
        return missing
    if not isinstance(body, ScalingDecided | ScalingDeclined):
        return ""
    evidence: dict[str, Any] = json.loads(body.evidence_json)
    then, here = evidence.get(POLICY_LOGIC), logic_of(facts.policy)
    if then == here or "limits" not in evidence:  # without limits nobody has asked the policy
        return ""
    return f"made with {then or f'no policy {facts.policy}'}, and {here} is installed here"
