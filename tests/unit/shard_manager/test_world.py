"""A tier's row as a problem: what counts as load, as room, as a home, as movable."""

from __future__ import annotations

import numpy as np
import pytest

from components.shard_manager.core.solver.problem import SUM_MAX
from components.shard_manager.core.solver.solve import solve
from components.shard_manager.core.world import PlacementWorld, world_of
from events.generated.records import ShardLoad, ShardLoadsReported
from projections.liveness import Ticks
from projections.plans import Planned, write_moves
from tests.unit.shard_manager.fleets import LIVES, Tale, placed

MEMORY = {"cpu_cores": 10.0, "memory_bytes": 1024.0 * 1000}


def world(tale: Tale, *, urgent: bool = False) -> PlacementWorld:
    return world_of(tale.fleet, tale.now_ms, urgent=urgent)


def weigh(tale: Tale, shard: int, **amounts: float | None) -> None:
    """What a shard uses, by its holder, in any resources."""
    grant = tale.fleet.grants[shard]
    load = ShardLoad("default", shard, grant.generation, 1, **amounts)  # type: ignore[arg-type]  # whole or not
    tale.life(ShardLoadsReported(grant.container, grant.epoch, 1, 600_000, (load,)))


# --- loads


def test_what_nobody_has_weighed_is_as_the_others_are_on_average() -> None:
    tale = placed(2, 4)
    holders = tale.holders()
    tale.weigh(holders[0], {0: 1.0})
    tale.weigh(holders[1], {1: 3.0})
    loads = world(tale).problem.loads[:, 0]
    idle = int(loads[0]) - 1000
    assert idle >= 1
    assert (loads - idle).tolist() == [1000, 3000, 2000, 2000]


def test_what_is_unknown_of_one_resource_is_the_mean_of_that_one() -> None:
    tale = Tale(2)
    tale.start("c0", capacity=MEMORY)
    tale.settle()
    weigh(tale, 0, cpu_cores=1.0, memory_bytes=None)
    weigh(tale, 1, cpu_cores=None, memory_bytes=1024 * 50)
    found = world(tale)
    assert found.resources == ("cpu_cores", "memory_bytes")
    idle = found.problem.loads.min(axis=0) - [1000, 50]
    assert (found.problem.loads - idle).tolist() == [[1000, 50], [1000, 50]]


