"""The ids of what is said, which a client makes as well; see `turbine_client.identity`. Pure."""

from __future__ import annotations

from turbine_client.identity import (
    CHANGE_ID_LENGTH_MAX,
    change_id,
    decision_id,
    effect_id,
    fact_id,
    is_job_id,
    valid_until_ms,
)

__all__ = [
    "CHANGE_ID_LENGTH_MAX",
    "change_id",
    "decision_id",
    "effect_id",
    "fact_id",
    "is_job_id",
    "valid_until_ms",
]
