"""StreamOps' rules, and when it scales, moves, warns or leaves a job alone."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from components.auto_scaler.core.policies.streamops import policy as ops
from components.auto_scaler.core.policies.streamops import rules
from components.auto_scaler.core.policies.streamops.policy import StreamOps
from components.auto_scaler.core.policies.streamops.rules import TaskLoad, Uneven
from components.auto_scaler.core.verdict import ScalingVerdict
from events.job_config.policies.streamops import StreamOpsSettings
from projections.scaling.actions import (
    ALERT,
    MOVE,
    SCALE_DOWN,
    SCALE_UP,
    STAY,
)
from projections.scaling.seen import MINUTE_MS, UNKNOWN, JobFacts, Minute, Part

JOB = JobFacts("j", 4, partitions=64)
QUICK = {"lag_high": 1000, "lag_low": 10, "window_s": 60, "schedule_s": 60}


def test_the_input_is_the_output_and_what_lag_grew_by() -> None:
    assert rules.input_rate(100, 6000, 0, 60) == 200
    assert rules.input_rate(100, 0, 3000, 60) == 50
    assert rules.lag_rate(5, 5, 60) == 0
    assert rules.useful_time([500, 250, 0]) == 750


@pytest.mark.parametrize(("share", "count"), [(0.5, 5), (0.7, 7), (0.71, 8), (0.01, 1), (1, 10)])
def test_shares_of_tasks(share: float, count: int) -> None:
    assert rules.tasks_of(share, 10) == count


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, 0.5, 0.7, 0.3, 0.5], True),
        ([0.5, 0.5, 0.71, 0.3, 0.5], True),  # four of five are most
        ([0.5, 0.5, 0.71, 0.29, 0.5], False),
        ([0.9], True),
        ([], False),
    ],
)
def test_balance(values: list[float], expected: bool) -> None:
    assert rules.balanced(values, 0.2, 0.8) is expected


def test_loads_on_both_sides() -> None:
    loads = [TaskLoad(at, useful, 1.0) for at, useful in enumerate((0.3, 0.31, 0.79, 0.8))]
    assert (rules.overloaded(loads, 0.8), rules.underloaded(loads, 0.3)) == (1, 1)


def test_z_scores() -> None:
    assert rules.z_scores([2, 4, 4, 4, 5, 5, 7, 9]) == [-1.5, -0.5, -0.5, -0.5, 0, 0, 1, 2]
    assert rules.z_scores([3, 3]) == [0, 0]
    assert rules.z_scores([]) == []


def loads(*told: tuple[float, float]) -> list[TaskLoad]:
    return [TaskLoad(at, *one) for at, one in enumerate(told)]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (loads(*[(0.3, 10)] * 5, (1.0, 10)), Uneven((5,), False)),
        (loads(*[(0.3, 10)] * 5, (1.0, 9)), Uneven((5,), False)),
        (loads(*[(0.3, 10)] * 5, (1.0, 11)), Uneven((5,), True)),
        (loads(*[(0.3, 10)] * 8, (0.9, 9), (1.0, 9)), Uneven((9, 8), False)),
        (loads(*[(0.3, 10)] * 6), None),
        ([], None),
    ],
)
def test_who_has_more_to_do(told: list[TaskLoad], expected: Uneven | None) -> None:
    assert rules.uneven(told, 1.5) == expected


def test_a_score_that_is_just_reached_counts() -> None:
    told = loads(*[(one, 10) for one in (2, 4, 4, 4, 5, 5, 7, 9)])
    assert rules.uneven(told, 2) == Uneven((7,), False)


@pytest.mark.parametrize(
    ("nodes", "count", "expected"),
    [
        (["a", "a", "b"], 1, ("a",)),
        (["a", "b"], 1, ("a",)),
        (["a", "b", "c"], 1, ()),
        (["a", "b", "c"], 2, ("a", "b")),
        ([], 1, ()),
    ],
)
def test_nodes_to_leave(nodes: list[str], count: int, expected: tuple[str, ...]) -> None:
    assert rules.blacklisted(nodes, 0.5, count) == expected


def minute(at: int, lag: float | None, *told: tuple[float, float | None], tasks: int = 4) -> Minute:
    parts = tuple(Part(task, rate, busy) for task, (rate, busy) in enumerate(told))
    busy = [part.busy for part in parts if part.busy is not None]
    mean = sum(busy) / len(busy) if len(busy) == len(parts) else None
    rate = sum(part.rate for part in parts)
    return Minute(at * MINUTE_MS, tasks, None, rate, lag, None, mean, parts=parts)


def run(minutes: list[Minute], job: JobFacts = JOB, **settings: Any) -> list[ScalingVerdict]:
    policy, verdicts = StreamOps.made({**QUICK, **settings}), []
    memory = policy.begin(job)
    for one in minutes:
        memory = policy.learn(memory, job, one)
        memory, verdict = policy.decide(memory, job, UNKNOWN, one.at_ms)
        verdicts.append(verdict)
    return verdicts


def tasks(verdict: ScalingVerdict) -> int | None:
    return verdict.size.tasks if verdict.size else None


FULL, IDLE = ((10.0, 1.0),) * 4, ((10.0, 0.1),) * 4


def test_out_by_the_model() -> None:
    """40 a second are read and 40 more pile up: 80 at 10 a task are 8 tasks."""
    verdict = run([minute(1, 1000, *FULL), minute(2, 3400, *FULL)])[1]
    assert (verdict.action, tasks(verdict), verdict.diagnosis) == (SCALE_UP, 8, ops.OVERLOADED)
    assert verdict.explanation == "80 records a second at 10 a task need 8 tasks for 4"


def test_what_was_read_before_the_window_does_not_count() -> None:
    before = minute(1, 1000, *((30.0, 1.0),) * 4)
    assert tasks(run([before, minute(2, 3400, *FULL)])[1]) == 8


@pytest.mark.parametrize(
    ("lag", "told", "symptom"),
    [
        (3400, ((10.0, 0.79),) * 4, ops.HIGH),  # no task is overloaded
        (1000, FULL, ops.HIGH),  # it does not rise
        (999, FULL, ""),
        (None, FULL, ""),
        (3400, ((10.0, None),) * 4, ops.HIGH),  # nobody tells how busy it is
    ],
)
def test_when_it_does_not_grow(
    lag: float | None, told: tuple[tuple[float, float | None], ...], symptom: str
) -> None:
    verdict = run([minute(1, 1000, *FULL), minute(2, lag, *told)])[1]
    assert (verdict.action, verdict.symptom, verdict.diagnosis) == (STAY, symptom, "")


def test_n1_is_half_of_the_tasks() -> None:
    half = ((10.0, 0.8), (10.0, 0.8), (10.0, 0.75), (10.0, 0.75))
    few = ((10.0, 0.8), (10.0, 0.75), (10.0, 0.75), (10.0, 0.75))
    assert run([minute(1, 1000, *half), minute(2, 3400, *half)])[1].diagnosis == ops.OVERLOADED
    assert run([minute(1, 1000, *few), minute(2, 3400, *few)])[1].diagnosis == ""


def test_in_is_stricter() -> None:
    verdict = run([minute(1, 0, *IDLE), minute(2, 0, *IDLE)])[1]
    assert (verdict.action, tasks(verdict), verdict.diagnosis) == (SCALE_DOWN, 1, ops.UNDERLOADED)
    one_busy = (*IDLE[1:], (10.0, 0.31))
    assert run([minute(1, 0, *one_busy), minute(2, 0, *one_busy)])[1].diagnosis == ""
    assert run([minute(1, 11, *IDLE), minute(2, 11, *IDLE)])[1].symptom == ""
    assert run([minute(1, 10, *IDLE), minute(2, 10, *IDLE)])[1].symptom == ops.LOW


def test_a_model_that_says_the_other_direction_is_not_followed() -> None:
    slow = ((10.0, 0.3),) * 4
    verdict = run([minute(1, 0, *slow), minute(2, 6, *slow)], lag_low=900)[1]
    assert verdict.action == SCALE_DOWN
    verdict = run([minute(1, 0, *slow), minute(2, 8400, *slow)], lag_low=9000, lag_high=9999)[1]
    assert (verdict.action, verdict.raw) == (STAY, 6)
    assert verdict.alternatives[0].action == "6 tasks"


def test_without_a_full_window_it_lacks_rates() -> None:
    verdict = run([minute(1, 0, *IDLE), minute(2, 0, *IDLE)], window_s=120)[1]
    assert (verdict.action, verdict.diagnosis) == (STAY, ops.UNDERLOADED)
    assert "the model lacks 120 s of known rates" in verdict.explanation


def test_a_change_of_tasks_begins_the_window_anew() -> None:
    policy = StreamOps.made(QUICK)
    memory = policy.learn(policy.begin(JOB), JOB, minute(1, 0, *IDLE))
    assert len(policy.learn(memory, JOB, minute(2, 0, *IDLE)).rows) == 2
    assert len(policy.learn(memory, JOB._replace(tasks=5), minute(2, 0, *IDLE)).rows) == 1


def test_the_window_is_no_longer_than_it_says() -> None:
    policy = StreamOps.made({**QUICK, "window_s": 180})
    memory = policy.begin(JOB)
    for at in range(1, 20):
        memory = policy.learn(memory, JOB, minute(at, 0, *IDLE))
    assert [row.at_ms // MINUTE_MS for row in memory.rows] == [16, 17, 18, 19]


def test_few_slow_tasks_are_moved() -> None:
    told = (*[(10.0, 0.3)] * 2, (9.0, 1.0), (10.0, 0.3))
    verdict = run([minute(1, 1000, *told)], balance_share=0.9)[0]
    assert (verdict.action, verdict.diagnosis, verdict.task) == (MOVE, ops.STRAGGLERS, 2)
    assert verdict.size is None


def test_the_slowest_is_moved_first() -> None:
    told = (*[(10.0, 0.3)] * 8, (9.0, 0.9), (9.0, 1.0))
    verdict = run([minute(1, 1000, *told)], JOB._replace(tasks=10), balance_share=0.9)[0]
    assert (verdict.action, verdict.task) == (MOVE, 9)
    assert [one.action for one in verdict.alternatives] == ["scale-up", "move task 8"]


def test_too_many_slow_tasks_are_no_stragglers() -> None:
    told = (*[(10.0, 0.3)] * 8, (9.0, 0.9), (9.0, 1.0))
    strict = {"balance_share": 0.9, "stragglers_share": 0.1}
    assert run([minute(1, 1000, *told)], JOB._replace(tasks=10), **strict)[0].diagnosis == ""


def test_skew_is_told_and_nothing_more() -> None:
    told = (*[(10.0, 0.3)] * 3, (30.0, 1.0))
    verdict = run([minute(1, 1000, *told)], balance_share=0.9)[0]
    assert (verdict.action, verdict.diagnosis) == (ALERT, ops.SKEW)
    assert not verdict.acts


def test_imbalance_at_low_lag_is_left_alone() -> None:
    told = (*[(10.0, 0.1)] * 3, (30.0, 1.0))
    verdicts = run([minute(at, 0, *told) for at in (1, 2)], balance_share=0.9)
    assert (verdicts[1].symptom, verdicts[1].diagnosis) == (ops.LOW, "")


def test_the_schedule() -> None:
    verdicts = run([minute(at, 0, *IDLE) for at in range(1, 8)], schedule_s=180)
    seen = [at for at, one in enumerate(verdicts, 1) if one.symptom]
    assert seen == [4, 7]


def test_high_lag_is_a_request_of_its_own() -> None:
    told = [minute(at, 1000 * at, *FULL) for at in (1, 2)]
    assert run(told, schedule_s=21_600)[1].action == SCALE_UP
    assert run(told, schedule_s=21_600, on_high_lag=False)[1].symptom == ""


def test_four_requests_a_day_by_default() -> None:
    assert StreamOpsSettings().schedule_s * 4 == 86_400


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"lag_low": 1000}, "lag_low: expected a number below lag_high, which is"),
        (
            {"underloaded_ratio": 0.8},
            "underloaded_ratio: expected a number below overloaded_ratio, which is 0.8, found 0.8",
        ),
        ({"window_s": 59}, "window_s"),
        ({"z": 1}, "z"),
    ],
)
def test_settings_that_do_not_fit(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        StreamOps.made({**QUICK, **settings})
