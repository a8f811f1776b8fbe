"""Reads places of the log with partitions assigned by hand: up to an end, or on and on.

A consumer group is for those who share work. Whoever must know everything says itself where it
reads, checks that the topics are there, and treats an offset out of range as an error: a jump
would be a silent loss.
"""

from __future__ import annotations

import logging
import time  # noqa: TID251 - a reader that stalls is found by real time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from turbine_client.clients import (
    ABSENT,
    DENIED,
    SIPPING,
    consumer,
    of_strangers,
    place_of,
    refresh,
    spot,
    unreachable,
)
from turbine_client.errors import BrokerUnreachable, Unavailable
from turbine_client.identity import RUNBOOK
from turbine_client.messages import Message, of_confluent
from turbine_client.probing import PROBING, first_since, is_spoilt, probe
from turbine_client.settings import Settings
from turbine_client.spoilt import stand_in

log = logging.getLogger(__name__)

BATCH = 200
"""What is made of a poll should stay in the processor's cache until it is folded."""
SIP = 25
"""The same of what may be a thousand times as large as what was fetched."""
HELD_BYTES = 4 * 1024 * 1024
STALL_S = 60.0
ENDING = {"enable.partition.eof": True}
"""What a client needs that reads to an end: the last offsets may be no records."""
RENEW_S = 10.0
"""A client that hears nothing for so long gives its place to another one."""
PATIENCE_S = 60.0
"""A partition whose leader is being elected has none for a moment, and a new topic too; a machine
that stands still makes it a long one."""
ABSENT_S = 15.0
"""For a topic or partition of which the broker says all the while that it has none."""
ASK_S = 5.0
PAUSE_S = 0.05
# Instants that mean a place's first and next offset, in the broker's protocol (ListOffsets).
_FIRST_MS, _NEXT_MS = -2, -1
# What a client says that has asked and has no answer.
_SILENCE = frozenset({KafkaError._TIMED_OUT, KafkaError._TIMED_OUT_QUEUE})


class LogUnreadable(Unavailable, RuntimeError):
    """The log cannot be read on; the sentence says where and why."""


