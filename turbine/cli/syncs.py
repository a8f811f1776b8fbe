"""`get syncs|tasks|alerts|lag` and `wait job`: how running follows what is expected."""

from __future__ import annotations

import time  # noqa: TID251 - a person's patience is real time
from collections.abc import Callable
from typing import Annotated, Literal

from typer import Context, Option

from projections.syncs import Sync
from turbine.cli.columns import Cell, amount, columns, listed
from turbine.cli.options import (
    At,
    JobName,
    JobNames,
    Listed,
    Names,
    Shown,
    check_job,
    check_jobs,
    open_log,
)
from turbine.cli.output import Column, show, show_rows, show_value, tell, write
from turbine.cli.reading import (
    all_existing,
    existing_sync,
    jobs_view,
    lines_by_job,
    looks,
    names_in,
    reached,
    told,
)
from turbine.failures import Code, Failed
from turbine.read.answers.alerts import alerts
from turbine.read.answers.lag import look
from turbine.read.answers.lines import lines_of, some_of
from turbine.read.answers.syncs import PlanLine, SyncLine, sync_line, syncs
from turbine.read.answers.tasks import tasks
from turbine.read.moments import given_moment, parse_span, show_time
from turbine.read.plain import plain
from turbine.read.state.headline import count_of, tasks_of
from turbine.read.state.running import Sightings
from turbine.read.state.view import View


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
    lines = lines_by_job(view)
    rows = syncs(view, [lines[name] for name in found])
    return show_rows(rows, output, _sync_columns(), name="job")


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
    titles = (
        "TASK=name, STATE, SINCE=since_ms:time, CONTAINER, GENERATION, ATTEMPT, CAUSE,"
        " *SHARD GENERATION, *EXPLANATION"
    )
    return show_rows([row for name in syncs for row in tasks(view, name)], output, columns(titles))


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
    job: JobName,
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
    for last in looks(limit_s):
        sync = existing_sync(log.syncs(job=job), job, None, lambda: names_in(log))
        if reached(sync, for_):
            break
        if last:
            raise Failed(Code.TIMEOUT, f"{job} is not {for_} after {timeout}: {told(sync)}")
    count = count_of(sync, tasks_of(sync, Sightings(), {}))
    found = sync_line(sync, for_, count.wanted, count.running)
    return show(found, output, lambda: f"{job}: {for_}")


def _sync_columns() -> list[Column]:
    def of_plan(cell: Callable[[PlanLine], object]) -> Callable[[SyncLine], object]:
        return lambda sync: None if sync.plan is None else cell(sync.plan)

    return columns(
        "JOB, STATE, TASKS, CONFIG=condition, EXPECTED=expected_versions:versions,"
        " IN EFFECT=running_versions:versions, PLAN, STEP, MISSING, DEADLINE, FAILURES, *CAUSE",
        {
            "TASKS": lambda sync: f"{sync.tasks_running}/{sync.tasks}",
            "PLAN": of_plan(lambda plan: plan.intent),
            "STEP": of_plan(lambda plan: plan.step),
            "MISSING": of_plan(lambda plan: len(plan.missing)),
            "DEADLINE": of_plan(lambda plan: show_time(plan.deadline_ms)),
            "CAUSE": lambda sync: sync.quarantine and sync.quarantine.explanation,
        },
    )


TITLES = "SINCE=since_ms:time, SEVERITY, ALERT, ABOUT=subject"


def get_alerts(context: Context, *, at: At = None, output: Shown = "table") -> int:
    """List the alerts that stand, and the last that were cleared, the newest first."""
    found = alerts(jobs_view(open_log(context), given_moment(at)))
    if output != "table":
        return show_value(found, output)
    if found.open:
        write(listed(found.open, f"{TITLES}, CAUSE, ID"))
    else:
        tell("no alert is open")
    if found.cleared:
        write(listed(found.cleared, f"{TITLES}, CLEARED=cleared_ms:time, WHY=explanation, ID"))
    return Code.OK


def get_lag(
    context: Context,
    names: JobNames = None,
    by: Literal["job", "task", "partition"] = "job",
    at: At = None,
    output: Listed = "table",
) -> int:
    """List how far the jobs are behind their input, or those that are named, the worst first.

    What nobody knows is "-": where nothing is committed, and what tasks have not reported. Of the
    past, and in a file, lag is what tasks reported then: the broker keeps what is committed now.

    --by: A line for each of these.
    """
    check_jobs(*names or ())
    moment = given_moment(at)
    log = open_log(context)
    view = jobs_view(log, moment)
    all_existing(view, names or (), at)
    chosen = [line for line in lines_of(view) if not names or line.job in names]
    found = some_of(chosen, "", deleted=bool(names))
    rows = plain(look(log, view, found, by, past=moment is not None))
    none = "there are no jobs that read anything; `turbine apply` makes one"
    name = "job" if by == "job" else "name"
    return show_rows(rows, output, _columns(by), name=name, none=none)


def _columns(by: str) -> list[Column]:
    cells: dict[str, Cell] = {
        "PARTITION": lambda row: f"{row['topic']}/{row['partition']}",
        "BYTES": lambda row: amount("lag_bytes", row["lag_bytes"]),
        "TASKS": lambda row: f"{row['running']}/{row['tasks']}",
    }
    lag = "LAG=lag_records, BYTES, TIME=lag_ms:span, IN=records_in_per_s:rate"
    if by == "partition":
        return columns(f"JOB, PARTITION, TASK, COMMITTED, END, {lag}", cells)
    ahead = "JOB, STATE, TASKS" if by == "job" else "TASK=name"
    return columns(
        f"{ahead}, {lag}, BUSY=busy_share:percent, PARTITIONS,"
        " UNKNOWN=unknown_partitions:some, *AT LEAST=lag_records_min,"
        " *CHECKPOINT=checkpoint_age_ms:span, *REPORTED=reported_ms:time",
        cells,
    )
