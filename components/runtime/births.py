"""When records were born: whether an author could have known what it says it knew.

A fold must not depend on when it is run, so a reader compares evidence with the log as it was
when the record was appended, by the broker's own times, and not with its end today.
"""

from __future__ import annotations

from confluent_kafka import Consumer, KafkaException, TopicPartition

from components.runtime.clients import consumer, spot
from components.runtime.settings import Settings


class Births:
    """Answers `Possible` from the broker, and remembers what covers the next questions."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: Consumer | None = None
        self._known: dict[str, tuple[int, int]] = {}  # place: by that time, all below that offset

    def possible(self, place: str, offset: int, by_ms: int) -> bool | None:
        """Was all of the place below that offset in the log by then? None: it may come yet."""
        known = self._known.get(place)
        if known is not None and known[0] <= by_ms and offset <= known[1]:
            return True
        try:
            there, later = self._ask(place, by_ms)
        except (KafkaException, ValueError):
            return False  # no such place: nobody can have read it
        if known is None or there > known[1]:
            self._known[place] = (by_ms, there)
        if offset <= there:
            return True
        return False if later else None

    def _ask(self, place: str, by_ms: int) -> tuple[int, bool]:
        """How far the place reached by then, and whether it goes on beyond."""
        if self._client is None:
            self._client = consumer(self._settings)
        found: TopicPartition = self._client.offsets_for_times(
            [spot(place, by_ms + 1)], timeout=15
        )[0]
        if found.error is not None:
            raise KafkaException(found.error)
        if found.offset >= 0:
            return found.offset, True
        return self._client.get_watermark_offsets(spot(place), timeout=15)[1], False

    def close(self) -> None:
        """Leaves the broker."""
        if self._client is not None:
            self._client.close()
            self._client = None