class Asker:
    """Asks where places begin and end, and gives the client to who reads there afterwards.

    The client is made anew where it does not answer: after a restart of the broker one may wait for
    its coordinator or its leader for ever, while the next one has its answer at once.
    """

    def __init__(self, settings: Settings, **more: object) -> None:
        self._settings, self._more = settings, more
        self.client = consumer(settings, **more)

    def __enter__(self) -> Asker:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def renew(self, why: str) -> None:
        """Another client, which reads nothing yet."""
        log.warning("a client does not get on, and another takes its place: %s", why)
        self.client.close()
        self.client = consumer(self._settings, **self._more)

    def starts(self, places: Iterable[str]) -> dict[str, int]:
        """The first offset of each place that is still there."""
        return self._offsets(dict.fromkeys(places, _FIRST_MS))

    def ends(self, places: Iterable[str]) -> dict[str, int]:
        """The next offset of each place, in one question for all of them."""
        return self._offsets(dict.fromkeys(places, _NEXT_MS))

    def at(self, spans: Mapping[str, tuple[int, int]], at_ms: int) -> dict[str, int]:
        """The first offset of each span that was appended at that time or later; its end where
        there is none. What strangers wrote the broker is not asked for, and the client `PROBING`.
        """
        found = self._offsets({one: at_ms for one in spans if not of_strangers([one])})
        found |= {one: spans[one][1] for one, offset in found.items() if offset < 0}
        theirs = [one for one in spans if one not in found]

        def look(client: Consumer) -> list[TopicPartition]:
            seen = probe(
                self._settings, client, {one: first_since(*spans[one], at_ms) for one in theirs}
            )
            return [spot(self._settings, one, seen[one]) for one in theirs]

        answers = self._answered(look) if theirs else []
        found |= {one: answer.offset for one, answer in zip(theirs, answers, strict=True)}
        return {one: max(first, min(found[one], end)) for one, (first, end) in spans.items()}

    def committed(self, spots: Sequence[TopicPartition]) -> list[TopicPartition]:
        """What the client's group has committed of partitions, in their order; below 0 where
        nothing, or where there is no such partition."""
        return self._answered(lambda client: client.committed(list(spots), timeout=ASK_S), ABSENT)

    def _offsets(self, instants_ms: Mapping[str, int]) -> dict[str, int]:
        asked = [
            spot(self._settings, place, instant_ms) for place, instant_ms in instants_ms.items()
        ]
        if not asked:
            return {}
        found = self._answered(lambda client: client.offsets_for_times(asked, timeout=ASK_S))
        return {at: one.offset for at, one in zip(instants_ms, found, strict=True)}

    def _answered(
        self,
        question: Callable[[Consumer], list[TopicPartition]],
        allowed: Container[int] = frozenset(),
    ) -> list[TopicPartition]:
        """The answer, once there is one; a partition may have one of the allowed errors."""
        since = time.monotonic()
        while True:
            try:
                found = question(self.client)
                errors = [one.error for one in found if one.error is not None]
                open_ones = [error for error in errors if error.code() not in allowed]
                if not open_ones:
                    return found
                raise KafkaException(open_ones[0])  # noqa: TRY301 - as the call itself does
            except KafkaException as error:
                self.client.poll(PAUSE_S)  # a refused login is raised here
                why = error.args[0]
                if time.monotonic() > since + _patience_s(why):
                    raise unreachable(self._settings, why) from None
                if why.code() in _SILENCE:
                    self.renew(why.str())
                else:
                    refresh(self.client)

    def read(self, spans: Mapping[str, tuple[int, int]]) -> Iterator[list[Message]]:
        """Polls of all messages between offsets that are there; the client is `ENDING`, and reads
        nothing before and after it."""
        left = {at: _Left(first, end) for at, (first, end) in spans.items() if first < end}
        most = SIP if of_strangers(left) else BATCH
        _assign(self._settings, self.client, left)
        since = renewed = time.monotonic()
        while left:
            try:
                batch, heard = self._polled(left, most)
            except KafkaException as error:
                raise unreachable(self._settings, error.args[0]) from None
            if batch:
                yield batch
            now = time.monotonic()
            if heard:
                since = renewed = now
            if now - since > STALL_S:
                raise LogUnreadable(
                    f"nothing came in {STALL_S:g} s, still missing {_ends_of(left)}"
                )
            if now - renewed > RENEW_S:
                self.renew(f"nothing came in {RENEW_S:g} s")
                _assign(self._settings, self.client, left)
                renewed = time.monotonic()

    def _polled(self, left: dict[str, _Left], most: int) -> tuple[list[Message], bool]:
        """What came of that which is left, and whether anything came at all."""
        heard = self.client.consume(most, 0.05)
        batch = _take(self.client, [one for one in heard if not is_spoilt(one.error())], left)
        for message in (one for one in heard if is_spoilt(one.error())):
            at = _where(message)
            if at in left and (message.offset() or 0) >= left[at].next:
                batch += self._pass(message, at, left)
        return batch, bool(heard)

    def _pass(self, message: Any, at: str, left: dict[str, _Left]) -> list[Message]:
        """Goes on behind a batch that is left unread; what stands for it."""
        one, end = stand_in(self._settings, message), left[at].end
        left[at].next = one.offset + 1
        self.client.incremental_unassign([spot(self._settings, at)])
        if one.offset + 1 < end:
            self.client.incremental_assign([spot(self._settings, at, one.offset + 1)])
        else:
            del left[at]
        return [one] if one.offset < end else []


def _patience_s(error: KafkaError) -> float:
    if error.code() in DENIED:
        return 0.0  # it will be so the next time, too
    return ABSENT_S if error.code() in ABSENT else PATIENCE_S


def ends_now(settings: Settings, places: Iterable[str]) -> dict[str, int]:
    """The next offset of each place."""
    with Asker(settings) as asker:
        return asker.ends(places)


def starts_now(settings: Settings, places: Iterable[str]) -> dict[str, int]:
    """The first offset of each place that is still there."""
    with Asker(settings) as asker:
        return asker.starts(places)


def times_now(settings: Settings, places: Iterable[str], at_ms: int) -> dict[str, int]:
    """The first offset of each place that was appended at that time or later; the next offset where
    there is none."""
    with Asker(settings, **PROBING) as asker:
        return asker.at(_bounds(asker, dict.fromkeys(places, (0, None))), at_ms)


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
    asked = {place: spot(settings, place) for place in places}
    found = group_offsets(settings, group, list(asked.values()), **more)
    return {at: one.offset for at, one in zip(asked, found, strict=True)}


def group_offsets(
    settings: Settings, group: str, spots: Sequence[TopicPartition], **more: object
) -> list[TopicPartition]:
    """The same of partitions, in their order; below 0 also where there is no such partition."""
    asked: dict[str, object] = {"group.id": group} | more
    try:
        with Asker(settings, **asked) as asker:
            return asker.committed(spots)
    except BrokerUnreachable:
        if asked.pop("isolation.level", None) is None:
            raise
        with Asker(settings, **asked) as asker:
            asker.committed(spots)
    raise BrokerUnreachable(
        f"the broker at {settings.bootstrap} holds back what the group {group} has committed, since"
        " a transaction has no end; find and abort it with Kafka's `kafka-transactions.sh"
        " find-hanging`, of __consumer_offsets"
    )


