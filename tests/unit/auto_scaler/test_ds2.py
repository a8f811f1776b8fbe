"""DS2's model against the figures of its own tests, and what it makes of a job's minutes."""

from __future__ import annotations

from math import inf, isnan, nan
from typing import Any

import pytest
from pydantic import ValidationError

from components.auto_scaler.core.policies.ds2 import model
from components.auto_scaler.core.policies.ds2.model import Dataflow, DataflowOperator, Rates
from components.auto_scaler.core.policies.ds2.policy import GROWS, Ds2
from components.auto_scaler.core.verdict import ScalingVerdict
from projections.scaling.actions import (
    SCALE_DOWN,
    SCALE_UP,
    STAY,
)
from projections.scaling.seen import MINUTE_MS, UNKNOWN, JobFacts, Minute, Part

JOB = JobFacts("j", 4, partitions=64)


def flow(
    source: float, one: tuple[float, float], two: tuple[float, float], sources: int
) -> Dataflow:
    names = [f"s{at}" for at in range(sources)]
    return Dataflow(
        (
            *(DataflowOperator(name, 1, Rates(0.0, source, 90.0)) for name in names),
            DataflowOperator("op1", 1, Rates(*one)),
            DataflowOperator("op2", 1, Rates(*two)),
        ),
        (*((name, "op1") for name in names), ("op1", "op2")),
    )


@pytest.mark.parametrize(
    ("source", "one", "two", "sources", "expected"),
    [
        (100, (50, 400), (100, 200), 1, (2, 8)),
        (200, (40, 700), (99, 200), 1, (5, 36)),
        (200, (10, 700), (201, 200), 1, (20, 70)),
        (100, (50, 400), (100, 200), 2, (4, 16)),
        (200, (40, 700), (99, 200), 2, (10, 71)),
        (200, (10, 700), (201, 200), 2, (40, 140)),
    ],
)
def test_figures_of_ds2s_tests(
    source: float,
    one: tuple[float, float],
    two: tuple[float, float],
    sources: int,
    expected: tuple[int, int],
) -> None:
    found = model.configuration(flow(source, one, two, sources))
    assert (found["op1"], found["op2"]) == expected
    assert {found[f"s{at}"] for at in range(sources)} == {1}


def test_outputs_go_on_with_what_is_not_rounded() -> None:
    """1.5 instances of op1 put out 96 a second; rounded first they would put out 128."""
    found = model.needs(flow(15, (10, 100), (100, 1), 1))
    assert found["op1"] == model.Need(1.5, 2)
    assert found["op2"] == model.Need(1.5, 2)
    found = model.needs(flow(12, (8, 64), (96, 1), 1))
    assert (found["op1"].instances, found["op2"].instances) == (2, 1)


def test_the_factor_is_added_before_rounding() -> None:
    assert [model.counted(2.0, factor) for factor in (0, 0.1, 0.5)] == [2, 3, 3]


@pytest.mark.parametrize(
    ("need", "expected"),
    [(0.0, 0), (0.1, 1), (nan, 0), (inf, 2**32 - 1), (1e12, 2**32 - 1), (-3.0, 0)],
)
def test_the_ends_of_a_cast(need: float, expected: int) -> None:
    assert model.counted(need) == expected


def test_true_rates() -> None:
    assert model.true_rate(30, 0.5) == 60
    assert model.true_rate(30, 0) == inf
    assert isnan(model.true_rate(0, 0))
    assert model.exact(10, inf, 4) == 0
    assert model.exact(10, 0, 4) == inf
    assert isnan(model.exact(0, 0, 4))
    assert isnan(model.exact(10, 5, 0))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([4, 4], [4, 4], False),
        ([4, 4], [3, 3], False),
        ([4, 4], [4, 2], True),
        ([4, 4], [3, 5], True),
        ([1], [0], False),
        ([], [], False),
    ],
)
def test_what_is_worth_a_change(before: list[int], after: list[int], expected: bool) -> None:
    assert model.considered(before, after) is expected


def test_the_offline_adjustment() -> None:
    steady = flow(100, (100, 100), (100, 100), 1)  # the source is 100 / 90 too slow
    wanted = model.needs(steady)
    assert model.adjusted(steady, wanted) == {"op1": 1, "op2": 1}
    assert model.adjusted(steady, wanted, 100 / 90) == {"op1": 1, "op2": 1}
    assert model.adjusted(steady, wanted, 1.1) == {"op1": 2, "op2": 2}
    grows = flow(101, (100, 100), (101, 100), 1)
    assert model.adjusted(grows, model.needs(grows), 1.0) == {"op1": 2, "op2": 1}


def test_a_cycle_is_refused() -> None:
    rates = Rates(1.0, 1.0)
    round_trip = Dataflow(
        (DataflowOperator("a", 1, rates), DataflowOperator("b", 1, rates)), (("a", "b"), ("b", "a"))
    )
    with pytest.raises(ValueError, match=r"the dataflow has a cycle, .*: DS2 needs one without"):
        model.configuration(round_trip)


