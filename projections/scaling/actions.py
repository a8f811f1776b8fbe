"""What can be done about a job, by name, and the size that it gets. Pure."""

from __future__ import annotations

from typing import NamedTuple

STAY = "stay"
SCALE_UP, SCALE_DOWN = "scale-up", "scale-down"
MEMORY_UP, MEMORY_DOWN = "memory-up", "memory-down"
REBALANCE, MOVE, ALERT, REVERT = "rebalance", "move", "alert", "revert"
VERIFIED = "verified"
ACTIONS = frozenset(
    {STAY, SCALE_UP, SCALE_DOWN, MEMORY_UP, MEMORY_DOWN, REBALANCE, MOVE, ALERT, REVERT, VERIFIED}
)


class JobSize(NamedTuple):
    """Of a job: tasks, and what each of them has."""

    tasks: int
    threads: int
    cpu_cores: float
    memory_mb: int
