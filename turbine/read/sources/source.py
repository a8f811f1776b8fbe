"""Where a log is read from: what `Log` asks of a broker, or of a file in its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from components.runtime.core.component import Component
from components.runtime.core.store import Restored
from components.runtime.kafka.clients import partitions_of
from components.runtime.kafka.intake import Message
from components.runtime.kafka.origin import Born, BrokerOrigin, Origin, Spans
from components.runtime.kafka.slices import SLICE_MOST
from components.runtime.tier.rows import Shelf
from events.topics import BY_SHORT, USUAL_PREFIX, full_name
from turbine_client.errors import Unavailable
from turbine_client.settings import Settings
from turbine_client.subscribe import BadTopic

R = TypeVar("R")


class Source(Origin, Protocol):
    """A log that can be read, wherever it lies; each call reads for itself."""

    @property
    def name(self) -> str:
        """What a sentence calls it."""

    @property
    def settings(self) -> Settings:
        """Of the installation that lives at the other end; BadSettings where none does."""

    @property
    def at_hand(self) -> bool:
        """Does it know by itself when what came, so that a birth is not a question to a broker?"""

    def check(self, at_ms: int, what: str) -> None:
        """BadSettings where it tells nothing of that instant, which `what` named."""

    def counts(self) -> dict[str, int]:
        """Short name to number of partitions, of each of our topics that it has."""

    def kept(
        self, view: Component[R], places: Iterable[str], end: Mapping[str, int] | None
    ) -> Restored[R]:
        """What a fold of these places may start from that has not read beyond `end`; nothing where
        nothing is kept."""


class BrokerSource(BrokerOrigin):
    """The log of the installation that the settings name."""

    name = "the broker"
    at_hand = False

    def check(self, at_ms: int, what: str) -> None:
        """Any instant will do: the log is what was there by then."""

    def counts(self) -> dict[str, int]:
        """As the broker's metadata say now."""
        return partitions_of(self.settings)

    def kept(
        self, view: Component[R], places: Iterable[str], end: Mapping[str, int] | None
    ) -> Restored[R]:
        """The newest snapshot that the component keeps of itself, where it has a topic for it."""
        shelf = Shelf(self.settings, view)
        if shelf.topic.short not in self.counts():
            return Restored()
        found, _ = shelf.open(end)
        shelf.check(found, places)
        return found


class UpTo:
    """A log as it was at a position: what was appended later is not there yet."""

    def __init__(self, source: Source, end: Mapping[str, int]) -> None:
        self._source, self._end = source, end
        self.name = source.name
        self.since_ms, self.at_hand = source.since_ms, source.at_hand

    @property
    def settings(self) -> Settings:
        """Of the installation behind it."""
        return self._source.settings

    def lacks(self, component: Component[Any]) -> str:
        """As the log that it is a part of."""
        return self._source.lacks(component)

    def check(self, at_ms: int, what: str) -> None:
        """As the log that it is a part of."""
        self._source.check(at_ms, what)

    def counts(self) -> dict[str, int]:
        """Topics do not come and go with positions."""
        return self._source.counts()

    def starts(self, places: Iterable[str]) -> dict[str, int]:
        """As the log that it is a part of."""
        return self._source.starts(places)

    def lowest(self, places: Iterable[str]) -> dict[str, int]:
        """As the log that it is a part of."""
        return self._source.lowest(places)

    def ends(self, places: Iterable[str]) -> dict[str, int]:
        """The ends of places at that position."""
        return {at: min(end, self._at(at)) for at, end in self._source.ends(places).items()}

    def times(self, places: Iterable[str], at_ms: int) -> dict[str, int]:
        """No further than the position."""
        found = self._source.times(places, at_ms)
        return {at: min(offset, self._at(at)) for at, offset in found.items()}

    def spans(self, spans: Spans, *, committed: bool = False) -> Iterator[list[Message]]:
        """No further than the position."""
        cut = {
            at: (first, self._at(at) if end is None else min(end, self._at(at)))
            for at, (first, end) in spans.items()
        }
        return self._source.spans(cut, committed=committed)

    def slices(
        self, spans: Mapping[str, tuple[int, int]], most: int = SLICE_MOST
    ) -> Iterator[list[Message]]:
        """No further than the position."""
        cut = {at: (first, min(end, self._at(at))) for at, (first, end) in spans.items()}
        return self._source.slices(cut, most)

    def append_times(self) -> Born:
        """What its authors knew does not depend on who reads how far."""
        return self._source.append_times()

    def kept(
        self, view: Component[R], places: Iterable[str], end: Mapping[str, int] | None
    ) -> Restored[R]:
        """What had not read beyond the position."""
        named = set(places)
        bound = {at: self._at(at) for at in named}
        if end is not None:
            bound = {at: min(offset, end.get(at, 0)) for at, offset in bound.items()}
        return self._source.kept(view, named, bound)

    def _at(self, place: str) -> int:
        return self._end.get(place, 0)


class NoInstallation(Unavailable):
    """A log in a file or in memory, behind which nothing runs that could be asked or followed."""


def topic_of(name: str, prefix: str = USUAL_PREFIX) -> str:
    """A topic's short name, from its short or full name; BadTopic where it is neither."""
    short = name.removeprefix(full_name(prefix, ""))
    for found in (short, f"{short}.v1"):
        if found in BY_SHORT:
            return found
    raise BadTopic(f"there is no topic {name}; it is one of {', '.join(sorted(BY_SHORT))}")
