"""The plant: no record is lost, ages are those of a real queue, and faults show as they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from components.auto_scaler.core.policies.turbine.shapes import even
from projections.scaling.actions import JobSize
from projections.scaling.seen import MINUTE_MS, JobFacts, Minute
from turbine.lab.kernel import Streams
from turbine.lab.plant.job_model import Fault, Nature
from turbine.lab.plant.plant import Plant, luck

SIZE = JobSize(4, 1, 0.25, 512)
FLAT = 3_000.0


def plant(*faults: Fault, size: JobSize = SIZE, seed: int = 0, **more: Any) -> Plant:
    """Four tasks that read 4,000 records a second of twelve partitions."""
    nature = Nature(1_000.0, **{"partitions": 12, "faults": faults, **more})
    return Plant(nature, size, Streams(seed).fork("plant"))


def minutes(of: Plant, rates: list[float]) -> list[Minute]:
    """All of them; a minute of which nothing is told is an error here."""
    told = [of.step(rate) for rate in rates]
    assert None not in told
    return [one for one in told if one is not None]


# --- the flow


def test_what_came_is_read_or_left() -> None:
    job = plant(noise=0.1, weights=(5.0, *(1.0,) * 11))
    rates = [FLAT, 9_000.0, 0.0, 4_500.0, 100.0] * 4
    read = 0.0
    for at, rate in enumerate(rates):
        if at == 7:
            job.resize(JobSize(3, 2, 0.5, 512))
        told = job.step(rate)
        assert told is not None
        read += told.rate * 60
        assert read + job.lag == pytest.approx(60 * sum(rates[: at + 1]))
        assert told.arrived == pytest.approx(rate, abs=1e-6)
        assert told.lag == pytest.approx(job.lag)


def test_a_job_with_room_has_no_lag_and_says_how_busy_it_is() -> None:
    told = minutes(plant(), [FLAT] * 3)[-1]
    assert (told.rate, told.lag, told.lag_s, told.stuck) == (FLAT, 0.0, 0.0, 0)
    assert told.busy == pytest.approx(0.75)
    assert told.at_ms == 3 * MINUTE_MS


def test_who_writes_is_held_up_by_the_share_that_cannot_be_read() -> None:
    """Bounded queues would let through what is read: a fifth of 5,000 a second would wait."""
    job = plant()
    assert [one.blocked_ms for one in minutes(job, [FLAT, 4_000.0])] == [0.0, 0.0]
    [late] = minutes(job, [5_000.0])
    assert late.blocked_ms == pytest.approx(200.0)
    [later] = minutes(job, [5_000.0])
    assert later.blocked_ms == pytest.approx(1_000.0 * 2 / 6), "what waits already counts as well"


def test_the_same_seed_is_the_same_job_and_another_is_another() -> None:
    rates = [4_000.0] * 30
    first, again, other = (minutes(plant(noise=0.05, seed=seed), rates) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_chance_is_a_draw_a_minute_whatever_the_size() -> None:
    rng = Streams(0).fork("plant")
    nature = Nature(1_000.0, noise=0.05)
    drawn = [luck(nature, rng, at) for at in range(5)]
    for size in (SIZE, JobSize(2, 1, 0.25, 512)):
        told = minutes(plant(size=size, noise=0.05), [50_000.0] * 5)
        assert [one.rate / (1_000 * size.tasks) for one in told] == pytest.approx(drawn)


def test_threads_that_get_in_each_others_way_read_less() -> None:
    told = minutes(plant(power=0.5), [FLAT])[-1]
    assert told.rate == pytest.approx(1_000 * 4**0.5)


def test_a_task_that_gets_more_lags_alone() -> None:
    told = minutes(plant(weights=(10.0, *(1.0,) * 11)), [2_500.0] * 5)[-1]
    late = [one.task for one in told.parts if (one.lag or 0) > 1]
    assert late == [0]
    assert told.busy_most == 1.0
    assert told.busy is not None
    assert told.busy < 0.8


def test_rebalancing_gives_the_heavy_partition_fewer_neighbours() -> None:
    job = plant(weights=(4.0, *(1.0,) * 11), restart_s=0.0)
    before = minutes(job, [3_400.0] * 5)[-1]
    job.rebalance()
    after = minutes(job, [3_400.0] * 30)[-1]
    assert (before.lag or 0) > 0
    assert after.lag == 0


def test_more_tasks_than_partitions_have_nothing_to_read() -> None:
    job = plant(size=JobSize(20, 1, 0.25, 512))
    told = minutes(job, [50_000.0])[-1]
    assert told.rate == pytest.approx(12 * 1_000)
    assert sum(one.rate > 0 for one in told.parts) == 12
    assert even(12, 20) == pytest.approx(12 / 20)


@pytest.mark.parametrize(("tasks", "share"), [(1, 1.0), (4, 1.0), (5, 12 / 15), (12, 1.0)])
def test_the_task_with_most_partitions_counts_for_all(tasks: int, share: float) -> None:
    assert even(12, tasks) == pytest.approx(share)
    carried = 1_000 * tasks * share
    for rate, is_late in ((carried * 0.999, False), (carried * 1.01, True)):
        job = plant(size=JobSize(tasks, 1, 0.25, 512))
        minutes(job, [rate] * 60)
        assert (job.lag_s > 0) == is_late


# --- what is done to it


@pytest.mark.parametrize("restart_s", [0.0, 15.0, 60.0, 90.0])
def test_nothing_is_read_while_all_tasks_restart(restart_s: float) -> None:
    job = plant(restart_s=restart_s)
    job.resize(JobSize(12, 1, 0.25, 512))
    told = minutes(job, [12_000.0] * 3)
    assert [one.down_s for one in told] == [min(restart_s, 60), max(0.0, restart_s - 60), 0.0]
    assert sum(one.rate for one in told) * 60 == pytest.approx(12_000 * (180 - restart_s))
    assert [one.tasks for one in told] == [12, 12, 12]


def test_a_task_that_is_moved_does_not_run_meanwhile() -> None:
    job = plant(move_s=90.0)
    job.move(1)
    told = minutes(job, [4_000.0] * 3)
    assert [one.parts[1].rate for one in told] == pytest.approx([0.0, 500.0, 1_000.0])
    assert told[0].parts[0].rate == pytest.approx(1_000.0)


def test_what_it_spends_is_what_it_has() -> None:
    job = plant()
    minutes(job, [FLAT] * 60)
    job.resize(JobSize(2, 3, 0.75, 1_024))
    minutes(job, [FLAT] * 30)
    assert job.spent == pytest.approx([4 + 1, 1 + 0.75, 2 + 1])
    assert job.job("clicks", JobFacts("", 9)) == JobFacts("clicks", 2, 3, 0.75, 1_024)


# --- ages


class Queues:
    """A dumb twin for ages: each partition's records by the second in which they came."""

    def __init__(self, partitions: int) -> None:
        self.came = [list[float]() for _ in range(partitions)]

    def step(self, shares: list[float], rate: float) -> None:
        for own, share in zip(self.came, shares, strict=True):
            own.extend([rate * share] * 60)

    def age_s(self, read: list[float], lags: list[float]) -> float:
        ages = [0.0]
        for own, done, lag in zip(self.came, read, lags, strict=True):
            if lag < 1:
                continue
            total, second = 0.0, 0
            while total + own[second] <= done:
                total += own[second]
                second += 1
            ages.append(len(own) - second - (done - total) / own[second])
        return max(ages)


