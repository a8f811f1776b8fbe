"""A log as audits and views read it: an installation's, from its broker, or another's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from components.runtime.core.component import Component
from components.runtime.kafka.append_times import AppendTimes
from components.runtime.kafka.intake import Message
from components.runtime.kafka.slices import SLICE_MOST, read_slices
from turbine_client.reading import ends_now, read_span, starts_now, times_now
from turbine_client.settings import Settings

Spans = Mapping[str, tuple[int, int | None]]
"""By place: the first offset, and the one before which to stop (None: the end now)."""

FEW = 50_000
RECORD_BYTES = 2_048
SIP_BYTES = 32 * 1024


def small_fetches(spans: Spans) -> dict[str, Any]:
    """How who reads few records out of the middle of a log fetches them: what comes beyond them is
    thrown away, and of each of two hundred places that would be megabytes."""
    sizes = [FEW if last is None else last - first for first, last in spans.values()]
    if sum(sizes) >= FEW:
        return {}
    most = max(SIP_BYTES, RECORD_BYTES * max(sizes, default=0))
    return {"fetch.message.max.bytes": most, "queued.max.messages.kbytes": 16 * 1024}


class Born(Protocol):
    """Whether an author could have known what it says it knew."""

    def possible(self, place: str, offset: int, by_ms: int) -> bool | None:
        """Was all of the place below that offset in the log by then? None: it may come yet."""

    def close(self) -> None:
        """Ends what the answers needed, such as a connection."""


class Origin(Protocol):
    """A log that can be read; each call reads for itself and leaves nothing open."""

    def lacks(self, component: Component[Any]) -> str:
        """Which records that the component reads it leaves out; "" where it has them all."""

    @property
    def since_ms(self) -> int:
        """From when on it has all that was said; 0 where that is the log's own beginning."""

    def starts(self, places: Iterable[str]) -> dict[str, int]:
        """The first offset of each place from which on all is there."""

    def lowest(self, places: Iterable[str]) -> dict[str, int]:
        """The first offset of each place at which something may be: a file has some of what lies
        before its beginning."""

    def ends(self, places: Iterable[str]) -> dict[str, int]:
        """The next offset of each place."""

    def times(self, places: Iterable[str], at_ms: int) -> dict[str, int]:
        """The first offset of each place that was appended at that time or later; the next one
        where there is none."""

    def spans(self, spans: Spans, *, committed: bool = False) -> Iterator[list[Message]]:
        """Polls of all messages of each place; without what was never committed, if so asked."""

    def slices(
        self, spans: Mapping[str, tuple[int, int]], most: int = SLICE_MOST
    ) -> Iterator[list[Message]]:
        """The same in the order of their times, each slice later than the one before."""

    def append_times(self) -> Born:
        """What its authors could have known; to be closed."""


class BrokerOrigin:
    """The log of the installation that the settings name."""

    since_ms = 0

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def lacks(self, component: Component[Any]) -> str:
        """It is the log; what has expired is lost to all."""
        del component
        return ""

    def starts(self, places: Iterable[str]) -> dict[str, int]:
        """The first offset of each place that is still there."""
        return starts_now(self.settings, places)

    def lowest(self, places: Iterable[str]) -> dict[str, int]:
        """The same: what lies before is gone."""
        return starts_now(self.settings, places)

    def ends(self, places: Iterable[str]) -> dict[str, int]:
        """The next offset of each place now."""
        return ends_now(self.settings, places)

    def times(self, places: Iterable[str], at_ms: int) -> dict[str, int]:
        """The first offset of each place that was appended at that time or later."""
        return times_now(self.settings, places, at_ms)

    def spans(self, spans: Spans, *, committed: bool = False) -> Iterator[list[Message]]:
        """Polls of all messages of each place."""
        more: dict[str, Any] = {"isolation.level": "read_committed"} if committed else {}
        return read_span(self.settings, spans, **(small_fetches(spans) | more))

    def slices(
        self, spans: Mapping[str, tuple[int, int]], most: int = SLICE_MOST
    ) -> Iterator[list[Message]]:
        """In memory at once there is one slice."""
        return read_slices(self.settings, spans, most)

    def append_times(self) -> AppendTimes:
        """Append times, as the broker knows them."""
        return AppendTimes(self.settings)