def minute(at: int, arrived: float | None, rate: float, busy: float | None, **more: Any) -> Minute:
    return Minute(at * MINUTE_MS, 4, arrived, rate, 0.0, 0.0, busy, **more)


def run(minutes: list[Minute], job: JobFacts = JOB, **settings: Any) -> list[ScalingVerdict]:
    policy, verdicts = Ds2.made(settings), []
    memory = policy.begin(job)
    for one in minutes:
        memory = policy.learn(memory, job, one)
        memory, verdict = policy.decide(memory, job, UNKNOWN, one.at_ms)
        verdicts.append(verdict)
    return verdicts


def tasks(verdict: ScalingVerdict) -> int | None:
    return verdict.size.tasks if verdict.size else None


def test_up_to_what_the_input_needs() -> None:
    (verdict,) = run([minute(1, 100.0, 40.0, 1.0)])
    assert (verdict.action, tasks(verdict), verdict.raw) == (SCALE_UP, 10, 10)
    assert verdict.explanation == "100 records a second at 10 a task need 10 tasks"
    assert verdict.expects is None


def test_down_by_two_and_not_by_one() -> None:
    assert tasks(run([minute(1, 20.0, 20.0, 0.5)])[0]) == 2
    (verdict,) = run([minute(1, 30.0, 30.0, 0.75)])
    assert (verdict.action, verdict.symptom) == (STAY, "the input needs fewer tasks")


def test_silence_goes_to_one_task() -> None:
    (verdict,) = run([minute(1, 0.0, 0.0, 0.0)])
    assert (verdict.action, tasks(verdict), verdict.raw) == (SCALE_DOWN, 1, 0)
    assert [one.name for one in verdict.constraints] == ["one-task"]


def test_input_that_nobody_reads_needs_all_there_is() -> None:
    (verdict,) = run([minute(1, 50.0, 0.0, 0.5)])
    assert verdict.raw == 2**32 - 1
    assert [one.name for one in verdict.constraints] == ["partitions", "limits.tasks"]
    assert tasks(verdict) == 32


def test_true_rates_are_added_up_by_task() -> None:
    parts = (Part(0, 10.0, 0.5), Part(1, 10.0, 1.0), Part(2, 10.0, 1.0), Part(3, 10.0, 1.0))
    (verdict,) = run([minute(1, 100.0, 40.0, 0.9, parts=parts)])
    assert tasks(verdict) == 8  # 20 + 10 + 10 + 10 are 50, and 12.5 a task
    some = (Part(0, 10.0, 0.5), Part(1, 10.0))
    assert tasks(run([minute(1, 100.0, 40.0, 1.0, parts=some)])[0]) == 10


@pytest.mark.parametrize(
    "one",
    [
        minute(1, None, 40.0, 1.0),
        minute(1, 100.0, 40.0, None),
        minute(1, 100.0, 40.0, 1.0, heard=0.75),
        minute(1, 100.0, 40.0, 1.0)._replace(tasks=3),
    ],
)
def test_what_is_not_known_is_not_decided_on(one: Minute) -> None:
    assert run([one])[0].symptom == ""


def test_warm_up_and_activation() -> None:
    told = [minute(at, 100.0, 40.0, 1.0) for at in (1, 2, 3)]
    assert [tasks(one) for one in run(told, warm_up_time=6)] == [None, 10, None]
    assert [tasks(one) for one in run(told, warm_up_time=5)] == [10, 10, 10]
    late = run(told, activation_time=5)
    assert [tasks(one) for one in late] == [None, 10, None]
    assert (late[0].symptom, late[0].diagnosis) == (GROWS, "")


def test_a_change_by_others_warms_up_as_well() -> None:
    policy = Ds2.made({"warm_up_time": 7})
    memory = policy.begin(JOB)
    for at in (1, 2):
        memory = policy.learn(memory, JOB, minute(at, 100.0, 40.0, 1.0))
    assert policy.detect(memory, JOB, 0) == GROWS
    other = JOB._replace(tasks=5)
    memory = policy.learn(memory, other, minute(3, 100.0, 40.0, 1.0)._replace(tasks=5))
    assert policy.detect(memory, other, 0) == ""


def test_options_of_the_model() -> None:
    told = [minute(1, 100.0, 40.0, 1.0)]
    assert tasks(run(told, scaling_factor=0.2)[0]) == 12
    steady = [minute(1, 40.0, 20.0, 0.5)]
    assert run(steady)[0].symptom == ""
    assert tasks(run(steady, target_rate_ratio=1.5)[0]) == 8
    assert run(steady, target_rate_ratio=2.0)[0].symptom == ""


def test_no_room_is_told() -> None:
    (verdict,) = run([minute(1, 100.0, 40.0, 1.0)], JOB._replace(granted=4))
    assert (verdict.action, verdict.raw) == (STAY, 10)
    assert [one.name for one in verdict.constraints] == ["granted"]
    assert verdict.alternatives[0].action == "10 tasks"


@pytest.mark.parametrize(
    "settings", [{"scaling_factor": -0.1}, {"target_rate_ratio": 0.9}, {"activation": 1}]
)
def test_settings_that_do_not_fit(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(settings))):
        Ds2.made(settings)
