"""Sizes: vertical before horizontal, memory with the tasks, and every limit told."""

from typing import Any

import pytest

from components.auto_scaler.core.policies.common.sizing import (
    Reserve,
    SizePlan,
    correlated,
    holds,
    larger,
    narrower,
    reserved,
    size_of,
    smaller,
    threads_most,
    wider,
    within,
)
from events.generated.records import Constraint
from projections.scaling.actions import JobSize
from tests.unit.auto_scaler.days import job

RESERVE = Reserve(base=100.0, margin=1.2, most=2000.0)


def names(constraints: tuple[Constraint, ...]) -> list[tuple[str, float, float]]:
    return [(one.name, one.before, one.after) for one in constraints]


@pytest.mark.parametrize(
    ("more", "tasks", "told"),
    [
        ({}, 64, []),
        ({"partitions": 48}, 48, [("partitions", 64.0, 48.0)]),
        ({"partitions": 64}, 64, []),
        ({"partitions": None, "tasks_max": 32}, 32, [("limits.tasks", 64.0, 32.0)]),
        ({"granted": 20}, 20, [("granted", 64.0, 20.0)]),
        (
            {"partitions": 48, "tasks_max": 32, "granted": 0},
            10,  # as it is: to take tasks away is not a grant's to do
            [
                ("partitions", 64.0, 48.0),
                ("limits.tasks", 48.0, 32.0),
                ("granted", 32.0, 10.0),
            ],
        ),
    ],
)
def test_each_limit_is_told(
    more: dict[str, Any], tasks: int, told: list[tuple[str, float, float]]
) -> None:
    clamped = within(job(**more), 64)
    assert clamped.value == tasks
    assert names(clamped.constraints) == told


def test_a_fifth_of_a_container_is_as_many_threads() -> None:
    assert threads_most(job(), 0.2) == 6  # 1.6 cores of 0.25
    assert threads_most(job(container_cores=10.0), 0.2) == 8  # exactly
    assert threads_most(job(cpu_cores=4.0, threads=4), 0.2) == 4  # beyond it already
    assert threads_most(job(cpu_cores=4.0, threads=4, container_cores=25.0), 0.2) == 5


def test_tasks_grow_before_they_become_more() -> None:
    plan = larger(job(), threads=35.0, share=0.2)
    assert plan == SizePlan(JobSize(10, 4, 1.0, 256), 10)
    plan = larger(job(), threads=60.0, share=0.2)
    assert plan == SizePlan(JobSize(10, 6, 1.5, 256), 10)
    plan = larger(job(), threads=61.0, share=0.2)
    assert plan.size == JobSize(11, 6, 1.5, 256)
    assert plan.raw == 11
    assert names(plan.constraints) == [("container-share", 7.0, 6.0)]
    plan = larger(job(tasks_max=10), threads=1e6, share=0.2)
    assert plan.size == JobSize(10, 6, 1.5, 256)
    assert plan.raw == 166_667
    assert names(plan.constraints)[1:] == [
        ("partitions", 166_667.0, 100.0),
        ("limits.tasks", 100.0, 10.0),
    ]


def test_tasks_never_shrink_where_more_is_asked_for() -> None:
    assert larger(job(threads=3, cpu_cores=0.75), 11.0, 0.2).size == JobSize(10, 3, 0.75, 256)
    assert wider(job(granted=4), 30.0).size.tasks == 10


def test_more_tasks_of_the_size_they_have() -> None:
    assert wider(job(threads=2), 41.0) == SizePlan(JobSize(21, 2, 0.25, 256), 21)
    endless = wider(job(), float("inf"))
    assert (endless.size.tasks, endless.raw) == (64, 2**31 - 1)


def test_a_constraint_holds_no_infinity() -> None:
    endless = float("inf")
    plans = [
        wider(job(), endless),
        larger(job(), endless, 0.2),
        narrower(job(), 3.0, (("memory", endless, "no size would do"),)),
    ]
    for plan in plans:
        assert plan.constraints
        for one in plan.constraints:
            assert one.to_plain()["before"] in {one.before, 2.0**31 - 1}
            assert max(one.before, one.after) <= 2**31 - 1
    assert plans[2].size.tasks == 10


def test_fewer_tasks_are_the_ceiling_of_x_by_p() -> None:
    assert narrower(job(), 3.2) == SizePlan(JobSize(4, 1, 0.25, 256), 4)
    assert narrower(job(threads=2), 3.2) == SizePlan(JobSize(2, 2, 0.25, 256), 2)
    assert narrower(job(), 0.0).size.tasks == 1
    plan = narrower(job(), 3.2, (("history", 7.0, "a peak"), ("memory", 5.0, "state")))
    assert plan.size.tasks == 7
    assert names(plan.constraints) == [("history", 4.0, 7.0)]
    plan = narrower(job(), 3.2, (("history", 12.0, "a peak"),))
    assert plan.size.tasks == 10
    assert names(plan.constraints) == [("history", 4.0, 12.0), ("as-it-is", 12.0, 10.0)]


def test_smaller_tasks_keep_their_number() -> None:
    assert smaller(job(threads=4, cpu_cores=1.0), 25.0) == JobSize(10, 3, 0.75, 256)
    assert smaller(job(threads=4, cpu_cores=1.0), 0.0) == JobSize(10, 1, 0.25, 256)
    assert smaller(job(threads=4, cpu_cores=1.0), 99.0) == JobSize(10, 4, 1.0, 256)


def test_memory_is_reserved_above_what_is_used() -> None:
    assert reserved(500.0, RESERVE).value == 600
    assert names(reserved(10.0, RESERVE).constraints) == [("memory-base", 12.0, 100.0)]
    assert names(reserved(2000.0, RESERVE).constraints) == [("memory-most", 2400.0, 2000.0)]


def test_memory_follows_the_tasks_of_a_stateful_job() -> None:
    state = job(stateful=True, memory_mb=1400)
    doubled, halved = (SizePlan(size_of(state)._replace(tasks=tasks), 0) for tasks in (20, 5))
    # 1100 hold 1000: 500 each of 20 tasks, 2000 each of 5; with what is needed besides, and a fifth
    assert correlated(state, doubled, 1100.0, RESERVE).size.memory_mb == 720
    told = correlated(state, halved, 1100.0, RESERVE)
    assert told.size.memory_mb == 2000
    assert names(told.constraints) == [("memory-most", 2520.0, 2000.0)]


def test_memory_of_an_unknown_use_is_never_lowered() -> None:
    state = job(stateful=True, memory_mb=800)
    doubled, halved = (SizePlan(size_of(state)._replace(tasks=tasks), 0) for tasks in (20, 5))
    assert correlated(state, doubled, None, RESERVE).size.memory_mb == 800
    assert correlated(state, halved, None, RESERVE).size.memory_mb == 1600


def test_memory_is_let_alone_where_there_is_no_state_or_no_change() -> None:
    plain, state = job(memory_mb=800), job(stateful=True, memory_mb=800)
    doubled = SizePlan(size_of(plain)._replace(tasks=20), 0)
    assert correlated(plain, doubled, 100.0, RESERVE) == doubled
    assert correlated(state, SizePlan(size_of(state), 0), 100.0, RESERVE).size.memory_mb == 800


def test_a_size_that_the_job_has() -> None:
    assert holds(size_of(job()), job())
    for other in ({"tasks": 9}, {"threads": 2}, {"cpu_cores": 0.3}, {"memory_mb": 257}):
        assert not holds(size_of(job())._replace(**other), job())
