"""Reads places of the log with partitions assigned by hand: up to an end, or on and on.

A consumer group is for those who share work. Whoever must know everything says itself where it
reads, checks that the topics are there, and treats an offset out of range as an error: a jump
would be a silent loss.
"""

from __future__ import annotations

import time  # noqa: TID251 - a reader that stalls is found by real time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from components.runtime.clients import (
    ABSENT,
    DENIED,
    consumer,
    place_of,
    refresh,
    spot,
    unreachable,
)
from components.runtime.intake import Message, of_confluent
from components.runtime.settings import Settings

BATCH = 200
"""What is made of a poll should stay in the processor's cache until it is folded."""
STALL_S = 60.0
PATIENCE_S = 60.0
"""A partition whose leader is being elected has none for a moment, and a new topic too; a machine
that stands still makes it a long one."""
ABSENT_S = 15.0
"""For a topic or partition of which the broker says all the while that it has none."""
ASK_S = 5.0
PAUSE_S = 0.05
# Instants that mean a place's first and next offset, in the broker's protocol (ListOffsets).
_FIRST_MS, _NEXT_MS = -2, -1


class Unreadably(RuntimeError):
    """The log cannot be read on; the sentence says where and why."""


def ends(client: Consumer, places: Iterable[str]) -> dict[str, int]:
    """The next offset of each place, in one question for all of them."""
    return _offsets(client, dict.fromkeys(places, _NEXT_MS))


def starts(client: Consumer, places: Iterable[str]) -> dict[str, int]:
    """The first offset of each place that is still there."""
    return _offsets(client, dict.fromkeys(places, _FIRST_MS))


def offsets_at(client: Consumer, places: Iterable[str], at_ms: int) -> dict[str, int]:
    """The first offset of each place that was appended at that time or later; -1 for none."""
    return _offsets(client, dict.fromkeys(places, at_ms))


def _offsets(client: Consumer, instants_ms: Mapping[str, int]) -> dict[str, int]:
    asked = {place: spot(place, instant_ms) for place, instant_ms in instants_ms.items()}
    since = time.monotonic()
    while asked:
        try:
            found = client.offsets_for_times(list(asked.values()), timeout=5)
            errors = [one.error for one in found if one.error is not None]
            if not errors:
                return {at: one.offset for at, one in zip(asked, found, strict=True)}
            raise KafkaException(errors[0])  # noqa: TRY301 - as the call itself does
        except KafkaException as error:
            if time.monotonic() > since + _patience_s(error.args[0]):
                raise
            if client.assignment():  # a poll would take a message that nobody gets
                time.sleep(PAUSE_S)
            else:
                client.poll(PAUSE_S)  # a refused login is raised here
            refresh(client)
    return {}


def _patience_s(error: KafkaError) -> float:
    if error.code() in DENIED:
        return 0.0  # it will be so the next time, too
    return ABSENT_S if error.code() in ABSENT else PATIENCE_S


def ends_now(settings: Settings, places: Iterable[str]) -> dict[str, int]:
    """The next offset of each place, by a client of its own."""
    client = consumer(settings)
    try:
        return ends(client, places)
    except KafkaException as error:
        raise unreachable(settings, error.args[0]) from None
    finally:
        client.close()


def starts_now(settings: Settings, places: Iterable[str]) -> dict[str, int]:
    """The first offset of each place, by a client of its own."""
    client = consumer(settings)
    try:
        return starts(client, places)
    except KafkaException as error:
        raise unreachable(settings, error.args[0]) from None
    finally:
        client.close()


def times_now(settings: Settings, places: Iterable[str], at_ms: int) -> dict[str, int]:
    """The first offset of each place that was appended at that time or later, by a client of its
    own; the next offset where there is none."""
    client = consumer(settings)
    try:
        # In this order: what is appended in between has an offset of its own in the second answer.
        last = ends(client, places)
        found = _offsets(client, dict.fromkeys(last, at_ms))
    except KafkaException as error:
        raise unreachable(settings, error.args[0]) from None
    else:
        return {place: offset if offset >= 0 else last[place] for place, offset in found.items()}
    finally:
        client.close()


