"""Follows what was decided, each once and in each job's order: `for outcome in Subscriber(): …`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.runtime.clients import partitions_of
from components.runtime.intake import DeadLetter, take_in
from components.runtime.reading import Follower, ends_now, times_now
from components.runtime.settings import BadSettings, Settings, load_settings
from events.codec import SKIPPED, Read
from events.records import Body
from events.topics import BY_SHORT, OUTCOMES, place


@dataclass(frozen=True, slots=True)
class Outcome:
    """One decision that stands, as the world gets to see it."""

    kind: str
    job: str
    id: str
    change_id: str
    body: Body
    place: str
    offset: int
    at_ms: int

    @classmethod
    def of(cls, read: Read) -> Outcome:
        """What a record says, as the world gets to see it; its body has to be there."""
        record = read.record
        assert record.body is not None
        return cls(
            kind=record.kind,
            job=record.key,
            id=record.id,
            change_id=record.cause,
            body=record.body,
            place=read.place,
            offset=read.offset,
            at_ms=read.at_ms,
        )

    def to_plain(self) -> dict[str, Any]:
        """As JSON: the envelope, and the record's fields under `body`."""
        return {
            "kind": self.kind,
            "job": self.job,
            "id": self.id,
            "change_id": self.change_id,
            "at_ms": self.at_ms,
            "position": f"{self.place}:{self.offset}",
            "body": self.body.to_plain(),
        }


class Subscriber:
    """Reads a topic for the world from a starting point on. Used from one thread.

    `start` is "latest", "earliest", a time in milliseconds, or a vector of positions (place to
    next offset) such as `positions` gives: keep it, and go on from there after a restart.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        topic: str = OUTCOMES,
        start: str | int | Mapping[str, int] = "latest",
        kinds: frozenset[str] | None = None,
        job: str | None = None,
    ) -> None:
        self._settings = settings or load_settings()
        self._topic, self._kinds, self._job = topic, kinds, job
        self._count = partitions_of(self._settings).get(topic, 0)
        if not self._count:
            raise BadSettings(
                f"the broker has no topic {BY_SHORT[topic].name};"
                " create it with `turbine topics apply`"
            )
        places = [place(topic, p) for p in range(self._count)]
        self.positions = self._start(places, start)
        self._follower = Follower(
            self._settings, self.positions, **{"isolation.level": "read_committed"}
        )

    def _start(self, places: list[str], start: str | int | Mapping[str, int]) -> dict[str, int]:
        if isinstance(start, Mapping):
            return {at: start.get(at, 0) for at in places}
        if start == "latest":
            return ends_now(self._settings, places)
        if start == "earliest":
            return dict.fromkeys(places, 0)
        if not isinstance(start, int):
            raise TypeError(f"start is latest, earliest, a time or positions, not {start!r}")
        return times_now(self._settings, places, start)

    def poll(self, timeout_s: float = 1.0) -> list[Outcome]:
        """What has come within the timeout; an empty list where nothing did."""
        out = []
        for message in self._follower.poll(timeout_s):
            self.positions[message.place] = message.offset + 1
            found = take_in(message, self._count, self._kinds)
            if isinstance(found, DeadLetter):
                continue  # a kind that a newer build made: it is not for this subscriber
            outcome = self._outcome(found)
            if outcome is not None:
                out.append(outcome)
        return out

    def _outcome(self, read: Read) -> Outcome | None:
        record = read.record
        if record.body is None or record.body is SKIPPED:
            return None
        if self._job is not None and record.key != self._job:
            return None
        return Outcome.of(read)

    def __iter__(self) -> Iterator[Outcome]:
        while True:
            yield from self.poll()

    async def __aiter__(self) -> AsyncIterator[Outcome]:
        """The same for asyncio; the waiting happens in a thread."""
        import asyncio

        while True:
            for outcome in await asyncio.to_thread(self.poll):
                yield outcome

    def close(self) -> None:
        """Leaves the broker."""
        self._follower.close()
