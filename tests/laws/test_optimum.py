"""Laws of the plant and of its bound: records are conserved, and no plan at all beats the bound."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.scaling.actions import JobSize
from projections.scaling.seen import JobFacts
from turbine.lab.kernel import Streams
from turbine.lab.plant.backtest import Case, cost
from turbine.lab.plant.job_model import Fault, Nature
from turbine.lab.plant.optimum import STEPS, optimum
from turbine.lab.plant.plant import Plant

TASKS_MAX = 3
MEMORY_MB = 320
bounded = settings(deadline=None, max_examples=25)  # each plays hundreds of plans
rates = st.just(0.0) | st.floats(200, 4_000)  # fewer than counts are nothing that waits


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Few minutes, few sizes, any restart, and chance."""
    came = draw(st.lists(rates, min_size=1, max_size=5))
    outage = draw(st.sampled_from(((), (Fault("dependency", 1, 3, 700.0),))))
    nature = Nature(
        draw(st.sampled_from((0.01, 1_000.0))),
        partitions=draw(st.sampled_from((1, 4, 12))),
        power=draw(st.sampled_from((0.7, 1.0))),
        noise=draw(st.sampled_from((0.0, 0.2))),
        restart_s=draw(st.sampled_from((0.0, 20.0, 60.0, 90.0))),
        base_mb=MEMORY_MB,
        faults=outage,
    )
    came = [one * nature.per_thread / 1_000 for one in came]
    slo_s = draw(st.sampled_from((30.0, 90.0, 150.0)))
    job = JobFacts(
        "x", 1, memory_mb=MEMORY_MB, tasks_max=TASKS_MAX, slo_s=slo_s, container_cores=1.0
    )
    return Case(came, nature, job, seed=draw(st.integers(0, 99)))


def paid(case: Case, plan: tuple[int, ...]) -> tuple[float, float]:
    """Seconds of violation and cost of a plan that says how many tasks run in each minute."""
    sizes = [JobSize(tasks, 1, 0.25, MEMORY_MB) for tasks in plan]
    plant = Plant(case.nature, sizes[0], Streams(case.seed).fork("plant"))
    late = 0
    for before, size, rate in zip([sizes[0], *sizes], sizes, case.rates, strict=False):
        if size != before:
            plant.resize(size)
        plant.step(rate)
        late += plant.lag_s > case.job.slo_s
    return 60.0 * late, cost(plant.spent[1], plant.spent[2])


@bounded
@given(cases(), st.sampled_from((2, 5, 12, STEPS)))
def test_no_plan_at_all_beats_the_bound(case: Case, steps: int) -> None:
    """Steps are few as well: then what is rounded is much."""
    bound = optimum(case, steps)
    plans = product(range(1, TASKS_MAX + 1), repeat=len(case.rates))
    late_s, least = min(paid(case, plan) for plan in plans)
    assert bound.violation_s <= late_s
    if bound.violation_s == late_s:
        assert bound.cost <= least + 1e-9


@bounded
@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_the_bound_is_met_where_restarts_are_free(levels: list[int]) -> None:
    """Whole multiples of what a task reads, none of which may wait: each minute has one size."""
    nature = Nature(1_000.0, 12, restart_s=0.0, base_mb=MEMORY_MB)
    job = JobFacts("x", 1, memory_mb=MEMORY_MB, tasks_max=4, slo_s=0.0, container_cores=1.0)
    told = optimum(Case([1_000.0 * one for one in levels], nature, job))
    needed = sum(max(1, one) for one in levels) / 60
    assert told.violation_s == 0
    assert told.cost == pytest.approx(cost(0.25 * needed, MEMORY_MB / 1024 * needed))


@bounded
@given(st.lists(st.tuples(rates, st.integers(1, 14)), min_size=1, max_size=20), st.integers(0, 99))
def test_what_came_is_read_or_left_whatever_is_done(
    minutes: list[tuple[float, int]], seed: int
) -> None:
    nature = Nature(1_000.0, 12, noise=0.3, weights=tuple(range(1, 13)))
    plant = Plant(nature, JobSize(1, 1, 0.25, 512), Streams(seed).fork("plant"))
    read, ages = 0.0, [0.0]
    for at, (rate, tasks) in enumerate(minutes, 1):
        if tasks > 12:
            plant.rebalance()
        elif tasks != plant.size.tasks:
            plant.resize(JobSize(tasks, 1, 0.25, 512))
        told = plant.step(rate)
        assert told is not None
        read += told.rate * 60
        came = 60 * sum(one for one, _ in minutes[:at])
        assert read + plant.lag == pytest.approx(came, abs=1e-6)
        assert told.rate <= 1_000 * plant.size.tasks * 3
        ages.append(plant.lag_s)
    assert all(after <= before + 60 + 1e-6 for before, after in pairwise(ages))
