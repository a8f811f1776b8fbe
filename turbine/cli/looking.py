"""The jobs as a command shows them, now or at any instant: the same view that the API shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turbine.cli.moments import Moment
    from turbine.log import Log
    from turbine.views.view import View

Row = dict[str, Any]


def jobs_view(log: Log, moment: Moment | None) -> View:
    """From a frame, where somebody who follows the log has kept one; else all of the log is read:
    whether a job's tasks run is for their containers' lives to say."""
    from turbine.cli.moments import position_at
    from turbine.views.framed import view_before
    from turbine.views.past import view_at
    from turbine.views.source import topics_of

    held = log.held() if moment is None else None
    if held is not None:
        return held
    topics = topics_of(log)
    end = log.ends(log.places(topics)) if moment is None else position_at(log, moment, topics)
    return view_before(log, end) or view_at(log, end)


def lines_of(view: View) -> dict[str, Row]:
    """Each job's line, as the API and the page have it."""
    from turbine.api.rows import line
    from turbine.monitoring.figures import figures_of

    return {one.job: line(view.jobs[one.job], one) for one in figures_of(view)}
