"""Reads places of the log with partitions assigned by hand: up to an end, or on and on.

A consumer group is for those who share work. Whoever must know everything says itself where it
reads, checks that the topics are there, and treats an offset out of range as an error: a jump
would be a silent loss.
"""

from __future__ import annotations

import time  # noqa: TID251 - a reader that stalls is found by real time
from collections.abc import Iterator, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from components.runtime.clients import consumer, place_of, spot, unreachable
from components.runtime.intake import Message, of_confluent
from components.runtime.settings import Settings

BATCH = 500
STALL_S = 30.0


class Unreadably(RuntimeError):
    """The log cannot be read on; the sentence says where and why."""


def ends(client: Consumer, places: Mapping[str, object] | list[str]) -> dict[str, int]:
    """The next offset of each place."""
    return {place: client.get_watermark_offsets(spot(place), timeout=15)[1] for place in places}


def ends_now(settings: Settings, places: list[str]) -> dict[str, int]:
    """The next offset of each place, by a client of its own."""
    client = consumer(settings)
    try:
        return ends(client, places)
    except KafkaException as error:
        raise unreachable(settings, error.args[0]) from None
    finally:
        client.close()


def read_span(
    settings: Settings, spans: Mapping[str, tuple[int, int | None]], **more: object
) -> Iterator[list[Message]]:
    """Polls of all messages of each place from its first offset to its end (None: the end now)."""
    client = consumer(settings, **({"enable.partition.eof": True} | more))
    try:
        todo = _assign(client, spans)
        since = time.monotonic()
        while todo:
            batch: list[Message] = []
            for message in client.consume(BATCH, 0.05):
                since = time.monotonic()
                _take(client, message, todo, batch)
            if batch:
                yield batch
                since = time.monotonic()
            if time.monotonic() - since > STALL_S:
                raise Unreadably(f"nothing came in {STALL_S:g} s, still missing {todo}")
    except KafkaException as error:
        raise unreachable(settings, error.args[0]) from None
    finally:
        client.close()


def _assign(client: Consumer, spans: Mapping[str, tuple[int, int | None]]) -> dict[str, int]:
    todo: dict[str, int] = {}
    spots = []
    for place, (first, end) in spans.items():
        low, high = client.get_watermark_offsets(spot(place), timeout=15)
        stop = high if end is None else min(end, high)
        if max(first, low) < stop:
            todo[place] = stop
            spots.append(spot(place, max(first, low)))
    client.assign(spots)
    return todo


def _take(client: Consumer, message: Any, todo: dict[str, int], batch: list[Message]) -> None:
    error = message.error()
    place = place_of(message.topic(), message.partition())
    if error is not None and error.code() != KafkaError._PARTITION_EOF:
        raise Unreadably(f"{place}: {error.str()}")
    if place not in todo:
        return
    if error is None and message.offset() < todo[place]:
        batch.append(of_confluent(message))
    if error is not None or message.offset() >= todo[place] - 1:
        del todo[place]
        client.incremental_unassign([spot(place)])


class Follower:
    """Reads places on and on, from given offsets; poll it from one thread."""

    def __init__(self, settings: Settings, start: Mapping[str, int], **more: object) -> None:
        self._client = consumer(settings, **more)
        self._client.assign([spot(place, offset) for place, offset in sorted(start.items())])

    def poll(self, timeout_s: float, most: int = BATCH) -> list[Message]:
        """What has come; waits for the first message up to the timeout, and for no more."""
        first = self._client.poll(timeout_s)
        if first is None:
            return []
        rest = self._client.consume(most, 0) if most > 1 else []
        out = []
        message: Any
        for message in (first, *rest):
            error = message.error()
            if error is None:
                out.append(of_confluent(message))
            elif error.code() == KafkaError._AUTO_OFFSET_RESET or error.fatal():
                place = place_of(message.topic(), message.partition())
                raise Unreadably(f"{place}: {error.str()}")
        return out

    def seek(self, place: str, offset: int) -> None:
        """Goes on from that offset of the place."""
        self._client.seek(spot(place, offset))

    def ends(self, places: list[str]) -> dict[str, int]:
        """The next offset of each place."""
        return ends(self._client, places)

    def times(self, spots: list[TopicPartition]) -> list[TopicPartition]:
        """For each spot, whose offset is a time, the first offset at that time or later."""
        return list(self._client.offsets_for_times(spots, timeout=15))

    def close(self) -> None:
        """Leaves the broker."""
        self._client.close()
