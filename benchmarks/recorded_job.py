"""A log of one job in memory: what was recorded of it, read as any log is. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from components.runtime.core.component import Component
from components.runtime.core.step import Stepper
from events.topics import BY_SHORT, JOURNAL, place
from events.wire.codec import Read
from projections.jobs import Job
from turbine.read.sources.log import Standing, journal_view

END_MS = 1 << 62


class Recorded:
    """Stands where a `Log` does for whoever asks about that job; one partition of each topic."""

    def __init__(self, reads: Sequence[Read]) -> None:
        self.reads = list(reads)
        self.counts = dict.fromkeys(BY_SHORT, 1)

    def heard(
        self,
        component: Component[Any],
        job: str,
        observer: Callable[[Read, bool], None],
        *,
        end: Mapping[str, int] | None = None,
    ) -> None:
        """As the log's."""
        view = replace(component, fold=lambda row, read: row or read.record.key)
        self._owner(view, job, observer, end)

    def _owner(
        self,
        view: Component[Any],
        job: str,
        observer: Callable[[Read, bool], None] | None,
        end: Mapping[str, int] | None,
    ) -> Stepper[Any]:
        places = [place(topic, 0) for topic in view.inputs]
        owner: Stepper[Any] = Stepper(view, places, lambda *_: True, observer=observer)
        for read in self.read(view.inputs, end=end, key=job):
            owner.read(read)
        owner.flush()
        return owner

    def read(
        self,
        topics: Iterable[str],
        *,
        kinds: frozenset[str] | None = None,
        start: Mapping[str, int] | None = None,
        end: Mapping[str, int] | None = None,
        key: str | None = None,
    ) -> Iterator[Read]:
        """As the log's; all bodies are there, whichever are asked for."""
        del kinds
        wanted = set(topics)
        for one in self.reads:
            first, last = (start or {}).get(one.place, 0), (end or {}).get(one.place, 0)
            within = first <= one.offset and (end is None or one.offset < last)
            if one.topic in wanted and within and key in (None, one.record.key):
                yield one

    def job(self, name: str, *, end: Mapping[str, int] | None = None) -> Job | None:
        """As the log's."""
        held = self._owner(journal_view, name, None, end).held.get(name)
        return None if held is None else held.row

    def jobs(self, *, end: Mapping[str, int] | None = None) -> dict[str, Job]:
        """As the log's."""
        names = sorted({one.record.key for one in self.reads if one.topic == JOURNAL})
        return {name: job for name in names if (job := self.job(name, end=end)) is not None}

    def decisions(
        self,
        *,
        job: str | None = None,
        end: Mapping[str, int] | None = None,
        kinds: frozenset[str] | None = None,
    ) -> list[Standing]:
        """As the log's; all bodies are there."""
        del kinds
        heard = list[Standing]()
        names = {one.record.key for one in self.reads if one.topic == JOURNAL}
        for name in sorted(names if job is None else {job}):
            self._owner(
                journal_view, name, lambda read, stands: heard.append(Standing(read, stands)), end
            )
        return heard

    def places(self, topics: Iterable[str]) -> list[str]:
        """As the log's."""
        return [place(topic, 0) for topic in sorted(topics)]

    def ends(self, places: Iterable[str]) -> dict[str, int]:
        """As the log's."""
        known = self.at(END_MS, BY_SHORT)
        return {at: known.get(at, 0) for at in places}

    def at(self, at_ms: int, topics: Iterable[str]) -> dict[str, int]:
        """As the log's."""
        ends = {place(topic, 0): 0 for topic in topics}
        for one in self.reads:
            if one.place in ends and one.at_ms <= at_ms:
                ends[one.place] = one.offset + 1
        return ends
