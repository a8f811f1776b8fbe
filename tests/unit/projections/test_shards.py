"""Numbers of shards: every mask has its own, and a task is always in the same one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from projections.shards import mask_of, mask_of_shard, shard_of, shards_of, whole_mask

REGIONS = ("north", "south", "east")


def test_a_tier_has_as_many_shards_for_every_set_of_regions() -> None:
    assert shards_of(10, REGIONS) == 70
    assert shards_of(10, ("north",)) == 10
    assert shards_of(10, ()) == 10


def test_masks_name_regions_by_their_order() -> None:
    assert mask_of(REGIONS, ("east", "north")) == 0b101
    assert mask_of(REGIONS, ()) == whole_mask(REGIONS) == 0b111
    assert mask_of(REGIONS, ("west",)) == 0
    assert mask_of((), ("west",)) == 1


@given(st.text(min_size=1), st.integers(1, 7), st.integers(1, 5_000))
def test_a_shard_tells_its_mask(task: str, mask: int, each: int) -> None:
    shard = shard_of(task, mask, each)
    assert 0 <= shard < shards_of(each, REGIONS)
    assert mask_of_shard(shard, each) == mask


def test_a_task_is_where_it_always_was() -> None:
    assert shard_of("orders/0", 1, 1024) == 11
    assert shard_of("orders/0", 3, 1024) == 2 * 1024 + 11
