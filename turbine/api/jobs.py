"""`/jobs` and all that is below one: layers, tasks, how it did over time, and what was decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query

from events.records import TaskLoadReported
from events.strict_json import shorten
from turbine.api.asking import BUCKETS_MAX, Cursor, Limit, Looked, Seen, check_span, time_of
from turbine.api.entries import entry_to_plain
from turbine.api.fleet import open_alerts
from turbine.api.paging import page, position_of
from turbine.api.problems import Refusal, told
from turbine.api.reading import Row
from turbine.api.rows import LIKE, line, order_of
from turbine.api.search import test_of
from turbine.api.shapes import (
    DecisionsAnswer,
    JobAnswer,
    JobsAnswer,
    SeriesAnswer,
    TasksAnswer,
    WhyNotAnswer,
)
from turbine.api.spans import begin_of, known_then, last_ms
from turbine.cli.jobs import DECISIONS_SHOWN, decision_to_plain, to_plain
from turbine.cli.why_not import asked_again
from turbine.headline import lives_of, tasks_to_plain
from turbine.log import Standing
from turbine.monitoring.figures import figure_in
from turbine.running import sync_to_plain
from turbine.scaled import ACTIONS, SHOWN, scaling_of
from turbine.scaled import why_not as reasons_of
from turbine.views.decisions import Wanted
from turbine.views.view import JobView, View
from turbine_client.creating import perhaps

HOUR_MS = 3_600_000

router = APIRouter(tags=["jobs"], responses=told(422, 503))
Name = Annotated[str, Path(max_length=200, description="Of a job.")]


def job_of(seen: Looked, name: str) -> JobView:
    """The job; a refusal where there never was one."""
    found = seen.view.jobs.get(name)
    if found is None or not found.existed:
        raise Refusal(
            404,
            "no-such-job",
            f"there is no job {shorten(name)} at this position{meant(seen.view, name)};"
            " GET jobs lists all",
            "path.job",
        )
    return found


def meant(view: View, name: str) -> str:
    """The nearest name of a job that there is, for who has mistyped one."""
    return perhaps(name, (one.job.name for one in view.jobs.values() if one.job.alive))


def about(seen: Looked, job: str) -> Wanted:
    """All decisions about a job up to that moment."""
    return Wanted(job, upto=seen.view.at)


@router.get("/jobs", response_model=JobsAnswer, summary="Jobs, searched, sorted and by the page")
def jobs(
    *,
    seen: Seen,
    q: Annotated[
        str,
        Query(max_length=500, description="Words; `!word` is not; `tier=X`, `state=X`, `mode=X`."),
    ] = "",
    state: Annotated[
        str | None, Query(max_length=200, description="One or several, separated by commas.")
    ] = None,
    sort: Literal["lag", "name", "tasks", "state"] = "name",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Any:
    """Deleted jobs are listed where they are asked for by `state=deleted`."""
    meant = test_of(q)
    states = None if state is None else set(state.split(","))
    deleted = "state=deleted" in q.lower()
    rows = [
        row
        for row in (one.row for one in seen.lines())
        if (row["state"] in states if states is not None else row["state"] != "deleted" or deleted)
        and meant(row)
    ]
    found, after = page(rows, order_of(sort), LIKE[sort], limit, cursor)
    return {"items": found, "next": after, "total": len(rows)}


@router.get("/jobs/{job}", response_model=JobAnswer, summary="One job in full", responses=told(404))
def job(seen: Seen, job: Name) -> Any:
    """The four layers with who said what, what they add up to and where each value is from, how
    far running follows, who decides about the size, and the last decisions."""
    found = job_of(seen, job)
    decisions = seen.desk.annals.last(about(seen, job), DECISIONS_SHOWN)
    words = [Standing(read, stands=True) for read in found.words[-1:]]
    sync = found.sync
    alerts = [one for one in open_alerts(seen.view) if one.subject == job]
    return to_plain(found.job) | {
        "sync": {} if sync is None else sync_to_plain(sync, found.sightings),
        "scaling": scaling_of(found.job, words),
        "decisions": [decision_to_plain(one) for one in decisions],
        "line": line(found, figure_in(seen.view, found)),
        "open_alerts": [one.to_plain() for one in alerts],
    }


@router.get(
    "/jobs/{job}/tasks",
    response_model=TasksAnswer,
    summary="The tasks of a job",
    responses=told(404),
)
def tasks(seen: Seen, job: Name, limit: Limit = 500, cursor: Cursor = None) -> Any:
    """How each stands, and what it reported last under the newest list of tasks."""
    found = job_of(seen, job)
    rows = [row | reported(found.loads.get(row["task"]), row) for row in task_rows(seen, found)]
    items, after = page(rows, lambda row: (row["task"],), (0,), limit, cursor)
    return {"job": job, "items": items, "next": after, "total": len(rows)}


def task_rows(seen: Looked, found: JobView) -> list[Row]:
    """How each of a job's tasks stands at that moment."""
    lives, sync = lives_of(seen.view.tiers.values()), found.sync
    return [] if sync is None else list(tasks_to_plain(sync, found.sightings, lives))


def reported(told: tuple[TaskLoadReported, int] | None, row: Mapping[str, Any]) -> Row:
    report, at_ms = told if told is not None else (None, None)
    names = (
        "records_in_per_s",
        "records_out_per_s",
        "bytes_in_per_s",
        "bytes_out_per_s",
        "lag_records",
        "lag_bytes",
        "cpu_cores",
        "memory_bytes",
        "state_bytes",
        "busy_share",
    )
    lag_ms = None if report is None else report.lag_ms
    container = row["container"] or (None if report is None else report.container or None)
    return {
        "container": container,
        "reported_ms": at_ms,
        **{name: None if report is None else getattr(report, name) for name in names},
        "lag_seconds": None if lag_ms is None else lag_ms / 1000,
        "partitions": [] if report is None else [one.to_plain() for one in report.partitions],
    }


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
    since: Annotated[str | None, Query(alias="from", max_length=100)] = None,
    until: Annotated[str | None, Query(alias="to", max_length=100)] = None,
    buckets: Annotated[int, Query(ge=1, le=BUCKETS_MAX)] = 60,
    trim: Annotated[bool, Query(description="Begin where the first is known.")] = False,
) -> Any:
    """What its tasks reported, by buckets of equal length; the last hour by default."""
    job_of(seen, job)
    end_ms = time_of(until, seen.desk.now_ms(), "to", last_ms(seen))
    begin_ms = time_of(since, seen.desk.now_ms(), "from", max(0, end_ms - HOUR_MS))
    check_span(begin_ms, end_ms)
    if trim:
        begin_ms = begin_of(seen, job, begin_ms, end_ms)
    points = seen.desk.reading.views.series(job, begin_ms, end_ms, buckets)
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
    return {"items": [entry_to_plain(one) for one in items], "next": after or None}


@router.get(
    "/jobs/{job}/why-not",
    response_model=WhyNotAnswer,
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
        raise Refusal(
            422,
            "invalid-request",
            f"action: there is no such action; use one of {', '.join(ACTIONS)}",
            "query.action",
        )
    found = job_of(seen, job)
    words = seen.desk.annals.words(job, seen.view.at)
    row = {"job": job, "alive": found.job.alive, "action": action}
    row |= scaling_of(found.job, words)
    asked = asked_again(seen.desk.reading.log, words, action) if again else None
    return row | {"reasons": reasons_of(words, action)[:SHOWN], "asked": asked}
