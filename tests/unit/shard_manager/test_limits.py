"""What a plan does where it may not do all it would: ceilings, budgets, tiers of nothing."""

from dataclasses import replace

import pytest

from components.shard_manager.core.plan import Cause, Obstacle, Reason
from components.shard_manager.core.solver.solve import Mode, solve
from tests.unit.shard_manager.tiers import tier

# --- ceilings


def test_a_hard_ceiling_goes_before_balance() -> None:
    # The second container is empty, but may use 30 of its 100 only.
    problem = tier([40], [-1], [100, 100], headroom=[0, 700], hard=(0,))
    assert solve(problem, 0).target.tolist() == [0]
    soft = tier([40], [-1], [100, 100], headroom=[0, 700])
    assert solve(soft, 0).unplaced == ()


@pytest.mark.parametrize("orphans_many", [0, 2000])
def test_one_that_fits_nowhere_does_not_stop_the_others(orphans_many: int) -> None:
    problem = tier(
        [[5, 5], [5, 200], [5, 60], [5, 60], [5, 60]],
        [-1] * 5,
        [[100, 100], [100, 100]],
        hard=(1,),
        orphans_many=orphans_many,
    )
    plan = solve(problem, 0)
    told = {one.shard: (one.obstacle, one.resource) for one in plan.unplaced}
    assert told[1] == (Obstacle.TOO_LARGE, 1)
    assert [one for one in (2, 3, 4) if told.get(one) == (Obstacle.CEILING, 1)] == [
        one for one in (2, 3, 4) if plan.target[one] < 0
    ]
    assert len(plan.unplaced) == 2
    assert plan.target[0] >= 0


def test_a_ceiling_is_reached_and_not_passed() -> None:
    fits = tier([30, 70], [-1, -1], [100], hard=(0,))
    assert solve(fits, 0).unplaced == ()
    over = tier([30, 71], [-1, -1], [100], hard=(0,))
    assert [one.obstacle for one in solve(over, 0).unplaced] == [Obstacle.CEILING]


# --- budgets


def test_the_budget_of_moves_ends_a_plan_and_says_what_is_left() -> None:
    problem = tier([10] * 30, [0] * 20 + [1] * 5 + [2] * 5, [200] * 3, moves_max=2)
    plan = solve(problem, 0)
    assert len(plan.moves) == 2
    assert {one.cause for one in plan.given_up} == {Cause.BUDGET}
    assert plan.given_up[0].violation > 0
    assert (
        len(solve(replace(problem, settings=replace(problem.settings, moves_max=0)), 0).moves) == 0
    )


def test_the_budget_of_load_counts_the_share_of_the_tier() -> None:
    problem = tier([10] * 30, [0] * 20 + [1] * 5 + [2] * 5, [200] * 3, load_max=101)
    assert len(solve(problem, 0).moves) == 3
    assert (
        len(solve(replace(problem, settings=replace(problem.settings, load_max=99)), 0).moves) == 2
    )


def test_orphans_have_no_budget_and_drains_wait_for_theirs() -> None:
    problem = tier(
        [10] * 9, [0] * 3 + [1] * 3 + [-1] * 3, [200] * 3, draining=[0, 1, 0], moves_max=1
    )
    plan = solve(problem, 0)
    assert [move.reason for move in plan.moves] == [Reason.ORPHAN] * 3 + [Reason.DRAIN]
    assert plan.postponed == 2


def test_one_job_moves_no_more_than_it_may() -> None:
    problem = tier(
        [10] * 30,
        [0] * 20 + [1] * 5 + [2] * 5,
        [200] * 3,
        job=[7] * 19 + [8] * 11,
        moves_per_job_max=2,
    )
    moved = solve(problem, 0).moves.shard.tolist()
    assert sum(shard < 19 for shard in moved) == 2
    assert sum(shard >= 19 for shard in moved) in (0, 1, 2)


def test_resting_shards_are_left_where_they_are() -> None:
    problem = tier([10] * 30, [0] * 14 + [1] * 8 + [2] * 8, [200] * 3, movable=[0] * 14 + [1] * 16)
    plan = solve(problem, 0)
    assert len(plan.moves) == 0
    assert [one.cause for one in plan.given_up if one.container == 0] == [Cause.IMMOVABLE]


def test_a_shard_that_is_larger_than_a_share_is_told() -> None:
    problem = tier([100, 10, 10], [0, 1, 2], [200] * 3)
    plan = solve(problem, 0)
    assert plan.given_up[0].container == 0
    assert plan.given_up[0].cause is Cause.ONE_SHARD


# --- degenerate tiers


@pytest.mark.parametrize("mode", ["repair", "afresh", "urgent"])
def test_tiers_of_nothing_have_plans(mode: Mode) -> None:
    assert len(solve(tier([], [], []), 0, mode=mode).target) == 0
    assert len(solve(tier([], [], [100]), 0, mode=mode).moves) == 0
    none = solve(tier([1, 2], [-1, -1], []), 0, mode=mode)
    assert none.target.tolist() == [-1, -1]
    assert [one.obstacle for one in none.unplaced] == [Obstacle.NO_CONTAINER] * 2
    assert solve(tier([1, 2], [-1, -1], [100]), 0, mode=mode).target.tolist() == [0, 0]
    assert solve(tier([0, 0], [0, 0], [0]), 0, mode=mode).target.tolist() == [0, 0]
    dead = solve(tier([1], [0], [1], alive=[False]), 0, mode=mode)
    assert dead.target.tolist() == [-1]


def test_a_resource_that_nobody_has_refuses_only_where_it_is_hard() -> None:
    loads, capacity = [[5, 1]] * 4, [[100, 0]] * 2
    assert solve(tier(loads, [-1] * 4, capacity), 0).unplaced == ()
    hard = solve(tier(loads, [-1] * 4, capacity, hard=(1,)), 0)
    assert {one.obstacle for one in hard.unplaced} == {Obstacle.TOO_LARGE}


def test_one_container_without_a_resource_gets_none_of_it() -> None:
    problem = tier([[5, 5], [5, 0]] * 10, [-1] * 20, [[100, 100], [100, 0]], hard=(1,))
    plan = solve(problem, 0)
    assert plan.unplaced == ()
    assert (plan.target[::2] == 0).all()
