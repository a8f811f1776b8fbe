"""The log as it was at an instant, and the position that an instant means in it."""

from __future__ import annotations

from collections.abc import Iterable

from events.topics import CLOCK
from turbine.read.moments import BadMoment, Moment
from turbine.read.sources.log import Log
from turbine.read.sources.source import UpTo
from turbine.read.state.framed import FramedLog


def log_at(log: FramedLog, moment: Moment | None, what: str = "--at") -> FramedLog:
    """The log as it was then: what came later is not there. The log itself where nobody asked."""
    if moment is None:
        return log
    end = position_at(log, moment, log.counts, what)
    if not isinstance(moment, int) and CLOCK in log.counts:
        # A position that names no clock means no log without one: ticks decide nothing.
        end = log.ends(log.places([CLOCK])) | end
    return FramedLog(source=UpTo(log.source, end))


def position_at(
    log: Log, moment: Moment, topics: Iterable[str], what: str = "--at"
) -> dict[str, int]:
    """The position vector that a time or a position means in this log."""
    if isinstance(moment, int):
        return log.moment(moment, topics, what)
    known = set(log.places(log.counts))
    for place in sorted(moment):
        if place not in known:
            raise BadMoment(
                f"{what}: this log has no place {place}; `turbine log stats` lists its topics",
            )
    ends = log.ends(moment)
    for place, offset in sorted(moment.items()):
        if offset > ends[place]:
            raise BadMoment(
                f"{what}: {place} ends at {ends[place]}, before the position {offset};"
                " name one that is in the log",
            )
    return moment