@pytest.mark.parametrize(
    "hot", [(), (Fault("hot", 0, 4, 6.0, at=2),), (Fault("hot", 3, 9, 6.0, at=2),)]
)
def test_ages_are_those_of_the_oldest_record_of_a_real_queue(hot: tuple[Fault, ...]) -> None:
    job = plant(*hot, weights=(3.0, *(1.0,) * 11))
    twin = Queues(12)
    rates = [2_000.0, 5_000.0, 4_200.0, 6_000.0, 500.0, 3_000.0, 100.0, 2_000.0, 3_900.0, 4_000.0]
    seen = set()
    for minute, rate in enumerate(rates):
        if minute == 5:
            job.resize(JobSize(5, 1, 0.25, 512))
        shares = [3 / 14, *[1 / 14] * 11]
        if any(fault.holds(minute) for fault in hot):
            shares[2] *= 6
        job.step(rate)
        twin.step(shares, rate)
        age_s = twin.age_s(job._read.tolist(), job._lag.tolist())
        assert job.lag_s == pytest.approx(age_s, abs=0.01)
        seen.add(age_s > 60)
    assert seen == {False, True}


def test_few_records_are_as_late_as_many() -> None:
    """The same job, once in a unit of which there are a hundred thousand times fewer."""
    many = plant()
    few = Plant(replace(many.nature, per_thread=0.01), SIZE, Streams(0).fork("plant"))
    for _ in range(5):
        few.step(0.08)
        many.step(8_000.0)
    assert few.lag_s == pytest.approx(many.lag_s)
    assert few.lag_s > 60


