"""What a policy sees of a job: its facts, each minute of it, and its usual days. Pure.

Unknown is None and never 0. A minute adds up what the tasks reported of it; what single tasks said
is kept for the newest minute alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

MINUTE_MS = 60_000
DAY_MS = 86_400_000
GB_OF_A_CORE = 8.0
"""Of memory that cost as much as a core, as clouds sell both: sizes are chosen and scored by it."""


class JobFacts(NamedTuple):
    """What stands about a job: its config, its room, and what its tier's containers are."""

    name: str
    tasks: int
    threads: int = 1
    cpu_cores: float = 0.25  # of one task
    memory_mb: int = 256
    partitions: int | None = None  # of its widest input: more tasks than that have nothing to read
    stateful: bool = False
    slo_s: float = 90.0
    tasks_max: int = 32
    staging_rate: float | None = None  # bytes a second of one thread
    container_cores: float = 8.0
    container_mb: int = 16_384
    granted: int | None = None  # tasks that the tier has room for, of this job; None: no limit


class Part(NamedTuple):
    """One task in one minute."""

    task: int
    rate: float  # records a second that it read
    busy: float | None = None  # share of its time
    lag: float | None = None  # records
    lag_s: float | None = None  # age of the oldest one
    memory_mb: float | None = None


class Minute(NamedTuple):
    """A job in one minute."""

    at_ms: int  # its end
    tasks: int  # that ran
    arrived: float | None  # records a second that came in: what was read, and what lag has grown by
    rate: float  # records a second that were read
    lag: float | None  # records that are not read yet
    lag_s: float | None  # age of the oldest one, of all partitions
    busy: float | None = None  # mean share of a task's time
    busy_most: float | None = None  # of one task
    memory_mb: float | None = None  # of the task that used most
    oom: bool = False  # a task ran out of memory
    down_s: float = 0.0  # for which no task ran
    heard: float = 1.0  # share of the tasks that reported
    bytes_per_record: float | None = None
    stuck: int = 0  # partitions with lag of which nothing was read, while others were
    blocked_ms: float = 0.0  # of a second, for which who writes was held up
    parts: Sequence[Part] = ()
    threads: int = 0  # of one task; 0: as the job has


class Profile(NamedTuple):
    """The job's usual days, by slot: of the days before, each minute counted."""

    slot_ms: int
    mean: Sequence[float | None]  # records a second that came in
    peak: Sequence[float | None]  # of one minute
    days: int

    def slot(self, at_ms: int) -> int:
        """The slot that an instant lies in, of the day in UTC."""
        return at_ms % DAY_MS // self.slot_ms

    def most(self, from_ms: int, to_ms: int) -> float | None:
        """The greatest minute of these hours on the days before; None where nothing is known."""
        return max(self.between(self.peak, from_ms, max(to_ms, from_ms + 1)), default=None)

    def between(self, numbers: Sequence[float | None], from_ms: int, to_ms: int) -> list[float]:
        """What is known of the slots from one instant to before another, each slot once."""
        count, first, last = len(numbers), from_ms // self.slot_ms, (to_ms - 1) // self.slot_ms
        slots = range(first, min(last, first + count - 1) + 1)
        return [one for at in slots if (one := numbers[at % count]) is not None]


UNKNOWN = Profile(DAY_MS, (None,), (None,), 0)
