"""Laws of the placement: whatever the tier, its plan is whole, legal, bounded and safe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from components.shard_manager.core.explaining import PlacementVerdict, explain
from components.shard_manager.core.plan import Obstacle, PlacementPlan, Reason
from components.shard_manager.core.solver.problem import PlacementProblem, PlacementSettings
from components.shard_manager.core.solver.scale import SolverScale, scale_of
from components.shard_manager.core.solver.solve import place_orphans, solve
from components.shard_manager.core.solver.static import static_target
from tests.kit.examples import at_most

REGIONS = 3
seeds = st.integers(0, 2**64 - 1)
bounded = settings(
    deadline=None, max_examples=at_most(80)
)  # a tier that cannot be in band takes longest


@st.composite
def tiers(draw: st.DrawFn, orphans_many: int | None = None) -> PlacementProblem:
    """Small tiers with every oddity: nobody there, nothing to place, no load, no capacity."""
    shards, containers = draw(st.integers(0, 40)), draw(st.integers(0, 7))
    resources = draw(st.integers(1, 4))
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    loads = np.rint(
        np.exp(chance.normal(3, draw(st.sampled_from((0, 0.5, 2))), (shards, resources)))
    )
    loads[chance.random((shards, resources)) < draw(st.sampled_from((0, 0.3, 1)))] = 0
    room = loads.sum(axis=0) / max(containers, 1) * draw(st.sampled_from((0.5, 1.2, 2, 10)))
    capacity = np.rint(room * chance.uniform(0.6, 1.4, (containers, resources)))
    capacity[chance.random((containers, resources)) < draw(st.sampled_from((0, 0.1)))] = 0
    some = draw(st.sampled_from((0, 0.2)))
    hard = tuple(sorted(draw(st.sets(st.integers(0, resources - 1)))))
    homeless = chance.random(shards) < draw(st.sampled_from((0, 0.3, 1)))
    home = chance.integers(0, max(containers, 1), shards) if containers else np.full(shards, -1)
    return PlacementProblem(
        loads=loads.astype(np.int64),
        allowed=chance.integers(0 if some else 1, 2**REGIONS, shards).astype(np.uint64),
        home=np.where(homeless, -1, home).astype(np.int32),
        capacity=capacity.astype(np.int64),
        region=(1 << chance.integers(0, REGIONS, containers)).astype(np.uint64),
        alive=chance.random(containers) >= some,
        headroom=chance.integers(0, 301, containers).astype(np.int32),
        ramp=np.where(chance.random(containers) < some, 300, 1000).astype(np.int32),
        draining=chance.random(containers) < some,
        movable=chance.random(shards) >= some,
        job=chance.integers(-1, 5, shards).astype(np.int32),
        settings=PlacementSettings(
            hard=hard,
            moves_max=draw(st.none() | st.integers(0, 10)),
            load_max=draw(st.sampled_from((1000, 50))),
            moves_per_job_max=draw(st.none() | st.integers(0, 3)),
            orphans_many=orphans_many
            if orphans_many is not None
            else draw(st.sampled_from((0, 2000))),
            fill_min=draw(st.sampled_from((1, 8))),
            group=draw(st.sampled_from((2, 48))),
        ),
    )


def homeless(problem: PlacementProblem) -> np.ndarray:
    found = problem.home < 0
    found[~found] = ~problem.alive[problem.home[~found]]
    return found


def allows(problem: PlacementProblem, shard: int, container: int) -> bool:
    return bool(problem.allowed[shard] & problem.region[container])


def replay(problem: PlacementProblem, plan: PlacementPlan) -> list[np.ndarray]:
    """The map after each step, the one before the first step among them."""
    here = np.where(homeless(problem), -1, problem.home)
    maps = [here.copy()]
    for at, move in enumerate(plan.moves):
        here[move.shard] = move.target
        if at + 1 == len(plan.moves) or plan.moves[at + 1].step != move.step:
            maps.append(here.copy())
    return maps


def disorder(problem: PlacementProblem, scale: SolverScale, here: np.ndarray) -> tuple[int, float]:
    """Shards that are where they cannot stay, then what is beyond the edges."""
    misplaced = 0
    for shard, container in enumerate(here.tolist()):
        fine = container >= 0 and allows(problem, shard, container)
        misplaced += not (fine and not problem.draining[container])
    loads = np.zeros((problem.containers, problem.resources))
    for shard, container in enumerate(here.tolist()):
        if container >= 0:
            loads[container] += scale.x[shard]
    beyond = scale.beyond(scale.ratios(loads))
    return misplaced, float(beyond[problem.open].sum())


@bounded
@given(tiers(), seeds)
def test_every_shard_has_one_place_or_a_reason_why_not(
    problem: PlacementProblem, seed: int
) -> None:
    plan = solve(problem, seed)
    assert len(plan.target) == problem.shards
    assert sorted(np.flatnonzero(plan.target < 0).tolist()) == sorted(
        one.shard for one in plan.unplaced if homeless(problem)[one.shard]
    )
    assert len({one.shard for one in plan.unplaced}) == len(plan.unplaced)
    moved = plan.moves.shard.tolist()
    assert len(set(moved)) == len(moved)
    expected = np.where(homeless(problem), -1, problem.home)
    expected[moved] = plan.moves.target
    assert (plan.target == expected).all()
    for move in plan.moves:
        assert move.origin == problem.home[move.shard] != move.target


@bounded
@given(tiers(), seeds)
def test_shards_go_only_where_they_may_be(problem: PlacementProblem, seed: int) -> None:
    for mode in ("repair", "urgent", "afresh"):
        for move in solve(problem, seed, mode=mode).moves:
            assert problem.alive[move.target]
            assert not problem.draining[move.target]
            assert allows(problem, move.shard, move.target)


@bounded
@given(tiers(), seeds)
def test_no_container_is_taken_above_a_hard_ceiling(problem: PlacementProblem, seed: int) -> None:
    for mode in ("repair", "urgent", "afresh"):
        plan = solve(problem, seed, mode=mode)
        into = set(plan.moves.target.tolist())
        for container in into:
            for resource in problem.settings.hard:
                held = plan.target == container
                used = int(problem.loads[held, resource].sum())
                kept = 1000 - int(problem.headroom[container])
                most = int(problem.capacity[container, resource]) * kept // 1000
                there = (problem.home == container) & ~homeless(problem)
                before = 0 if mode == "afresh" else int(problem.loads[there, resource].sum())
                # What was there may have grown beyond it; then it may only get less.
                assert used <= max(most, before)


@bounded
@given(tiers(), seeds)
def test_whoever_makes_the_first_steps_only_has_no_worse_a_map(
    problem: PlacementProblem, seed: int
) -> None:
    scale = scale_of(problem)
    measured = [disorder(problem, scale, here) for here in replay(problem, solve(problem, seed))]
    assert measured == sorted(measured, reverse=True)


@bounded
@given(tiers(), seeds)
def test_urgent_moves_come_first(problem: PlacementProblem, seed: int) -> None:
    plan = solve(problem, seed)
    urgent = plan.moves.reason <= Reason.DRAIN
    ranks = np.where(urgent, plan.moves.reason, Reason.OVER).tolist()
    assert ranks == sorted(ranks)
    orphans = plan.moves.shard[plan.moves.reason == Reason.ORPHAN]
    assert homeless(problem)[orphans].all()


@bounded
@given(tiers(), seeds)
def test_the_same_problem_has_the_same_plan(problem: PlacementProblem, seed: int) -> None:
    one, other = solve(problem, seed), solve(problem, seed)
    assert (one.target == other.target).all()
    assert list(one.moves) == list(other.moves)
    assert (one.unplaced, one.given_up) == (other.unplaced, other.given_up)


@bounded
@given(tiers(), seeds)
def test_the_problem_is_left_as_it_was(problem: PlacementProblem, seed: int) -> None:
    copies = {name: getattr(problem, name).copy() for name in ("loads", "home", "movable", "ramp")}
    solve(problem, seed)
    for name, before in copies.items():
        assert (getattr(problem, name) == before).all()


@bounded
@given(tiers(), seeds)
def test_a_plan_that_was_carried_out_leaves_nothing_in_band_to_do(
    problem: PlacementProblem, seed: int
) -> None:
    free = replace(problem, settings=PlacementSettings(hard=problem.settings.hard))
    plan = solve(free, seed)
    after = solve(replace(free, home=plan.target), seed)
    if not plan.given_up and not plan.unplaced:
        assert len(after.moves) == 0
        assert (after.target == plan.target).all()


@bounded
@given(tiers(), seeds)
def test_budgets_are_kept(problem: PlacementProblem, seed: int) -> None:
    plan = solve(problem, seed)
    paid = plan.moves.shard[plan.moves.reason != Reason.ORPHAN]
    limits = problem.settings
    if limits.moves_max is not None:
        assert len(paid) <= limits.moves_max
    scale = scale_of(problem)
    moved = scale.x[paid].sum() / problem.resources
    assert moved <= limits.load_max / 1000 * problem.open.sum() * 2**20
    if limits.moves_per_job_max is not None:
        jobs = problem.job[paid]
        for job in set(jobs[jobs >= 0].tolist()):
            assert (jobs == job).sum() <= limits.moves_per_job_max


@bounded
@given(tiers(), seeds)
def test_resting_shards_move_only_if_they_must(problem: PlacementProblem, seed: int) -> None:
    for move in solve(problem, seed).moves:
        assert problem.movable[move.shard] or move.reason <= Reason.DRAIN


@bounded
@given(tiers(), seeds)
def test_who_fits_nowhere_is_told_the_true_reason(problem: PlacementProblem, seed: int) -> None:
    for one in solve(problem, seed).unplaced:
        legal = [
            container
            for container in np.flatnonzero(problem.open).tolist()
            if allows(problem, one.shard, container)
        ]
        assert (one.obstacle is Obstacle.NO_CONTAINER) == (not legal)
        assert (one.resource in problem.settings.hard) == bool(legal)
        if one.obstacle is Obstacle.TOO_LARGE:
            for container in legal:
                assert any(
                    problem.loads[one.shard, resource] * 1000
                    > problem.capacity[container, resource]
                    * (1000 - int(problem.headroom[container]))
                    - 1000
                    for resource in problem.settings.hard
                )


@bounded
@given(tiers(), seeds)
def test_orphans_alone_are_placed_without_any_other_move(
    problem: PlacementProblem, seed: int
) -> None:
    plan = place_orphans(problem, seed)
    lost = homeless(problem)
    assert (plan.target[~lost] == problem.home[~lost]).all()
    assert set(plan.moves.shard.tolist()) == set(np.flatnonzero(lost & (plan.target >= 0)).tolist())


@bounded
@given(tiers(), seeds)
def test_every_container_has_a_standing_for_a_shard(problem: PlacementProblem, seed: int) -> None:
    for shard in range(min(problem.shards, 3)):
        standings = explain(problem, shard, seed)
        assert sorted(one.container for one in standings) == list(range(problem.containers))
        ranks = [one.rank for one in standings if one.rank]
        assert sorted(ranks) == list(range(1, len(ranks) + 1))
        for one in standings:
            if one.verdict is PlacementVerdict.POSSIBLE:
                assert problem.open[one.container]
                assert allows(problem, shard, one.container)


@bounded
@given(tiers())
def test_the_static_map_needs_no_loads(problem: PlacementProblem) -> None:
    target = static_target(problem, "tier")
    assert (static_target(replace(problem, loads=problem.loads * 0), "tier") == target).all()
    for shard, container in enumerate(target.tolist()):
        legal = [
            one for one in np.flatnonzero(problem.alive).tolist() if allows(problem, shard, one)
        ]
        assert (container in legal) if legal else container == -1