def read_span(
    settings: Settings, spans: Mapping[str, tuple[int, int | None]], **more: object
) -> Iterator[list[Message]]:
    """Polls of all messages of each place from its first offset to its end (None: the end now)."""
    requests = {at: span for at, span in spans.items() if of_strangers([at])}
    others = {at: span for at, span in spans.items() if at not in requests}
    for part, how in ((requests, SIPPING), (others, {})):
        if part:
            with Asker(settings, **(ENDING | more | how)) as asker:
                yield from asker.read(_bounds(asker, part))


@dataclass(slots=True)
class _Left:
    """What of a place is still to be read."""

    next: int
    end: int


def _bounds(
    asker: Asker, spans: Mapping[str, tuple[int, int | None]]
) -> dict[str, tuple[int, int]]:
    lows, highs = asker.starts(spans), asker.ends(spans)
    return {
        place: (max(first, lows[place]), highs[place] if end is None else min(end, highs[place]))
        for place, (first, end) in spans.items()
    }


def _assign(settings: Settings, client: Consumer, left: Mapping[str, _Left]) -> None:
    client.assign([spot(settings, place, one.next) for place, one in left.items()])


def _ends_of(left: Mapping[str, _Left]) -> dict[str, int]:
    return {place: one.end for place, one in left.items()}


def _take(client: Consumer, heard: list[Any], left: dict[str, _Left]) -> list[Message]:
    """What came of that which is left."""
    batch: list[Message] = []
    for message in heard:
        if message.error() is not None:
            _handle_error(client, message, left)
            continue
        one = of_confluent(message)
        wanted = left.get(one.place)
        # It was read to its end, and more of it had been fetched.
        if wanted is None or one.offset < wanted.next:
            continue
        if one.offset < wanted.end:
            batch.append(one)
            wanted.next = one.offset + 1
        if one.offset >= wanted.end - 1:
            _finish(client, message, left)
    return batch


def _handle_error(client: Consumer, message: Any, left: dict[str, _Left]) -> None:
    """An error that came in the place of a message; the end of a place is one."""
    if _beside(message):
        return
    place, error = _where(message), message.error()
    if error.code() != KafkaError._PARTITION_EOF:
        raise LogUnreadable(f"{place}: {error.str()}")
    if place in left:
        _finish(client, message, left)


def _finish(client: Consumer, message: Any, left: dict[str, _Left]) -> None:
    del left[_where(message)]
    client.incremental_unassign([TopicPartition(message.topic(), message.partition())])


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
        self._settings = settings
        strange = of_strangers(start)
        self._sip = SIP if strange else BATCH
        self._client = consumer(settings, **(more | (SIPPING if strange else {})))
        self._client.assign([spot(settings, at, offset) for at, offset in sorted(start.items())])
        self._passed: dict[str, int] = {}  # below these positions batches were left unread

    def poll(self, timeout_s: float, most: int = BATCH) -> list[Message]:
        """What has come; waits for the first message up to the timeout, and for no more."""
        heard: list[Any] = self._client.consume(1, timeout_s)
        out: list[Message] = []
        held = 0
        while heard:
            taken = [one for message in heard for one in self._of(message)]
            out += taken
            held += sum(len(one.value or b"") for one in taken)
            room = min(self._sip, most - len(out))
            heard = self._client.consume(room, 0) if room > 0 and held < HELD_BYTES else []
        return out

    def _of(self, message: Any) -> list[Message]:
        error = message.error()
        if error is None:
            return [of_confluent(message)]
        if is_spoilt(error):
            at = _where(message)
            if message.offset() < self._passed.get(at, 0):
                return []  # it was told more than once
            one = stand_in(self._settings, message)
            self._passed[at] = one.offset + 1
            self._client.incremental_unassign([spot(self._settings, at)])
            self._client.incremental_assign([spot(self._settings, at, one.offset + 1)])
            return [one]
        if not _beside(message) and (error.fatal() or error.code() in _FINAL):
            remedy = f"; see {RUNBOOK}" if error.code() == KafkaError._AUTO_OFFSET_RESET else ""
            raise LogUnreadable(f"{_where(message)}: {error.str()}{remedy}")
        return []

    def close(self) -> None:
        """Ends the connection to the broker."""
        self._client.close()
