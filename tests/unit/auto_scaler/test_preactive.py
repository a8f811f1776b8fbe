"""The pattern analyzer (V-C), untriaged problems (V-D), vertical before horizontal (V-E)."""

import re
from typing import Any

import pytest
from pydantic import ValidationError

from components.auto_scaler.core.policies.paper.preactive import Preactive
from components.auto_scaler.core.policies.paper.proactive import ProactiveMemory
from components.auto_scaler.core.verdict import (
    Expectation,
    ScalingVerdict,
)
from projections.scaling.actions import (
    ALERT,
    MEMORY_UP,
    MOVE,
    SCALE_DOWN,
    SCALE_UP,
    STAY,
    JobSize,
)
from projections.scaling.seen import MINUTE_MS, UNKNOWN, JobFacts, Profile
from tests.unit.auto_scaler.days import (
    DAY,
    START_MS,
    after,
    asked,
    daily,
    job,
    lagging,
    minute,
    parts,
    quiet,
    verdict_after,
)

POLICY = Preactive.made({})
BYTES = {"bytes_per_record": 100.0}
STAGED = job(staging_rate=1000.0)  # 10 records a second of a thread


def told(verdict: ScalingVerdict) -> list[tuple[str, float, float]]:
    return [(one.name, one.before, one.after) for one in verdict.constraints]


def late(rate: float, arrived: float, **more: Any) -> list[Any]:
    return lagging(rate=rate, lag=60_000.0, arrived=arrived, **BYTES, **more)


# V-E: vertical, then horizontal.


def test_tasks_grow_before_they_become_more() -> None:
    # 200/s and 60,000 in 10 min need 30 threads.
    verdict = verdict_after(POLICY, STAGED, late(100.0, 200.0))
    assert (verdict.action, verdict.raw) == (SCALE_UP, 10)
    assert verdict.size == JobSize(10, 3, 0.75, 256)
    assert verdict.expects == Expectation(START_MS + 20 * MINUTE_MS, 300.0, 90.0)
    assert verdict.alternatives[1].action == "more tasks"


def test_beyond_a_fifth_of_a_container_tasks_become_more() -> None:
    verdict = verdict_after(POLICY, STAGED, late(100.0, 650.0))  # 75 threads, 6 of a task
    assert (verdict.raw, verdict.size) == (13, JobSize(13, 6, 1.5, 256))
    assert told(verdict) == [("container-share", 8.0, 6.0)]
    half = Preactive.made({"container_share": 0.5})
    assert verdict_after(half, STAGED, late(100.0, 650.0)).size == JobSize(10, 8, 2.0, 256)


def test_limits_end_both_ways() -> None:
    full = STAGED._replace(threads=6, cpu_cores=1.5, tasks_max=10)
    verdict = verdict_after(POLICY, full, late(600.0, 900.0))
    assert (verdict.action, verdict.raw) == (STAY, 17)
    assert told(verdict) == [("container-share", 10.0, 6.0), ("limits.tasks", 17.0, 10.0)]


def test_memory_too_grows_to_a_fifth_and_then_the_tasks_do() -> None:
    of = STAGED._replace(memory_mb=3000)
    oom = quiet(5, oom=True, memory_mb=3000.0, **BYTES)
    verdict = verdict_after(POLICY, of, oom)
    assert (verdict.action, verdict.size) == (MEMORY_UP, JobSize(10, 1, 0.25, 3276))
    assert told(verdict) == [("memory-most", 4500.0, 3276.0)]
    # 3276 reserve 2730 of use: what 10 tasks held, 2872 each, goes to 12 of 2730 - 128.
    verdict = verdict_after(POLICY, STAGED._replace(memory_mb=3276), oom)
    assert (verdict.action, verdict.diagnosis) == (SCALE_UP, "memory")
    assert verdict.size == JobSize(13, 1, 0.25, 3276)
    # Where nothing stops a task at its limit, what it uses counts: 10 times 5872 of 2602 each.
    beyond = quiet(5, memory_mb=6000.0, **BYTES)
    verdict = verdict_after(POLICY, STAGED._replace(memory_mb=3276), beyond)
    assert verdict.size == JobSize(23, 1, 0.25, 3276)
    capped = STAGED._replace(memory_mb=3276, tasks_max=10)
    assert verdict_after(POLICY, capped, oom).action == STAY


