"""The estimators and the three rules of the plan generator (V-B)."""

import re
from typing import Any

import pytest
from pydantic import ValidationError

from components.auto_scaler.core.policies.paper.proactive import Proactive, ProactiveMemory
from components.auto_scaler.core.verdict import Expectation
from projections.scaling.actions import (
    ALERT,
    MEMORY_DOWN,
    MEMORY_UP,
    REBALANCE,
    SCALE_DOWN,
    SCALE_UP,
    STAY,
    JobSize,
)
from projections.scaling.seen import MINUTE_MS
from tests.unit.auto_scaler.days import (
    DAY,
    START_MS,
    after,
    asked,
    job,
    lagging,
    minute,
    parts,
    quiet,
    verdict_after,
)

POLICY = Proactive.made({})
STAGED = job(staging_rate=1000.0)  # bytes a second of a thread: 10 records of 100 bytes
BYTES = {"bytes_per_record": 100.0}


def learnt(minutes: list[Any], of: Any = STAGED) -> ProactiveMemory:
    known: ProactiveMemory = after(POLICY, of, minutes)
    return known


def test_p_comes_from_staging_in_bytes() -> None:
    assert learnt(quiet(5)).p is None  # nobody knows how large records are
    known = learnt(quiet(5, **BYTES))
    assert (known.p, known.unit) == (1000.0, 100.0)


def test_without_staging_p_is_what_a_thread_reads_while_the_job_lags() -> None:
    of = job(threads=2)
    assert learnt(quiet(5, rate=400.0), of).p is None
    known = learnt(lagging(rate=100.0), of)
    assert (known.p, known.unit) == (5.0, None)
    known = after(POLICY, of, lagging(rate=200.0, lag=40_000.0), known)
    assert known.p == 10.0
    known = after(POLICY, of, lagging(rate=100.0), known)
    assert known.p == 10.0
    known = after(POLICY, of, [minute(9, **BYTES)], known)
    assert (known.p, known.unit) == (1000.0, 100.0)  # the same in bytes


def test_p_is_learnt_in_bytes_where_their_number_is_known() -> None:
    known = learnt(lagging(rate=100.0, **BYTES), job())
    assert (known.p, known.unit) == (1000.0, 100.0)


def test_at_the_slo_a_job_need_not_read_all_that_it_can() -> None:
    assert learnt(lagging(rate=100.0, lag=9000.0), job()).p is None
    assert learnt(lagging(rate=100.0, lag=9001.0), job()).p == 10.0


def test_a_lag_at_nothing_read_and_one_right_after_a_change_teach_nothing() -> None:
    assert learnt(lagging(rate=0.0, lag=1.0), job()).p is None
    known = POLICY.learn(POLICY.begin(job(9)), job(), minute(1, lag=20_000.0))
    for at in range(2, 6):
        known = POLICY.learn(known, job(), minute(at, lag=20_000.0))
        assert known.p is None
    assert POLICY.learn(known, job(), minute(6, lag=20_000.0)).p == 10.0


def test_equation_3_sizes_the_job() -> None:
    # X = 200/s of 100 bytes, P = 1000 B/s: 20 threads; B = 60,000 records in 600 s: 10 more.
    minutes = lagging(rate=100.0, lag=60_000.0, arrived=200.0, **BYTES)
    verdict = verdict_after(POLICY, STAGED, minutes)
    assert (verdict.action, verdict.diagnosis) == (SCALE_UP, "load")
    assert (verdict.raw, verdict.size) == (30, JobSize(30, 1, 0.25, 256))
    due = START_MS + (5 + 5 + 10) * MINUTE_MS
    assert verdict.expects == Expectation(due, 300.0, 90.0)
    assert "30 threads of P carry the input and read the backlog in 10 min" in verdict.explanation
    assert [one.action for one in verdict.alternatives] == [REBALANCE, "larger tasks"]


def test_limits_put_off_what_is_expected() -> None:
    minutes = lagging(rate=100.0, lag=60_000.0, arrived=200.0, **BYTES)
    clipped = verdict_after(POLICY, STAGED._replace(granted=24), minutes)
    assert (clipped.raw, clipped.size) == (30, JobSize(24, 1, 0.25, 256))
    assert [one.name for one in clipped.constraints] == ["granted"]
    assert clipped.expects == Expectation(START_MS + (5 + 5 + 25) * MINUTE_MS, 240.0, 90.0)
    short = verdict_after(POLICY, STAGED._replace(granted=20), minutes)
    assert short.expects == Expectation(START_MS + (5 + 5 + 10) * MINUTE_MS, 200.0, None)
    none = verdict_after(POLICY, STAGED._replace(granted=10), minutes)
    assert (none.action, none.raw, none.size) == (STAY, 30, None)


def test_algorithm_2_is_left_where_nothing_is_known_of_p() -> None:
    verdict = verdict_after(POLICY, job(), lagging(rate=0.0, lag=1.0))
    assert (verdict.action, verdict.diagnosis) == (SCALE_UP, "load-unestimated")
    assert verdict.size == JobSize(15, 1, 0.25, 256)


