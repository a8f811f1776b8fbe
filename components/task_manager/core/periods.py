"""How often a container does what nobody waits for, and how long it is patient: one table. Pure.

What leases and moves rest on stands in `projections.timing`, for others reckon with it as well.
"""

from __future__ import annotations

from typing import NamedTuple

from projections.settings import scales_in

UNIT = 1_000


class Periods(NamedTuple):
    """The periods and the patience of a container, in milliseconds."""

    reconcile_ms: int = 60_000  # all of it, although nothing seems to have changed (Turbine IV-A)
    load_ms: int = 60_000  # between two reports of a task's load
    shard_load_ms: int = 600_000  # between two reports of the shards' loads (Turbine IV-B)
    stop_ms: int = 30_000  # for a task to stop in order; half of what the shard manager waits
    start_ms: int = 300_000  # for a task to start, as long as the state syncer waits for it
    pause_ms: int = 1_000  # before a task that failed once is started again; twice that each time
    pause_most_ms: int = 60_000
    steady_ms: int = 60_000  # a task that ran as long was well: its next failure is a first one

    def scaled(self, per_mille: int) -> Periods:
        """All of it shorter or longer."""
        return Periods(*(max(1, ms * per_mille // UNIT) for ms in self))

    def pause_after(self, failures: int) -> int:
        """How long to wait after so many failures in a row: 1, 2, 4 … 60 s."""
        doubled: int = 1 << min(max(failures, 1) - 1, 16)
        return min(self.pause_most_ms, self.pause_ms * doubled)


def scale_of(settings_json: str) -> int:
    """The scale of time that a tier's settings name; the usual one where they name none."""
    return scales_in(settings_json)[0]


def periods_of(settings_json: str) -> Periods:
    """As the tier's settings say; what tasks take to stop and to start has a scale of its own."""
    waits, acts = scales_in(settings_json)
    taken = Periods().scaled(acts)
    return Periods().scaled(waits)._replace(stop_ms=taken.stop_ms, start_ms=taken.start_ms)
