"""Which tasks are in a shard, as the lists say, after any number of changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from components.task_manager.core.catalogue import Catalogue, ShardCounts
from projections.lists import TaskLists, apply
from projections.shards import shard_of, shards_of
from tests.unit.task_manager.examples import JOB, published

REGIONS = ("north", "south")
SHAPE = ShardCounts("default", 5, REGIONS)


def listed(*bodies: object, job: str = JOB) -> TaskLists:
    row = TaskLists(job)
    for body in bodies:
        row = apply(row, body)  # type: ignore[arg-type]  # each is a record's body
    return row


def names(catalogue: Catalogue) -> dict[str, int]:
    shards = range(shards_of(SHAPE.each, REGIONS))
    return {name: shard for shard in shards for name in catalogue.entries(shard)}


def ghosts(catalogue: Catalogue) -> dict[str, int]:
    shards = range(shards_of(SHAPE.each, REGIONS))
    found = [one for shard in shards for one in catalogue.ghosts(shard).values()]
    return {one.name: one.specs for one in found}


def test_a_task_is_in_the_shard_of_its_name_and_regions() -> None:
    catalogue = Catalogue(SHAPE)
    catalogue.put(listed(published(2, 3, regions=("south",))))
    assert names(catalogue) == {f"{JOB}/{n}": shard_of(f"{JOB}/{n}", 0b10, 5) for n in range(3)}


def test_a_task_whose_regions_the_tier_has_not_is_nowhere() -> None:
    catalogue = Catalogue(SHAPE)
    catalogue.put(listed(published(2, 3, regions=("west",))))
    assert names(catalogue) == {}


def test_jobs_of_other_tiers_are_kept_and_have_no_tasks_here() -> None:
    catalogue = Catalogue(SHAPE)
    catalogue.put(listed(published(2, 3, tier="other")))
    assert names(catalogue) == {}
    assert JOB in catalogue.rows


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 4), st.sampled_from([(), ("north",)])),
        max_size=20,
    )
)
def test_after_any_changes_it_is_what_a_new_one_would_be(
    changes: list[tuple[str, int, tuple[str, ...]]],
) -> None:
    rows: dict[str, TaskLists] = {}
    catalogue = Catalogue(SHAPE)
    for at, (job, tasks, regions) in enumerate(changes):
        body = published(at + 2, tasks, job=job, regions=regions)
        rows[job] = apply(rows.get(job, TaskLists(job)), body)
        catalogue.put(rows[job])
    other = Catalogue(SHAPE)
    for row in rows.values():
        other.put(row)
    assert names(catalogue) == names(other)
    assert ghosts(catalogue) == ghosts(other)
