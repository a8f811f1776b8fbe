"""Follows what was decided, each once and in each job's order, and alerts: `Subscriber()`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from pathlib import Path

from turbine_client.bookmark import BadBookmark, Bookmark
from turbine_client.clients import partitions_of
from turbine_client.errors import BadRequest, NoTopic
from turbine_client.heard import hear
from turbine_client.messages import Message
from turbine_client.reading import Follower, ends_now, times_now
from turbine_client.settings import Settings, given_settings
from turbine_client.topics import ALERT_KINDS, ALERTS, OUTCOME_KINDS, OUTCOMES, place
from turbine_client.verdicts import Outcome

WORDS = {"outcomes": OUTCOMES, "alerts": ALERTS}
"""How people call the topics for the world."""
KINDS = {OUTCOMES: frozenset(OUTCOME_KINDS), ALERTS: frozenset(ALERT_KINDS)}
"""Which records lie on each."""

__all__ = ["KINDS", "WORDS", "BadTopic", "Outcome", "Subscriber", "check_kinds"]


class BadTopic(BadRequest, ValueError):
    """A topic, or a kind of record on one, that is not there; the sentence says what there is."""


def check_kinds(topic: str, kinds: Iterable[str]) -> frozenset[str]:
    """The kinds of records, if the topic carries all of them; BadTopic names one that it does
    not: whoever waits for a word that is misspelt would wait for ever."""
    found, known = frozenset(kinds), KINDS[topic]
    strange = sorted(found.difference(known))
    if strange:
        raise BadTopic(
            f"{strange[0]!r} is no kind of record on {topic}; there are {', '.join(sorted(known))}"
        )
    return found


class Subscriber:
    """Reads a topic for the world, "outcomes" or "alerts", from a starting point on. Used from one
    thread.

    `start` is "latest", "earliest", a time in milliseconds, or a vector of positions (place to
    next offset) such as `positions` gives. `resume` names a file that goes before it once it is
    there: call `keep` when what was read is dealt with, and the next one goes on from there.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        topic: str = OUTCOMES,
        start: str | int | Mapping[str, int] = "latest",
        kinds: Iterable[str] | None = None,
        job: str | None = None,
        resume: Path | None = None,
        bootstrap: str | None = None,
    ) -> None:
        self._settings = given_settings(settings, bootstrap)
        topic = WORDS.get(topic, topic)
        if topic not in WORDS.values():
            raise BadTopic(f"topic is {' or '.join(WORDS)}, not {topic!r}")
        self._kinds = KINDS[topic] if kinds is None else check_kinds(topic, kinds)
        self._topic, self._job = topic, job
        self._bookmark = None if resume is None else Bookmark(resume)
        self._count = partitions_of(self._settings).get(topic, 0)
        if not self._count:
            raise NoTopic(
                f"the broker has no topic {self._settings.topic(topic)};"
                " create it with `turbine topics apply`"
            )
        places = [place(topic, p) for p in range(self._count)]
        kept = None if self._bookmark is None else self._bookmark.read()
        if kept is not None and set(kept) != set(places):
            raise BadBookmark(
                f"{resume} holds positions of something else than {topic}; name another"
            )
        self._read = self._start(places, start if kept is None else kept)
        self.positions = dict(self._read)  # behind all that was handed out, and no more
        self._follower = Follower(
            self._settings, self._read, **{"isolation.level": "read_committed"}
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

    def keep(self) -> None:
        """What was handed out so far is dealt with: the next one that resumes begins behind it."""
        if self._bookmark is None:
            raise ValueError("there is no file to keep it in; name one as resume")
        self._bookmark.keep(self.positions)

    def poll(self, timeout_s: float = 1.0) -> list[Outcome]:
        """What has come within the timeout; an empty list where nothing did."""
        out = self._take(timeout_s)
        self.positions = dict(self._read)
        return out

    def _take(self, timeout_s: float) -> list[Outcome]:
        out = []
        for message in self._follower.poll(timeout_s):
            self._read[message.place] = message.offset + 1
            outcome = self._outcome(message)
            if outcome is not None:
                out.append(outcome)
        return out

    def _outcome(self, message: Message) -> Outcome | None:
        heard = hear(message, self._count, self._kinds)
        if heard is None or heard.body is None:
            return None  # of another kind, or of one that a newer build made
        about = getattr(heard.body, "job", heard.key)
        if about != heard.key or self._job not in (None, heard.key):
            return None
        return Outcome.of(heard)

    def __iter__(self) -> Iterator[Outcome]:
        while True:
            yield from self._hand_out(self._take(1.0))

    def _hand_out(self, batch: list[Outcome]) -> Iterator[Outcome]:
        """One by one: who keeps the position amid a batch has not dealt with the rest of it."""
        for outcome in batch:
            self.positions[outcome.place] = outcome.offset + 1
            yield outcome
        self.positions = dict(self._read)

    async def __aiter__(self) -> AsyncIterator[Outcome]:
        """The same for asyncio; the waiting happens in a thread."""
        while True:
            for outcome in self._hand_out(await asyncio.to_thread(self._take, 1.0)):
                yield outcome

    def close(self) -> None:
        """Ends the connection to the broker."""
        self._follower.close()

    def __enter__(self) -> Subscriber:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
