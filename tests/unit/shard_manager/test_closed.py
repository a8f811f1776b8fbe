"""Where shards may not be: other regions than theirs, and containers that are to be empty."""

from __future__ import annotations

import json

import pytest

from events.generated.records import Body, PlacementPlanned, ShardAddRequested, ShardDropRequested
from projections.plans import Planned, write_moves
from projections.timing import Timing
from tests.unit.shard_manager.fleets import Tale, calm, of

CALM_S = Timing().calm_ms // 1000
REST_MS = Timing().rest_ms


def balanced(bodies: list[Body]) -> list[PlacementPlanned]:
    return [one for one in of(PlacementPlanned, bodies) if one.trigger == "news"]


# --- regions


def test_shards_go_to_their_regions_alone() -> None:
    tale = Tale(2, ("north", "south"))
    tale.start("c0", region="north")
    tale.start("c1", region="south")
    tale.start("c2", region="east")  # of which the tier does not know
    tale.settle()
    homes = tale.holders()
    assert [homes[shard] for shard in range(4)] == ["c0", "c0", "c1", "c1"]
    assert {homes[4], homes[5]} <= {"c0", "c1"}


@pytest.mark.parametrize("named", [("a", "b", "c", "d"), ("a",), ()])
def test_a_region_without_a_container_leaves_its_own_shards_out(named: tuple[str, ...]) -> None:
    tale = Tale(1, named)
    tale.start("c0", region="a")
    tale.settle()
    assert set(tale.holders()) == {shard for shard in range(tale.fleet.shards) if (shard + 1) & 1}
    assert set(tale.fleet.unplaced) == set(range(tale.fleet.shards)) - set(tale.holders())


def test_a_container_that_is_of_another_region_now_is_left() -> None:
    tale = Tale(2, ("north", "south"))
    tale.start("c0", region="north")
    tale.start("c1", region="north")
    tale.settle()
    tale.start("c1", region="south")
    given = of(ShardAddRequested, tale.settle())
    assert all(one.shard >= 2 for one in given if one.container == "c1")
    homes = tale.holders()
    assert {homes[0], homes[1]} == {"c0"}
    assert {homes[2], homes[3]} == {"c1"}


def test_a_shard_on_its_way_to_a_container_of_another_region_now_goes_elsewhere() -> None:
    tale = Tale(2, ("north", "south"))
    tale.start("c0", "c1", "c2", region="north")
    tale.settle()
    home = tale.holders()[0]
    goal = tale.other(home)
    tale.ask("by-hand", write_moves([Planned(0, 1, goal)]))
    tale.settle(answers=False)
    tale.start(goal, region="south")
    tale.settle()
    tale.dropped(home, 0)
    tale.settle()
    assert tale.holders()[0] not in ("", goal)


# --- drains


def test_a_drained_container_is_emptied_and_gets_nothing() -> None:
    tale = calm(3, 12, '{"moves_max":1000,"load_max":1000}')
    tale.drain("c0")
    assert balanced(tale.settle()) == []
    tale.wait(CALM_S + 1)
    assert tale.counts()["c0"] == 0
    drops = of(ShardDropRequested, tale.said)
    assert {one.container for one in drops} == {"c0"}
    assert all(one.reason.startswith("c0 is being emptied") for one in drops)
    tale.start("c1")
    tale.settle()
    tale.wait(4 * CALM_S)
    assert tale.counts()["c0"] == 0


@pytest.mark.parametrize("state", ["draining", "stopping"])
def test_so_is_one_that_says_that_it_leaves(state: str) -> None:
    tale = calm(3, 6, '{"moves_max":1000,"load_max":1000}')
    tale.beat("c0", state)
    tale.wait(CALM_S + 1)
    assert tale.counts()["c0"] == 0


def test_one_that_is_wanted_again_is_filled_again() -> None:
    tale = calm(2, 6, '{"moves_max":1000,"load_max":1000}')
    tale.drain("c0")
    tale.wait(CALM_S + 1)
    assert tale.counts() == {"c0": 0, "c1": 6}
    tale.undrain("c0")
    tale.jump(REST_MS)
    tale.wait(CALM_S + 1)
    tale.jump(REST_MS)
    assert tale.counts() == {"c0": 3, "c1": 3}


def test_a_drain_goes_before_balance() -> None:
    """One move is all that this tier's plans may make."""
    tale = calm(3, 9, '{"moves_max":1,"load_max":1000}')
    tale.weigh_all(0.1)
    tale.weigh("c1", {shard: 1.0 for shard, name in tale.holders().items() if name == "c1"}, 2)
    tale.drain("c0")
    tale.wait(CALM_S + 1)
    (drop,) = of(ShardDropRequested, tale.said)
    assert drop.container == "c0"
    (plan,) = balanced(tale.said)
    assert json.loads(plan.measures_json)["postponed"] == 2
    assert plan.explanation.endswith("; 2 shards have to wait for the next plan")