def test_imbalance_comes_first() -> None:
    skewed = parts(*[5.0] * 9, 55.0)
    verdict = verdict_after(POLICY, STAGED, lagging(parts=skewed, **BYTES))
    assert (verdict.action, verdict.size) == (REBALANCE, None)


def test_the_first_rule_no_size_below_the_estimate() -> None:
    # 55/s at 10/s a thread: 6 tasks, whatever a tenth less would be.
    verdict = verdict_after(POLICY, STAGED, quiet(rate=55.0, **BYTES))
    assert (verdict.action, verdict.symptom) == (SCALE_DOWN, "quiet")
    assert (verdict.raw, verdict.size) == (6, JobSize(6, 1, 0.25, 256))
    assert verdict.expects == Expectation(START_MS + (DAY + 5) * MINUTE_MS, None, 90.0)
    at_most = verdict_after(POLICY, STAGED, quiet(rate=100.0, **BYTES))
    assert (at_most.action, at_most.symptom, at_most.raw) == (STAY, "quiet", 10)


@pytest.mark.parametrize(
    ("rate", "p"),
    [(100.0, 1000.0), (100.1, 1001.0), (150.0, 1500.0)],
)
def test_a_healthy_job_that_reads_more_than_p_allows_raises_p(rate: float, p: float) -> None:
    known, verdict = asked(POLICY, learnt(quiet(rate=rate, **BYTES)), STAGED, DAY)
    assert verdict.action == STAY
    assert known.p == pytest.approx(p)
    _, again = asked(POLICY, known, STAGED, DAY)  # and in the next round P is what it needs
    assert (again.action, again.raw) == (STAY, 10)


def test_without_p_a_quiet_day_gives_one_and_no_action() -> None:
    known, verdict = asked(POLICY, learnt(quiet(), job()), job(), DAY)
    assert (verdict.action, known.p) == (STAY, 10.0)
    known = after(POLICY, job(), [minute(DAY + at, rate=40.0) for at in range(1, 4)], known)
    assert asked(POLICY, known, job(), DAY + 3)[1].size == JobSize(4, 1, 0.25, 256)


@pytest.mark.parametrize(("arrived", "why"), [(None, "nobody knows"), (0.0, "nothing came in")])
def test_no_input_is_no_reason_to_shrink(arrived: float | None, why: str) -> None:
    verdict = verdict_after(POLICY, STAGED, quiet(arrived=arrived, **BYTES))
    assert (verdict.action, verdict.symptom) == (STAY, "quiet")
    assert why in verdict.explanation


def test_what_only_some_tasks_told_is_no_input_rate() -> None:
    known = learnt([*quiet(5, rate=100.0, **BYTES), minute(6, rate=10.0, heard=0.1)])
    assert known.watch.arrived == 100.0


def test_the_second_rule_what_has_enough_is_not_scaled() -> None:
    # 50/s at 10/s a thread need 5 of 10 threads; a backlog of 100 s adds 1: it has enough.
    verdict = verdict_after(POLICY, STAGED, lagging(rate=50.0, lag=5_000.0, **BYTES))
    assert (verdict.action, verdict.diagnosis, verdict.size) == (ALERT, "untriaged", None)
    assert [one.action for one in verdict.alternatives] == [SCALE_UP]
    assert "need not be more than 5.83" in verdict.explanation


def test_what_is_just_enough_is_enough() -> None:
    # 90/s and 6000 in 600 s are 100/s: all of 10 threads.
    def with_lag(lag: float) -> str:
        minutes = lagging(rate=50.0, lag=lag, arrived=90.0, **BYTES)
        return verdict_after(Proactive.made({"at_capacity": 0}), STAGED, minutes).action

    assert with_lag(6000.0) == ALERT
    assert with_lag(6001.0) == SCALE_UP


def outage(rate: float) -> list[Any]:
    """The input would fit, the backlog not; so much is read of what 10 threads can, 100/s."""
    return lagging(rate=rate, lag=60_000.0, arrived=50.0, **BYTES)


def test_a_backlog_counts_where_the_job_reads_all_that_it_can() -> None:
    assert verdict_after(POLICY, STAGED, outage(80.0)).size == JobSize(15, 1, 0.25, 256)
    verdict = verdict_after(POLICY, STAGED, outage(79.0))
    assert (verdict.action, verdict.diagnosis) == (ALERT, "untriaged")
    assert "reads less than its threads can" in verdict.explanation
    twice = STAGED._replace(tasks=5, threads=2)
    assert "reads less than" in verdict_after(POLICY, twice, outage(79.0)).explanation
    enough = lagging(rate=50.0, lag=5_000.0, **BYTES)
    assert "need not be more than 5.83" in verdict_after(POLICY, twice, enough).explanation
    literal = Proactive.made({"at_capacity": 0})
    assert verdict_after(literal, STAGED, outage(79.0)).action == SCALE_UP


def test_input_beyond_the_estimate_counts_however_little_is_read() -> None:
    minutes = lagging(rate=10.0, lag=60_000.0, arrived=101.0, **BYTES)
    assert verdict_after(POLICY, STAGED, minutes).diagnosis == "load"


