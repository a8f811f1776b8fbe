"""Algorithm 2, branch by branch, with both sides of every threshold."""

import re
from typing import Any

import pytest
from pydantic import ValidationError

from components.auto_scaler.core.policies.paper.reactive import Reactive
from components.auto_scaler.core.policies.paper.watch import late_task, running_rate
from projections.scaling.actions import (
    MEMORY_DOWN,
    MEMORY_UP,
    REBALANCE,
    SCALE_DOWN,
    SCALE_UP,
    STAY,
    JobSize,
)
from projections.scaling.seen import MINUTE_MS, Minute
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

POLICY = Reactive.made({})
SKEWED = parts(*[5.0] * 9, 55.0)
EVEN = parts(*[10.0] * 10)


def test_a_lagging_job_is_given_half_as_many_tasks_again() -> None:
    verdict = verdict_after(POLICY, job(), lagging(parts=EVEN))
    assert (verdict.action, verdict.symptom, verdict.diagnosis) == (SCALE_UP, "lag", "load")
    assert (verdict.raw, verdict.size) == (15, JobSize(15, 1, 0.25, 256))
    assert verdict.constraints == ()
    assert [one.action for one in verdict.alternatives] == [REBALANCE]
    assert "lags 200 s, and 90 s are allowed: 10 tasks become 15" in verdict.explanation


@pytest.mark.parametrize(("lag", "action"), [(9000.0, STAY), (9001.0, SCALE_UP)])
def test_exactly_at_the_slo_is_no_lag(lag: float, action: str) -> None:
    assert verdict_after(POLICY, job(), lagging(lag=lag)).action == action


def test_a_job_that_reads_nothing_lags_without_end() -> None:
    verdict = verdict_after(POLICY, job(), lagging(rate=0.0, lag=1.0))
    assert verdict.action == SCALE_UP
    assert "lags without end" in verdict.explanation


@pytest.mark.parametrize("unknown", [{"lag": None}, {"lag": None, "rate": None}])
def test_an_unknown_lag_is_no_symptom(unknown: dict[str, Any]) -> None:
    verdict = verdict_after(POLICY, job(), [minute(at, **unknown) for at in range(1, 6)])
    assert (verdict.action, verdict.symptom) == (STAY, "")


def test_the_tasks_end_at_the_limits() -> None:
    verdict = verdict_after(POLICY, job(tasks_max=12), lagging())
    assert (verdict.raw, verdict.size) == (15, JobSize(12, 1, 0.25, 256))
    assert [one.name for one in verdict.constraints] == ["limits.tasks"]
    verdict = verdict_after(POLICY, job(tasks_max=10), lagging())
    assert (verdict.action, verdict.raw, verdict.size) == (STAY, 15, None)
    assert [(one.before, one.after) for one in verdict.constraints] == [(15.0, 10.0)]
    assert "all it may have (limits.tasks)" in verdict.explanation


def test_imbalanced_input_is_spread_anew_if_it_can_be() -> None:
    verdict = verdict_after(POLICY, job(), lagging(parts=SKEWED))
    assert (verdict.action, verdict.diagnosis, verdict.size) == (REBALANCE, "imbalance", None)
    assert [one.action for one in verdict.alternatives] == [SCALE_UP]
    verdict = verdict_after(POLICY, job(partitions=10), lagging(parts=SKEWED))  # each task has one
    assert (verdict.action, verdict.diagnosis) == (STAY, "load")
    assert [one.name for one in verdict.constraints] == ["partitions"]
    verdict = verdict_after(POLICY, job(partitions=None), lagging(parts=SKEWED))
    assert (verdict.action, verdict.diagnosis) == (SCALE_UP, "load")
    assert "is known to be spare" in verdict.alternatives[0].reason


def test_what_a_rebalance_has_left_no_other_one_mends() -> None:
    known, verdict = asked(POLICY, after(POLICY, job(), lagging(parts=SKEWED)), job(), 5)
    assert verdict.action == REBALANCE
    still = [minute(at, lag=20_000.0, parts=SKEWED) for at in range(6, 11)]
    known = after(POLICY, job(), still, known)
    verdict = asked(POLICY, known, job(), 10)[1]
    assert (verdict.action, verdict.diagnosis) == (SCALE_UP, "load")
    assert "was spread anew" in verdict.alternatives[0].reason
    # The lag ended: another one is another matter.
    known = after(POLICY, job(), [minute(11, parts=SKEWED), still[0]], known)
    assert asked(POLICY, known, job(), 12)[1].action == REBALANCE


