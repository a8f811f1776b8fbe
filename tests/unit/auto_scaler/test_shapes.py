"""The fewest tasks for hardly more than the cheapest size: against all sizes there are."""

from __future__ import annotations

from random import Random

import pytest

from components.auto_scaler.core.policies.common.sizing import threads_most
from components.auto_scaler.core.policies.turbine.shapes import (
    ALIKE,
    SizeRoom,
    even,
    price,
    price_least,
    price_of,
    reads,
    reads_most,
    shaped,
    tasks_most,
)
from projections.scaling.capacity import Curve
from projections.scaling.seen import JobFacts

JOB = JobFacts("clicks", 8, 1, 0.25, 512, partitions=120, tasks_max=32)
CURVE = Curve().taught(8, 8_000.0)


@pytest.mark.parametrize("seed", range(30))
def test_no_other_size_is_cheaper_by_more_than_fewer_tasks_are_worth(seed: int) -> None:
    rng = Random(seed)
    job = JOB._replace(partitions=rng.choice([None, 7, 16, 120]), tasks_max=rng.choice([4, 16, 32]))
    need, room = rng.uniform(100, 25_000), SizeRoom(0.2, rng.choice([64, 512, 2_048]))
    size = shaped(CURVE, job, need, room)

    def could(tasks: int, threads: int) -> float:
        return CURVE.reads(tasks * threads) * even(job.partitions, tasks)

    fits = [
        (price(tasks * threads * 0.25, tasks * room.memory_mb), tasks)
        for tasks in range(1, tasks_most(job) + 1)
        for threads in range(1, threads_most(job, room.share) + 1)
        if could(tasks, threads) >= need * (1 - 1e-9)
    ]
    if fits:
        assert could(size.tasks, size.threads) >= need * (1 - 1e-9)
        found = price(size.tasks * size.cpu_cores, size.tasks * size.memory_mb)
        dearest = min(fits)[0] * (1 + ALIKE) * (1 + 1e-9)
        assert found <= dearest
        assert size.tasks == min(tasks for cost, tasks in fits if cost <= dearest)
        assert price_least(CURVE, job, need, room) <= found * (1 + 1e-9)
        assert reads_most(CURVE, job, found, room) >= need * (1 - 1e-9)
    else:
        assert (size.tasks, size.threads) == (tasks_most(job), threads_most(job, room.share))


def test_partitions_that_do_not_divide_waste_what_the_others_could_read() -> None:
    assert even(15, 9) == pytest.approx(15 / 18)
    assert even(15, 15) == even(15, 5) == 1.0
    assert even(15, 20) == 0.75
    assert even(None, 9) == 1.0
    assert reads(CURVE, JOB._replace(tasks=9, partitions=15)) == pytest.approx(9_000 * 15 / 18)


def test_it_keeps_to_limit_partitions_and_grant() -> None:
    assert tasks_most(JOB) == 32
    assert tasks_most(JOB._replace(partitions=12)) == 12
    assert tasks_most(JOB._replace(granted=20)) == 20
    assert tasks_most(JOB._replace(granted=3)) == 8, "a grant takes nothing away"


def test_a_task_is_a_share_of_a_container_at_most() -> None:
    assert threads_most(JOB, 0.2) == 6
    assert threads_most(JOB._replace(threads=9, cpu_cores=2.25), 0.2) == 9, (
        "never fewer than it has"
    )


def test_memory_has_its_price() -> None:
    assert price_of(JOB) == pytest.approx(8 * 0.25 + 8 * 0.5 / 8)


def test_state_is_as_much_with_fewer_tasks_and_each_of_them_gets_more() -> None:
    room = SizeRoom(0.2, 512, state_mb=8 * 500.0)
    size = shaped(CURVE, JOB, 2_000.0, room)
    assert size.tasks < 8
    assert size.memory_mb >= 8 * 500.0 / size.tasks
    assert size.memory_mb <= JOB.container_mb * room.share


def test_fewer_tasks_than_can_hold_the_state_are_no_size() -> None:
    room = SizeRoom(0.2, 512, state_mb=8 * 2_000.0)
    assert shaped(CURVE, JOB, 500.0, SizeRoom(0.2, 512)).tasks == 1
    size = shaped(CURVE, JOB, 500.0, room)
    assert size.tasks * JOB.container_mb * room.share >= 8 * 2_000.0
    assert size.memory_mb * size.tasks >= 8 * 2_000.0
