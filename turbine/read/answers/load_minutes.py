"""What a job's log told the auto scaler: its minutes, and the reports that each is made of. Pure.

The component puts reports together into minutes and forgets which they were. Here they are put
together once more, by its own function, and stay named by their places in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from components.auto_scaler.decide import component
from components.runtime.core.component import Component
from events.generated.records import TaskLoadReported
from events.wire.codec import SKIPPED, Read
from projections.scaling.rounds import Rounds, rounds_after
from projections.scaling.row import ScalingRow
from projections.scaling.seen import Minute


class Hears(Protocol):
    """A log, as far as it is asked here."""

    def heard(
        self,
        component: Component[Any],
        job: str,
        observer: Callable[[Read, bool], None],
        *,
        end: Mapping[str, int] | None = None,
    ) -> None:
        """Tells of each record in causal order, with whether it stands."""


class PlacedReport(NamedTuple):
    """One task's word, where it lies."""

    place: str
    offset: int
    task: int


class LoadMinute(NamedTuple):
    """A minute of the job, and what it adds up."""

    minute: Minute
    since_ms: int  # the end of the minute before; 0 where there was none
    reports: tuple[PlacedReport, ...]


class Minutes:
    """Puts reports together, one after the other."""

    def __init__(self) -> None:
        self.rounds = Rounds()
        self._open: list[PlacedReport] = []

    def take(self, read: Read, body: TaskLoadReported) -> list[LoadMinute]:
        """The minutes that the report closes: none, one or two."""
        before, this = self.rounds, PlacedReport(read.place, read.offset, body.task)
        self.rounds, closed = rounds_after(before, body, read.at_ms)
        if self.rounds.specs > before.specs:
            self._open = []
        counted = self.rounds.listened > 0 and self.rounds.heard is not before.heard
        inside = bool(closed) and self.rounds.listened == 0
        found = list[LoadMinute]()
        if closed and (len(closed) == 2 or not inside):
            found.append(LoadMinute(closed[0], before.closed_ms, tuple(self._open)))
            self._open = []
        if inside:
            since_ms = found[0].minute.at_ms if found else before.closed_ms
            found.append(LoadMinute(closed[-1], since_ms, (*self._open, this)))
            self._open = []
        elif counted:
            self._open.append(this)
        return found


def concerns(read: Read) -> bool:
    """Does the component's row change by it?"""
    body = read.record.body
    return body is not None and body is not SKIPPED and read.record.kind in component.folds


def row_at(log: Hears, job: str, end: Mapping[str, int]) -> ScalingRow | None:
    """The scaler's row of a job at a position vector; None where the log says nothing of it."""
    rows = list[ScalingRow | None]([None])

    def observe(read: Read, stands: bool) -> None:
        if stands and concerns(read):
            rows[0] = component.fold(rows[0], read)

    log.heard(component, job, observe, end=end)
    return rows[0]
