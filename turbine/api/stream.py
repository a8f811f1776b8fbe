"""`/stream`: decisions, alerts, the fleet's summary as server-sent events, resumed without a gap.

A reader is never ahead of itself: nothing is gathered for it, it takes one after the other from
what all share. One that falls out of what is held is let go, comes back with its last id, and reads
the rest from the log.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent

from turbine.api.desk import AtDesk, Desk
from turbine.api.feed import READERS_MAX
from turbine.api.problems import RequestRefused, invalid, told
from turbine.read.answers.journal import line_of
from turbine.read.plain import plain
from turbine.read.sources.log import Standing
from turbine_client.positions import VectorError, format_vector, parse_vector

BATCH = 200
GAP_MOST = 1000
VIEW_S = 2.0
"""No summary sooner than this after the one before."""
RETRY_MS = 1000
KINDS = ("decision", "alert", "view")

router = APIRouter(tags=["stream"], responses=told(422, 503))


def wanted_of(
    topics: Annotated[
        str, Query(max_length=200, description="decision, alert, view; all of them by default.")
    ] = ",".join(KINDS),
) -> frozenset[str]:
    """Which events a reader wants."""
    wanted = frozenset(topics.split(","))
    if not wanted <= set(KINDS):
        sentence = f"topics: one or several of {', '.join(KINDS)}, separated by commas"
        raise invalid(sentence, "query.topics")
    return wanted


def begin_of(
    desk: AtDesk,
    last_event_id: Annotated[
        str | None, Header(max_length=40_000, description="The id of the last event seen.")
    ] = None,
    after: Annotated[
        str | None,
        Query(max_length=40_000, description="The same, for who cannot set the header."),
    ] = None,
) -> dict[str, int] | None:
    """Where a reader goes on; None begins now. Refuses a position that is none."""
    if desk.feed.readers >= READERS_MAX:
        raise RequestRefused(
            503,
            "too-many-readers",
            f"{READERS_MAX} readers follow already; close one, or ask for GET journal instead",
            **{"Retry-After": "10"},
        )
    text = last_event_id or after
    if not text:
        return None
    try:
        return parse_vector(text)
    except VectorError as bad:
        place = "header.last-event-id" if last_event_id else "query.after"
        raise invalid(f"{place}: {bad}", place) from None


@router.get(
    "/stream",
    response_class=EventSourceResponse,
    summary="What is decided, as it is decided",
)
async def stream(
    desk: AtDesk,
    wanted: Annotated[frozenset[str], Depends(wanted_of)],
    begin: Annotated[dict[str, int] | None, Depends(begin_of)],
) -> AsyncIterator[ServerSentEvent]:
    """Events `decision` and `alert` carry an entry of the journal, and as their id the position to
    come back with; `view` carries the fleet's totals, when they have changed."""
    yield ServerSentEvent(comment="turbine", retry=RETRY_MS)
    with desk.feed.followed() as woken:
        if begin is None:
            begin = await asyncio.to_thread(desk.decided)
        reader = StreamFollower(desk, wanted, begin)
        async for event in reader.follow(woken):
            yield event


class StreamFollower:
    """One who follows: how far they have come, as a position and as a number of decisions."""

    def __init__(self, desk: Desk, wanted: frozenset[str], begin: Mapping[str, int]) -> None:
        self._desk, self._wanted = desk, wanted
        self._begin, self._number = dict(begin), 0
        self._sent = SentPosition(begin)
        self._shown: Mapping[str, object] = {}

    async def follow(self, woken: asyncio.Event) -> AsyncIterator[ServerSentEvent]:
        """All that came since, and all that comes, until they leave or are too far behind."""
        loop = asyncio.get_running_loop()
        next_s = loop.time()
        while not self._desk.feed.ended:
            woken.clear()
            found = await asyncio.to_thread(
                self._desk.feed.beyond, self._begin, self._number, BATCH
            )
            if found is None:
                return
            decisions, self._number = found
            for one in decisions:
                if event := self._event(one):
                    yield event
            if "view" in self._wanted and loop.time() >= next_s:
                next_s = loop.time() + VIEW_S
                shown = await asyncio.to_thread(self._desk.summary)
                if shown != self._shown:
                    self._shown = shown
                    yield ServerSentEvent(data=shown, event="view")
            if not decisions:
                await _moment(woken)

    def _event(self, one: Standing) -> ServerSentEvent | None:
        """None of what they do not want."""
        self._sent.add(one.read.place, one.read.offset)
        kind = event_of(one)
        if kind not in self._wanted:
            return None
        return ServerSentEvent(
            raw_data=json.dumps(plain(line_of(one)), ensure_ascii=False),
            event=kind,
            id=self._sent.position(),
        )


def event_of(one: Standing) -> str:
    """What a reader listens for."""
    kind = one.read.record.kind
    return "alert" if kind in ("AlertRaised", "AlertCleared") else "decision"


class SentPosition:
    """The position before which all was sent. A decision may take effect after one that lies behind
    it: the position does not pass it, and what was sent beyond is sent again to who comes back."""

    def __init__(self, begin: Mapping[str, int]) -> None:
        self._low = dict(begin)
        self._early: dict[str, set[int]] = {}

    def add(self, place: str, offset: int) -> None:
        """Notes an event that was sent."""
        low, early = self._low.get(place, 0), self._early.setdefault(place, set())
        early.add(offset)
        if len(early) > GAP_MOST:
            low = min(early)  # what lies between is no decision: a marker, or what nobody can read
        while low in early:
            early.discard(low)
            low += 1
        self._low[place] = low

    def position(self) -> str:
        """The position that the stream reached, as an event's id."""
        return format_vector({place: offset for place, offset in self._low.items() if offset})


async def _moment(woken: asyncio.Event) -> None:
    """Until something came, or it is time for another look at the whole.

    Not `asyncio.wait_for`: in Python 3.11 it forgets that it was cancelled where something comes at
    the same time, and who has left would be served for ever.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(VIEW_S):
            await woken.wait()
