"""Times, spans and positions as people write them, and as they are shown to people."""

from __future__ import annotations

import re
import time  # noqa: TID251 - a person's "10m ago" is meant by the clock on the wall
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta, tzinfo

from turbine_client.errors import BadRequest

_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_SPAN = re.compile(r"(?:[0-9]{1,9}(?:ms|s|m|h|d|w))+")
_PART = re.compile(r"([0-9]+)(ms|s|m|h|d|w)")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SPAN_MAX_MS = 10 * 366 * _UNITS_MS["d"]


class BadMoment(BadRequest):
    """A time, a span or a position that cannot be used; the sentence says which, and the remedy."""


Moment = int | dict[str, int]
"""Milliseconds since 1970, or a position vector."""


_now_ms: ContextVar[int | None] = ContextVar("now_ms", default=None)


def now_ms() -> int:
    """By the clock of this machine; where a log's file is read, the time of its last record."""
    found = _now_ms.get()
    return time.time_ns() // 1_000_000 if found is None else found


def set_now(at_ms: int | None) -> None:
    """What "now" and "10m ago" are by in this command line; None: the machine's clock."""
    _now_ms.set(at_ms)


def parse_span(text: str, what: str = "a span") -> int:
    """Milliseconds of a span such as 90s, 2h or 1h30m."""
    if not _SPAN.fullmatch(text):
        raise BadMoment(f"{what}: {text!r} is no span of time; write one such as 90s, 10m or 1h30m")
    total = sum(int(number) * _UNITS_MS[unit] for number, unit in _PART.findall(text))
    if not 0 < total <= SPAN_MAX_MS:
        raise BadMoment(f"{what}: {text} is not between 1 ms and 10 years; write less")
    return total


def parse_moment(text: str, now: int, what: str) -> Moment:
    """A time in milliseconds, or a position vector; `what` names the option in the sentence."""
    from turbine_client.positions import VectorError, parse_vector

    plain = text.strip()
    if plain == "now":
        return now
    span = plain.removesuffix("ago").strip()
    if _SPAN.fullmatch(span):
        return max(0, now - parse_span(span, what))
    if _TIME.fullmatch(plain):
        return _parse_time(plain, what)
    if "/" in plain:
        try:
            return parse_vector(plain)
        except VectorError as bad:
            raise BadMoment(f"{what}: {bad}") from None
    raise BadMoment(
        f"{what}: {text!r} is neither a time nor a position; write one such as"
        " 2026-01-31T09:00:00Z, '10m ago' or journal.v1/3:40",
    )


def _parse_time(text: str, what: str) -> int:
    try:
        found = datetime.fromisoformat(text.upper().replace(" ", "T"))
    except ValueError as bad:
        raise BadMoment(f"{what}: {text} is no time: {bad}; correct it") from None
    return max(0, (found - _EPOCH) // timedelta(milliseconds=1))


_zone: ContextVar[tzinfo | None] = ContextVar("zone", default=UTC)


@contextmanager
def shown_in(zone: tzinfo | None) -> Iterator[None]:
    """Has times told in this zone meanwhile; None is that of this machine."""
    token = _zone.set(zone)
    try:
        yield
    finally:
        _zone.reset(token)


def show_time(at_ms: int | None) -> str:
    """RFC 3339 to the millisecond, in UTC where no other zone is asked for; "-" for none."""
    if at_ms is None or at_ms <= 0:
        return "-"
    try:
        when = (_EPOCH + timedelta(milliseconds=at_ms)).astimezone(_zone.get())
    except (
        OverflowError,
        ValueError,
    ):  # whatever somebody wrote into a record; it is shown as it is
        return str(at_ms)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def given_moment(text: str | None, what: str = "--at") -> Moment | None:
    """What an option says, by the clock of this machine; asked before anything is read."""
    return None if text is None else parse_moment(text, now_ms(), what)
