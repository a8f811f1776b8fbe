"""`get lag`: which jobs are behind their input, by how much, and which of their tasks."""

from __future__ import annotations

from typing import Annotated, Literal

from typer import Argument, Context

from turbine.cli.columns import amount, columns, rate
from turbine.cli.job_rows import existing_sync, jobs_then, names_in
from turbine.cli.options import At, Listed, check_job, open_log
from turbine.cli.output import Column, show_rows, tell
from turbine.cli.viewing import jobs_view, lines_of
from turbine.failures import Code
from turbine.read.answers.lag import behind_then, look, look_back, to_plain
from turbine.read.moments import Moment, given_moment, now_ms
from turbine.read.plain import JsonObject
from turbine.read.state.framed import FramedLog
from turbine.read.state.instants import log_at

Names = Annotated[list[str] | None, Argument(metavar="JOB")]


def get_lag(
    context: Context,
    names: Names = None,
    by: Literal["job", "task", "partition"] = "job",
    at: At = None,
    output: Listed = "table",
) -> int:
    """List how far the jobs are behind their input, or those that are named, the worst first.

    What nobody knows is "-": where nothing is committed, and what tasks have not reported. Of the
    past, and in a file, lag is what tasks reported then: the broker keeps what is committed now.

    --by: A line for each of these.
    """
    for name in names or ():
        check_job(name)
    moment = given_moment(at)
    log = open_log(context)
    # Of a position nobody knows at once which reports were fresh then.
    if isinstance(moment, int) and (then := jobs_then(log, moment, names or ())) is not None:
        syncs, found = behind_then(then, names or (), moment)
    elif moment is None and not log.source.at_hand:
        syncs, found = look(log, names or (), now_ms())
    else:
        now = now_ms() if moment is None else moment
        past, end = log_at(log, moment), None if isinstance(moment, int) else moment
        syncs, found = look_back(past, names or (), now if isinstance(now, int) else None, end)
    for name in names or ():
        existing_sync(syncs, name, at, lambda: names_in(log))
    rows = [row for one in found for row in to_plain(one, by)]
    rows = _standing(rows, log, moment) if by == "job" and rows else rows
    if not rows and output in ("table", "wide"):
        tell("there are no jobs that read anything; `turbine apply` makes one")
        return Code.OK
    show_rows(rows, output, _columns(by), name="job" if by == "job" else "name")
    return Code.OK


def _standing(rows: list[JsonObject], log: FramedLog, moment: Moment | None) -> list[JsonObject]:
    """The same with how each job stands, as every list says it: what a list of task specs says is
    no word of what runs."""
    lines = lines_of(jobs_view(log, moment))
    said = ("state", "tasks", "running")
    return [
        {"job": row["job"]} | {one: getattr(lines[row["job"]], one) for one in said} | row
        for row in rows
    ]


def _columns(by: str) -> list[Column]:
    lag = columns(
        "LAG=lag_records, BYTES, TIME=lag_ms:span",
        {"BYTES": lambda row: amount("lag_bytes", row["lag_bytes"])},
    )
    if by == "partition":
        return [
            *columns(
                "JOB, PARTITION, TASK, COMMITTED, END",
                {"PARTITION": lambda row: f"{row['topic']}/{row['partition']}"},
            ),
            *lag,
            Column("IN", lambda row: rate(row["records_in_per_s"])),
        ]
    ahead = columns("TASK=name")
    if by == "job":
        ahead = columns(
            "JOB, STATE, TASKS", {"TASKS": lambda row: f"{row['running']}/{row['tasks']}"}
        )
    return [
        *ahead,
        *lag,
        *columns(
            "IN=records_in_per_s:rate, BUSY=busy_share:percent, PARTITIONS,"
            " UNKNOWN=unknown_partitions:some, *AT LEAST=lag_records_min,"
            " *CHECKPOINT=checkpoint_age_ms:span, *REPORTED=reported_ms:time"
        ),
    ]
