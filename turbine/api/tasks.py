"""One task: how it stands, how it failed last, and what it prints now, wherever it runs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from turbine.api.desk import AtDesk, DeskView, Seen
from turbine.api.jobs import Name, job_of
from turbine.api.problems import RequestRefused, told
from turbine.api.shapes import TaskLogAnswer
from turbine.ops.lines_asked import TailQuery, TailUnanswered, ask
from turbine.ops.lines_door import TAIL_MOST
from turbine.read.answers import tasks as of_tasks
from turbine.read.answers.task_words import word_of
from turbine.read.state.view import JobView

TASKS_MOST = 999_999_999

router = APIRouter(tags=["jobs"], responses=told(404, 422, 503))
Index = Annotated[int, Path(ge=0, le=TASKS_MOST, description="Of the task in its job.")]


@router.get(
    "/jobs/{job}/tasks/{task}",
    response_model=of_tasks.Task,
    summary="One task, and how it failed last",
)
def task(seen: Seen, job: Name, task: Index) -> Any:
    """As it stands, with its last failure up to that moment: the traceback is in the log, whatever
    became of the container."""
    found = job_of(seen, job)
    failure = last_failure(seen, found, task)
    answer = of_tasks.task(seen.view, job, task, failure)
    if answer is None:
        raise _no_task(found, task)
    return answer


@router.get(
    "/jobs/{job}/tasks/{task}/log",
    response_model=TaskLogAnswer,
    summary="What a task printed last, as it is now",
    responses=told(409),
)
def task_log(
    desk: AtDesk,
    job: Name,
    task: Index,
    tail: Annotated[int, Query(ge=1, le=TAIL_MOST, description="So many lines.")] = 100,
    container: Annotated[
        str | None,
        Query(max_length=128, description="Where it ran; by default, where it was seen last."),
    ] = None,
) -> Any:
    """Asked of the container that runs it. No record holds these lines: there is no `at`."""
    if desk.places is None:
        raise RequestRefused(
            409,
            "no-lines",
            "this log lies in a file, and no lines with it; ask the fleet that it is of",
        )
    view = desk.reading.view(None)
    found = job_of(DeskView(desk, view), job)
    where = container or _seen_in(found, task)
    if where is None:
        raise _no_task(found, task)
    started = view.started.get(where)
    try:
        answer = ask(desk.places, where, started, TailQuery(job, task, tail))
    except TailUnanswered as sentence:
        raise RequestRefused(503, "no-lines", str(sentence)) from None
    return {
        "job": job,
        "task": task,
        "name": f"{job}/{task}",
        "container": where,
        "host": None if started is None else started.host or None,
        "read_ms": desk.now_ms(),
        "cut": answer.cut,
        "lines": [line._asdict() for line in answer.lines],
    }


def last_failure(seen: DeskView, found: JobView, task: int) -> of_tasks.Failure | None:
    """How it failed last, up to that moment, as the log has it."""
    spot = found.notes.fell.get(task)
    if spot is None:
        return None
    place, offset = spot
    reads = seen.desk.log.read(
        [place.rpartition("/")[0]],
        start={place: offset},
        end={place: offset + 1},
        key=found.job.name,
    )
    rows = (word_of(read, task) for read in reads)
    return next((of_tasks.Failure(**row) for row in rows if row is not None), None)


def _seen_in(found: JobView, task: int) -> str | None:
    """The container that was heard of it last."""
    load, known = found.loads.get(task), found.notes.seen.get(task)
    if known is not None:
        return known[1]
    return None if load is None else load[0].container or None


def _no_task(found: JobView, task: int) -> RequestRefused:
    listed = None if found.sync is None else found.sync.listed
    count, name = 0 if listed is None else listed.tasks, found.job.name
    if task < count:
        sentence = f"{name}/{task} has not run yet; `turbine describe job {name}` tells why"
    else:
        sentence = f"{name} has no task {task}; it has {count}, counted from 0"
    return RequestRefused(404, "no-such-task", sentence, "path.task")
