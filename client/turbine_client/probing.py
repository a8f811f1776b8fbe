"""Looks at single offsets of places, to find by halves where a time begins there.

The broker would tell at once. But to look into a batch it inflates all of it on its heap, and where
strangers write, a message of 12 kB may hold gigabytes: one question would end the broker. A client
stops in time. What is appended has the broker's time, so times do not go back within a place. A
batch that is left unread has no time, and is passed over.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from turbine_client.clients import SIPPING, place_of, spot
from turbine_client.settings import Settings

ASK_S = 10.0
PROBING = {
    "enable.partition.eof": True,
    "fetch.error.backoff.ms": 0,
    "fetch.wait.max.ms": 1,
    **SIPPING,
}
"""What a client needs that probes."""
EXPIRED_MS = -1
_EXPIRED = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})


class ProbedOffset(NamedTuple):
    """What lies at an offset or next behind it."""

    offset: int  # of a batch that is left unread: where it begins
    at_ms: int | None  # None: it is left unread


Search = Generator[int, ProbedOffset | None, int]
"""Yields the offsets to look at, is sent what was seen there (None: the end), returns an offset."""


def is_spoilt(error: KafkaError | None) -> bool:
    """Is it about a batch, and not about its place?"""
    return error is not None and error.code() == KafkaError._BAD_COMPRESSION


def first_since(first: int, end: int, at_ms: int) -> Search:
    """The first offset at which something can be read of that time or later; the end for none."""
    low, high, found = first, end, end
    edges = iter((end - 1, first))  # most that is asked for lies beyond
    while low < high:
        middle = next(edges, (low + high) // 2)
        one = yield from _readable(middle, high)
        if one is not None and one.at_ms < at_ms:
            low = one.offset + 1
        else:
            high, found = middle, found if one is None else one.offset
    return found


class _Read(NamedTuple):
    offset: int
    at_ms: int


def _readable(at: int, end: int) -> Generator[int, ProbedOffset | None, _Read | None]:
    """The first one there that can be read; None where there is none before the end."""
    while at < end:
        one = yield at
        if one is None or one.offset >= end:
            return None
        if one.at_ms is not None:
            return _Read(one.offset, one.at_ms)
        at = yield from behind(one.offset, at, end)
    return None


def behind(first: int, inside: int, end: int) -> Search:
    """Where the unread batch ends that begins at `first`: each offset in it gives one answer. Most
    are short, so the steps begin small."""
    step = 1
    while end - inside > 1:
        middle = min(inside + step, (inside + end) // 2)
        one = yield middle
        if one is not None and one == (first, None):
            inside, step = middle, 2 * step
        else:
            end = middle
    return end


def probe(settings: Settings, client: Consumer, searches: Mapping[str, Search]) -> dict[str, int]:
    """What each place's search finds, side by side; the client is `PROBING`, and reads nothing
    before and after it. KafkaException where the broker does not answer."""
    found, asked = dict[str, int](), dict[str, int]()

    def go_on(at: str, seen: ProbedOffset | None) -> list[TopicPartition]:
        try:
            asked[at] = searches[at].send(seen)
        except StopIteration as over:
            found[at] = over.value
            return []
        return [spot(settings, at, asked[at])]

    try:
        # None starts a generator as well.
        client.assign([one for at in searches for one in go_on(at, None)])
        while len(found) < len(searches):
            message: Any = client.poll(ASK_S)
            if message is None:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
            error = message.error()
            if message.topic() is None and not error.fatal():
                continue  # of the group's coordinator, for which there is no use
            at = _where(message)
            if at in found:
                continue
            seen = _seen(message, asked[at])
            client.incremental_unassign([spot(settings, at)])
            if next_one := go_on(at, seen):
                client.incremental_assign(next_one)
    finally:
        client.unassign()
    return found


def _where(message: Any) -> str:
    if message.topic() is None:
        raise KafkaException(message.error())
    return place_of(message.topic(), message.partition())


def _seen(message: Any, asked: int) -> ProbedOffset | None:
    error = message.error()
    if error is None:
        return ProbedOffset(message.offset(), message.timestamp()[1])
    if is_spoilt(error):
        return ProbedOffset(message.offset(), None)
    if error.code() in _EXPIRED:
        return ProbedOffset(
            asked, EXPIRED_MS
        )  # it was deleted meanwhile, so it is older than what is left
    if error.code() == KafkaError._PARTITION_EOF:
        return None
    raise KafkaException(error)