def test_the_third_rule_memory_follows_the_tasks() -> None:
    of = STAGED._replace(stateful=True, memory_mb=1500)
    minutes = lagging(rate=100.0, lag=60_000.0, arrived=100.0, memory_mb=1128.0, **BYTES)
    # 1128 are 128 and 1000 of state: 500 with twice the tasks, and a fifth above 628.
    assert verdict_after(POLICY, of, minutes).size == JobSize(20, 1, 0.25, 754)
    small = of._replace(memory_mb=1300)
    verdict = verdict_after(POLICY, small, quiet(rate=50.0, memory_mb=1128.0, **BYTES))
    assert verdict.size == JobSize(5, 1, 0.25, 2554)  # 1.2 of 2128


def test_state_keeps_the_tasks_that_it_needs() -> None:
    of = STAGED._replace(stateful=True, memory_mb=1300, container_mb=1500)
    verdict = verdict_after(POLICY, of, quiet(rate=50.0, memory_mb=1128.0, **BYTES))
    # 1500 reserve 1250: 10,000 of state fit into 9 tasks of 1122, 1239 with the base.
    assert verdict.size == JobSize(9, 1, 0.25, 1487)
    assert [(one.name, one.before, one.after) for one in verdict.constraints] == [
        ("memory", 5.0, 9.0)
    ]


def test_state_of_an_unknown_size_goes_along() -> None:
    of = STAGED._replace(stateful=True, memory_mb=1000)
    assert verdict_after(POLICY, of, quiet(rate=50.0, **BYTES)).size == JobSize(5, 1, 0.25, 2000)


def test_tasks_out_of_memory_get_what_they_use() -> None:
    verdict = verdict_after(POLICY, STAGED, quiet(5, oom=True, memory_mb=256.0, **BYTES))
    assert (verdict.action, verdict.size) == (MEMORY_UP, JobSize(10, 1, 0.25, 384))
    verdict = verdict_after(POLICY, STAGED, quiet(5, memory_mb=400.0, **BYTES))
    assert verdict.size == JobSize(10, 1, 0.25, 480)
    full = STAGED._replace(memory_mb=16_384)
    verdict = verdict_after(POLICY, full, quiet(5, oom=True, **BYTES))
    assert (verdict.action, verdict.diagnosis) == (STAY, "memory")


def test_memory_explains_a_lag_that_the_estimates_do_not() -> None:
    minutes = lagging(rate=50.0, lag=5_000.0, oom=True, **BYTES)
    verdict = verdict_after(POLICY, STAGED, minutes)
    assert (verdict.action, verdict.symptom, verdict.diagnosis) == (MEMORY_UP, "lag", "memory")


def test_load_and_memory_are_one_plan() -> None:
    minutes = lagging(rate=100.0, lag=60_000.0, oom=True, **BYTES)
    assert verdict_after(POLICY, STAGED, minutes).size == JobSize(20, 1, 0.25, 384)


def test_memory_that_nobody_used_in_a_day_goes_back() -> None:
    of = STAGED._replace(memory_mb=1000)
    verdict = verdict_after(POLICY, of, quiet(memory_mb=500.0, **BYTES))
    assert (verdict.action, verdict.size) == (MEMORY_DOWN, JobSize(10, 1, 0.25, 600))
    # 750 reserve 900, a tenth less than 1000: not worth a restart.
    assert verdict_after(POLICY, of, quiet(memory_mb=750.0, **BYTES)).action == STAY
    # What each of fewer tasks will use is not known: tasks go, memory stays.
    verdict = verdict_after(POLICY, of, quiet(rate=50.0, memory_mb=500.0, **BYTES))
    assert verdict.size == JobSize(5, 1, 0.25, 1000)


def test_threads_are_left_alone() -> None:
    of = STAGED._replace(tasks=1, threads=4, cpu_cores=1.0)
    verdict = verdict_after(POLICY, of, quiet(rate=10.0, **BYTES))
    assert (verdict.action, verdict.raw) == (STAY, 1)


def test_after_an_action_its_effect_is_waited_for() -> None:
    known = learnt(outage(100.0))
    known, verdict = asked(POLICY, known, STAGED, 5)
    assert verdict.action == SCALE_UP
    assert asked(POLICY, known, STAGED, 9)[1].symptom == "settling"
    assert asked(POLICY, known, STAGED, 10)[1].action == SCALE_UP


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"recover_minutes": 0}, "recover_minutes"),
        ({"at_capacity": 1.1}, "at_capacity"),
        (
            {"memory_margin": 1.1, "memory_soft": 0.9},
            "memory_margin: expected a number of at least 1.12, as memory_soft is 0.9",
        ),
        ({"step_up": 1}, "step_up"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(sentence)):
        Proactive.made(settings)


def test_a_reserve_just_at_the_soft_limit_is_let_through() -> None:
    policy = Proactive.made({"memory_margin": 1.25, "memory_soft": 0.8})
    assert policy.settings.memory_margin == 1.25


def test_every_setting_says_what_it_is_and_why() -> None:
    for name, field in type(POLICY.settings).model_fields.items():
        assert len(field.description or "") > 40, name
