"""What would be decided about a request if it came now: the components' own folds and deciders.

Nothing is sent. Between the trial and the change others may decide, so it promises nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from components.job_service.decide import decide
from components.state_syncer.decide import decide as decide_sync
from events.generated.records import (
    Body,
    ConfigChangeProposed,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    JobDeleteRequested,
    OffsetResetRequested,
    PauseRequested,
    ReleaseRequested,
    ResumeRequested,
)
from events.topics import CHANGES, JOURNAL, OPERATOR, place
from events.wire.codec import Read, Record, encode
from projections.jobs import Job, apply, fold
from projections.syncs import Sync
from projections.syncs import fold as fold_sync
from turbine.read.plain import JsonObject
from turbine_client.subscribe import Outcome
from turbine_client.verdicts import Verdict, verdict_of

Asked = PauseRequested | ResumeRequested | ReleaseRequested | OffsetResetRequested
Request = Asked | JobDeleteRequested
"""What operators ask of one job."""


@dataclass(frozen=True, slots=True)
class ChangeTrial:
    """The verdict, and the expected config before and after it."""

    verdict: JobConfigChanged | JobConfigRejected
    before: JsonObject
    after: JsonObject


def try_change(
    job: Job | None, sync: Sync | None, layer: str, asked: ConfigChangeProposed, now_ms: int
) -> ChangeTrial:
    """The verdict on a change of the job as it is known, and as it runs."""
    row = fold(job, _read(CHANGES[layer], asked, now_ms))
    if sync is not None:
        row = row._replace(kept=sync.kept)
    for body in decide(row, now_ms):
        if isinstance(body, JobConfigChanged | JobConfigRejected):
            after = apply(row, body)
            return ChangeTrial(body, json.loads(row.expected_json), json.loads(after.expected_json))
        row = apply(row, body)  # an override that expires comes first
    raise AssertionError(f"{asked.change_id} is a request that counts, and has no verdict")


def try_deletion(
    job: Job | None, asked: JobDeleteRequested, now_ms: int
) -> JobDeleted | JobConfigRejected:
    """What the job service would say of it."""
    row = fold(job, _read(OPERATOR, asked, now_ms))
    for body in decide(row, now_ms):
        if isinstance(body, JobDeleted | JobConfigRejected) and body.change_id == asked.change_id:
            return body
    raise AssertionError(f"{asked.change_id} is a request that counts, and has no verdict")


def try_request(sync: Sync | None, asked: Asked, now_ms: int) -> Body | None:
    """What the state syncer would say of it; None where it would wait."""
    row = fold_sync(sync, _read(OPERATOR, asked, now_ms))
    said = (one for one in decide_sync(row, now_ms))
    return next((one for one in said if getattr(one, "change_id", None) == asked.change_id), None)


def told(body: Body) -> Verdict:
    """The same in the words of who asked."""
    asked = getattr(body, "change_id", "")
    job = getattr(body, "job", "")
    return verdict_of(Outcome(type(body).__name__, job, "", asked, body, JOURNAL, 0, 0))


def _read(topic: str, asked: Body, now_ms: int) -> Read:
    job, name = getattr(asked, "job", ""), getattr(asked, "change_id", "")
    record = Record(job, name, type(asked).__name__, encode(asked), asked)
    return Read(place(topic, 0), topic, 0, now_ms, record)
