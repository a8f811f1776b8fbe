"""The clairvoyant planner's bound: what it comes to where that is plain, and below every policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from components.auto_scaler.core.catalogue import POLICIES, policy_of
from projections.scaling.seen import JobFacts
from turbine.lab.plant.backtest import Case, back_test, cost, score
from turbine.lab.plant.cases import SCENARIOS
from turbine.lab.plant.job_model import Fault, Nature
from turbine.lab.plant.optimum import choices, optimum

USED_MB = 512.0
TASK = cost(0.25, 0.5)
"""Of a task's hour."""


def case(rates: list[float], tasks_max: int = 4, **more: Any) -> Case:
    """Tasks of one thread that each read 1,000 records a second; larger ones do not exist."""
    job = JobFacts(
        "clicks", 1, memory_mb=512, partitions=12, tasks_max=tasks_max, container_cores=1.0
    )
    nature = Nature(1_000.0, 12, base_mb=USED_MB, **more)
    return Case(rates, nature, job)


def test_a_flat_load_needs_its_tasks_and_no_more() -> None:
    told = optimum(case([2_000.0] * 60))
    assert told.violation_s == 0
    end = TASK / 60  # what may be left at the end needs nobody
    assert 2 * (TASK - 2 * end) <= told.cost <= 2 * TASK


def test_a_load_between_two_sizes_is_read_by_the_larger() -> None:
    """A restart costs more lag than an hour at the smaller size would save."""
    short = optimum(case([2_500.0] * 4))
    assert short.cost < 3 * TASK * 4 / 60  # what may be left at the end is not paid for
    long = optimum(case([2_500.0] * 600))
    assert 2.5 * TASK * 10 < long.cost <= 3 * TASK * 10


def test_a_restart_is_paid_for_in_what_is_not_read() -> None:
    rates = [1_000.0] * 120 + [3_000.0] * 120
    free, dear = (optimum(case(rates, restart_s=restart_s)) for restart_s in (0.0, 60.0))
    ideal = (2 * 1 + 2 * 3) * TASK
    assert free.cost == pytest.approx(ideal, rel=0.02)  # some may be left at the end
    assert free.cost < dear.cost < 1.1 * ideal
    assert (free.violation_s, dear.violation_s) == (0, 0)


def test_what_cannot_be_avoided_is_counted_and_the_rest_avoided_at_any_cost() -> None:
    flood = case([1_000.0] * 10 + [20_000.0] * 2 + [0.0] * 20)
    told = optimum(flood)
    assert told.violation_s > 0
    assert optimum(case([1_000.0] * 10 + [4_000.0] * 20)).violation_s == 0


def test_a_dependency_that_does_not_answer_is_known() -> None:
    outage = Fault("dependency", 10, 20, 0.0)
    told = optimum(case([1_000.0] * 40, faults=(outage,)))
    assert told.violation_s >= 8 * 60
    assert optimum(case([1_000.0] * 40)).violation_s == 0


def test_minutes_before_the_first_are_neither_paid_nor_late() -> None:
    rates = [9_000.0] * 30 + [1_000.0] * 60
    told = optimum(replace(case(rates), begin=30))
    assert told == (pytest.approx(TASK), 0.0)
    assert optimum(replace(case(rates), begin=90)) == (0.0, 0.0)


def test_faults_keep_their_minutes_where_a_part_is_played() -> None:
    whole = case([1_000.0] * 60, faults=(Fault("dependency", 40, 50, 0.0),))
    early, late = (
        replace(whole, rates=whole.rates[:last], begin=at) for at, last in ((0, 40), (30, 60))
    )
    assert optimum(early).violation_s == 0
    assert optimum(late).violation_s > 0


def test_a_load_of_nothing_costs_the_least_size() -> None:
    assert optimum(case([0.0] * 60)) == (pytest.approx(TASK), 0.0)


def test_shared_state_is_paid_for_once() -> None:
    with_state = case([1_000.0], state_mb=1_024.0)
    [one, two, *_] = choices(with_state)
    assert 60 * one.cost == pytest.approx(cost(0.25, 1.5))
    assert 60 * two.cost == pytest.approx(cost(0.5, 2.0))


def test_no_choice_costs_more_than_another_that_reads_as_much() -> None:
    found = choices(SCENARIOS["step"]())
    assert [one.cost for one in found] == sorted(one.cost for one in found)
    assert [one.room for one in found] == sorted(one.room for one in found)
    assert found[-1].room == pytest.approx(64 * 6 * 1_000 * 60)


SHORT = (
    "step",
    "spike",
    "ramp",
    "square",
    "dependency",
    "hot-key",
    "slow-node",
    "poison",
    "oom-ramp",
)


@pytest.mark.parametrize("name", SHORT)
def test_no_policy_does_better(name: str) -> None:
    played = SCENARIOS[name]()
    bound = optimum(played)
    asked = POLICIES if name == "square" else ("turbine", "reactive")
    for policy in asked:
        told = score(back_test(played, policy_of(policy, {})))
        assert told.violation_s >= bound.violation_s, policy
        if told.violation_s == bound.violation_s:
            assert told.cost >= bound.cost, policy
