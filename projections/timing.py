"""How long things may take: one table, which stands in the tier's record and scales as a whole."""

from __future__ import annotations

from typing import NamedTuple

from projections.settings import scales_in

UNIT = 1_000


class Timing(NamedTuple):
    """In milliseconds. A container stops by itself well before its shards are given away: between
    the two lie the skew of clocks and the time that a kill takes."""

    heartbeat_ms: int = 5_000
    lease_ms: int = 40_000  # from the sending of a heartbeat that was read back (Turbine IV-C)
    silence_ms: int = 60_000  # by ticks of the container's partition, until it is failed over
    gap_ms: int = 2_000  # of one gap between ticks, at most: a clock that stopped kills nobody
    frozen_ms: int = 600_000  # a container that cannot read the log waits as long, then ends
    drop_ms: int = 60_000  # for tasks to stop in order; then they are killed
    kill_ms: int = 30_000  # for the word that they were; then the container is failed over
    add_ms: int = 120_000  # for tasks to start; then the container is failed over
    plan_ms: int = 1_800_000  # from one plan to the next, where nothing calls for one (IV-B)
    calm_ms: int = 30_000  # after news: what comes together is planned together
    rest_ms: int = 600_000  # a shard that moved is left where it is for a while
    ramp_ms: int = 3_600_000  # over which a new container comes to be filled as the others are
    again_ms: int = 3_600_000  # whoever lives says so again: what was said once expires

    def scaled(self, per_mille: int) -> Timing:
        """All of it shorter or longer, but for the gap, which is the clock's: tests run at a
        tenth, with the same clock."""
        scaled = Timing(*(max(1, ms * per_mille // UNIT) for ms in self))
        return scaled._replace(gap_ms=self.gap_ms)


def timing_of(settings_json: str) -> Timing:
    """What a tier's settings say; what they do not name is as in the table."""
    waits, acts = scales_in(settings_json)
    taken = Timing().scaled(acts)
    return (
        Timing()
        .scaled(waits)
        ._replace(drop_ms=taken.drop_ms, kill_ms=taken.kill_ms, add_ms=taken.add_ms)
    )
