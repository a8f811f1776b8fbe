"""What a command that asks for the past may start from: rows of a frame that another keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from components.runtime.core.component import Component
from components.runtime.core.store import Restored
from turbine.read.sources.log import Log
from turbine.read.sources.source import NoInstallation
from turbine.read.state.cache import IDENTITY, Cache, Frame, Framed, Spoilt
from turbine.read.state.opening import DIRECTORY, check, identity_of
from turbine.read.state.past import view_at
from turbine.read.state.view import JobView, View

R = TypeVar("R")

WORTH = 50_000
"""Records to be folded, from which on looking for a frame costs less than it saves."""


def rows_before(
    log: Log, name: str, view: Component[R], end: Mapping[str, int], worth: int = WORTH
) -> Restored[R]:
    """All rows of that name as they stood at the nearest frame; nothing where there is none that
    fits. Nothing is kept or thrown away here: that is for who follows the log."""
    with _frame(log, end, view.inputs, worth) as found:
        if found is None:
            return Restored()
        cache, frame = found
        seen = {at: n for at, n in frame.seen.items() if at.partition("/")[0] in view.inputs}
        return Restored(Framed(cache, frame, whole=True).rows(name), seen)


def jobs_before(
    log: Log, end: Mapping[str, int], names: Iterable[str], worth: int = WORTH
) -> list[JobView] | None:
    """The jobs of these names, or all that there were at that position, by name; None where there
    is no frame to begin from."""
    with _frame(log, end, None, worth) as found:
        if found is None:
            return None
        jobs = view_at(log, end, found[0]).jobs
        return [jobs[name] for name in sorted(set(names) or jobs) if name in jobs]


def view_before(log: Log, end: Mapping[str, int], worth: int = WORTH) -> View | None:
    """The whole view at that position; None where there is no frame to begin from."""
    with _frame(log, end, None, worth) as found:
        if found is None:
            return None
        view = view_at(log, end, found[0])
        return replace(view, jobs=dict(view.jobs))  # they are fetched while the cache is open


class FramedLog(Log):
    """A log whose past begins from the frames that somebody keeps who follows it."""

    def held(self) -> View | None:
        """What somebody holds who has folded all of it to the end now; None: nobody does here."""
        return None

    def _framed(self, name: str, view: Component[R], end: Mapping[str, int] | None) -> Restored[R]:
        return Restored() if end is None else rows_before(self, name, view, end)


@contextmanager
def _frame(
    log: Log, end: Mapping[str, int], topics: frozenset[str] | None, worth: int
) -> Iterator[tuple[Cache, Frame] | None]:
    """The nearest frame by these topics or by all, while the cache that holds it is open."""
    ours = (n for at, n in end.items() if topics is None or at.partition("/")[0] in topics)
    cache = _kept(log) if sum(ours) >= worth else None
    if cache is None:
        yield None
        return
    try:
        frame = _checked(cache, log, end, topics)
        yield None if frame is None else (cache, frame)
    finally:
        cache.close()


def _kept(log: Log) -> Cache | None:
    try:
        directory = log.settings.directory / DIRECTORY
    except NoInstallation:  # a log in a file
        return None
    if not (directory / IDENTITY).exists():
        return None
    return Cache(directory, identity_of(log), reading=True)


def _checked(
    cache: Cache, log: Log, end: Mapping[str, int], topics: frozenset[str] | None
) -> Frame | None:
    try:
        check(cache, log)
    except Spoilt:
        return None
    return cache.nearest(end, topics)
