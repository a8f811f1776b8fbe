"""`get lag`: which jobs are behind their input, by how much, and which of their tasks."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from turbine.cli.columns import amount, columns, rate
from turbine.cli.job_rows import all_existing
from turbine.cli.options import At, Listed, check_job, open_log
from turbine.cli.output import Column, show_rows, tell
from turbine.cli.viewing import jobs_view
from turbine.failures import Code
from turbine.read.answers.lag import look
from turbine.read.answers.lines import lines_of, some_of
from turbine.read.moments import given_moment
from turbine.read.plain import plain

Names = Annotated[list[str] | None, typer.Argument(metavar="JOB")]
Each = Annotated[
    Literal["job", "task", "partition"],
    typer.Option("--by", help="A line for each of these."),
]


def get_lag(
    context: typer.Context,
    names: Names = None,
    by: Each = "job",
    at: At = None,
    output: Listed = "table",
) -> int:
    """List how far the jobs are behind their input, or those that are named, the worst first.

    What nobody knows is "-": where nothing is committed, and what tasks have not reported. Of the
    past, and in a file, lag is what tasks reported then: the broker keeps what is committed now.
    """
    for name in names or ():
        check_job(name)
    moment = given_moment(at)
    log = open_log(context)
    view = jobs_view(log, moment)
    all_existing(view, names or (), at)
    chosen = [line for line in lines_of(view) if not names or line.job in names]
    found = some_of(chosen, "", deleted=bool(names))
    rows = plain(look(log, view, found, by, past=moment is not None))
    if not rows and output in ("table", "wide"):
        tell("there are no jobs that read anything; `turbine apply` makes one")
        return Code.OK
    show_rows(rows, output, _columns(by), name="job" if by == "job" else "name")
    return Code.OK


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
