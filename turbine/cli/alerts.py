"""`get alerts`: what needs a person now, and what did of late."""

from __future__ import annotations

from typing import Any

from typer import Context

from turbine.cli.columns import columns
from turbine.cli.options import At, Shown, open_log
from turbine.cli.output import Column, show_value, table_text, tell, write
from turbine.cli.viewing import jobs_view
from turbine.failures import Code
from turbine.read.answers.alerts import alerts
from turbine.read.moments import given_moment
from turbine.read.plain import JsonObject, plain


def get_alerts(context: Context, *, at: At = None, output: Shown = "table") -> int:
    """List the alerts that stand, and the last that were cleared, the newest first."""
    found: JsonObject = plain(alerts(jobs_view(open_log(context), given_moment(at))))
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
    end = columns("CLEARED=cleared_ms:time, WHY=explanation")
    return [
        *columns("SINCE=since_ms:time, SEVERITY, ALERT, ABOUT=subject"),
        *(end if over else [Column("CAUSE", lambda row: row["cause"])]),
        Column("ID", lambda row: row["id"]),
    ]
