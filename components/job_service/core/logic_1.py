"""The job service as it decided first. Pure.

A change of a job that is not there was judged as the config of a new one, and so refused for the
first thing that it lacked. What tasks say was not read: that state could not go along was left to
the state syncer. Of requests that live 64 were kept, answered or not, and further ones refused. No
name was reserved, of a job or of a topic. With the last change of a layer ended all of it, or
nothing did. The trace context of a request was looked for in its value alone, and was any text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from components.job_service.decide import JobRules
from components.job_service.decide import component as newest
from components.job_service.decide import decide as decide_now
from events.generated.records import Body
from events.topics import TASKS
from events.wire.codec import REQUESTS, Read, decode
from projections.ingress import CROWDED, FIRST_ROOM
from projections.jobs import LAYER_KINDS, Job
from projections.jobs import fold as fold_now

RULES = JobRules(
    no_room=CROWDED,
    reserved=False,
    absent=lambda *_: None,
    stays=lambda *_: None,
    whole=True,
)


def fold(job: Job | None, read: Read) -> Job:
    """The row as it was then."""
    if read.record.kind in REQUESTS:
        read = replace(read, record=replace(read.record, body=decode(read.record.value)))
    return fold_now(job, read, FIRST_ROOM)


def decide(job: Job, now_ms: int) -> Iterator[Body]:
    """What was said of the job then."""
    return decide_now(job, now_ms, RULES)


component = replace(
    newest,
    logic="job-service/1",
    inputs=newest.inputs - {TASKS},
    folds=LAYER_KINDS,
    fold=fold,
    decide=decide,
)
