"""What views are folded from, and how a part of it is read. A log in memory stands in for a broker.

An installation's log and one in a file are read in the same way, by `turbine.read.sources.source`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from components.runtime.core.component import Component
from components.runtime.core.store import Restored
from components.runtime.kafka.intake import Message
from components.runtime.kafka.origin import Spans
from components.runtime.kafka.slices import SLICE_MOST, by_time
from events.topics import (
    CHANGES,
    CLOCK,
    CONTAINERS,
    DEAD_LETTERS,
    GRANTS,
    JOURNAL,
    LOADS,
    OPERATOR,
    TASKS,
    TIERS,
    place,
)
from turbine.read.sources.log import Log
from turbine.read.sources.source import NoInstallation
from turbine_client.settings import Settings

R = TypeVar("R")

REQUESTS = frozenset(CHANGES.values())
"""No row of a view is moved by them; but decisions name them as what they rest on, and who has read
them need not ask the broker when they were there."""
TOPICS = (
    JOURNAL,
    TASKS,
    OPERATOR,
    TIERS,
    CONTAINERS,
    GRANTS,
    LOADS,
    CLOCK,
    DEAD_LETTERS,
    *sorted(REQUESTS),
)
"""All that views are folded from: what others publish once more is said there already."""


def topics_of(log: Log) -> list[str]:
    """Those that this log has: one of an older build may lack some."""
    return [topic for topic in TOPICS if topic in log.counts]


def polls_of(log: Log, start: Mapping[str, int], end: Mapping[str, int]) -> Iterator[list[Message]]:
    """What lies between two positions; nothing is asked of places where nothing does."""
    spans: Spans = {
        at: (first, last) for at, last in end.items() if (first := start.get(at, 0)) < last
    }
    return log.source.spans(spans) if spans else iter(())


class HeldSource:
    """A log that lies in memory."""

    name = "the log in memory"
    since_ms = 0
    at_hand = True

    def __init__(self, messages: Iterable[Message], counts: Mapping[str, int]) -> None:
        self._counts = dict(counts)
        every = [place(topic, p) for topic in counts for p in range(counts[topic])]
        self._held: dict[str, list[Message]] = {at: [] for at in every}
        self._offsets = {at: array("q") for at in every}
        self._times = {at: array("q") for at in every}
        self.add(messages)

    def add(self, messages: Iterable[Message]) -> None:
        """Appends messages to the log."""
        for message in messages:
            at = message.place
            high = self._times[at]
            self._held[at].append(message)
            self._offsets[at].append(message.offset)
            high.append(max(message.at_ms, high[-1] if high else 0))

    @property
    def settings(self) -> Settings:
        """There are none: nobody can be written to."""
        raise NoInstallation("a log in memory belongs to no installation; name a broker")

    def counts(self) -> dict[str, int]:
        """The numbers of partitions it was made with."""
        return dict(self._counts)

    def lacks(self, component: Component[R]) -> str:
        """Nothing of what it was given."""
        del component
        return ""

    def check(self, at_ms: int, what: str) -> None:
        """Takes any instant, as nothing was ever deleted."""

    def lowest(self, places: Iterable[str]) -> dict[str, int]:
        """As it was given them."""
        return self.starts(places)

    def starts(self, places: Iterable[str]) -> dict[str, int]:
        """The first offset of each place."""
        return {at: self._offsets[at][0] if self._offsets[at] else 0 for at in places}

    def ends(self, places: Iterable[str]) -> dict[str, int]:
        """The next offset of each place."""
        return {at: self._offsets[at][-1] + 1 if self._offsets[at] else 0 for at in places}

    def times(self, places: Iterable[str], at_ms: int) -> dict[str, int]:
        """The first offset of each place that was appended at that time or later."""
        return {at: self._by(at, at_ms - 1)[0] for at in places}

    def _by(self, at: str, by_ms: int) -> tuple[int, bool]:
        """How far the place reached by then, and whether it goes on beyond."""
        offsets, count = self._offsets[at], bisect_right(self._times[at], by_ms)
        if count < len(offsets):
            return offsets[count], True
        return (offsets[-1] + 1 if offsets else 0), False

    def spans(self, spans: Spans, *, committed: bool = False) -> Iterator[list[Message]]:
        """Place by place; all that it holds is committed."""
        assert committed in (True, False)
        for at, (first, last) in sorted(spans.items()):
            offsets = self._offsets[at]
            end = len(offsets) if last is None else bisect_left(offsets, last)
            if found := self._held[at][bisect_left(offsets, first) : end]:
                yield found

    def slices(
        self, spans: Mapping[str, tuple[int, int]], most: int = SLICE_MOST
    ) -> Iterator[list[Message]]:
        """All of it at once: it is in memory."""
        del most
        yield by_time(one for poll in self.spans(dict(spans)) for one in poll)

    def append_times(self) -> HeldSource:
        """It knows itself when all was appended."""
        return self

    def possible(self, place: str, offset: int, by_ms: int) -> bool | None:
        """As a broker answers that holds no more than this."""
        if place not in self._offsets:
            return False
        there, later = self._by(place, by_ms)
        if offset <= there:
            return True
        return False if later else None

    def kept(
        self, view: Component[R], places: Iterable[str], end: Mapping[str, int] | None
    ) -> Restored[R]:
        """Nothing: it begins with its first record."""
        assert end is None or view.inputs.issuperset(at.partition("/")[0] for at in places)
        return Restored()

    def close(self) -> None:
        """Does nothing, as nothing is open."""
