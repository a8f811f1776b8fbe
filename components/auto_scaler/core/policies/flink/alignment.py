"""To which numbers Flink's autoscaler moves a target, so that partitions fall evenly. Pure.

Three modes never stand in the way of a change. The two older ones search below the target as well,
and give the change up where what they find would turn its direction.
"""

from __future__ import annotations

from typing import NamedTuple

from events.job_config.policies.flink import Mode


class VertexRoom(NamedTuple):
    """Of one vertex that should go from one number of subtasks to another."""

    tasks: int
    target: int  # another number
    partitions: int | None  # of a source; None where it has none or they are not known
    max_parallelism: int  # key groups
    lower: int = 1
    upper: int = 2**31 - 1
    keyed: bool = False  # by an input

    @property
    def groups(self) -> int:
        """What is dealt out to the subtasks."""
        return self.partitions or self.max_parallelism

    @property
    def most(self) -> int:
        """Beyond it nothing is searched."""
        return min(self.groups, self.max_parallelism, self.upper)


def applies(room: VertexRoom) -> bool:
    """Is there anything to deal out?"""
    return bool(room.partitions) or room.keyed


def first_aligned(room: VertexRoom, with_lighter: bool) -> int | None:
    """The first number from the target on that divides the groups, or lightens the fullest task.

    Up to the most that there may be, or, when shrinking, up to the number that there is.
    """
    groups, target = room.groups, room.target
    end = room.most if target > room.tasks else min(room.tasks, room.most)
    for size in range(target, end + 1):
        if groups % size == 0 or (with_lighter and groups // size < groups // target):
            return size
    return None


def relaxed(room: VertexRoom) -> int:
    """The search below the target, of the older modes: the edge where subtasks get more to do."""
    groups, size = room.groups, room.target
    while size > 0 and groups // size <= groups // room.target:
        size -= 1
    if size > 0 and groups % size:
        size += 1
    return max(size, room.lower)


def aligned(room: VertexRoom, mode: Mode) -> int:
    """The number that a mode makes of the target; the present one is the older modes' veto."""
    if mode == "off" or not applies(room):
        return room.target
    lighter = mode in {"balanced", "legacy_maximize_utilisation"}
    found = first_aligned(room, lighter)
    if found is not None:
        return found
    if mode in {"balanced", "evenly_spread"}:
        # Also where the target is above the number of partitions: some then read nothing.
        return room.target
    below = relaxed(room)
    turns = below <= room.tasks if room.target > room.tasks else below >= room.tasks
    return room.tasks if turns else below
