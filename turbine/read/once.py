"""A log for as long as one question is asked: no place of it is read twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from components.runtime.kafka.intake import Message
from events.topics import JOURNAL, TIERS
from projections.jobs import INGRESS_TOPICS
from turbine.read.sources.log import Log

KEPT = frozenset({JOURNAL, TIERS, *INGRESS_TOPICS})
"""Topics whose messages are kept: what is decided, and what is asked. Load reports are a hundred
times as many, and one walk reads them once."""


class ReadOnceLog(Log):
    """Keeps what it reads of decisions and requests, and tells it again to the next walk."""

    def __init__(self, log: Log, end: Mapping[str, int] | None = None) -> None:
        # Not the log's own beginning: its topics are known, and no broker is asked for them again.
        self.source, self.counts = log.source, log.counts
        self._end, self._key = end, b""
        self._kept = dict[str, list[Message]]()

    def messages(
        self,
        topics: Iterable[str],
        *,
        start: Mapping[str, int] | None = None,
        end: Mapping[str, int] | None = None,
        key: str | None = None,
    ) -> Iterator[Message]:
        """As the log's; of what is kept no further than where this question ends."""
        wanted = set(topics)
        for at in self.places(wanted & KEPT, key=key):
            first, last = (start or {}).get(at, 0), None if end is None else end.get(at, 0)
            if last is None or first < last:
                for one in self.whole(at):
                    if first <= one.offset and (last is None or one.offset < last):
                        yield one
        yield from super().messages(wanted - KEPT, start=start, end=end, key=key)

    def whole(self, place: str) -> list[Message]:
        """All of a place, or all about the key that the question has come to."""
        if place not in self._kept:
            span = {place: (0, None if self._end is None else self._end.get(place, 0))}
            polls = self.source.spans(span)
            self._kept[place] = [one for poll in polls for one in poll if self._about(one)]
        return self._kept[place]

    def forget(self, place: str) -> None:
        """Of this place nothing more is asked."""
        del self._kept[place]

    def narrow(self, key: str) -> None:
        """All that is asked from now on is about this key."""
        self._key = key.encode()
        self._kept = {
            at: [one for one in kept if self._about(one)] for at, kept in self._kept.items()
        }

    def _about(self, message: Message) -> bool:
        return self._key in (b"", message.key)
