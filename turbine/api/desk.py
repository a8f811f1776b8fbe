"""What every question has in common: the moment it is about, the position it is answered at, and
whether the asker has the answer already.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Query, Request, Response
from starlette.responses import Response as Plain

from events.topics import JOURNAL, TIERS
from turbine.api.decision_reader import Annals
from turbine.api.feed import Feed
from turbine.api.followed import Freshness
from turbine.api.plans import Plans
from turbine.api.problems import invalid
from turbine.api.reading import Reading
from turbine.api.writing import LogWriter
from turbine.read.answers.fleet import totals
from turbine.read.answers.lines import JobLine, JobLines
from turbine.read.filters import GRAMMAR
from turbine.read.moments import BadMoment, Moment, now_ms, parse_moment
from turbine.read.plain import plain
from turbine.read.sources.log import Log
from turbine.read.state.live import LiveLog
from turbine.read.state.view import View
from turbine_client.errors import BadRequest
from turbine_client.positions import format_vector

AT_MAX = 40_000
BUCKETS_MAX = 2000
HEADER_MAX = 8000
"""Of a position in a header: what is longer, proxies refuse; then it names the decisions' places
alone."""

At = Annotated[
    str | None,
    Query(
        max_length=AT_MAX,
        description="As it was then: an RFC 3339 time, a span such as '10m ago', or a position"
        " vector such as Turbine-Position has it.",
        examples=["2026-01-31T09:00:00Z"],
    ),
]
Filter = Annotated[str, Query(max_length=500, description=f"Which jobs: {GRAMMAR}.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="Of the items on a page.")]
Cursor = Annotated[
    str | None, Query(max_length=1000, description="`next` of the page before this one.")
]


@dataclass(slots=True)
class Desk:
    """What all questions are answered from."""

    log: Log
    views: LiveLog
    feed: Feed
    writer: LogWriter
    scoreboard: Path | None = None
    now_ms: Callable[[], int] = now_ms  # what "10m ago" is meant by
    places: Path | None = None  # the directory of the fleet; None: the log lies in a file
    file: str = ""  # its name, where the log lies in one: nothing more comes
    lines: JobLines = field(default_factory=JobLines)
    plans: Plans = field(default_factory=lambda: Plans(now_ms))
    reading: Reading = field(init=False)
    annals: Annals = field(init=False)
    freshness: Freshness = field(init=False)

    def __post_init__(self) -> None:
        self.reading = Reading(self.log, self.views)
        self.annals = Annals(self.log, self.views, self.feed)
        self.freshness = Freshness(self.log, self.views)

    def decided(self) -> dict[str, int]:
        """Where the decisions end now."""
        topics = (topic for topic in (JOURNAL, TIERS) if topic in self.log.counts)
        return self.log.ends(self.log.places(topics))

    def summary(self) -> Mapping[str, object]:
        """The fleet in one line."""
        view = self.reading.view(None)
        decided = {at: n for at, n in view.at.items() if at.rpartition("/")[0] in (JOURNAL, TIERS)}
        return {
            "position": format_vector(decided),
            "totals": plain(totals(self.lines.of(view))),
            "alerts": len(view.alerts),
            "dead_letters": view.dead_letters,
            "file": self.file or None,
        }


class NotModified(Exception):
    """The asker has this answer already."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__("not modified")
        self.headers = dict(headers)


@dataclass(frozen=True, slots=True)
class DeskView:
    """The desk, and what the log says at the moment that was asked about."""

    desk: Desk
    view: View

    def lines(self) -> list[JobLine]:
        """A line for each job that ever was."""
        return self.desk.lines.of(self.view)


def desk_of(request: Request) -> Desk:
    """The desk of this server."""
    desk: Desk = request.app.state.desk
    return desk


def moment_of(text: str | None, now: int, what: str = "at", where: str = "query") -> Moment | None:
    """The moment that a text means."""
    if text is None:
        return None
    try:
        return parse_moment(text, now, what)
    except BadMoment as bad:
        raise invalid(str(bad), f"{where}.{what}") from None


def time_of(text: str | None, now: int, what: str, usual_ms: int, *, where: str = "query") -> int:
    """A moment that has to be a time."""
    found = moment_of(text, now, what, where)
    if found is None:
        return usual_ms
    if isinstance(found, int):
        return found
    sentence = f"{what}: a position is no time here; write one such as '1h ago'"
    raise invalid(sentence, f"{where}.{what}")


def view_of(desk: Desk, text: str | None, what: str) -> View:
    """What the log says at the moment that a text means; now, for None."""
    try:
        return desk.reading.view(moment_of(text, desk.now_ms(), what), what)
    except BadRequest as bad:  # a position beyond the log, a time before a file's
        if text is None:
            raise
        raise invalid(str(bad), f"query.{what}") from None


def look(
    request: Request,
    response: Response,
    desk: Annotated[Desk, Depends(desk_of)],
    at: At = None,
) -> DeskView:
    """What the log says at the moment that is asked about; `NotModified` where nothing is new."""
    view = view_of(desk, at, "at")
    headers = headers_at(view.at)
    if matches(request.headers.get("if-none-match", ""), headers["ETag"]):
        raise NotModified(headers)
    response.headers.update(headers)
    return DeskView(desk, view)


def headers_at(at: Mapping[str, int]) -> dict[str, str]:
    """The position of an answer, and its digest."""
    text = format_vector(at)
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    if len(text) > HEADER_MAX:
        decided = {one: n for one, n in at.items() if one.rpartition("/")[0] in (JOURNAL, TIERS)}
        text = format_vector(decided)
    return {"ETag": f'W/"{digest}"', "Turbine-Position": text}


def matches(asked: str, etag: str) -> bool:
    """Is the tag among those that the asker has?"""
    own = etag.removeprefix("W/")
    return any(one.strip().removeprefix("W/") in (own, "*") for one in asked.split(","))


def known(_: Request, error: Exception) -> Plain:
    """304: nothing but the headers."""
    assert isinstance(error, NotModified)
    return Plain(status_code=304, headers=error.headers)


Seen = Annotated[DeskView, Depends(look)]
AtDesk = Annotated[Desk, Depends(desk_of)]