def test_a_shard_that_does_nothing_weighs_a_little() -> None:
    tale = placed(2, 4)
    loads = world(tale).problem.loads[:, 0]
    assert set(loads.tolist()) == {2 * 10_000 // (1000 * 4)}
    many = placed(1, 30)
    tiny = Tale(30)
    tiny.start("c0", capacity={"cpu_cores": 0.001})
    tiny.settle()
    assert set(world(many).problem.loads[:, 0].tolist()) == {1}
    assert set(world(tiny).problem.loads[:, 0].tolist()) == {1}


@pytest.mark.parametrize("shards", [1, 4096])
def test_one_absurd_report_does_not_end_the_manager(shards: int) -> None:
    """What is unknown is as large as the mean: here all are as the one that was reported."""
    tale = placed(2, shards)
    tale.weigh(tale.holders()[0], {0: 1e300})
    found = world(tale)
    assert found.problem.loads.sum() < SUM_MAX / 2
    assert len(solve(found.problem, 1).target) == shards


def test_absurd_capacities_do_not_either() -> None:
    tale = Tale(3)
    tale.start("c0", capacity={"cpu_cores": 1e306, "disk_bytes": 1e306})
    tale.start("c1", capacity={"cpu_cores": -5.0, "memory_bytes": 0.0})
    tale.start("c2", capacity={})
    tale.settle()
    assert len(tale.holders()) == 3
    assert (world(tale).problem.capacity >= 0).all()


# --- room


def test_headroom_is_kept_free() -> None:
    """Of 1000 KiB a container with a tenth of headroom takes 900."""
    for share, fits in ((100, 2), (460, 1), (0, 2)):
        tale = Tale(2, settings=f'{{"headroom":{share}}}')
        tale.start("c0", capacity=MEMORY)
        tale.settle()
        for shard in (0, 1):
            weigh(tale, shard, cpu_cores=1.0, memory_bytes=1024 * 440)
        found = world(tale).problem
        assert found.headroom.tolist() == [share]
        target = solve(found, 1, mode="afresh").target
        assert int((target >= 0).sum()) == fits


def test_memory_and_disk_have_ceilings_and_nothing_has_in_hashed_mode() -> None:
    every = {**MEMORY, "disk_bytes": 2.0**20, "network_bytes_per_s": 2.0**20}
    for mode, hard in (("measured", (1, 2)), ("hashed", ())):
        tale = Tale(2, settings=f'{{"placement":"{mode}"}}')
        tale.start("c0", capacity=every)
        assert world(tale).problem.settings.hard == hard
        assert len(world(tale).resources) == 4


def test_a_tier_where_nobody_names_anything_is_shared_by_count() -> None:
    tale = Tale(6)
    tale.start("c0", "c1", capacity={})
    tale.settle()
    assert tale.counts() == {"c0": 3, "c1": 3}


def test_one_that_names_less_takes_no_limit_from_the_others() -> None:
    tale = Tale(2)
    tale.start("c0", capacity=MEMORY)
    tale.start("c1", capacity={"cpu_cores": 10.0})
    assert "memory_bytes" in world(tale).resources


def test_a_new_container_is_no_gap_that_has_to_be_filled_at_once() -> None:
    tale = placed(2, 6)
    ramp_ms = tale.fleet.timing.ramp_ms
    sums = ((0, 0), (ramp_ms // 2, 500), (ramp_ms - 1, 999), (ramp_ms, 1000), (3 * ramp_ms, 1000))
    for lived_ms, ramp in sums:
        since_ms = tale.fleet.lives["c0"].since_ms
        ticks = tale.fleet.ticks.set(LIVES, Ticks(since_ms + lived_ms, tale.now_ms))
        row = tale.fleet._replace(ticks=ticks)
        assert world_of(row, tale.now_ms).problem.ramp.tolist()[0] == ramp


def test_settings_are_the_tiers() -> None:
    tale = placed(2, 50, '{"band":200,"moves_max":200,"load_max":300,"moves_per_job_max":7}')
    found = world(tale).problem.settings
    assert (found.band, found.moves_max, found.load_max, found.moves_per_job_max) == (
        200,
        10,
        300,
        7,
    )
    assert world(placed(1, 5)).problem.settings.moves_max == 1
    assert world(placed(1, 5)).problem.settings.moves_per_job_max is None


# --- who and where


def test_containers_of_other_tiers_and_dead_ones_are_not_there() -> None:
    tale = placed(3, 6)
    tale.start("other", tier="another")
    tale.mute.add("c1")
    tale.wait(64)
    assert world(tale).containers == ("c0", "c2")


def test_a_quiet_container_is_closed_where_it_is_urgent() -> None:
    tale = placed(2, 4)
    tale.mute.add("c1")
    tale.wait(30)
    assert world(tale).problem.draining.tolist() == [False, False]
    assert world(tale, urgent=True).problem.draining.tolist() == [False, True]
    tale.drain("c0")
    assert world(tale).problem.draining.tolist() == [True, False]


def test_a_shard_on_its_way_is_where_it_goes_and_stays_on_its_way() -> None:
    tale = placed(2, 4)
    home = tale.holders()[0]
    goal = tale.other(home)
    tale.ask("by-hand", write_moves([Planned(0, 1, goal)]))
    tale.settle(answers=False)
    tale.now_ms += tale.fleet.timing.rest_ms
    found = world(tale)
    assert found.problem.movable[1:].all()
    assert found.containers[found.problem.home[0]] == goal
    assert not found.problem.movable[0]


def test_a_shard_rests_before_it_may_move_again() -> None:
    tale = placed(2, 4)
    assert world(tale).problem.movable.all(), "they were placed and have never moved"
    tale.ask("by-hand", write_moves([Planned(0, 1, tale.other(tale.holders()[0]))]))
    tale.settle()
    tale.now_ms += tale.fleet.timing.rest_ms - 1
    assert world(tale).problem.movable.tolist() == [False, True, True, True]
    tale.now_ms += 1
    assert world(tale).problem.movable.all()


def test_a_container_of_a_region_that_the_tier_has_not_is_in_none() -> None:
    tale = Tale(2, ("north", "south"))
    tale.start("c0", region="north")
    tale.start("c1", region="south")
    tale.start("c2", region="east")
    found = world(tale).problem
    assert found.region.tolist() == [1, 2, 0]
    assert found.allowed.tolist() == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("regions", [(), ("a",), ("a", "b", "c", "d")])
@pytest.mark.parametrize("shards", [0, 1])
def test_the_smallest_tiers_are_problems_as_well(shards: int, regions: tuple[str, ...]) -> None:
    tale = Tale(shards, regions)
    assert world(tale).problem.containers == 0
    tale.start("c0", region="a")
    found = world(tale).problem
    assert found.shards == tale.fleet.shards
    assert (solve(found, 1).target[found.allowed & np.uint64(1) > 0] == 0).all()


def test_jobs_are_told_apart() -> None:
    tale = placed(1, 4)
    tale.weigh("c0", {0: 1.0, 2: 1.0}, job="orders")
    tale.weigh("c0", {1: 1.0}, job="clicks")
    jobs = world(tale).problem.job.tolist()
    assert jobs[3] == -1
    assert jobs[0] == jobs[2] != jobs[1] != -1
