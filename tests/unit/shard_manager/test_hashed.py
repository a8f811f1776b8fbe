"""The degraded mode: shards by a hash of their number, whatever they weigh."""

from __future__ import annotations

from components.shard_manager.core.solver.static import hashed_plan, static_target
from components.shard_manager.core.world import world_of
from events.generated.records import PlacementPlanned, ShardAddRequested
from tests.unit.shard_manager.fleets import Tale, of, placed

HASHED = '{"placement":"hashed"}'


def test_every_process_that_knows_the_containers_finds_the_same() -> None:
    tale = Tale(40, settings=HASHED)
    tale.start("c0", "c1", "c2")
    problem = world_of(tale.fleet, tale.now_ms).problem
    target = static_target(problem, "default").tolist()
    tale.settle()
    assert [f"c{one}" for one in target] == list(tale.holders().values())
    assert set(target) == {0, 1, 2}
    again = placed(3, 40, HASHED)
    assert again.holders() == tale.holders()


def test_what_has_a_container_stays_there_whatever_it_weighs() -> None:
    tale = placed(2, 20, HASHED)
    before = tale.holders()
    mine = [shard for shard, name in before.items() if name == "c0"]
    tale.weigh("c0", dict.fromkeys(mine, 9.0))
    tale.start("c2")
    tale.wait(40)
    tale.jump(tale.fleet.timing.plan_ms)
    assert tale.holders() == before


def test_what_lost_its_container_goes_elsewhere_and_the_rest_stays() -> None:
    tale = placed(3, 30, HASHED)
    before = tale.holders()
    tale.mute.add("c1")
    tale.wait(64)
    after = tale.holders()
    assert "c1" not in after.values()
    assert all(after[shard] == name for shard, name in before.items() if name != "c1")


def test_memory_is_no_ceiling() -> None:
    tale = Tale(3, settings=HASHED)
    tale.start("c0", capacity={"memory_bytes": 1.0})
    tale.settle()
    assert tale.counts() == {"c0": 3}


def test_a_drained_container_is_emptied() -> None:
    tale = placed(3, 12, HASHED)
    tale.drain("c0")
    tale.jump(tale.fleet.timing.rest_ms)
    tale.wait(40)
    assert tale.counts()["c0"] == 0
    assert sum(tale.counts().values()) == 12


def test_without_a_container_that_takes_shards_there_is_an_end_of_plans() -> None:
    tale = placed(2, 6, HASHED)
    for name in ("c0", "c1"):
        tale.drain(name)
    tale.start("c0")
    tale.settle()
    assert len(of(PlacementPlanned, tale.said)) <= 3
    quiet = Tale(4, settings=HASHED)
    quiet.start("c0")
    quiet.mute.add("c0")
    quiet.wait(30, decides=False)
    quiet.settle()
    assert of(ShardAddRequested, quiet.said) == []
    quiet.mute.clear()
    quiet.wait(70)
    assert quiet.counts() == {"c0": 4}


def test_regions_hold() -> None:
    tale = Tale(4, ("north", "south"), settings=HASHED)
    tale.start("c0", "c1", region="north")
    tale.start("c2", region="south")
    tale.settle()
    homes = tale.holders()
    assert {homes[shard] for shard in range(4)} <= {"c0", "c1"}
    assert {homes[shard] for shard in range(4, 8)} == {"c2"}


def test_no_container_is_no_place() -> None:
    tale = Tale(3, settings=HASHED)
    problem = world_of(tale.fleet, tale.now_ms).problem
    for urgent in (False, True):
        plan = hashed_plan(problem, "default", urgent=urgent)
        assert plan.target.tolist() == [-1] * 3
        assert [one.shard for one in plan.unplaced] == [0, 1, 2]