def test_the_spread_is_held_against_its_setting() -> None:
    # 7 and 13 differ from their mean by 0.3 of it: not above.
    even = lagging(parts=parts(7.0, 13.0))
    assert verdict_after(POLICY, job(), even).action == SCALE_UP
    odd = lagging(parts=parts(6.9, 13.1))
    assert verdict_after(POLICY, job(), odd).action == REBALANCE


@pytest.mark.parametrize("how", [{"oom": True}, {"memory_mb": 231.0}])
def test_tasks_out_of_memory_are_given_more(how: dict[str, Any]) -> None:
    verdict = verdict_after(POLICY, job(), quiet(5, **how))
    assert (verdict.action, verdict.symptom, verdict.diagnosis) == (MEMORY_UP, "oom", "memory")
    assert verdict.size == JobSize(10, 1, 0.25, 384)
    assert ("one uses 231 MiB" in verdict.explanation) is ("memory_mb" in how)


def test_below_the_soft_limit_nothing_is_wrong() -> None:
    verdict = verdict_after(POLICY, job(memory_mb=1000), quiet(5, memory_mb=900.0))
    assert (verdict.action, verdict.symptom) == (STAY, "")


def test_lag_comes_before_oom() -> None:
    assert verdict_after(POLICY, job(), lagging(oom=True)).action == SCALE_UP


def test_memory_ends_at_the_container() -> None:
    verdict = verdict_after(POLICY, job(memory_mb=12_000), quiet(5, oom=True))
    assert verdict.size == JobSize(10, 1, 0.25, 16_384)
    assert [one.name for one in verdict.constraints] == ["container"]
    verdict = verdict_after(POLICY, job(memory_mb=16_384), quiet(5, oom=True))
    assert (verdict.action, verdict.symptom) == (STAY, "oom")


def test_a_day_without_either_takes_a_tenth_away() -> None:
    assert verdict_after(POLICY, job(), quiet(DAY - 1)).action == STAY
    verdict = verdict_after(POLICY, job(), quiet(DAY))
    assert (verdict.action, verdict.raw) == (SCALE_DOWN, 9)
    assert verdict.size == JobSize(9, 1, 0.25, 256)
    # A tenth of three is still a task: otherwise no small job would ever shrink.
    assert verdict_after(POLICY, job(3), quiet(DAY)).size == JobSize(2, 1, 0.25, 256)


def test_the_day_starts_anew_with_lag_and_is_not_counted_where_nothing_is_known() -> None:
    bad = [*quiet(600), minute(601, lag=20_000.0), *[minute(at) for at in range(602, DAY + 600)]]
    assert verdict_after(POLICY, job(), bad).action == STAY
    assert verdict_after(POLICY, job(), [*bad, minute(DAY + 600)]).action == STAY
    assert verdict_after(POLICY, job(), [*bad, minute(0), minute(0)]).action == SCALE_DOWN
    # Without a record to read, and without a task, nobody is late.
    idle = quiet(rate=0.0, down_s=60.0)
    assert verdict_after(POLICY, job(slo_s=0.5), idle).action == SCALE_DOWN
    for unknown in ({"lag": None}, {"heard": 0.9}):
        gap = [*quiet(DAY - 1), minute(DAY, **unknown)]
        assert verdict_after(POLICY, job(), gap).action == STAY
        assert verdict_after(POLICY, job(), [*gap, minute(DAY + 1)]).action == SCALE_DOWN


def test_a_day_just_at_the_slo_is_a_day_without_lag() -> None:
    assert verdict_after(POLICY, job(), quiet(lag=9000.0)).action == SCALE_DOWN


