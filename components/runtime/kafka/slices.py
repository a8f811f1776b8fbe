"""Reads places of the log side by side, in slices of its time: all of a slice, then the next.

Who reads all places to their ends would get one whole place before another, and hold all that
waits for the other. A slice has a bound, so what is held has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from components.runtime.kafka.intake import Message
from turbine_client.probing import PROBING
from turbine_client.reading import Asker
from turbine_client.settings import Settings

SLICE_MOST = 10_000
"""Messages that are held at once, some 20 MB: enough that to ask for the next ones costs little."""
YEAR_9999_MS = 253_402_300_799_999


def read_slices(
    settings: Settings, spans: Mapping[str, tuple[int, int]], most: int = SLICE_MOST
) -> Iterator[list[Message]]:
    """All messages of the places from their first offsets to their ends, by append time.

    Each place keeps its order, whatever its times say.
    """
    at = {place: first for place, (first, end) in spans.items() if first < end}
    ends = {place: spans[place][1] for place in at}
    with Asker(settings, **PROBING) as asker:
        for cut in _cuts(asker, at, ends, most):
            part = {place: (at[place], end) for place, end in cut.items()}
            yield by_time(chain.from_iterable(asker.read(part)))
            at |= cut


def _cuts(
    asker: Asker, at: dict[str, int], ends: Mapping[str, int], most: int
) -> Iterator[dict[str, int]]:
    """Where each slice ends; `at` is moved by the caller."""

    def cut(by_ms: int) -> dict[str, int]:
        return asker.at({place: (first, ends[place]) for place, first in at.items()}, by_ms)

    def size(found: Mapping[str, int]) -> int:
        return sum(found.values()) - sum(at.values())

    low_ms, width_ms = 0, YEAR_9999_MS
    while size(ends):
        found = dict(ends) if size(ends) <= most else cut(low_ms + width_ms)
        while size(found) > most and width_ms > 1:
            width_ms //= 2
            found = cut(low_ms + width_ms)
        taken = size(found)
        low_ms += width_ms
        if taken < most // 2:
            width_ms *= 2
        if taken:
            yield found


def by_time(messages: Iterable[Message]) -> list[Message]:
    """Where an author's times go back within a place, the place's order counts."""
    high_ms: dict[str, int] = {}
    keyed: list[tuple[int, Message]] = []
    for one in messages:
        at_ms = high_ms[one.place] = max(one.at_ms, high_ms.get(one.place, 0))
        keyed.append((at_ms, one))
    keyed.sort(key=lambda pair: pair[0])
    return [one for _, one in keyed]