def test_what_a_job_has_beyond_a_fifth_it_keeps() -> None:
    of = STAGED._replace(memory_mb=8000)
    assert verdict_after(POLICY, of, quiet(memory_mb=7000.0, **BYTES)).size is None


# V-C, 1: resource adjustment.


def test_n_is_the_ceiling_of_x_by_p() -> None:
    verdict = verdict_after(POLICY, STAGED, quiet(rate=55.0, **BYTES))
    assert (verdict.action, verdict.raw, verdict.size) == (SCALE_DOWN, 6, JobSize(6, 1, 0.25, 256))
    assert verdict.expects == Expectation(START_MS + (DAY + 12 * 60) * MINUTE_MS, None, 90.0)


def test_where_that_is_more_than_n_p_was_too_small() -> None:
    known, verdict = asked(POLICY, after(POLICY, STAGED, quiet(rate=150.0, **BYTES)), STAGED, DAY)
    assert (verdict.action, known.p) == (STAY, 1500.0)
    assert "nothing is planned" in verdict.explanation


def shrunk(rate: float = 50.0) -> tuple[ProactiveMemory, JobFacts]:
    """After a day of 50/s a job has been given 5 tasks for its 10."""
    known, verdict = asked(POLICY, after(POLICY, STAGED, quiet(rate=rate, **BYTES)), STAGED, DAY)
    assert verdict.size == JobSize(5, 1, 0.25, 256)
    return known, STAGED._replace(tasks=5)


def slow(known: ProactiveMemory, of: JobFacts) -> ProactiveMemory:
    """After some healthy minutes of 30/s: rates are means of three."""
    learnt: ProactiveMemory = after(
        POLICY, of, [minute(DAY + at, 30.0, **BYTES) for at in (1, 2, 3)], known
    )
    return learnt


def broken(
    at: int, known: ProactiveMemory, of: JobFacts, rate: float = 30.0, arrived: float = 30.0
) -> ProactiveMemory:
    one = minute(at, rate, 60_000.0, arrived=arrived, **BYTES)
    learnt: ProactiveMemory = POLICY.learn(known, of, one)
    return learnt


def test_a_broken_slo_after_a_reduction_lowers_p() -> None:
    known, few = shrunk()
    for at in range(DAY + 1, DAY + 6):  # the first minutes are those of the restart
        known = broken(at, known, few)
        assert known.p == 1000.0
    # X/n is 600 B/s, for the mean of the last three minutes: half of the way, then half again.
    known = broken(DAY + 6, known, few)
    assert known.p == 800.0
    assert broken(DAY + 7, known, few).p == 700.0
    _, verdict = asked(POLICY, known, few, DAY + 6)
    assert (verdict.action, verdict.diagnosis) == (ALERT, "untriaged")  # 30/s of 40/s is too little
    _, verdict = asked(POLICY, broken(DAY + 7, known, few), few, DAY + 7)
    assert (verdict.action, verdict.diagnosis) == (SCALE_UP, "load")


def test_other_broken_slos_prove_nothing() -> None:
    known, few = shrunk()
    known = slow(known, few)
    many = broken(DAY + 20, known, STAGED)  # the size is another
    assert many.p == 1000.0
    fine = POLICY.learn(known, few, minute(DAY + 20, 30.0, **BYTES))
    assert fine.p == 1000.0
    # In the last minute of the hours that the size was made for, and a minute later.
    assert broken(DAY + 12 * 60, known, few).p == 800.0
    assert broken(DAY + 12 * 60 + 1, known, few).p == 1000.0
    # More came in than the size was made for.
    busy = POLICY.learn(POLICY.begin(few), few, minute(0, 50.0, arrived=60.0, **BYTES))
    busy = busy._replace(reduced=known.reduced)
    assert broken(DAY + 20, busy, few, rate=50.0, arrived=60.0).p == 1000.0
    unknown = known._replace(watch=known.watch._replace(arrivals=()))
    one = minute(DAY + 20, 30.0, 60_000.0, arrived=None, **BYTES)
    assert POLICY.learn(unknown, few, one).p == 1000.0
    never = POLICY.learn(POLICY.begin(few), few, minute(0, 30.0, **BYTES))
    assert broken(DAY + 20, never, few).p == 1000.0


