"""The stream: each decision once in order, resumed without a gap, and what it costs who is slow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.turbine.api.asgi import scope_of
from tests.unit.turbine.api.world import CONFIG, World, world_of
from turbine.api import stream
from turbine.api.problems import RequestRefused
from turbine.api.stream import GAP_MOST, SentPosition
from turbine.read.state.decisions import Decisions
from turbine_client.positions import parse_vector

PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Event:
    """One event as a browser would be given it."""

    kind: str
    id: str
    data: Any


class Listener:
    """Reads a stream event by event, no faster than it is asked to."""

    def __init__(self) -> None:
        self._parts: asyncio.Queue[bytes] = asyncio.Queue(1)
        self._buffer = b""
        self.gone = asyncio.Event()

    async def send(self, event: dict[str, Any]) -> None:
        if event["type"] == "http.response.body":
            await self._parts.put(event.get("body", b""))

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def next(self) -> Event:
        """The next event; comments are passed over."""
        while True:
            while b"\n\n" not in self._buffer:
                self._buffer += await asyncio.wait_for(self._parts.get(), PATIENCE_S)
            block, _, self._buffer = self._buffer.partition(b"\n\n")
            fields = dict(
                line.split(": ", 1)
                for line in block.decode().split("\n")
                if line[:1] not in ("", ":")
            )
            if "event" in fields:
                return Event(fields["event"], fields.get("id", ""), json.loads(fields["data"]))

    async def many(self, count: int) -> list[Event]:
        """So many."""
        return [await self.next() for _ in range(count)]


@asynccontextmanager
async def listening(world: World, query: str = "", **headers: str) -> AsyncIterator[Listener]:
    """A reader that leaves in the end."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    listener = Listener()
    scope = scope_of("GET", f"/api/v1/stream{query}", named)
    running = asyncio.ensure_future(world.app(scope, listener.receive, listener.send))
    try:
        yield listener
    finally:
        listener.gone.set()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def decide(world: World, count: int, name: str = "more") -> list[str]:
    """So many decisions; their ids."""
    ids = [world.log.expect(f"{name}-{n}", CONFIG) for n in range(count)]
    world.desk.reading.view(None)  # as the views' thread would
    world.feed.wake()
    return ids


@pytest.fixture
def own(tmp_path: Path) -> World:
    """A fleet of one's own."""
    return world_of(directory=tmp_path)


def test_what_is_decided_comes_once_and_in_order(own: World) -> None:
    async def run() -> None:
        async with listening(own, "?topics=decision,alert") as listener:
            await started(own)
            ids = decide(own, 5)
            found = await listener.many(5)
            assert [one.data["id"] for one in found] == ids
            assert {one.kind for one in found} == {"decision"}
            assert found[0].data["summary"].startswith("version 1 of base")

    asyncio.run(run())


async def started(world: World) -> None:
    """Until the reader waits for what comes."""
    async with asyncio.timeout(PATIENCE_S):
        while not world.feed.readers:
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.05)


def test_who_comes_back_misses_nothing_and_gets_nothing_twice(own: World) -> None:
    async def run() -> None:
        seen: list[Event] = []
        async with listening(own, "?topics=decision,alert&after=journal.v1/0:0") as listener:
            seen += await listener.many(9)
        ids = decide(own, 30)
        while len(seen) < 200:
            async with listening(own, "?topics=decision,alert", last_event_id=seen[-1].id) as again:
                if len(seen) == 9:
                    seen += await again.many(20)
                    continue
                late = decide(own, 7, "late")
                while seen[-1].data["id"] != late[-1]:
                    seen.append(await again.next())
                break
        got = [one.data["id"] for one in seen]
        everything = own.desk.annals.page(stream_wanted(), 1000)[0]
        assert len(got) == len(set(got)) == len(everything)
        assert set(got) == {one.read.record.id for one in everything}
        assert set(ids + late) <= set(got)

    asyncio.run(run())


def stream_wanted() -> Any:
    from turbine.read.state.decisions import DecisionFilter

    return DecisionFilter()


