"""The jobs as a command shows them, now or at any instant: the same view that the API shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turbine.cli.moments import Moment
    from turbine.log import Log
    from turbine.views.view import View

Row = dict[str, Any]


def jobs_view(log: Log, moment: Moment | None, job: str | None = None) -> View:
    """The view of the jobs and of the alerts about them, or of one job's alone.

    From a frame, where somebody who follows the log has kept one; else what tells of jobs is read,
    and no tier, which is most of a log.
    """
    from events.topics import JOURNAL, LOADS, OPERATOR, TASKS
    from turbine.views.framed import view_before
    from turbine.views.past import view_at
    from turbine.views.source import topics_of

    if job is None:
        framed = view_before(log, _end(log, moment, topics_of(log), None))
        if framed is not None:
            return framed
    topics = [topic for topic in (JOURNAL, TASKS, OPERATOR, LOADS) if topic in log.counts]
    return view_at(log, _end(log, moment, topics, job))


def _end(log: Log, moment: Moment | None, topics: list[str], job: str | None) -> dict[str, int]:
    from turbine.cli.moments import position_at

    places = log.places(topics, key=job)
    if moment is None:
        return log.ends(places)
    end = position_at(log, moment, topics)
    return {at: offset for at, offset in end.items() if at in places}


def lines_of(view: View) -> dict[str, Row]:
    """Each job's line, as the API and the page have it."""
    from turbine.api.rows import alerts_of, line

    alerts = alerts_of(view)
    return {
        name: line(seen, alerts.get(name, [])) for name, seen in view.jobs.items() if seen.existed
    }