def test_how_far_p_falls_is_a_setting() -> None:
    known, few = shrunk()
    known = slow(known, few)
    policy = Preactive.made({"between": 1})
    one = minute(DAY + 20, 30.0, 60_000.0, arrived=30.0, **BYTES)
    assert policy.learn(known, few, one).p == 600.0


def test_where_no_task_can_go_threads_do() -> None:
    of = STAGED._replace(tasks=2, threads=4, cpu_cores=1.0)
    verdict = verdict_after(POLICY, of, quiet(rate=50.0, **BYTES))
    assert (verdict.action, verdict.size) == (SCALE_DOWN, JobSize(2, 3, 0.75, 256))
    assert verdict_after(POLICY, of, quiet(rate=80.0, **BYTES)).action == STAY


# V-C, 2: historical workload patterns.


def shrinks(
    profile: Profile, rate: float = 50.0, of: JobFacts = STAGED, **settings: Any
) -> ScalingVerdict:
    policy = Preactive.made(settings)
    return verdict_after(policy, of, quiet(rate=rate, **BYTES), profile)


def test_the_next_hours_bound_the_reduction() -> None:
    verdict = shrinks(daily(50.0, {8: 75.0}))
    assert (verdict.raw, verdict.size) == (5, JobSize(8, 1, 0.25, 256))
    assert told(verdict) == [("history", 5.0, 8.0)]
    assert "the next 12 h brought up to 75/s on the days before" in verdict.explanation


def test_no_reduction_that_the_next_hours_would_undo() -> None:
    verdict = shrinks(daily(50.0, {8: 95.0}))
    assert (verdict.action, verdict.raw) == (STAY, 5)
    assert told(verdict) == [("history", 5.0, 10.0)]
    assert told(shrinks(daily(50.0, {8: 115.0}))) == [
        ("history", 5.0, 12.0),
        ("as-it-is", 12.0, 10.0),
    ]


def test_a_task_of_more_threads_carries_more_of_the_next_hours() -> None:
    of = STAGED._replace(threads=2, cpu_cores=0.5)
    verdict = shrinks(daily(50.0, {8: 75.0}), of=of)
    assert (verdict.raw, verdict.size) == (3, JobSize(4, 2, 0.5, 256))
    assert told(verdict) == [("history", 3.0, 4.0)]


@pytest.mark.parametrize(("hours", "tasks"), [(8, 5), (8.02, 8), (12, 8)])
def test_only_the_next_x_hours_count(hours: float, tasks: int) -> None:
    # It is midnight, and the peak is from 8 to 9.
    size = shrinks(daily(50.0, {8: 75.0}), horizon_hours=hours).size
    assert size == JobSize(tasks, 1, 0.25, 256)


@pytest.mark.parametrize(("usual", "tasks"), [(50.0, 8), (45.46, 8), (45.4, 5), (56.0, 5)])
def test_history_is_set_aside_when_the_last_30_minutes_deviate(usual: float, tasks: int) -> None:
    verdict = shrinks(daily(usual, {8: 75.0}))
    assert verdict.size == JobSize(tasks, 1, 0.25, 256)
    assert ("history is set aside" in verdict.explanation) is (tasks == 5)


def test_it_is_the_mean_of_30_minutes_that_deviates() -> None:
    def at_last(count: int) -> ScalingVerdict:
        days = quiet(DAY - count, rate=50.0, **BYTES)
        days += [minute(at, 80.0, **BYTES) for at in range(DAY - count + 1, DAY + 1)]
        return verdict_after(POLICY, STAGED, days, daily(50.0, {8: 95.0}))

    assert "set aside" not in at_last(5).explanation  # 55 for 50 are a tenth
    assert "set aside" in at_last(6).explanation


