"""`get syncs`, `get tasks` and `wait job`: how running follows expected."""

from __future__ import annotations

import time  # noqa: TID251 - a person's patience is real time
from typing import Annotated, Any, Literal

from typer import Argument, Context, Option

from projections.syncs import Sync
from turbine.cli.columns import columns
from turbine.cli.job_rows import existing_sync, names_in, reached, told, versions_text
from turbine.cli.options import At, Listed, Names, Shown, check_job, open_log
from turbine.cli.output import show_rows, show_value, write
from turbine.cli.viewing import jobs_view, lines_of
from turbine.failures import Code, Failed
from turbine.read.answers.syncs import sync_line, syncs
from turbine.read.answers.tasks import tasks
from turbine.read.moments import given_moment, parse_span, show_time
from turbine.read.plain import plain
from turbine.read.state.headline import count_of, tasks_of
from turbine.read.state.running import Sightings
from turbine.read.state.view import View

Name = Annotated[str, Argument(metavar="JOB")]

LOOK_S = 1.0
"""Between two looks of `wait`: each reads the job's partition anew."""


def get_syncs(
    context: Context,
    names: Names = None,
    *,
    job: str | None = None,
    at: At = None,
    output: Listed = "table",
) -> int:
    """List how far each job's running config has followed its expected one, or those named.

    --job JOB: Of this job only.
    """
    view, found = _named(context, names, job, at)
    lines = lines_of(view)
    rows = plain(syncs(view, [lines[name] for name in found]))
    show_rows(rows, output, _sync_columns(), name="job")
    return Code.OK


def get_tasks(
    context: Context,
    names: Names = None,
    *,
    job: str | None = None,
    at: At = None,
    output: Listed = "table",
) -> int:
    """List the tasks that should run, and those that run although they should not.

    --job JOB: Of this job only.
    """
    view, syncs = _named(context, names, job, at)
    rows = [row for name in syncs for row in plain(tasks(view, name))]
    show_rows(rows, output, _task_columns())
    return Code.OK


def _named(
    context: Context, names: list[str] | None, job: str | None, at: str | None
) -> tuple[View, dict[str, Sync]]:
    """What the log says, and the rows of the jobs that are named, by --job too; of all where none
    is."""
    wanted = [*(names or ()), *([] if job is None else [job])]
    for name in wanted:
        check_job(name)
    view = jobs_view(open_log(context), given_moment(at))
    known = {name: one for name, one in sorted(view.jobs.items()) if one.existed}
    syncs = {name: one.sync for name, one in known.items() if one.sync is not None}
    if not wanted:
        return view, syncs
    living = [name for name, one in known.items() if one.job.alive]
    return view, {name: existing_sync(syncs, name, at, lambda: living) for name in wanted}


def wait_job(
    context: Context,
    *,
    job: Name,
    for_: Literal["running", "paused", "deleted", "quarantined"],
    timeout: Annotated[str, Option("--timeout", metavar="SPAN")] = "60s",
    output: Shown = "table",
) -> int:
    """Wait until a job is what is expected of it, or in quarantine.

    Running means that the newest config is in effect, and that all its tasks run.

    --for: What to wait for.
    """
    check_job(job)
    limit_s = time.monotonic() + parse_span(timeout, "--timeout") / 1000
    log = open_log(context)
    while True:
        sync = existing_sync(log.syncs(job=job), job, None, lambda: names_in(log))
        if reached(sync, for_):
            break
        if time.monotonic() >= limit_s:
            raise Failed(Code.TIMEOUT, f"{job} is not {for_} after {timeout}: {told(sync)}")
        time.sleep(min(LOOK_S, max(0.0, limit_s - time.monotonic())))
    if output == "table":
        write(f"{job}: {for_}")
    else:
        count = count_of(sync, tasks_of(sync, Sightings(), {}))
        show_value(plain(sync_line(sync, for_, count.wanted, count.running)), output)
    return Code.OK


def _sync_columns() -> list[Any]:
    def of_plan(name: str) -> Any:
        return lambda row: row["plan"][name] if row["plan"] else None

    return columns(
        "JOB, STATE, TASKS, CONFIG=condition, EXPECTED, IN EFFECT, PLAN, STEP, MISSING,"
        " DEADLINE, FAILURES, *CAUSE",
        {
            "TASKS": lambda row: f"{row['tasks_running']}/{row['tasks']}",
            "EXPECTED": lambda row: versions_text(row["expected_versions"]),
            "IN EFFECT": lambda row: versions_text(row["running_versions"]),
            "PLAN": of_plan("intent"),
            "STEP": of_plan("step"),
            "MISSING": lambda row: len(row["plan"]["missing"]) if row["plan"] else None,
            "DEADLINE": lambda row: show_time(row["plan"]["deadline_ms"] if row["plan"] else 0),
            "CAUSE": lambda row: (row["quarantine"] or {}).get("explanation"),
        },
    )


def _task_columns() -> list[Any]:
    return columns(
        "TASK=name, STATE, SINCE=since_ms:time, CONTAINER, GENERATION, ATTEMPT, CAUSE,"
        " *SHARD GENERATION, *EXPLANATION"
    )
