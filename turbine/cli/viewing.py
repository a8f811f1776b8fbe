"""What the log says at an instant, for commands that show the fleet as it is or was: the same view
that the API shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from turbine.read.answers import lines
from turbine.read.answers.lines import JobLine
from turbine.read.moments import Moment
from turbine.read.sources.held import topics_of
from turbine.read.state.framed import FramedLog, view_before
from turbine.read.state.instants import position_at
from turbine.read.state.opening import open_cache
from turbine.read.state.past import view_at
from turbine.read.state.view import View


@contextmanager
def viewed(log: FramedLog, moment: Moment | None) -> Iterator[View]:
    """Of now, or of then, with the whole of each job. Jobs are fetched as they are looked at, so
    what it is begun from stays open for as long."""
    held = _held(log, moment)
    if held is not None:
        yield held
        return
    end = _end(log, moment)
    cache = open_cache(log)
    try:
        yield view_at(log, end, cache)
    finally:
        cache.close()


def jobs_view(log: FramedLog, moment: Moment | None, what: str = "--at") -> View:
    """What runs, and no more: from a frame, where somebody who follows the log has kept one; else
    all of the log is read: whether a job's tasks run is for their containers' lives to say."""
    held = _held(log, moment)
    if held is not None:
        return held
    end = _end(log, moment, what)
    return view_before(log, end) or view_at(log, end)


def lines_of(view: View) -> dict[str, JobLine]:
    """Each job's line, as the API and the page have it."""
    return {line.job: line for line in lines.lines_of(view)}


def _held(log: FramedLog, moment: Moment | None) -> View | None:
    """What a log that is followed shows already."""
    return log.held() if moment is None else None


def _end(log: FramedLog, moment: Moment | None, what: str = "--at") -> dict[str, int]:
    topics = topics_of(log)
    if moment is None:
        return log.ends(log.places(topics))
    return position_at(log, moment, topics, what)
