"""Which shard a task is in: its tier's numbering of shards, by allowed regions and hash. Pure.

A shard is placed and moved as one, so all of its tasks are allowed in the same regions. A set of
regions is a bit mask; each mask has as many shards as the tier was made with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

REGIONS_MAX = 4
"""Each further region doubles the number of shards; most of them would be empty."""


def shards_of(each: int, regions: Sequence[str]) -> int:
    """How many shards a tier has in all; they are numbered from 0."""
    return each * whole_mask(regions)


def whole_mask(regions: Sequence[str]) -> int:
    """Every region of the tier; a tier that names none is one region."""
    return (1 << max(1, len(regions))) - 1


def mask_of(regions: Sequence[str], allowed: Sequence[str]) -> int:
    """The regions in which a task may run; none named is all. 0: the tier has none of them."""
    if not allowed or not regions:
        return whole_mask(regions)
    return sum(1 << at for at, region in enumerate(regions) if region in allowed)


def mask_of_shard(shard: int, each: int) -> int:
    """The regions in which the shard may be held."""
    return shard // each + 1


def shard_of(task: str, mask: int, each: int) -> int:
    """Where a task, `job/index`, belongs (Turbine IV-A: by MD5)."""
    digest = hashlib.md5(task.encode(), usedforsecurity=False).digest()
    return (mask - 1) * each + int.from_bytes(digest[:8], "big") % each
