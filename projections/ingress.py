"""Which requests of one ingress topic count for one key: a function of that topic's own records.

Nothing here looks at decisions or ticks to admit a request, so admission commutes with every
verdict, and every reader that has read the ingress topic this far agrees on it.
"""

from __future__ import annotations

import base64
from bisect import bisect_left
from typing import Any, NamedTuple

from events.codec import decode, encode
from events.identity import valid_until_ms
from events.records import Body

WHOLE = 64
"""Requests of one key and topic that are kept whole at one time; further ones only by id."""
WHOLE_BYTES = 256 * 1024
"""The same bound in bytes: 64 requests may be 64 KiB each, and a row is kept in one message."""
KNOWN = 1024
"""Requests known by id at one time; what comes beyond has no verdict, and its author can see so."""
VALID_MS = 600_000
"""How far ahead a request may say it is valid: it bounds how long an id has to be remembered."""


class Ask(NamedTuple):
    """One request that counts and has no verdict yet."""

    id: str
    body: Body | None  # None: too many at once, or its validity passed
    passed: bool = False  # the topic's own time is past its validity


class Live(NamedTuple):
    """One id that has not passed, answered or not, as it is kept in order."""

    until_ms: int
    id: str
    size: int  # the bytes it counts with


class Ingress(NamedTuple):
    """What is known of one ingress topic about one key.

    A request is forgotten once it is both passed and answered. Until it passes its id is in
    `live`, so that a copy is known for what it is; until it is answered it is in `waiting`.

    A tuple, as its parts are: one is made for each request and each verdict that is read, and a
    frozen dataclass takes three times as long to make.
    """

    high_ms: int = 0  # the topic's own time: the greatest append time about this key
    live: tuple[Live, ...] = ()  # sorted, so that those that pass are the first ones
    live_bytes: int = 0
    waiting: tuple[Ask, ...] = ()  # in the order in which they came


def admit(was: Ingress, request_id: str, body: Body, size: int, at_ms: int) -> tuple[Ingress, bool]:
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
    # Answered ones count as well, until they pass: counting only the waiting ones would make the
    # bound depend on how far the journal is read, and readers would differ.
    whole = len(live) < WHOLE and live_bytes + size <= WHOLE_BYTES
    one = Live(until_ms, request_id, size if whole else 0)
    ask = Ask(request_id, body if whole else None)
    known = (*live[:at], one, *live[at:])
    return Ingress(high_ms, known, live_bytes + one.size, (*waiting, ask)), True


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
        {one.id: one.size for one in ingress.live},
        [[ask.id, _dump_body(ask.body), ask.passed] for ask in ingress.waiting],
    ]


def load_ingress(plain: Any) -> Ingress:
    """What `dump_ingress` wrote."""
    high_ms, live, waiting = plain
    return Ingress(
        high_ms,
        tuple(sorted(Live(valid_until_ms(name), name, size) for name, size in live.items())),
        sum(live.values()),
        tuple(Ask(name, _load_body(body), passed) for name, body, passed in waiting),
    )


def _dump_body(body: Body | None) -> str | None:
    # As bytes: escapes in texts of texts could make a row larger than one message.
    return None if body is None else base64.b64encode(encode(body)).decode()


def _load_body(text: str | None) -> Body | None:
    return None if text is None else decode(base64.b64decode(text))
