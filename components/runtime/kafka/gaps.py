"""What Faust's client could not decode, read by the other client a piece at a time.

A place that has a gap waits behind it, so it stays in order; the others are served in between, as
sixty thousand records may come out of one batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from components.runtime.kafka.intake import Message, OffsetGap
from turbine_client.reading import read_span
from turbine_client.settings import Settings

PIECE = 5_000
"""Records that are read at one time: less than a tenth of a second where they are small."""
HELD_BYTES = 4 * 1024 * 1024
"""Of messages that wait behind gaps; what comes beyond is a gap as well, and is read once more."""
MESSAGE_BYTES = 500
"""That a message takes beside its value."""


@dataclass(slots=True)
class _Behind:
    """What waits at one place, in order; no two gaps follow each other."""

    end: int = 0
    queue: deque[Message | OffsetGap] = field(default_factory=deque)


class Gaps:
    """Of one shell, used from its thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._behind: dict[str, _Behind] = {}
        self._reading: Iterator[list[Message]] | None = None
        self._held = 0

    @property
    def open(self) -> bool:
        """Is there anything to read or to hand out?"""
        return bool(self._behind)

    def sift(self, poll: Iterable[Message | OffsetGap]) -> Iterator[Message]:
        """Those of the poll that may be folded now; the others wait."""
        for one in poll:
            if isinstance(one, Message) and (not self._behind or one.place not in self._behind):
                yield one
            else:
                self._wait(one)

    def _wait(self, one: Message | OffsetGap) -> None:
        behind = self._behind.setdefault(one.place, _Behind())
        first, end = (
            (one.first, one.end) if isinstance(one, OffsetGap) else (one.offset, one.offset + 1)
        )
        if end <= behind.end:
            return  # the stream repeats it
        behind.end = end
        last = behind.queue[-1] if behind.queue else None
        if isinstance(last, OffsetGap) and (isinstance(one, OffsetGap) or self._held >= HELD_BYTES):
            behind.queue[-1] = OffsetGap(one.topic, one.partition, last.first, end)
        elif isinstance(one, OffsetGap) or self._held >= HELD_BYTES:
            behind.queue.append(OffsetGap(one.topic, one.partition, first, end))
        else:
            behind.queue.append(one)
            self._held += _size_of(one)

    def piece(self) -> Iterator[Message]:
        """What is to be folded next of what waits: all gaps that come first are one reader's."""
        if self._reading is None:
            spans = dict[str, tuple[int, int | None]]()
            for place, behind in list(self._behind.items()):
                while behind.queue and isinstance(behind.queue[0], Message):
                    yield self._handed(behind)
                if behind.queue:
                    gap = behind.queue.popleft()
                    assert isinstance(gap, OffsetGap)
                    spans[place] = (gap.first, gap.end)
                else:
                    del self._behind[place]
            self._reading = read_span(self._settings, spans) if spans else None
        read = 0
        for poll in self._reading or ():
            yield from poll
            read += len(poll)
            if read >= PIECE:
                return
        self._reading = None

    def _handed(self, behind: _Behind) -> Message:
        one = behind.queue.popleft()
        assert isinstance(one, Message)
        self._held -= _size_of(one)
        return one


def _size_of(one: Message) -> int:
    return MESSAGE_BYTES + len(one.value or b"")
