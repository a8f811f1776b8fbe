"""Amounts of resources as whole numbers, so that sums are the same in any order. Pure."""

from __future__ import annotations

from events.generated.records import ShardLoad
from projections.fleet import ShardUsage

RESOURCES = ("cpu_cores", "memory_bytes", "disk_bytes", "network_bytes_per_s")
UNITS = (1 / 1000, 1024, 1024, 1024)
"""What 1 is: a thousandth of a core, a KiB, a KiB, a KiB a second."""
HARD = frozenset({"memory_bytes", "disk_bytes"})
"""Resources of which there cannot be too little for a while: a task would end, not slow down."""
AMOUNT_MOST = 2**40
"""In units; a report beyond it is a mistake that must not outweigh a whole tier."""


def units_of(amount: float, resource: int) -> int:
    """An amount in whole units, rounded up: what is used at all is not nothing."""
    # Bounded first: what a float cannot divide any more is no number.
    units = min(max(amount, 0), AMOUNT_MOST * UNITS[resource]) / UNITS[resource]
    return int(min(max(-(-units // 1), amount > 0), AMOUNT_MOST))


def load_of(one: ShardLoad, number: int) -> ShardUsage:
    """What a report says of one shard."""
    known = (one.cpu_cores, one.memory_bytes, one.disk_bytes, one.network_bytes_per_s)
    amounts = tuple(
        None if amount is None else units_of(amount, at) for at, amount in enumerate(known)
    )
    return ShardUsage(one.generation, number, one.tasks, one.job, amounts)


def capacity_of(known: tuple[tuple[str, float], ...]) -> tuple[int | None, ...]:
    """A container's capacity, by `RESOURCES`; None where it names none."""
    named = dict(known)
    return tuple(
        units_of(named[resource], at) if resource in named else None
        for at, resource in enumerate(RESOURCES)
    )
