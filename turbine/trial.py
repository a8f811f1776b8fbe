"""What would be decided about a change if it came now: the job service's own fold and decider.

Nothing is sent. Between the trial and the change others may decide, so it promises nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from components.job_service.decide import decide
from events.codec import Read, Record, encode
from events.records import ConfigChangeProposed, JobConfigChanged, JobConfigRejected
from events.topics import CHANGES, place
from projections.jobs import Job, apply, fold


@dataclass(frozen=True, slots=True)
class Trial:
    """The verdict, and the expected config before and after it."""

    verdict: JobConfigChanged | JobConfigRejected
    before: dict[str, Any]
    after: dict[str, Any]


def try_change(job: Job | None, layer: str, asked: ConfigChangeProposed, now_ms: int) -> Trial:
    """The verdict on a change of the job as it is known."""
    value = encode(asked)
    record = Record(asked.job, asked.change_id, type(asked).__name__, value, asked)
    topic = CHANGES[layer]
    row = fold(job, Read(place(topic, 0), topic, 0, now_ms, record))
    for body in decide(row, now_ms):
        if isinstance(body, JobConfigChanged | JobConfigRejected):
            after = apply(row, body)
            return Trial(body, json.loads(row.expected_json), json.loads(after.expected_json))
        row = apply(row, body)  # an override that expires comes first
    raise AssertionError(f"{asked.change_id} is a request that counts, and has no verdict")
