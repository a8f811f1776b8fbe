"""The job service as it decided first. Pure.

A change of a job that is not there was judged as the config of a new one, and so refused for the
first thing that it lacked. What tasks say was not read: that state could not go along was left to
the state syncer. With the last change of a layer ended all of it, or nothing did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from components.job_service.decide import Rules
from components.job_service.decide import component as newest
from components.job_service.decide import decide as decide_now
from events.records import Body
from events.topics import TASKS
from projections.jobs import LAYER_KINDS, Job

RULES = Rules(absent=lambda *_: None, stays=lambda *_: None, whole=True)


def decide(job: Job, now_ms: int) -> Iterator[Body]:
    """What was said of the job then."""
    return decide_now(job, now_ms, RULES)


component = replace(
    newest,
    logic="job-service/1",
    inputs=newest.inputs - {TASKS},
    folds=LAYER_KINDS,
    decide=decide,
)
