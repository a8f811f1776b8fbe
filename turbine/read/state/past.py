"""The log at any instant: the nearest frame before it, and the records from there on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from components.runtime.core.component import Component
from components.runtime.core.progress import Possible
from components.runtime.core.store import Restored
from components.runtime.kafka.intake import Message
from turbine.read.sources.held import polls_of, topics_of
from turbine.read.sources.log import Log
from turbine.read.sources.slices import in_time, sorted_by_time
from turbine.read.state.cache import Cache, Frame, Framed
from turbine.read.state.fold_start import FoldStart
from turbine.read.state.folding import Folding, FoldObserver
from turbine.read.state.view import JobView, View


class LogBehind:
    """What a tier's rows are begun from."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def kept(self, view: Component[Any], end: Mapping[str, int]) -> Restored[Any]:
        """By the component's own topic."""
        return self._log.source.kept(view, self._log.places(view.inputs), end)

    def read(
        self, topics: Iterable[str], start: Mapping[str, int], end: Mapping[str, int]
    ) -> Iterator[Message]:
        """In the order of their times."""
        wanted = set(topics)
        some = {at: last for at, last in end.items() if at.partition("/")[0] in wanted}
        polls = polls_of(self._log, start, some)
        return iter(sorted_by_time(chain.from_iterable(polls)))


class Jobs(Mapping[str, JobView]):
    """Jobs of the past by name, each made when it is asked for."""

    def __init__(self, names: Iterable[str], job: Callable[[str], JobView | None]) -> None:
        self._job = job
        self._known: dict[str, JobView | None] = dict.fromkeys(sorted(names))

    def __getitem__(self, name: str) -> JobView:
        found = self._known[name]
        if found is None:
            found = self._known[name] = self._job(name)
        assert found is not None, "a job that is named has a row"
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def begun(
    log: Log, possible: Possible, start: FoldStart, watch: FoldObserver | None = None
) -> Folding:
    """A fold that goes on from there."""
    counts = {topic: log.counts[topic] for topic in topics_of(log)}
    return Folding(counts, possible, LogBehind(log), watch, start)


def known_by(frame: Frame, possible: Possible) -> Possible:
    """What a frame has read was there when it was read: nobody has to be asked."""

    def possible_then(place: str, offset: int, by_ms: int) -> bool | None:
        if offset <= frame.seen.get(place, 0) and by_ms >= frame.rest.at_ms:
            return True
        return possible(place, offset, by_ms)

    return possible_then


def view_at(log: Log, end: Mapping[str, int], cache: Cache | None = None) -> View:
    """What the log said at a position."""
    frame = None if cache is None else cache.nearest(end)
    append_times = log.source.append_times()
    try:
        if cache is None or frame is None:
            folding = begun(log, append_times.possible, FoldStart())
        else:
            folding = begun(log, known_by(frame, append_times.possible), Framed(cache, frame))
        for messages in in_time(log, folding.seen, end):
            folding.take(messages)
    finally:
        append_times.close()
    names = folding.changed()
    there = {name for name in names if (one := folding.jobs.held.get(name)) and one.row}
    if cache is not None and frame is not None:
        there.update(cache.jobs(frame.number))
    return folding.view(Jobs(there, folding.job))
