"""`get alerts`: what needs a person now, and what did of late."""

from __future__ import annotations

from typing import Any

import typer

from turbine.cli.options import At, Shown, open_log
from turbine.cli.output import Column, show_value, table_text, tell, write
from turbine.cli.viewing import jobs_view
from turbine.failures import Code
from turbine.read.answers.alerts import alerts
from turbine.read.moments import given_moment, show_time
from turbine.read.plain import plain

Row = dict[str, Any]


def get_alerts(context: typer.Context, *, at: At = None, output: Shown = "table") -> int:
    """List the alerts that stand, and the last that were cleared, the newest first."""
    found: Row = plain(alerts(jobs_view(open_log(context), given_moment(at))))
    if output != "table":
        show_value(found, output)
        return Code.OK
    if not found["open"]:
        tell("no alert is open")
    for rows in (found["open"], found["cleared"]):
        if rows:
            write(table_text(rows, _columns(over=rows is found["cleared"])))
    return Code.OK


def _columns(*, over: bool) -> list[Any]:
    end = [
        Column("CLEARED", lambda row: show_time(row["cleared_ms"])),
        Column("WHY", lambda row: row["explanation"]),
    ]
    return [
        Column("SINCE", lambda row: show_time(row["since_ms"])),
        Column("SEVERITY", lambda row: row["severity"]),
        Column("ALERT", lambda row: row["alert"]),
        Column("ABOUT", lambda row: row["subject"]),
        *(end if over else [Column("CAUSE", lambda row: row["cause"])]),
        Column("ID", lambda row: row["id"]),
    ]
