"""When records were born: whether an author could have known what it says it knew.

A fold must not depend on when it is run, so a reader compares evidence with the log as it was
when the record was appended, by the broker's own times, and not with its end today.
"""

from __future__ import annotations

import time  # noqa: TID251 - patience with a broker is real time

from confluent_kafka import Consumer, KafkaException, TopicPartition

from events.topics import short_of
from turbine_client.clients import (
    consumer,
    of_strangers,
    place_of,
    refresh,
    spot,
    unreachable,
)
from turbine_client.probing import PROBING, first_since, probe
from turbine_client.settings import Settings

PATIENCE_S = 30.0
"""A broker that restarts is back within it; else whoever asks must not go on without an answer."""
ASK_S = 5.0
PAUSE_S = 0.05


class AppendTimes:
    """Answers `Possible` from the broker, and remembers what covers the next questions.

    A broker that does not answer is no answer. To take it for one would void, for this reader
    alone, a decision that stands for all others.
    """

    def __init__(self, settings: Settings, patience_s: float = PATIENCE_S) -> None:
        self._settings, self._patience_s = settings, patience_s
        self._client: Consumer | None = None
        self._places: set[str] = set()
        self._known: dict[str, tuple[int, int]] = {}  # place: by that time, all below that offset

    def possible(self, place: str, offset: int, by_ms: int) -> bool | None:
        """Was all of the place below that offset in the log by then? None: it may come yet."""
        known = self._known.get(place)
        if known is not None and known[0] <= by_ms and offset <= known[1]:
            return True
        if place not in self._places and not self._exists(place):
            return False  # nobody can have read it
        there, later = self._ask(place, offset, by_ms)
        if known is None or there > known[1]:
            self._known[place] = (by_ms, there)
        if offset <= there:
            return True
        return False if later else None

    def _exists(self, place: str) -> bool:
        """Asks for all topics: of one place alone the client says "unknown" while its leader is."""
        limit = time.monotonic() + self._patience_s
        while True:
            client = self._connected()
            try:
                topics = client.list_topics(timeout=ASK_S).topics
            except KafkaException as error:
                self._pause(error, limit)
                continue
            # All of them are remembered: whoever looks at one decision is asked about dozens.
            self._places.update(
                place_of(name, partition)
                for name, topic in topics.items()
                if name == self._settings.topic(short_of(name))
                for partition in topic.partitions
            )
            return place in self._places

    def _ask(self, place: str, offset: int, by_ms: int) -> tuple[int, bool]:
        """How far the place reached by then, and whether it goes on beyond."""
        limit = time.monotonic() + self._patience_s
        while True:
            client = self._connected()
            try:
                if of_strangers([place]):
                    first, last = client.get_watermark_offsets(
                        spot(self._settings, place), timeout=ASK_S
                    )
                    end = min(offset, last)
                    there = probe(
                        self._settings, client, {place: first_since(first, end, by_ms + 1)}
                    )[place]
                    return there, there < end
                found: TopicPartition = client.offsets_for_times(
                    [spot(self._settings, place, by_ms + 1)], timeout=ASK_S
                )[0]
                if found.error is not None:
                    raise KafkaException(found.error)  # noqa: TRY301 - as the call itself does
                if found.offset >= 0:
                    return found.offset, True
                return client.get_watermark_offsets(spot(self._settings, place), timeout=ASK_S)[
                    1
                ], False
            except KafkaException as error:
                self._pause(error, limit)

    def _pause(self, error: KafkaException, limit: float) -> None:
        if time.monotonic() > limit:
            raise unreachable(self._settings, error.args[0]) from None
        client = self._connected()
        client.poll(PAUSE_S)  # a refused login is raised here
        refresh(client)

    def _connected(self) -> Consumer:
        if self._client is None:
            self._client = consumer(self._settings, **PROBING)
        return self._client

    def close(self) -> None:
        """Ends the connection to the broker."""
        if self._client is not None:
            self._client.close()
            self._client = None
