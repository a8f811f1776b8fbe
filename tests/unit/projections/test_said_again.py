"""What expires is said again by whoever lives, and changes nothing for who knows it."""

from __future__ import annotations

from dataclasses import replace

from events.generated.records import (
    ContainerReassigned,
    ContainerStarted,
    PlacementPlanned,
    ResourceAmount,
    ShardAddRequested,
)
from tests.unit.shard_manager.fleets import Tale, placed

NOW_MS = 10_000_000


def test_a_life_that_says_again_that_it_lives_is_no_news() -> None:
    """Nor are what it holds and which tier has it."""
    tale = placed(1, 2)
    tale.life(ContainerReassigned("c0", "default", 1, "d", "back"))
    tale.weigh("c0", {0: 1.0, 1: 1.0})
    before = tale.fleet
    amounts = (ResourceAmount("cpu_cores", 99.0),)
    tale.life(ContainerStarted("c0", 1, "default", "local", amounts))
    tale.life(ContainerReassigned("c0", "default", 1, "d", "back"))
    tale.weigh("c0", {0: 1.0, 1: 1.0})
    assert tale.fleet == before


def test_what_a_container_weighs_it_holds() -> None:
    tale = Tale(1)
    tale.start("c0")
    tale.idle.add("c0")
    tale.settle()
    assert set(tale.fleet.open) == {0}
    tale.weigh("c0", {0: 1.0})
    assert not tale.fleet.open
    assert tale.fleet.held(0)


def test_news_counts_on_where_what_a_plan_knew_has_expired() -> None:
    tale = placed(1, 1)
    empty = PlacementPlanned("default", "default#9", "loads", 0, 1, 1, 0, "", "")
    tale.told(replace(empty, measures_json='{"news":500}'))
    tale.start("c1")
    assert tale.fleet.news == 502, "its start and its first word"
    assert tale.fleet.heeded == 500


def test_a_shard_of_somebody_unknown_is_given_up_once_the_log_was_read_for_long() -> None:
    """All that was said of its last holder has expired. Whoever lives has said so again in two
    hours; before, it may be one who lives."""
    tale = Tale(1, settings='{"time_per_mille":100}')
    tale.told(ShardAddRequested("default", 0, 7, "gone", 3, "p", "r", NOW_MS))
    tale.start("c0")
    tale.wait(2 * tale.fleet.timing.again_ms // 1_000 - 1, decides=False)
    tale.beat("c0")
    tale.settle()
    assert tale.holders() == {0: "gone"}
    tale.wait(20)
    assert tale.holders() == {0: "c0"}
    assert tale.fleet.grants[0].generation == 8