def committed_now(
    settings: Settings, group: str, places: Iterable[str], **more: object
) -> dict[str, int]:
    """What the group has committed of each place; 0 where nothing."""
    found = committed_at(settings, group, places, **more)
    return {at: max(offset, 0) for at, offset in found.items()}


def committed_at(
    settings: Settings, group: str, places: Iterable[str], **more: object
) -> dict[str, int]:
    """The same; below 0 where nothing."""
    asked = {place: spot(place) for place in places}
    found = group_offsets(settings, group, list(asked.values()), **more)
    return {at: one.offset for at, one in zip(asked, found, strict=True)}


def group_offsets(
    settings: Settings, group: str, spots: Sequence[TopicPartition], **more: object
) -> list[TopicPartition]:
    """What the group has committed of partitions, in their order; below 0 where nothing, or where
    there is no such partition.

    Asked anew by a client of its own: one whose first question met a coordinator that was just
    loading was seen to wait for its answer for ever, while the next one had it at once.
    """
    since = time.monotonic()
    while True:
        client = consumer(settings, **({"group.id": group} | more))
        try:
            found = client.committed(list(spots), timeout=ASK_S)
            errors = [one.error for one in found if one.error is not None]
            open_ones = [error for error in errors if error.code() not in ABSENT]
            if not open_ones:
                return found
            raise KafkaException(open_ones[0])  # noqa: TRY301 - as the call itself does
        except KafkaException as error:
            client.poll(0)  # a refused login is raised here
            if time.monotonic() > since + _patience_s(error.args[0]):
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
                if message.error() is not None:
                    _heed(client, message, todo)
                    continue
                one = of_confluent(message)
                place = one.place
                end = todo.get(place)
                if end is None:  # it was read to its end, and more of it had been fetched
                    continue
                if one.offset < end:
                    batch.append(one)
                if one.offset >= end - 1:
                    _finish(client, place, todo)
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
    lows, highs = starts(client, spans), ends(client, spans)
    for place, (first, end) in spans.items():
        low, stop = lows[place], highs[place] if end is None else min(end, highs[place])
        if max(first, low) < stop:
            todo[place] = stop
            spots.append(spot(place, max(first, low)))
    client.assign(spots)
    return todo


def _heed(client: Consumer, message: Any, todo: dict[str, int]) -> None:
    """An error that came in the place of a message; the end of a place is one."""
    if _beside(message):
        return
    place, error = _where(message), message.error()
    if error.code() != KafkaError._PARTITION_EOF:
        raise Unreadably(f"{place}: {error.str()}")
    if place in todo:
        _finish(client, place, todo)


def _finish(client: Consumer, place: str, todo: dict[str, int]) -> None:
    del todo[place]
    client.incremental_unassign([spot(place)])


def _where(message: Any) -> str:
    """The place; a fatal error of the client has none."""
    topic = message.topic()
    return "the log" if topic is None else place_of(topic, message.partition())


def _beside(message: Any) -> bool:
    """The client looks for the coordinator of its group, which an author need not have a right to:
    whoever is assigned by hand has no use for it, and reads on."""
    error = message.error()
    return error is not None and not error.fatal() and message.topic() is None


# What the client reports once and then is silent about, while nothing more comes from the place.
_FINAL = DENIED | {KafkaError._AUTO_OFFSET_RESET, KafkaError.UNKNOWN_TOPIC_OR_PART}


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
            elif _beside(message):
                continue
            elif error.fatal() or error.code() in _FINAL:
                raise Unreadably(f"{_where(message)}: {error.str()}")
        return out

    def close(self) -> None:
        """Leaves the broker."""
        self._client.close()
