"""Writes dead letters: what `intake` cannot read, with its bytes, its place and the reason.

Of very many at one time only the first have a letter each: sixty thousand records fit into a batch
of some kilobytes, and their letters would hold up everybody else.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate

import structlog

from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.intake import (
    LAST_OFFSET,
    OFFSET,
    DeadLetter,
    Message,
    number_in,
)
from components.runtime.process import metrics
from components.runtime.process.logs import LineRate
from events.topics import DEAD_LETTERS

log = structlog.get_logger(__name__)

ALONE = 100
"""Records of one place that have a letter each at one time. Those beyond are told together, as are
those that have no bytes: they lie where they were, and the letter names from where to where."""
RUNS = 64
"""Letters about several records that are kept at one time, until they are written."""


@dataclass(slots=True)
class _RefusedRun:
    """Records of one place that are refused for one reason; the first of them, and how many."""

    letter: DeadLetter
    last: int
    records: int = 1

    def told(self) -> DeadLetter:
        """The letter about all of them."""
        if self.records == 1:
            return self.letter
        more = f"; so it is with {self.records - 1} more up to offset {self.last}"
        said = self.letter.sentence + more
        return replace(self.letter, sentence=said, last=self.last, records=self.records)


class DeadLetterWriter:
    """Written by one emitter, with whatever else it says."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter, self._told = emitter, LineRate(5)
        self._alone = Counter[str]()
        self._runs: dict[tuple[str, str], _RefusedRun] = {}

    def put(self, letter: DeadLetter) -> None:
        """A letter of its own, or with others in one that `post` writes; in the order of offsets,
        of each place."""
        message = letter.message
        at = message.place
        bare = not (message.spoilt or message.key or message.value or message.headers)
        if not bare and self._alone[at] < ALONE:
            self._alone[at] += 1
            self.bury(letter)
            return
        run = self._runs.get((at, letter.reason))
        if run is not None:
            run.last, run.records = message.offset, run.records + 1
            return
        if len(self._runs) >= RUNS:
            self.post()
        self._runs[at, letter.reason] = _RefusedRun(letter, message.offset)

    def post(self) -> None:
        """Writes what was put together. Before anybody takes its records for told."""
        for run in self._runs.values():
            self.bury(run.told())
        self._runs.clear()
        self._alone.clear()

    def bury(self, letter: DeadLetter) -> None:
        """One dead letter; who finds the same message writes the same letter."""
        self._emitter.write(
            DEAD_LETTERS,
            0,
            letter.message.place.encode(),
            letter.value(),
            letter.headers(),
        )
        metrics.DEAD_LETTERS.labels(letter.reason).inc(letter.records)
        # A flood of them must not fill the disk that the log lies on; the letters have it all.
        if self._told.fits():
            log.warning(
                "dead letter",
                id=letter.id,
                reason=letter.reason,
                records=letter.records,
                sentence=letter.sentence,
            )


class LettersRead:
    """Which records the letters that were read are about."""

    def __init__(self, letters: Iterable[Message]) -> None:
        self._ids = set[str]()
        spans = defaultdict[tuple[str, str], list[tuple[int, int]]](list)
        for one in letters:
            headers = dict(one.headers or ())
            name, at, reason = (
                (headers.get(f"dead_letter_{what}") or b"").decode(errors="replace")
                for what in ("id", "place", "reason")
            )
            first, last = number_in(headers, OFFSET, -1), number_in(headers, LAST_OFFSET, -1)
            if last < 0:
                self._ids.add(name)
            else:
                spans[at, reason].append((first, last))
        # Each has the furthest end of those up to it: disjoint or not, the last one that begins at
        # an offset or before it answers for it.
        self._spans = {
            of: list(accumulate(sorted(found), lambda was, one: (one[0], max(was[1], one[1]))))
            for of, found in spans.items()
        }

    def __contains__(self, letter: DeadLetter) -> bool:
        """Is there one about it? A letter about several leaves out none of its reason between its
        first and its last, but those that have one of their own."""
        message = letter.message
        spans = self._spans.get((message.place, letter.reason), [])
        at = bisect_left(spans, (message.offset + 1,)) - 1
        return letter.id in self._ids or (at >= 0 and message.offset <= spans[at][1])
