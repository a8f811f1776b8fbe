"""`get alerts`: what needs a person now, and what did of late."""

from __future__ import annotations

from typer import Context

from turbine.cli.columns import listed
from turbine.cli.options import At, Shown, open_log
from turbine.cli.output import show_value, tell, write
from turbine.cli.reading import jobs_view
from turbine.failures import Code
from turbine.read.answers.alerts import alerts
from turbine.read.moments import given_moment

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
