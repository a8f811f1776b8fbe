"""The span of the log's time that a series is told of, and what was known of it then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import Query

from turbine.api.desk import DeskView, time_of
from turbine.api.problems import invalid

MINUTE_MS = 60_000

Since = Annotated[str | None, Query(alias="from", max_length=100)]
Until = Annotated[str | None, Query(alias="to", max_length=100)]


def span_of(seen: DeskView, since: str | None, until: str | None, usual_ms: int) -> tuple[int, int]:
    """The span that is asked about; by default the last one of the usual length."""
    now_ms = seen.desk.now_ms()
    end_ms = time_of(until, now_ms, "to", seen.view.last_ms)
    begin_ms = time_of(since, now_ms, "from", max(0, end_ms - usual_ms))
    if begin_ms >= end_ms:
        raise invalid("from: it has to be before to; name an earlier time", "query.from")
    return begin_ms, end_ms


def begin_of(seen: DeskView, job: str | None, begin_ms: int, end_ms: int) -> int:
    """Where a span begins of which anything is known; itself, where nothing is."""
    first_ms = seen.desk.views.over_time.begins_ms(job, begin_ms, end_ms)
    # A minute at least, or there would be no span.
    return begin_ms if first_ms is None else max(begin_ms, min(first_ms, end_ms - MINUTE_MS))


def known_then(points: Mapping[str, Sequence[Any]], at_ms: int) -> dict[str, list[Any]]:
    """Without what was reported after the moment that is asked about: it was not known then."""
    times = points["t_ms"]
    known = sum(one <= at_ms for one in times)
    rest = [None] * (len(times) - known)
    return {
        name: list(some) if name == "t_ms" else [*some[:known], *rest]
        for name, some in points.items()
    }