@pytest.mark.parametrize("rate", [204.0, 1 / 3, 1_234.567])
def test_what_was_read_before_a_silence_does_not_grow_old_in_it(rate: float) -> None:
    job = plant(weights=tuple(range(1, 13)), restart_s=60.0)
    minutes(job, [rate * 7, rate, *[0.0] * 500])
    job.resize(JobSize(2, 1, 0.25, 512))
    assert minutes(job, [rate * 900])[-1].lag_s == pytest.approx(60.0, abs=0.01)


# --- what goes wrong


def test_a_dependency_answers_so_much_however_many_ask() -> None:
    held = Fault("dependency", 2, 4, 1_500.0)
    for size in (SIZE, JobSize(12, 1, 0.25, 512)):
        told = minutes(plant(held, size=size), [FLAT] * 6)
        assert [one.rate for one in told[:4]] == pytest.approx([FLAT, FLAT, 1_500.0, 1_500.0])
        assert told[2].busy == pytest.approx(1.0)
        assert told[4].rate > FLAT


def test_a_slow_task_is_slow_until_it_is_moved() -> None:
    job = plant(Fault("straggler", 2, 99, 0.25, at=1))
    rates = [one.parts[1].rate for one in minutes(job, [4_000.0] * 4)]
    assert rates == pytest.approx([1_000.0, 1_000.0, 250.0, 250.0])
    job.move(1)
    assert minutes(job, [4_000.0] * 2)[-1].parts[1].rate == pytest.approx(1_000.0)


def test_a_task_that_was_moved_before_turns_slow_all_the_same() -> None:
    job = plant(Fault("straggler", 2, 99, 0.25, at=1), move_s=0.0)
    job.move(1)
    assert minutes(job, [4_000.0] * 3)[-1].parts[1].rate == pytest.approx(250.0)


def test_nothing_is_read_of_a_poisoned_partition_and_that_is_told_in_time() -> None:
    told = minutes(plant(Fault("poison", 2, 5, at=3)), [FLAT] * 8)
    assert [one.stuck for one in told] == [0, 0, 1, 1, 1, 0, 0, 0]
    assert [round(one.lag or 0) for one in told[:5]] == [0, 0, 15_000, 30_000, 45_000]
    assert [one.lag_s for one in told[2:5]] == pytest.approx([60.0, 120.0, 180.0])


def test_a_hot_partition_gets_more_for_as_long() -> None:
    told = minutes(plant(Fault("hot", 1, 2, 13.0, at=0)), [1_200.0] * 3)
    assert [one.arrived for one in told] == pytest.approx([1_200.0, 2_400.0, 1_200.0])


def test_state_grows_until_tasks_run_out_of_memory_and_restart() -> None:
    job = plant(Fault("keys", 1, 4, 100.0), base_mb=300.0, state_mb=400.0, restart_s=60.0)
    told = minutes(job, [FLAT] * 5)
    assert [one.memory_mb for one in told] == [400, 425, 450, 475, 475]
    job.resize(JobSize(2, 2, 0.5, 512))
    told = minutes(job, [FLAT] * 3)
    assert [one.oom for one in told] == [True, True, True]
    assert [one.rate for one in told[1:]] == [0.0, 0.0]
    job.resize(JobSize(2, 2, 0.5, 1_024))
    assert [one.oom for one in minutes(job, [FLAT] * 3)] == [False] * 3


# --- what is told


def test_what_vanishes_is_not_told_and_goes_on() -> None:
    job = plant(Fault("vanished", 1, 3))
    told = [job.step(FLAT) for _ in range(4)]
    assert [one is None for one in told] == [False, True, True, False]
    assert told[3] is not None
    assert (told[3].at_ms, told[3].rate) == (4 * MINUTE_MS, FLAT)


def test_what_is_frozen_is_told_as_it_was() -> None:
    rates = [1_000.0, 1_100.0, 1_200.0, 1_300.0, 1_400.0]
    told = minutes(plant(Fault("frozen", 2, 4)), rates)
    assert [one.rate for one in told] == pytest.approx(
        [1_000.0, 1_100.0, 1_100.0, 1_100.0, 1_400.0]
    )
    assert [one.at_ms for one in told] == [at * MINUTE_MS for at in range(1, 6)]


def test_what_is_late_comes_in_its_order_and_never_twice() -> None:
    job = plant(Fault("late", 2, 6, 2))
    told = [job.step(1_000.0 + at) for at in range(8)]
    assert [one and one.at_ms // MINUTE_MS for one in told] == [1, 2, None, None, 3, 4, 7, 8]