def test_without_history_the_estimate_decides() -> None:
    verdict = shrinks(UNKNOWN)
    assert verdict.size == JobSize(5, 1, 0.25, 256)
    assert "nothing is known of the days before" in verdict.explanation


@pytest.mark.parametrize(
    ("mean", "peak"), [((50.0,) * 24, (None,) * 24), ((None,) * 24, (95.0,) * 24)]
)
def test_half_a_history_is_none(
    mean: tuple[float | None, ...], peak: tuple[float | None, ...]
) -> None:
    verdict = shrinks(Profile(3_600_000, mean, peak, 14))
    assert verdict.size == JobSize(5, 1, 0.25, 256)
    assert "nothing is known of the days before" in verdict.explanation


def test_with_threads_goes_what_little_memory_is_not_used() -> None:
    of = STAGED._replace(tasks=2, threads=4, cpu_cores=1.0, memory_mb=1000)
    # 800 reserve 960: too little to restart for, not where a restart comes anyway.
    less = verdict_after(POLICY, of, quiet(rate=50.0, memory_mb=800.0, **BYTES))
    assert less.size == JobSize(2, 3, 0.75, 960)
    same = verdict_after(POLICY, of, quiet(rate=80.0, memory_mb=800.0, **BYTES))
    assert (same.action, same.size) == (STAY, None)


def test_threads_too_are_kept_for_the_next_hours() -> None:
    of = STAGED._replace(tasks=2, threads=4, cpu_cores=1.0)
    verdict = shrinks(daily(45.0, {8: 55.0}), 45.0, of)
    assert verdict.size == JobSize(2, 3, 0.75, 256)
    assert shrinks(daily(45.0, {8: 70.0}), 45.0, of).action == STAY


# V-D: untriaged problems.


def test_one_late_task_moves_and_more_are_for_people() -> None:
    one = parts(5.0, 5.0, 4.0, lags=(0.0, 0.0, 200.0))
    verdict = verdict_after(POLICY, STAGED, lagging(rate=50.0, lag=5000.0, parts=one, **BYTES))
    assert (verdict.action, verdict.diagnosis, verdict.size) == (MOVE, "hardware", None)
    assert "task 2 alone is late" in verdict.explanation
    assert verdict.task == 2
    all_of_them = parts(5.0, 5.0, 5.0, lags=(99.0, 99.0, 200.0))
    minutes = lagging(rate=50.0, lag=5000.0, parts=all_of_them, **BYTES)
    verdict = verdict_after(POLICY, STAGED, minutes)
    assert (verdict.action, verdict.diagnosis) == (ALERT, "untriaged")
    assert "somebody has to look" in verdict.explanation


def test_a_move_is_waited_for() -> None:
    one = parts(5.0, 5.0, 4.0, lags=(0.0, 0.0, 200.0))
    known = after(POLICY, STAGED, lagging(rate=50.0, lag=5000.0, parts=one, **BYTES))
    known, _ = asked(POLICY, known, STAGED, 5)
    assert asked(POLICY, known, STAGED, 6)[1].symptom == "settling"
    still = asked(POLICY, known, STAGED, 10)[1]  # late on two machines: it is not the hardware
    assert (still.action, still.diagnosis) == (ALERT, "untriaged")


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"horizon_hours": 0}, "horizon_hours"),
        ({"horizon_hours": 25}, "horizon_hours"),
        ({"deviation": 0}, "deviation"),
        ({"between": 0}, "between"),
        ({"container_share": 1.1}, "container_share"),
        ({"at_capacity": 2}, "at_capacity"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(settings: dict[str, Any], where: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(where)):
        Preactive.made(settings)


def test_every_setting_says_what_it_is_and_why() -> None:
    for name, field in type(POLICY.settings).model_fields.items():
        assert len(field.description or "") > 40, name


def test_nothing_is_remembered_but_values() -> None:
    known, _ = shrunk()
    assert hash(known)
