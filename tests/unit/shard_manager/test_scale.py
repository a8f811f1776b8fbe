"""Numbers that choices depend on come out the same in any order of adding up, and windows are as
the settings say."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from components.shard_manager.core.solver.candidates import foremost
from components.shard_manager.core.solver.prng import mixed, shuffled, strided
from components.shard_manager.core.solver.scale import (
    ONE,
    RATIO_MAX,
    SCORE_MAX,
    increments,
    scale_of,
    weights,
)
from tests.unit.shard_manager.tiers import tier

EXTREMES = [
    ([2**50], [1, 2**20, 2**51]),
    ([1, 2**30, 2**51], [2**51, 1]),
    ([3, 5, 7, 11] * 5, [13, 17, 2**40]),
    ([0, 0, 1], [0, 1]),
]


@pytest.mark.parametrize(("loads", "capacity"), EXTREMES)
def test_scores_are_exact_even_of_the_most_extreme(loads: list[int], capacity: list[int]) -> None:
    problem = tier([[one] * 8 for one in loads], [0] * len(loads), [[one] * 8 for one in capacity])
    scale = scale_of(problem)
    loaded = np.tile(scale.x.sum(axis=0), (problem.containers, 1))
    pulls, features = weights(scale.x), scale.features(scale.ratios(loaded))
    scores = pulls @ features.T
    for shard in range(problem.shards):
        for container in range(problem.containers):
            parts = zip(pulls[shard].tolist(), features[container].tolist(), strict=True)
            exact = sum(Fraction(one) * Fraction(other) for one, other in parts)
            assert Fraction(float(scores[shard, container])) == exact
            assert abs(exact) < 2**53


def test_no_order_of_sums_makes_a_difference() -> None:
    chance = np.random.default_rng(1)
    loads = np.rint(np.exp(chance.normal(10, 3, (200, 4)))).astype(np.int64)
    problem = tier(loads, [0] * 200, chance.integers(1, 2**30, (9, 4)))
    scale = scale_of(problem)
    forward = np.add.reduce(scale.x, axis=0)
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(200)
        one_by_one = np.zeros(4)
        for shard in order:
            one_by_one += scale.x[shard]
        assert (one_by_one == forward).all()
    pulls = weights(scale.x)[:1]
    features = scale.features(scale.ratios(scale.x[:9]))
    whole = pulls @ features.T
    for order in list(permutations(range(8)))[::997]:
        assert (pulls[:, order] @ features[:, order].T == whole).all()
        slow = np.zeros_like(whole)
        for at in order:
            slow += np.outer(pulls[:, at], features[:, at])
        assert (slow == whole).all()


def test_the_sums_of_squares_are_exact_at_the_bound() -> None:
    assert 8 * RATIO_MAX**2 <= 2**53
    assert SCORE_MAX < 2**53


def test_in_a_round_a_feature_grows_as_it_would_from_nothing() -> None:
    problem = tier([4, 8, 20], [0, 0, 1], [16, 16])
    scale = scale_of(problem)
    before = scale.features(scale.ratios(np.array([[0.0], [0.0]])))
    after = scale.features(scale.ratios(np.array([scale.x[0], scale.x[1]])))
    grown = before[:, :1] + increments(scale.x[:2], before[:, 1:])
    assert (grown == after[:, :1]).all()


def test_head_room_goes_before_the_lower_edge() -> None:
    problem = tier([75], [0], [100, 100], headroom=[100, 700])
    scale = scale_of(problem)
    guard = 2**-12
    high, low = scale.high / ONE, scale.low / ONE
    assert high[0, 0] == pytest.approx(1.1 - guard, abs=1e-6)
    assert low[0, 0] == pytest.approx(0.9 + guard, abs=1e-6)
    # The second may use 30 of 100, which is 0.8 of what all have on the average.
    assert high[1, 0] == pytest.approx(0.8 - guard, abs=1e-6)
    assert low[1, 0] == pytest.approx(0.7 + guard, abs=1e-6)
    assert scale.aim[:, 0].tolist() == pytest.approx([ONE, 0.73 * ONE], abs=1)


def test_a_new_container_is_not_missed_anything_at_first() -> None:
    scale = scale_of(tier([60, 60], [0, 1], [100, 100, 100], ramp=[1000, 1000, 0]))
    assert scale.low[2, 0] <= 2**8
    assert scale.inner_low[2, 0] < 0
    half = scale_of(tier([60, 60], [0, 1], [100, 100, 100], ramp=[1000, 1000, 500]))
    assert half.low[2, 0] / ONE == pytest.approx(0.45, abs=1e-3)


def test_usable_is_whole_units_even_of_the_largest() -> None:
    problem = tier([1], [0], [2**52 - 1], headroom=[1], hard=(0,))
    assert scale_of(problem).usable[0, 0] == (2**52 - 1) * 999 // 1000


def test_chance_is_the_same_for_ever() -> None:
    assert mixed(0) == 0xE220A8397B1DCDAF  # splitmix64's first number of the seed 0
    assert shuffled(8, 7).tolist() == shuffled(8, 7).tolist() != shuffled(8, 8).tolist()
    assert mixed(1, 2) != mixed(2, 1)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 12, 97, 240])
def test_permutations_hold_every_number_once(count: int) -> None:
    for seed in range(30):
        assert sorted(strided(count, seed).tolist()) == list(range(count))
        assert sorted(shuffled(count, seed).tolist()) == list(range(count))


def test_the_foremost_are_those_of_a_stable_sort() -> None:
    chance = np.random.default_rng(3)
    for _ in range(50):
        values = chance.integers(0, 6, chance.integers(0, 300)).astype(float)
        dumb = sorted(range(len(values)), key=lambda at, v=values: (-v[at], at))[:12]
        assert foremost(values, 12).tolist() == dumb
