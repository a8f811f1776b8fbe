"""Why an answer about a config cannot be judged where other policies are installed. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from events.generated.records import JobConfigChanged, JobConfigRejected
from events.job_config.policies.table import BUILT_IN, SETTINGS, not_here
from events.wire.codec import Read, Record


def doubt(_: object, read: Read, again: Sequence[Record]) -> str:
    """The sentence where one of the two answers refuses a policy that the other need not have
    known; "" where they differ by something else."""
    said = [read.record.body, *[one.body for one in again]]
    refused = [
        one for one in said if isinstance(one, JobConfigRejected) and one.path.startswith("policy.")
    ]
    names = [_policy(one) for one in said if isinstance(one, JobConfigChanged)]
    other = next((name for name in names if name not in BUILT_IN), "")
    if refused and other:
        return not_here(other) or (
            f"the policy {other}, or what it lets itself be told, is not the same here as where it"
            " was made"
        )
    if any(one.path == "policy.name" for one in refused):
        return (
            "which policies were installed where it was made is not in the log; here they are"
            f" {', '.join(SETTINGS)}"
        )
    return ""


def _policy(body: JobConfigChanged) -> str:
    config: Any = json.loads(body.expected_json)
    return str(config.get("policy", {}).get("name", BUILT_IN[0]))
