"""What Flink's autoscaler makes of quotas, slots and memory. Pure.

A task manager is a process with slots; vertices of one group share them. Amounts are in one unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

Ship = Literal["forward", "rescale", "rebalance", "hash", "unknown"]


class Quota(NamedTuple):
    """Of a job; None: none."""

    cpu: float | None = None
    memory: float | None = None


class Pools(NamedTuple):
    """A task manager's memory by what it is for."""

    network: int = 0
    metaspace: int = 0
    heap: int = 0
    managed: int = 0
    fixed: int = 0  # never tuned: what is off the heap, and the runtime's own

    @property
    def total(self) -> int:
        """The memory of all pools together."""
        return sum(self)


class Tuning(NamedTuple):
    """The settings by which memory is tuned."""

    overhead: float = 0.2
    maximize_managed: bool = False
    growth: float = 1.0  # of the heap, for task managers that go


def group_slots(groups: Iterable[Iterable[str]], changed: Mapping[str, int]) -> int:
    """Slots of all groups, by the vertices that change and no others: the source's under-count."""
    return sum(
        max((changed[one] for one in group if one in changed), default=0) for group in groups
    )


def over_quota(
    slots: tuple[int, int], slots_each: int, each: tuple[float, float], quota: Quota
) -> bool:
    """Would more task managers take more than a job may? One that is not full is not counted."""
    before, after = (count // slots_each for count in slots)
    if after <= before:
        return False
    pairs = zip(each, quota, strict=True)
    return any(most is not None and one * after > most for one, most in pairs)


def slots_after(before: Mapping[str, int], after: Mapping[str, int], used: int) -> int:
    """Slots that a job takes: shared by all vertices, or by none of them."""
    sizes = [after.get(vertex, size) for vertex, size in before.items()]
    return max(sizes, default=0) if max(before.values(), default=0) == used else sum(sizes)


def heap_growth(slots_before: int, slots_then: int, slots_each: int) -> float:
    """How much more heap the task managers that stay are given."""
    before, then = math.ceil(slots_before / slots_each), math.ceil(slots_then / slots_each)
    return max(1.0, before / then)


def segments(size: int, connected: int, ship: Ship, per_channel: int, floating: int) -> int:
    """Network buffers of one subtask towards a connected vertex."""
    if ship == "forward" and size == connected:
        return per_channel + floating
    if ship in {"forward", "rescale"}:
        return math.ceil(connected / size) * per_channel + floating
    return connected * per_channel + floating


def network(
    edges: Sequence[tuple[str, str, Ship]],
    sizes: Mapping[str, int],
    slots_each: int,
    buffers: tuple[int, int] = (2, 8),
    segment: int = 32_768,
) -> int:
    """Bytes for the buffers of all edges, at both of their ends, in each slot."""
    count = 0
    for sender, receiver, ship in edges:
        count += segments(sizes[sender], sizes[receiver], ship, *buffers)
        count += segments(sizes[receiver], sizes[sender], ship, *buffers)
    return count * segment * slots_each


def tuned(used: Pools, spec: Pools, tuning: Tuning) -> Pools:
    """The pools as they should be; together never more than the job's own config had.

    Who comes last gets what is left. `used.network` is what the edges need. Managed memory cannot
    be measured: it is used or not.
    """
    left = spec.total - spec.fixed

    def take(wanted: int) -> int:
        nonlocal left
        given = min(wanted, left)
        left -= given
        return given

    net = take(used.network)
    metaspace = take(int(used.metaspace * (1 + tuning.overhead)))
    heap = take(int(used.heap * (1 + tuning.overhead)))
    managed = 0
    if used.managed > 0:
        managed = take(left if tuning.maximize_managed else spec.managed)
    heap += take(int(tuning.growth * heap) - heap)
    return Pools(net, metaspace, heap, managed, spec.fixed)
