"""`get lag`: which jobs are behind their input, by how much, and which of their tasks."""

from __future__ import annotations

from typing import Literal

from typer import Context

from turbine.cli.columns import Cell, amount, columns
from turbine.cli.options import At, JobNames, Listed, check_jobs, open_log
from turbine.cli.output import Column, show_rows
from turbine.cli.reading import existing_sync, jobs_then, jobs_view, lines_by_job, names_in
from turbine.read.answers.lag import behind_then, look, look_back, to_plain
from turbine.read.moments import given_moment, now_ms
from turbine.read.state.instants import log_at


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
    if by == "job" and rows:
        # As every list says it: what a list of task specs says is no word of what runs.
        lines, said = lines_by_job(jobs_view(log, moment)), ("state", "tasks", "running")
        words = [{one: getattr(lines[row["job"]], one) for one in said} for row in rows]
        rows = [{"job": row["job"]} | word | row for row, word in zip(rows, words, strict=True)]
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