@pytest.mark.parametrize("turns", range(3))
def test_who_leaves_as_something_comes_is_let_go(turns: int) -> None:
    """Whichever of the two the loop comes to first."""

    async def run() -> None:
        woken = asyncio.Event()
        waiting = asyncio.ensure_future(stream._moment(woken))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        woken.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        left = waiting.cancel()
        await asyncio.wait([waiting], timeout=PATIENCE_S)
        assert waiting.cancelled() == left

    asyncio.run(run())


def test_ids_are_positions_that_only_rise(own: World) -> None:
    async def run() -> None:
        async with listening(own, "?topics=decision,alert&after=journal.v1/0:0") as listener:
            found = await listener.many(20)
        before: dict[str, int] = {}
        for one in found:
            now = parse_vector(one.id)
            assert all(now.get(at, 0) >= offset for at, offset in before.items())
            before = now

    asyncio.run(run())


def test_alerts_alone_and_the_summary_when_it_changes(
    own: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "VIEW_S", 0.01)

    async def run() -> None:
        async with listening(own, "?topics=alert&after=journal.v1/0:0") as listener:
            kinds = [one.data["kind"] for one in await listener.many(3)]
            assert sorted(kinds) == ["AlertCleared", "AlertRaised", "AlertRaised"]
        async with listening(own, "?topics=view") as listener:
            first = await listener.next()
            assert (first.kind, first.id, first.data["totals"]["jobs"]) == ("view", "", 3)
            decide(own, 1)
            assert (await listener.next()).data["totals"]["jobs"] == 4

    asyncio.run(run())


def test_who_is_further_behind_than_is_known_is_let_go() -> None:
    decisions = Decisions(most=1024)
    from tests.unit.turbine.decided import NOW, Journal

    one = Journal().propose({"tasks": 1}, now=NOW).read
    for _ in range(1025):
        decisions.add(one, True)
    assert decisions.dropped == 512
    assert decisions.beyond({}, 0, 10) is not None  # all that is left lies at that offset
    assert decisions.beyond({}, 100, 10) is None
    spots, number = decisions.beyond({}, 600, 10) or ([], 0)
    assert (len(spots), number) == (10, 610)


def test_a_heartbeat_keeps_a_quiet_stream_open(own: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastapi.routing._PING_INTERVAL", 0.02)

    async def run() -> None:
        async with listening(own, "?topics=alert") as listener:
            async with asyncio.timeout(PATIENCE_S):
                while b": ping" not in listener._buffer:
                    listener._buffer += await listener._parts.get()

    asyncio.run(run())


def test_who_leaves_is_not_waited_for(own: World) -> None:
    async def run() -> None:
        async with listening(own):
            await started(own)
        assert own.feed.readers == 0

    asyncio.run(run())


# --- the position before which all was sent


def test_a_position_does_not_pass_what_is_still_to_come() -> None:
    sent = SentPosition({"journal.v1/0": 5})
    for offset, position in ((5, 6), (7, 6), (8, 6), (6, 9), (4, 9)):
        sent.add("journal.v1/0", offset)
        assert sent.position() == f"journal.v1/0:{position}"


def test_a_position_passes_what_never_comes() -> None:
    sent = SentPosition({})
    for offset in range(1, GAP_MOST + 1):
        sent.add("a/0", offset)
        assert sent.position() == ""
    sent.add("a/0", GAP_MOST + 1)
    assert sent.position() == f"a/0:{GAP_MOST + 2}"


def test_a_position_passes_one_hole_after_the_other() -> None:
    sent, hole = SentPosition({"a/0": 1}), 600
    for offset in range(2, GAP_MOST + 4):
        if offset != hole:
            sent.add("a/0", offset)
    assert sent.position() == f"a/0:{hole}", "what lies behind the second one may still come"


def test_a_browser_that_comes_back_goes_on_behind_what_it_saw_last() -> None:
    """It asks for the address of its beginning again, and says beside it what came since."""
    desk: Any = SimpleNamespace(feed=SimpleNamespace(readers=0))
    assert stream.begin_of(desk, "a/0:7", "a/0:3") == {"a/0": 7}
    assert stream.begin_of(desk, None, "a/0:3") == {"a/0": 3}
    with pytest.raises(RequestRefused) as refused:
        stream.begin_of(desk, "what", "a/0:3")
    assert refused.value.place == "header.last-event-id"
