"""Which requests of one ingress topic count for one key: a function of that topic's own records.

Nothing here looks at decisions or ticks to admit a request, so admission commutes with every
verdict, and every reader that has read the ingress topic this far agrees on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from events.identity import valid_until_ms
from events.records import RECORDS, Body, from_plain, to_plain

WHOLE = 64
"""Requests of one key and topic that are kept whole at one time; further ones only by id."""
WHOLE_BYTES = 256 * 1024
"""The same bound in bytes: 64 requests may be 64 KiB each, and a row is kept in one message."""
KNOWN = 1024
"""Requests known by id at one time; what comes beyond has no verdict, and its author can see so."""
VALID_MS = 600_000
"""How far ahead a request may say it is valid: it bounds how long an id has to be remembered."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request that counts. It is forgotten once it is both passed and answered."""

    id: str
    body: Body | None  # None: too many at once, or too late, or answered
    size: int = 0  # bytes it had when it was kept whole; counts against WHOLE_BYTES until it passes
    passed: bool = False  # the topic's own time is past its validity
    answered: bool = False


@dataclass(frozen=True, slots=True)
class Ingress:
    """What is known of one ingress topic about one key."""

    high_ms: int = 0  # the topic's own time: the greatest append time about this key
    asks: tuple[Ask, ...] = ()


def admit(was: Ingress, request_id: str, body: Body, size: int, at_ms: int) -> tuple[Ingress, bool]:
    """The topic's next state, and whether the request counts (now, or by an earlier copy)."""
    high_ms = max(was.high_ms, at_ms)
    asks = _pass(was.asks, high_ms)
    if any(ask.id == request_id for ask in asks):
        return Ingress(high_ms, asks), True
    live = [ask for ask in asks if not ask.passed]
    until_ms = valid_until_ms(request_id)
    if not high_ms <= until_ms <= high_ms + VALID_MS or len(live) >= KNOWN:
        return Ingress(high_ms, asks), False  # void: the producer's acknowledgement shows the times
    # Answered ones count as well, until they pass: counting only the waiting ones would make the
    # bound depend on how far the journal is read, and readers would differ.
    fits = len(live) < WHOLE and sum(ask.size for ask in live) + size <= WHOLE_BYTES
    ask = Ask(request_id, body, size) if fits else Ask(request_id, None)
    return Ingress(high_ms, (*asks, ask)), True


def answer(was: Ingress, request_id: str) -> Ingress:
    """A verdict on the request stands. Its id stays known until its validity has passed."""
    if not any(ask.id == request_id and not ask.answered for ask in was.asks):
        return was
    asks = (
        replace(ask, answered=True, body=None) if ask.id == request_id else ask for ask in was.asks
    )
    return Ingress(was.high_ms, _tidy(asks))


def _pass(asks: tuple[Ask, ...], high_ms: int) -> tuple[Ask, ...]:
    if all(ask.passed or valid_until_ms(ask.id) >= high_ms for ask in asks):
        return asks
    return _tidy(
        ask
        if ask.passed or valid_until_ms(ask.id) >= high_ms
        else replace(ask, passed=True, body=None)
        for ask in asks
    )


def _tidy(asks: Any) -> tuple[Ask, ...]:
    return tuple(ask for ask in asks if not (ask.passed and ask.answered))


def dump_ingress(ingress: Ingress) -> object:
    """Plain JSON of what is known of the topic; `load_ingress` is its inverse."""
    return [ingress.high_ms, [_dump_ask(ask) for ask in ingress.asks]]


def load_ingress(plain: Any) -> Ingress:
    """What `dump_ingress` wrote."""
    high_ms, asks = plain
    return Ingress(high_ms, tuple(_load_ask(ask) for ask in asks))


def _dump_ask(ask: Ask) -> list[object]:
    body = None if ask.body is None else [type(ask.body).__name__, to_plain(ask.body)]
    return [ask.id, body, ask.size, ask.passed, ask.answered]


def _load_ask(plain: Any) -> Ask:
    name, body, size, passed, answered = plain
    return Ask(name, None if body is None else _load_body(*body), size, passed, answered)


def _load_body(kind: str, plain: Mapping[str, Any]) -> Body:
    return from_plain(RECORDS[kind], plain)
