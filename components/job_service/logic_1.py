"""The job service as it decided first: a change of a job that is not there was judged as the config
of a new one, and so refused for the first thing that it lacked. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from components.job_service.decide import component as newest
from components.job_service.decide import decide as decide_now
from events.records import Body
from projections.jobs import Job


def decide(job: Job, now_ms: int) -> Iterator[Body]:
    """What was said of the job then."""
    return decide_now(job, now_ms, absent=lambda *_: None)


component = replace(newest, logic="job-service/1", decide=decide)
