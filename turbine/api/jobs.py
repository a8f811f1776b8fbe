"""`/jobs` and all that is below one: layers, tasks, how it did over time, and what was decided."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query

from events.job_config.strict_json import shorten
from turbine.api.desk import BUCKETS_MAX, At, Cursor, DeskView, Filter, Limit, Seen
from turbine.api.paging import JobPage, Page, page, position_of
from turbine.api.problems import RequestRefused, invalid, told
from turbine.api.shapes import DecisionsAnswer, JobAnswer, SeriesAnswer
from turbine.api.spans import Since, Until, begin_of, known_then, span_of
from turbine.read.answers import jobs as of_jobs
from turbine.read.answers import lag as of_lag
from turbine.read.answers import syncs as of_syncs
from turbine.read.answers import tasks as of_tasks
from turbine.read.answers.alerts import open_alerts
from turbine.read.answers.journal import line_of
from turbine.read.answers.lines import LIKE, ORDERS, JobLine, line_in, some_of
from turbine.read.answers.scaling import ACTIONS, scaling_of
from turbine.read.answers.why_not import WhyNot
from turbine.read.answers.why_not import why_not as answer_to
from turbine.read.plain import plain
from turbine.read.sources.log import Standing
from turbine.read.state.decisions import DecisionFilter
from turbine.read.state.view import JobView, View
from turbine_client.creating import perhaps

HOUR_MS = 3_600_000

router = APIRouter(tags=["jobs"], responses=told(422, 503))
Name = Annotated[str, Path(max_length=200, description="Of a job.")]


def job_of(seen: DeskView, name: str) -> JobView:
    """The job at that moment; a refusal where there never was one."""
    return existing(seen.view, name, "path.job", " at this position")


def existing(view: View, name: str, place: str, when: str = "") -> JobView:
    """The job; a refusal with the nearest name that there is, where there never was one."""
    found = view.jobs.get(name)
    if found is None or not found.existed:
        meant = perhaps(name, (one.job.name for one in view.jobs.values() if one.job.alive))
        sentence = f"there is no job {shorten(name)}{when}{meant}; GET jobs lists all"
        raise RequestRefused(404, "no-such-job", sentence, place)
    return found


def about(seen: DeskView, job: str) -> DecisionFilter:
    """All decisions about a job up to that moment."""
    return DecisionFilter(job, upto=seen.view.at)


@router.get(
    "/jobs",
    response_model=Page[of_jobs.ListedJob | JobLine],
    summary="Jobs, searched, sorted and by the page",
)
def jobs(
    *,
    seen: Seen,
    q: Filter = "",
    state: Annotated[
        str | None, Query(max_length=200, description="One or several, separated by commas.")
    ] = None,
    sort: Literal["lag", "name", "tasks", "state", "worst", "rate", "changed"] = "name",
    whole: Annotated[bool, Query(description="With what is expected of each, and by whom.")] = (
        False
    ),
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Any:
    """Deleted jobs are listed where they are asked for by `state=deleted`."""
    lines = some_of(seen.lines(), q, None if state is None else state.split(","))
    found, after = page(lines, ORDERS[sort], LIKE[sort], limit, cursor)
    items = of_jobs.jobs(seen.view, found) if whole else found
    return Page(tuple(items), after, len(lines))


@router.get(
    "/syncs", response_model=Page[of_syncs.SyncLine], summary="How running follows expected"
)
def syncs(seen: Seen, q: Filter = "", limit: Limit = 100, cursor: Cursor = None) -> Any:
    """What is in effect of each job, the plan that is on its way, and what failed."""
    found = of_syncs.syncs(seen.view, some_of(seen.lines(), q, deleted=True))
    items, after = page(found, lambda one: (one.job,), ("",), limit, cursor)
    return Page(tuple(items), after, len(found))


@router.get(
    "/lag",
    response_model=Page[of_lag.JobBehind | of_lag.TaskBehind | of_lag.PartitionBehind],
    summary="How far jobs are behind their input",
)
def lag(
    *,
    seen: Seen,
    q: Filter = "",
    by: Annotated[of_lag.By, Query(description="An item for each of these.")] = "job",
    at: At = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Any:
    """The worst first. Of now the broker is asked what is committed; of the past, and of a file,
    lag is what tasks had reported."""
    lines, log = some_of(seen.lines(), q), seen.desk.log
    found = of_lag.look(log, seen.view, lines, by, past=at is not None)
    items, after = page(found, of_lag.worst_first, of_lag.LIKE, limit, cursor)
    return Page(tuple(items), after, len(found))


@router.get("/jobs/{job}", response_model=JobAnswer, summary="One job in full", responses=told(404))
def job(seen: Seen, job: Name) -> Any:
    """The four layers with who said what, what they add up to and where each value is from, how
    far running follows, who decides about the size, and the last decisions."""
    found = job_of(seen, job)
    decisions = seen.desk.annals.last(about(seen, job), of_jobs.DECISIONS_SHOWN)
    words = [Standing(read, stands=True) for read in found.words[-1:]]
    line = line_in(seen.view, job)
    sync = plain(of_syncs.syncs(seen.view, [line]))
    alerts = [one for one in open_alerts(seen.view) if one.subject == job]
    return of_jobs.layers_row(found.job) | {
        "sync": sync[0] if sync else {},
        "scaling": scaling_of(found.job, words),
        "line": plain(line),
        "open_alerts": plain(alerts),
        "decisions": [line_of(one) for one in decisions],
    }


@router.get(
    "/jobs/{job}/tasks",
    response_model=JobPage[of_tasks.TaskLine],
    summary="The tasks of a job",
    responses=told(404),
)
def tasks(seen: Seen, job: Name, limit: Limit = 500, cursor: Cursor = None) -> Any:
    """How each stands, and what it reported last under the newest list of tasks."""
    job_of(seen, job)
    found = of_tasks.tasks(seen.view, job)
    items, after = page(found, lambda one: (one.task,), (0,), limit, cursor)
    return JobPage(tuple(items), after, len(found), job)


@router.get(
    "/jobs/{job}/series",
    response_model=SeriesAnswer,
    summary="How a job did over time",
    responses=told(404),
)
def series(
    *,
    seen: Seen,
    job: Name,
    since: Since = None,
    until: Until = None,
    buckets: Annotated[int, Query(ge=1, le=BUCKETS_MAX)] = 60,
    trim: Annotated[bool, Query(description="Begin where the first is known.")] = False,
) -> Any:
    """What its tasks reported, by buckets of equal length; the last hour by default."""
    job_of(seen, job)
    begin_ms, end_ms = span_of(seen, since, until, HOUR_MS)
    if trim:
        begin_ms = begin_of(seen, job, begin_ms, end_ms)
    points = seen.desk.views.over_time.points(job, begin_ms, end_ms, buckets)
    return {"job": job, "end_ms": end_ms, **known_then(points, seen.view.at_ms)}


@router.get(
    "/jobs/{job}/decisions",
    response_model=DecisionsAnswer,
    summary="What was decided about a job",
    responses=told(404),
)
def decisions(seen: Seen, job: Name, limit: Limit = 50, cursor: Cursor = None) -> Any:
    """The newest first, also those that are void."""
    job_of(seen, job)
    annals = seen.desk.annals
    items, after = annals.page(about(seen, job), limit, position_of(cursor, annals.knows))
    return {"items": [line_of(one) for one in items], "next": after or None}


@router.get(
    "/jobs/{job}/why-not",
    response_model=WhyNot,
    summary="Why the auto scaler did not do something",
    responses=told(404),
)
def why_not(
    seen: Seen,
    job: Name,
    action: Annotated[str, Query(max_length=100, description=f"One of {', '.join(ACTIONS)}.")],
    again: Annotated[
        bool, Query(description="Ask the policy, too, with which inputs it would have been taken.")
    ] = False,
) -> Any:
    """What stood against it, the newest first."""
    if action not in ACTIONS:
        sentence = f"action: there is no such action; use one of {', '.join(ACTIONS)}"
        raise invalid(sentence, "query.action")
    found = job_of(seen, job)
    words = seen.desk.annals.words(job, seen.view.at)
    return answer_to(seen.desk.log, found.job, words, action, again=again)
