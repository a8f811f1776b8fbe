"""What a placement is worked out from: loads, containers, homes, limits. Knows no plan. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
Bits = NDArray[np.uint64]
Flags = NDArray[np.bool_]

RESOURCES_MAX = 8
"""Scores are exact for so many (see `scale`)."""
CONTAINERS_MAX = 2**16 - 1
"""Their indices are sorted as 16-bit numbers, in linear time."""
SHARDS_MAX = 2**24
SUM_MAX = 2**53
"""Of one resource over all shards, or over all containers: whole numbers below it are exact as
floating-point numbers, so that they add up to the same in every order."""


@dataclass(frozen=True, slots=True)
class PlacementSettings:
    """What a tier's operator may choose; shares are in thousandths."""

    band: int = 100
    """How far a container may be from the tier's mean, in each resource (Turbine IV-B: 10 %)."""
    settle: int = 10
    """How far inside the band a container that was outside is brought. Wider margins move more."""
    moves_max: int | None = None
    """Moves of one plan, but for shards that have no container: these are down until they move."""
    load_max: int = 1000
    """Share of the tier's load that one plan may move, with the same exception."""
    moves_per_job_max: int | None = None
    restart_cost: int = 3
    """What a restart costs beside the load that is moved, in average shards."""
    hard: tuple[int, ...] = ()
    """Resources of which a container is never given more than it can use, such as memory."""
    group: int = 48
    """Containers that a shard is compared with when very many are placed at once."""
    orphans_many: int = 2000
    """Above it shards are placed in bulk, each by a sample of the containers rather than by all."""
    fill_min: int = 8
    """So many nearly empty containers are filled in bulk."""


@dataclass(frozen=True, slots=True)
class PlacementProblem:
    """One tier at one moment. Shards and containers are the indices of their arrays."""

    loads: Ints  # [shards, resources], in whole units of the resource
    allowed: Bits  # [shards], a bit for each region
    home: Indices  # [shards], the container that holds it; -1 where none does
    capacity: Ints  # [containers, resources], in the same units
    region: Bits  # [containers], one bit
    alive: Flags  # [containers]
    headroom: Indices  # [containers], thousandths that are kept free
    ramp: Indices  # [containers], thousandths of the way from new to one among many
    draining: Flags  # [containers], to be emptied
    movable: Flags  # [shards], false while a shard rests from its last move
    job: Indices  # [shards], the job that most of its tasks belong to; -1 for none
    settings: PlacementSettings = PlacementSettings()

    def __post_init__(self) -> None:
        shards, containers, resources = self.shards, self.containers, self.resources
        bounds = (shards, SHARDS_MAX), (containers, CONTAINERS_MAX), (resources, RESOURCES_MAX)
        for (count, most), what in zip(bounds, ("shards", "containers", "resources"), strict=True):
            if count > most:
                raise ValueError(f"{count} {what} are too many for one tier; {most} are allowed")
        wanted = {
            "loads": (shards, resources),
            "capacity": (containers, resources),
            **dict.fromkeys(("allowed", "home", "movable", "job"), (shards,)),
            **dict.fromkeys(("region", "alive", "headroom", "ramp", "draining"), (containers,)),
        }
        for name, shape in wanted.items():
            found = getattr(self, name).shape
            if found != shape:
                raise ValueError(f"{name} has the shape {found} and must have {shape}")
        self._check_values()

    def _check_values(self) -> None:
        for name in ("loads", "capacity"):
            values = getattr(self, name)
            if values.size and values.min() < 0:
                raise ValueError(f"{name} holds {values.min()}; amounts are 0 or more")
            # Summed as floats first: a sum of integers beyond 2^63 would come out small.
            if any(total >= SUM_MAX / 2 for total in values.sum(axis=0, dtype=np.float64)):
                raise ValueError(f"{name} of a resource come to 2^52 or more; use a larger unit")
        within = {
            "home": (-1, self.containers - 1),
            "headroom": (0, 1000),
            "ramp": (0, 1000),
        }
        for name, (least, most) in within.items():
            values = getattr(self, name)
            if values.size and not least <= values.min() <= values.max() <= most:
                found = values.max() if values.max() > most else values.min()
                raise ValueError(f"{name} holds {found}; it is from {least} to {most}")
        for resource in self.settings.hard:
            if not 0 <= resource < self.resources:
                raise ValueError(f"settings.hard names resource {resource}, which there is not")
        if not 0 < self.settings.band <= 1000:
            raise ValueError(f"settings.band is {self.settings.band}; it is from 1 to 1000")

    @property
    def shards(self) -> int:
        return int(self.loads.shape[0])

    @property
    def containers(self) -> int:
        return int(self.capacity.shape[0])

    @property
    def resources(self) -> int:
        return int(self.loads.shape[1])

    @property
    def open(self) -> Flags:
        """Containers that may be given shards."""
        return self.alive & ~self.draining
