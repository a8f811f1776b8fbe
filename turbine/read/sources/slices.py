"""The log in the order of its times, in slices that fit into memory.

A broker gives a reader each place in its order, and places in any. A frame that is to serve all
later instants may not have read beyond them, so the log is cut at instants, and each cut is sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from components.runtime.kafka.intake import Message
from turbine.read.sources.held import polls_of
from turbine.read.sources.log import Log

SLICE = 12_000
"""Records in memory at once: with their headers some tens of megabytes."""
_ASKS = 24
"""Questions for one cut: half of the span of time is left after each of them at most."""


def in_time(
    log: Log, start: Mapping[str, int], end: Mapping[str, int], most: int = SLICE
) -> Iterator[list[Message]]:
    """All between two positions, each slice later than the one before."""
    at = {where: start.get(where, 0) for where in end}
    if 0 < _count(at, end) <= most:
        yield sorted_by_time(one for poll in polls_of(log, at, end) for one in poll)
        return
    at = {where: max(at[where], low) for where, low in log.source.starts(at).items()}
    begin_ms = min((one.at_ms for one in _edges(log, at, end, first=True)), default=0)
    last_ms = max((one.at_ms for one in _edges(log, at, end, first=False)), default=0)
    while _count(at, end):
        to, begin_ms = _cut(log, at, end, (begin_ms, last_ms), most)
        yield sorted_by_time(one for poll in polls_of(log, at, to) for one in poll)
        at = to


def sorted_by_time(messages: Iterator[Message]) -> list[Message]:
    """Those of one place stay in their order, whatever their times say."""
    high: dict[str, int] = {}
    timed = []
    for one in messages:
        where = one.place
        high[where] = max(high.get(where, 0), one.at_ms)
        timed.append((high[where], one))
    timed.sort(key=lambda pair: pair[0])
    return [one for _, one in timed]


def _edges(
    log: Log, start: Mapping[str, int], end: Mapping[str, int], *, first: bool
) -> list[Message]:
    """The first or the last record of each place that has one in between."""
    some = {at: last for at, last in end.items() if start[at] < last}
    begin = {at: start[at] if first else last - 1 for at, last in some.items()}
    stop = {at: offset + 1 for at, offset in begin.items()}
    return [one for poll in polls_of(log, begin, stop) for one in poll]


def _cut(
    log: Log,
    at: Mapping[str, int],
    end: Mapping[str, int],
    span_ms: tuple[int, int],
    most: int,
) -> tuple[dict[str, int], int]:
    """The position of an instant that is far enough and not too far away, and the instant."""
    low_ms, high_ms = span_ms
    left = _count(at, end)
    if left <= most:
        return dict(end), high_ms
    found: tuple[dict[str, int], int] | None = None
    # As if records came evenly; then halves, since they do not.
    guess_ms = low_ms + (high_ms - low_ms) * 3 * most // (4 * left)
    for _ in range(_ASKS):
        there = log.source.times(at, guess_ms + 1)
        to = {where: min(end[where], max(at[where], offset)) for where, offset in there.items()}
        count = _count(at, to)
        if count > most:
            if low_ms >= guess_ms:  # so many at one instant: they are one slice
                return found or (to, guess_ms)
            high_ms = guess_ms
        else:
            found, low_ms = ((to, guess_ms) if count else found), guess_ms + 1
            if 2 * count >= most:
                break
        guess_ms = (low_ms + high_ms) // 2
    return found or (dict(end), high_ms)


def _count(at: Mapping[str, int], to: Mapping[str, int]) -> int:
    return sum(max(0, offset - at[where]) for where, offset in to.items())
