"""Which requests of one ingress topic count for one key: a function of that topic's own records.

Nothing here looks at decisions or ticks to admit a request, so admission commutes with every
verdict, and every reader that has read the ingress topic this far agrees on it.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from immutables import Map

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
NEVER_MS = 1 << 62


@dataclass(frozen=True, slots=True)
class Ask:
    """One request that counts and has no verdict yet."""

    id: str
    body: Body | None  # None: too many at once, or its validity passed
    passed: bool = False  # the topic's own time is past its validity


@dataclass(frozen=True, slots=True)
class Ingress:
    """What is known of one ingress topic about one key.

    A request is forgotten once it is both passed and answered. Until it passes its id is in
    `live`, so that a copy is known for what it is; until it is answered it is in `waiting`.
    """

    high_ms: int = 0  # the topic's own time: the greatest append time about this key
    live: Map[str, int] = Map()  # id to the bytes it counts with; not passed, answered or not
    live_bytes: int = 0
    soonest_ms: int = NEVER_MS  # when the next of them passes
    waiting: tuple[Ask, ...] = ()  # in the order in which they came


def admit(was: Ingress, request_id: str, body: Body, size: int, at_ms: int) -> tuple[Ingress, bool]:
    """The topic's next state, and whether the request counts (now, or by an earlier copy)."""
    now = _move(was, at_ms)
    if request_id in now.live or any(ask.id == request_id for ask in now.waiting):
        return now, True
    until_ms = valid_until_ms(request_id)
    if not now.high_ms <= until_ms <= now.high_ms + VALID_MS or len(now.live) >= KNOWN:
        return now, False  # void: the producer's acknowledgement shows the same times
    # Answered ones count as well, until they pass: counting only the waiting ones would make the
    # bound depend on how far the journal is read, and readers would differ.
    whole = len(now.live) < WHOLE and now.live_bytes + size <= WHOLE_BYTES
    counted = size if whole else 0
    ask = Ask(request_id, body if whole else None)
    return (
        Ingress(
            now.high_ms,
            now.live.set(request_id, counted),
            now.live_bytes + counted,
            min(now.soonest_ms, until_ms),
            (*now.waiting, ask),
        ),
        True,
    )


def answer(was: Ingress, request_id: str) -> Ingress:
    """A verdict on the request stands. Its id stays known until its validity has passed."""
    waiting = tuple([ask for ask in was.waiting if ask.id != request_id])
    if len(waiting) == len(was.waiting):
        return was
    return Ingress(was.high_ms, was.live, was.live_bytes, was.soonest_ms, waiting)


def _move(was: Ingress, at_ms: int) -> Ingress:
    """The topic's own time moves; what has passed is no longer live."""
    high_ms = max(was.high_ms, at_ms)
    if was.soonest_ms >= high_ms:
        return Ingress(high_ms, was.live, was.live_bytes, was.soonest_ms, was.waiting)
    live, kept, soonest_ms = was.live.mutate(), 0, NEVER_MS
    for name, size in was.live.items():
        until_ms = valid_until_ms(name)
        if until_ms < high_ms:
            del live[name]
        else:
            kept, soonest_ms = kept + size, min(soonest_ms, until_ms)
    waiting = tuple(
        Ask(ask.id, None, passed=True) if valid_until_ms(ask.id) < high_ms else ask
        for ask in was.waiting
    )
    return Ingress(high_ms, live.finish(), kept, soonest_ms, waiting)


def dump_ingress(ingress: Ingress) -> object:
    """Plain JSON of what is known of the topic; `load_ingress` is its inverse."""
    return [
        ingress.high_ms,
        dict(ingress.live),
        [[ask.id, _dump_body(ask.body), ask.passed] for ask in ingress.waiting],
    ]


def load_ingress(plain: Any) -> Ingress:
    """What `dump_ingress` wrote."""
    high_ms, live, waiting = plain
    return Ingress(
        high_ms,
        Map(live),
        sum(live.values()),
        min((valid_until_ms(name) for name in live), default=NEVER_MS),
        tuple(Ask(name, _load_body(body), passed) for name, body, passed in waiting),
    )


def _dump_body(body: Body | None) -> str | None:
    # As bytes: escapes in texts of texts could make a row larger than one message.
    return None if body is None else base64.b64encode(encode(body)).decode()


def _load_body(text: str | None) -> Body | None:
    return None if text is None else decode(base64.b64decode(text))