def test_of_the_last_task_memory_is_taken() -> None:
    one = job(1, memory_mb=1000)
    verdict = verdict_after(POLICY, one, quiet(memory_mb=300.0))
    assert (verdict.action, verdict.size) == (MEMORY_DOWN, JobSize(1, 1, 0.25, 900))
    # 855 MiB are 0.9 of 950.
    verdict = verdict_after(POLICY, one, quiet(memory_mb=855.0))
    assert verdict.size == JobSize(1, 1, 0.25, 950)
    assert [(told.name, told.after) for told in verdict.constraints] == [("memory-used", 950.0)]
    verdict = verdict_after(POLICY, one, quiet(memory_mb=900.0))
    assert (verdict.action, verdict.symptom) == (STAY, "quiet")
    assert "uses 900 MiB" in verdict.explanation
    verdict = verdict_after(POLICY, job(1, memory_mb=128), quiet(memory_mb=10.0))
    assert (verdict.action, verdict.constraints[0].name) == (STAY, "memory-base")
    assert "nobody knows the memory" in verdict_after(POLICY, one, quiet()).explanation


def test_after_an_action_its_effect_is_waited_for() -> None:
    known, verdict = asked(POLICY, after(POLICY, job(), lagging()), job(), 5)
    assert verdict.action == SCALE_UP
    later = [minute(at, lag=20_000.0) for at in range(6, 11)]
    for one in later[:-1]:
        known = POLICY.learn(known, job(), one)
    known, verdict = asked(POLICY, known, job(), 9)
    assert (verdict.action, verdict.symptom) == (STAY, "settling")
    assert verdict.until_ms == START_MS + 10 * MINUTE_MS
    known = POLICY.learn(known, job(), later[-1])
    assert asked(POLICY, known, job(), 10)[1].action == SCALE_UP


def test_a_new_size_is_measured_anew_whoever_chose_it() -> None:
    known = after(POLICY, job(), quiet(DAY - 1))
    known = POLICY.learn(known, job(12), minute(DAY))
    assert (known.clean, known.changed_ms) == (1, START_MS + DAY * MINUTE_MS)
    assert asked(POLICY, known, job(12), DAY)[1].symptom == "settling"
    assert len(known.rates) == 1
    assert len(known.arrivals) == 30  # what comes in is not a matter of the size


@pytest.mark.parametrize(
    ("down_s", "rate"), [(0.0, 60.0), (30.0, 120.0), (59.0, 3600.0), (60.0, 0.0)]
)
def test_a_restart_is_no_lower_rate(down_s: float, rate: float) -> None:
    assert running_rate(minute(1, rate=60.0, down_s=down_s)) == rate


@pytest.mark.parametrize("span", [1, 3])
def test_rates_are_means_of_some_minutes(span: int) -> None:
    policy = Reactive.made({"rate_minutes": span})
    rates = [minute(at, rate=100.0 * at) for at in range(1, 6)]
    known = after(policy, job(), rates)
    assert known.rate == known.arrived == (500.0 if span == 1 else 400.0)


def test_of_memory_the_most_since_the_size_changed_is_kept() -> None:
    known = after(POLICY, job(), [minute(at, memory_mb=used) for at, used in enumerate((5, 9, 7))])
    known = POLICY.learn(known, job(), minute(3))
    assert (known.memory_mb, known.memory_most) == (None, 9)
    assert POLICY.learn(known, job(11), minute(4, memory_mb=3.0)).memory_most == 3.0


def test_a_late_task_is_one_whose_fellows_are_known_to_be_in_time() -> None:
    def late(*lags: float) -> int | None:
        shares = parts(*[1.0] * len(lags), lags=lags)
        return late_task(after(POLICY, job(), [minute(1, parts=shares)]), job())

    assert late(0.0, 91.0, 90.0) == 1
    assert late(0.0, 91.0) == 1
    assert late(0.0, 90.0) is None
    assert late(91.0, 91.0) is None
    assert late(91.0) is None
    assert late(91.0, None) is None  # type: ignore[arg-type]  # as a task that says nothing of it


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"step_up": 1}, "step_up"),
        ({"step_down": 1}, "step_down"),
        ({"spread_most": 0}, "spread_most"),
        ({"rate_minutes": 31}, "rate_minutes"),
        ({"memory_soft": 1.1}, "memory_soft"),
        ({"steps": 2}, "steps"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(settings: dict[str, Any], where: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(where)):
        Reactive.made(settings)


def test_every_setting_says_what_it_is_and_why() -> None:
    for name, field in type(POLICY.settings).model_fields.items():
        assert len(field.description or "") > 40, name


def test_nothing_is_remembered_but_values() -> None:
    known = after(POLICY, job(), lagging(parts=EVEN))
    assert not any(isinstance(one, list | dict | Minute) for one in known)
    assert hash(known)
