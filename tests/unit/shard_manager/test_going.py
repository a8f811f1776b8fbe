"""Who is given up, and when: silence, lateness, and the brake before a mass of either."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    ContainerFailOverRequested,
    PlacementPlanned,
    ShardForceKilled,
    TierDefined,
)
from projections.fleet_folds import MASS_FAILURE
from projections.plans import Planned, write_moves
from tests.unit.shard_manager.fleets import Tale, of, placed

SILENT_S = 64


def gone(tale: Tale) -> list[str]:
    return [one.container for one in of(ContainerFailOverRequested, tale.said)]


def braked(bodies: list[Body]) -> list[str]:
    return [one.cause for one in of(AlertRaised, bodies) if one.alert == MASS_FAILURE]


def silent(containers: int, mute: int, settings: str = "{}") -> Tale:
    """So many fall silent at once, for long enough."""
    tale = placed(containers, containers, settings)
    tale.mute |= {f"c{one}" for one in range(mute)}
    tale.wait(SILENT_S)
    return tale


# --- silence


def test_a_silent_container_is_failed_over_once_and_its_shards_go_elsewhere() -> None:
    tale = placed()
    tale.mute.add("c1")
    tale.wait(61)
    assert gone(tale) == []
    tale.wait(SILENT_S)
    (asked,) = of(ContainerFailOverRequested, tale.said)
    assert (asked.container, asked.epoch) == ("c1", 1)
    assert asked.silence_ms >= tale.fleet.timing.silence_ms
    assert asked.explanation == f"nothing was heard of it for {asked.silence_ms // 1000} s"
    assert tale.counts() == {"c0": 3, "c1": 0, "c2": 3}
    assert not tale.fleet.requests


def test_a_fail_over_is_asked_for_once_until_it_is_read_back() -> None:
    tale = placed()
    tale.mute.add("c1")
    tale.wait(SILENT_S, decides=False)
    (asked,) = of(ContainerFailOverRequested, tale.would_emit())
    tale.told(asked)
    assert of(ContainerFailOverRequested, tale.would_emit()) == []


def test_one_that_is_heard_in_time_keeps_its_shards() -> None:
    tale = placed()
    before = tale.holders()
    tale.mute.add("c1")
    tale.wait(50)
    tale.mute.clear()
    tale.wait(SILENT_S)
    assert gone(tale) == []
    assert tale.holders() == before


# --- the brake


@pytest.mark.parametrize(
    ("containers", "mute", "asks"),
    [(3, 2, False), (3, 3, True), (4, 3, True), (10, 3, False), (10, 4, True), (6, 2, False)],
)
def test_more_than_two_and_more_than_a_share_need_a_persons_word(
    containers: int, mute: int, asks: bool
) -> None:
    tale = silent(containers, mute)
    assert bool(braked(tale.said)) is asks
    assert (tale.fleet.brake is not None) is asks
    assert len(gone(tale)) == (0 if asks else mute)


@pytest.mark.parametrize(("share", "asks"), [(400, False), (399, True)])
def test_a_tier_says_which_share(share: int, asks: bool) -> None:
    tale = silent(10, 4, f'{{"brake":{share}}}')
    assert bool(braked(tale.said)) is asks


def test_the_brake_is_one_plan_that_is_held_and_one_alert() -> None:
    tale = silent(4, 3)
    tale.wait(300)
    (cause,) = braked(tale.said)
    (held,) = [one for one in of(PlacementPlanned, tale.said) if one.held]
    assert held.trigger == MASS_FAILURE
    assert held.explanation.startswith("3 of 4 containers look dead at once")
    assert held.plan_id in held.explanation
    assert f"turbine placement apply {held.plan_id}" in cause
    assert json.loads(held.measures_json)["gone"] == ["c0", "c1", "c2"]
    assert json.loads(tale.fleet.alerts[MASS_FAILURE]) == {"plan_id": held.plan_id}
    assert gone(tale) == []


def test_those_who_died_together_are_not_failed_over_one_by_one() -> None:
    """They are found silent at different ticks; half of the silence is enough to be counted."""
    tale = placed(4, 4)
    for name in ("c0", "c1", "c2"):
        tale.mute.add(name)
        tale.wait(8)
    tale.wait(SILENT_S)
    assert gone(tale) == []
    assert len(braked(tale.said)) == 1


def test_a_person_who_says_that_they_are_gone_releases_it() -> None:
    tale = silent(4, 3)
    assert tale.fleet.brake is not None
    tale.ask(tale.fleet.brake.plan_id)
    tale.settle()
    tale.wait(3)
    assert sorted(gone(tale)) == ["c0", "c1", "c2"]
    assert tale.counts() == {"c0": 0, "c1": 0, "c2": 0, "c3": 4}
    cleared = [one for one in of(AlertCleared, tale.said) if one.alert == MASS_FAILURE]
    assert len(cleared) == 1
    assert tale.fleet.brake is None


def test_it_is_cleared_when_they_are_heard_again() -> None:
    tale = silent(4, 3)
    before = tale.holders()
    tale.mute.clear()
    tale.wait(10)
    (cleared,) = of(AlertCleared, tale.said)
    assert (cleared.alert, cleared.explanation) == (MASS_FAILURE, "its containers are heard again")
    assert tale.fleet.brake is None
    assert gone(tale) == []
    assert tale.holders() == before


def test_it_is_cleared_when_most_are_heard_and_the_rest_is_failed_over() -> None:
    tale = silent(4, 3)
    tale.mute = {"c2"}
    tale.wait(12)
    (cleared,) = of(AlertCleared, tale.said)
    assert cleared.explanation == "most of its containers are heard again"
    assert gone(tale) == ["c2"]


def test_a_word_given_once_does_not_count_for_the_next_time() -> None:
    tale = silent(4, 3)
    assert tale.fleet.brake is not None
    tale.ask(tale.fleet.brake.plan_id)
    tale.settle()
    tale.wait(3)
    tale.mute.clear()
    tale.start("c0", "c1", "c2")
    tale.wait(200)
    tale.mute |= {"c1", "c2", "c3"}
    asked = len(gone(tale))
    tale.wait(SILENT_S)
    assert len(gone(tale)) == asked
    assert len(braked(tale.said)) == 2


def test_who_is_dead_and_has_shards_still_counts_among_the_gone() -> None:
    """Its shards have no place: with two more, three of five are gone."""
    tale = Tale(4, ("north", "south"))
    tale.start("n0", region="north")
    tale.start("s0", "s1", "s2", "s3", region="south")
    tale.settle()
    tale.mute.add("n0")
    tale.wait(130)
    assert gone(tale) == ["n0"]
    tale.mute |= {"s0", "s1"}
    tale.wait(SILENT_S)
    assert gone(tale) == ["n0"]
    assert len(braked(tale.said)) == 1


def test_a_word_holds_for_those_it_was_said_of() -> None:
    """Their shards have no place for a long time, and then others are cut off."""
    tale = Tale(4, ("north", "south"))
    north, south = ("n0", "n1", "n2"), ("s0", "s1", "s2", "s3")
    tale.start(*north, region="north")
    tale.start(*south, region="south")
    tale.settle()
    tale.mute |= set(north)
    tale.wait(SILENT_S)
    assert tale.fleet.brake is not None
    tale.ask(tale.fleet.brake.plan_id)
    tale.settle()
    tale.wait(130)
    assert sorted(gone(tale)) == list(north)
    assert tale.fleet.unplaced
    tale.mute |= {"s0", "s1", "s2"}
    tale.wait(SILENT_S)
    assert sorted(gone(tale)) == list(north)


def test_shards_that_were_late_are_no_way_around_the_brake() -> None:
    """Who is cut off from the log does not answer either."""
    tale = Tale(8)
    tale.start("c0", "c1", "c2", "c3")
    tale.idle |= {"c0", "c1", "c2"}
    tale.settle()
    tale.mute |= {"c0", "c1", "c2"}
    tale.wait(200)
    assert len(braked(tale.said)) == 1
    assert gone(tale) == []


# --- who does not do what is asked


def test_a_drop_that_takes_too_long_is_a_kill_and_then_a_fail_over() -> None:
    tale = placed()
    home = tale.holders()[0]
    tale.idle.add(home)
    tale.ask("by-hand", write_moves([Planned(0, 1, tale.other(home))]))
    tale.settle()
    timing = tale.fleet.timing
    tale.jump(timing.drop_ms)
    assert of(ShardForceKilled, tale.said) == []
    tale.jump(1)
    (kill,) = of(ShardForceKilled, tale.said)
    assert (kill.shard, kill.generation, kill.container) == (0, 1, home)
    tale.jump(timing.kill_ms)
    assert gone(tale) == []
    tale.jump(1)
    (asked,) = of(ContainerFailOverRequested, tale.said)
    assert (asked.container, asked.explanation) == (home, "shard 0 was not killed in time")


def test_a_start_that_takes_too_long_is_a_fail_over() -> None:
    tale = Tale(6)
    tale.start("c0", "c1")
    tale.idle.add("c1")
    tale.settle()
    tale.jump(tale.fleet.timing.add_ms)
    assert gone(tale) == []
    tale.jump(1)
    (asked,) = of(ContainerFailOverRequested, tale.said)
    assert asked.container == "c1"
    assert asked.explanation.endswith("was not started in time")


def test_one_that_was_added_is_late_no_more() -> None:
    tale = placed()
    tale.jump(tale.fleet.timing.add_ms + 1)
    assert gone(tale) == []


def test_each_container_is_asked_about_once_for_whatever_reasons() -> None:
    """Two are silent, and what they were to start is late as well."""
    tale = Tale(8)
    tale.start("c0", "c1", "c2")
    tale.idle |= {"c0", "c1"}
    tale.settle()
    tale.mute |= {"c0", "c1"}
    tale.wait(121, decides=False)
    asked = of(ContainerFailOverRequested, tale.speak())
    assert Counter(one.container for one in asked) == {"c0": 1, "c1": 1}


def test_what_is_said_first_is_what_is_urgent() -> None:
    tale = placed(4, 40)
    tale.idle.add("c0")
    mine = [shard for shard, name in tale.holders().items() if name == "c0"][:2]
    tale.ask("by-hand", write_moves([Planned(shard, 1, "c1") for shard in mine]))
    tale.settle()
    tale.dropped("c0", mine[0])
    tale.mute.add("c3")
    tale.wait(SILENT_S, decides=False)
    tale.ask("nothing")
    kinds = [type(body).__name__ for body in tale.speak()]
    assert list(dict.fromkeys(kinds)) == [
        "ContainerFailOverRequested",
        "ShardForceKilled",
        "ShardAddRequested",
        "PlacementRejected",
    ]
    assert "PlacementPlanned" in [type(body).__name__ for body in tale.speak()]


# --- the tier's record once more


@pytest.mark.parametrize("settings", ["{}", '{"band":90}'])
def test_a_tier_that_is_defined_again_moves_nobody(settings: str) -> None:
    tale = placed()
    before = tale.holders()
    tale.jump(tale.fleet.timing.add_ms + 1)
    tale.told(TierDefined("default", 6, ("local",), settings))
    tale.wait(SILENT_S)
    assert gone(tale) == []
    assert tale.holders() == before
    assert not tale.fleet.open


@pytest.mark.parametrize(
    ("shards", "regions"), [(3, ("local",)), (12, ("local",)), (6, ("n", "s"))]
)
def test_the_shape_of_a_tier_never_changes(shards: int, regions: tuple[str, ...]) -> None:
    tale = placed()
    tale.told(TierDefined("default", shards, regions, '{"band":90}'))
    assert (tale.fleet.shards, tale.fleet.each, tale.fleet.regions) == (6, 6, ("local",))
    assert tale.fleet.placing.band == 90
    tale.start("c7")
    tale.wait(40)
    assert gone(tale) == []
