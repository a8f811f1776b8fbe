"""Which containers live, told from the one partition in which a container's life lies. Pure.

Starts, heartbeats, ticks and fail-overs of one container are in one partition, whose order decides
between them: whoever reads it comes to the same end, the container itself included.
"""

from __future__ import annotations

from typing import NamedTuple

from events.generated.records import ContainerFailedOver, ContainerHeartbeat, ContainerStarted


class Ticks(NamedTuple):
    """The clock of one partition, as far as it is told."""

    sum_ms: int = 0  # of gaps between ticks, none counted as more than a stopped clock explains
    last_ms: int = 0

    def moved(self, at_ms: int, gap_ms: int) -> Ticks:
        """After another tick, by the broker's time of both."""
        gap = at_ms - self.last_ms if self.last_ms else 0
        return Ticks(self.sum_ms + min(max(gap, 0), gap_ms), max(self.last_ms, at_ms))


class Life(NamedTuple):
    """One container as its partition tells it."""

    name: str
    place: str
    epoch: int = 0  # its newest life
    over: int = 0  # the newest life that is over: all that is said of it later is void
    beat: int | None = None  # offset of the newest life's last heartbeat
    sum_ms: int = 0  # of the partition's ticks at its last sign of life
    state: str = "unknown"
    tier: str = ""
    region: str = ""
    capacity: tuple[tuple[str, float], ...] = ()
    since_ms: int = 0  # of the partition's ticks when the life began

    @property
    def lives(self) -> bool:
        """As far as is known: it may be silent for a while."""
        return self.epoch > self.over

    def silence_ms(self, ticks: Ticks, gap_ms: int) -> int:
        """How long nothing was heard of it. The gap in which its last sign lies does not count, and
        is taken for a long one."""
        return max(0, ticks.sum_ms - self.sum_ms - gap_ms)


def start(life: Life, body: ContainerStarted, ticks: Ticks) -> Life:
    """Another life begins, unless it is one that was known already."""
    if body.epoch <= max(life.epoch, life.over):
        return life
    return life._replace(
        epoch=body.epoch,
        beat=None,
        sum_ms=ticks.sum_ms,
        since_ms=ticks.sum_ms,
        state="unknown",
        tier=body.tier,
        region=body.region,
        capacity=tuple((one.resource, one.amount) for one in body.capacity),
    )


def beat(life: Life, body: ContainerHeartbeat, offset: int, ticks: Ticks) -> Life:
    """A heartbeat of the newest life; one of a life that is over is void."""
    if body.epoch != life.epoch or not life.lives:
        return life
    return life._replace(beat=offset, sum_ms=ticks.sum_ms, state=str(body.state))


def fail_over(life: Life, body: ContainerFailedOver) -> Life:
    """The life is over, unless a heartbeat came that the author had not seen."""
    if body.epoch != life.epoch or not life.lives or body.last_heartbeat_offset != life.beat:
        return life
    return life._replace(over=body.epoch)
