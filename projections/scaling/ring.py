"""The newest minutes of a job, packed: who remembers each look makes it again of them. Pure.

Single precision is enough for rates that are measured; instants are kept whole. What single tasks
said is not kept: it is known of the newest minute alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan, nan
from struct import Struct
from typing import Annotated

from projections.scaling.seen import Minute

MINUTES = 120
"""That are kept: the longest window of any policy but those that count in hours, and a row of every
job is written each minute."""

_NUMBERS = ("arrived", "rate", "lag", "lag_s", "busy", "busy_most", "memory_mb", "bytes_per_record")
_ONE = Struct("<qIHHBff8f")
Ring = Annotated[bytes, _ONE.size]
"""Minute after minute; each takes so many bytes."""
_MOST = 3e38


def kept(ring: Ring, minute: Minute) -> Ring:
    """With one minute more; the oldest goes."""
    packed = _ONE.pack(
        minute.at_ms,
        minute.tasks,
        min(minute.threads, 0xFFFF),
        min(minute.stuck, 0xFFFF),
        minute.oom,
        min(minute.down_s, _MOST),
        minute.heard,
        *(_single(getattr(minute, name)) for name in _NUMBERS),
    )
    return ring[-(MINUTES - 1) * _ONE.size :] + packed


def minutes(ring: Ring) -> Iterator[Minute]:
    """The minutes of the ring, the oldest first."""
    for at_ms, tasks, threads, stuck, oom, down_s, heard, *numbers in _ONE.iter_unpack(ring):
        named = dict(zip(_NUMBERS, map(_known, numbers), strict=True))
        yield Minute(
            at_ms,
            tasks,
            named["arrived"],
            named["rate"] or 0.0,
            named["lag"],
            named["lag_s"],
            named["busy"],
            named["busy_most"],
            named["memory_mb"],
            bool(oom),
            down_s,
            heard,
            named["bytes_per_record"],
            stuck,
            threads=threads,
        )


def _single(value: float | None) -> float:
    return nan if value is None else min(value, _MOST)


def _known(value: float) -> float | None:
    return None if isnan(value) else value
