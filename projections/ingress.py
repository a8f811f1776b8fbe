"""Which requests of one ingress topic count for one key: a function of that topic's own records.

Nothing here looks at decisions or ticks to admit a request, so admission commutes with every
verdict, and every reader that has read the ingress topic this far agrees on it.
"""

from __future__ import annotations

import base64
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, NamedTuple

from events.generated.records import Body
from events.wire.codec import decode, encode
from turbine_client.identity import KNOWN, VALID_MS, valid_until_ms

__all__ = [
    "CROWDED",
    "FIRST_ROOM",
    "KNOWN",
    "NO_ROOM",
    "VALID_MS",
    "WAITING",
    "WHOLE_BYTES",
    "Ask",
    "Ingress",
    "IngressRoom",
    "LiveRequest",
    "admit",
    "answer",
    "dump_ingress",
    "in_turn",
    "load_ingress",
]

WAITING = 64
"""Requests of one key and topic that may wait at one time; who decides refuses further ones. They
are kept whole all the same: how many wait hangs on how far the journal is read, and readers who
forgot one for it would differ."""
WHOLE_BYTES = 512 * 1024
"""Of requests that are kept whole, in bytes; of those that came earlier only the id. A row is kept
in one message, and has five doors."""


CROWDED = "too many requests about this job are waiting; ask again later"
NO_ROOM = (
    f"of the requests about this job the last {WHOLE_BYTES // 1024} KiB are kept, and more came"
    " behind this one before it was answered; ask again later"
)


class Ask(NamedTuple):
    """One request that counts and has no verdict yet."""

    id: str
    body: Body | None  # None: those that came later took its room, or its validity passed
    passed: bool = False  # the topic's own time is past its validity


class LiveRequest(NamedTuple):
    """One id that has not passed, answered or not, as it is kept in order."""

    until_ms: int
    id: str
    size: int  # the bytes it counts with
    came_ms: int = 0  # the topic's own time then


class Ingress(NamedTuple):
    """What is known of one ingress topic about one key.

    A request is forgotten once it is both passed and answered. Until it passes its id is in
    `live`, so that a copy is known for what it is; until it is answered it is in `waiting`.

    A tuple, as its parts are: one is made for each request and each verdict that is read, and a
    frozen dataclass takes three times as long to make.
    """

    high_ms: int = 0  # the topic's own time: the greatest append time about this key
    live: tuple[LiveRequest, ...] = ()  # sorted, so that those that pass are the first ones
    live_bytes: int = 0
    waiting: tuple[Ask, ...] = ()  # in the order in which they came


class IngressRoom(NamedTuple):
    """How much of what lives is kept whole."""

    requests: int
    size: int  # in bytes


FIRST_ROOM = IngressRoom(64, 256 * 1024)
"""As it was first: answered ones counted to the 64, and a 65th was refused while none waited."""


def admit(
    was: Ingress,
    request_id: str,
    body: Body,
    size: int,
    at_ms: int,
    *,
    room: IngressRoom | None = None,
) -> tuple[Ingress, bool]:
    """The topic's next state, and whether the request counts (now, or by an earlier copy)."""
    until_ms = valid_until_ms(request_id)
    now = _move(was, at_ms)
    high_ms, live, live_bytes, waiting = now
    if not high_ms <= until_ms:  # void, but for a copy of one that came in time and still waits
        return now, any(ask.id == request_id for ask in waiting)
    at = bisect_left(live, (until_ms, request_id))
    if at < len(live) and live[at].id == request_id:
        return now, True
    if until_ms > high_ms + VALID_MS or len(live) >= KNOWN:
        return now, False  # void: the producer's acknowledgement shows the same times
    if room is not None:
        whole = len(live) < room.requests and live_bytes + size <= room.size
    else:
        whole = size <= WHOLE_BYTES
    if whole and live_bytes + size > WHOLE_BYTES:
        live, waiting = _make_room(now, size)
        live_bytes = sum(known.size for known in live)
    one = LiveRequest(until_ms, request_id, size if whole else 0, high_ms)
    ask = Ask(request_id, body if whole else None)
    known = (*live[:at], one, *live[at:])
    return Ingress(high_ms, known, live_bytes + one.size, (*waiting, ask)), True


def _make_room(was: Ingress, size: int) -> tuple[tuple[LiveRequest, ...], tuple[Ask, ...]]:
    """Those that came first give theirs up, answered or not: a bound that counted only the waiting
    ones would depend on how far the journal is read, and readers would differ. Who waits for each
    answer is none the worse for it."""
    over, gone = was.live_bytes + size - WHOLE_BYTES, set[str]()
    for one in sorted(was.live, key=lambda one: one.came_ms):
        if over <= 0:
            break
        if one.size:
            over -= one.size
            gone.add(one.id)
    live = tuple([one._replace(size=0) if one.id in gone else one for one in was.live])
    waiting = tuple([Ask(ask.id, None) if ask.id in gone else ask for ask in was.waiting])
    return live, waiting


def in_turn(was: Ingress) -> Iterator[tuple[Ask, bool]]:
    """Those that wait, as they came, and whether as many as may wait came before it. Those that
    have passed only get their answer: they stand in nobody's way."""
    before = 0
    for ask in was.waiting:
        yield ask, before >= WAITING and not ask.passed
        before += not ask.passed


def answer(was: Ingress, request_id: str) -> Ingress:
    """A verdict on the request stands. Its id stays known until its validity has passed."""
    # Most are answered in the order in which they came, so the first is looked at first.
    for at, ask in enumerate(was.waiting):
        if ask.id == request_id:
            rest = was.waiting[:at] + was.waiting[at + 1 :]
            return Ingress(was.high_ms, was.live, was.live_bytes, rest)
    return was


def _move(was: Ingress, at_ms: int) -> Ingress:
    """The topic's own time moves; what has passed is no longer live."""
    high_ms, live, live_bytes, waiting = was
    if at_ms <= high_ms:
        return was
    if not live or live[0].until_ms >= at_ms:
        return Ingress(at_ms, live, live_bytes, waiting)
    end = bisect_left(live, (at_ms,))
    passed = {one.id: one.size for one in live[:end]}
    if waiting:
        waiting = tuple(
            [Ask(ask.id, None, passed=True) if ask.id in passed else ask for ask in waiting]
        )
    return Ingress(at_ms, live[end:], live_bytes - sum(passed.values()), waiting)


def dump_ingress(ingress: Ingress) -> object:
    """Plain JSON of what is known of the topic; `load_ingress` is its inverse."""
    return [
        ingress.high_ms,
        {one.id: [one.size, one.came_ms] for one in ingress.live},
        [[ask.id, _dump_body(ask.body), ask.passed] for ask in ingress.waiting],
    ]


def load_ingress(plain: Any) -> Ingress:
    """The ingress that `dump_ingress` made plain."""
    high_ms, live, waiting = plain
    return Ingress(
        high_ms,
        tuple(
            sorted(LiveRequest(valid_until_ms(name), name, *told) for name, told in live.items())
        ),
        sum(size for size, _ in live.values()),
        tuple(Ask(name, _load_body(body), passed) for name, body, passed in waiting),
    )


def _dump_body(body: Body | None) -> str | None:
    # As bytes: escapes in texts of texts could make a row larger than one message.
    return None if body is None else base64.b64encode(encode(body)).decode()


def _load_body(text: str | None) -> Body | None:
    return None if text is None else decode(base64.b64decode(text))
