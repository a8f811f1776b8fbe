"""Dhalion's detectors, diagnosers and resolver, and what they make of a job's minutes."""

from __future__ import annotations

from random import Random
from statistics import linear_regression
from typing import Any

import pytest
from pydantic import ValidationError

from components.auto_scaler.core.policies.dhalion import rules
from components.auto_scaler.core.policies.dhalion.policy import Dhalion
from components.auto_scaler.core.policies.dhalion.rules import (
    DetectorLimits,
    HeronComponent,
    HeronInstance,
)
from components.auto_scaler.core.verdict import ScalingVerdict
from projections.scaling.actions import (
    SCALE_UP,
    STAY,
)
from projections.scaling.seen import MINUTE_MS, UNKNOWN, JobFacts, Minute, Part

LIMITS = DetectorLimits()
JOB = JobFacts("bolt", 2, partitions=64, tasks_max=64)


@pytest.mark.parametrize(("blocked", "instances", "expected"), [(500, 2, 4), (750, 2, 8)])
def test_figures_of_herons_resolver(blocked: float, instances: int, expected: int) -> None:
    assert rules.scaled_up(instances, blocked) == expected


def test_back_pressure_is_summed_over_instances() -> None:
    assert rules.scaled_up(3, 400 + 100 + 0) == 6


@pytest.mark.parametrize(
    ("blocked", "expected"),
    [(0, 10), (1, 11), (799, 50), (800, 50), (801, 50), (999, 50), (1000, 50), (5000, 50)],
)
def test_the_fence(blocked: float, expected: int) -> None:
    assert rules.scaled_up(10, blocked) == expected


def test_a_second_is_never_all_blocked() -> None:
    assert (rules.counted_ms(999.5), rules.counted_ms(1000)) == (999.5, 999)
    assert rules.unused_capacity(1000) == 999


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ([3, 2], False),
        ([3.01, 2], True),
        ([0, 0], False),
        ([1, 0], True),
        ([], False),
        ([5], False),
    ],
)
def test_skew_is_strict(means: list[float], expected: bool) -> None:
    assert rules.skewed(means, 1.5) is expected


def test_slope_by_least_squares() -> None:
    assert rules.slope([(0, 0), (60, 600)]) == 0  # two points are too few
    assert rules.slope([(0, 0), (60, 600), (120, 1200)]) == 10
    assert rules.slope([(0, 1), (1, 2), (2, 2)]) == pytest.approx(0.5)
    assert rules.slope([(5, 1), (5, 2), (5, 3)]) == 0  # no time passed


@pytest.mark.parametrize("seed", range(10))
def test_slope_is_that_of_a_plain_regression(seed: int) -> None:
    chance = Random(seed)
    points = [(1.7e9 + 60 * at, chance.uniform(0, 1e6)) for at in range(3 + seed)]
    expected = linear_regression(*zip(*points, strict=True)).slope
    assert rules.slope(points) == pytest.approx(expected)


def component(
    *queues: float | None, rates: tuple[float, ...] = (), ms: float = 50
) -> HeronComponent:
    rates = rates or (10.0,) * len(queues)
    told = zip(rates, queues, strict=True)
    return HeronComponent(
        "c", ms, tuple(HeronInstance(str(at), *one) for at, one in enumerate(told))
    )


def test_detectors_on_both_sides() -> None:
    assert rules.blocked([component(ms=20)], LIMITS) == []
    assert len(rules.blocked([component(ms=20.1)], LIMITS)) == 1
    assert not rules.large_queue(component(1000, 1000), LIMITS)
    assert rules.large_queue(component(1001, 1000), LIMITS)
    assert not rules.large_queue(component(None), LIMITS)
    assert not rules.growing_queue(component()._replace(slope=10), LIMITS)
    assert rules.growing_queue(component()._replace(slope=10.1), LIMITS)


@pytest.mark.parametrize(
    ("found", "cause", "instances"),
    [
        (component(100, 100), rules.UNDER_PROVISIONED, ()),
        (component(), rules.UNDER_PROVISIONED, ()),
        (component(100, 2000), rules.UNDER_PROVISIONED, ()),  # 20 times is no skew yet
        (component(99, 2000), rules.SLOW_INSTANCE, ("1",)),
        (component(99, 2000, 1001), rules.SLOW_INSTANCE, ("1", "2")),
        (component(99, 2000, 1000), rules.SLOW_INSTANCE, ("1",)),
        (component(99, 2000, rates=(10, 16)), rules.DATA_SKEW, ("1",)),
        (component(99, 2000, 1900, rates=(10, 16, 14.5)), rules.DATA_SKEW, ("1",)),
        (component(99, 2000, 1900, rates=(10, 16, 14.6)), rules.DATA_SKEW, ("1", "2")),
    ],
)
def test_diagnoses(found: HeronComponent, cause: str, instances: tuple[str, ...]) -> None:
    assert rules.diagnosed([found], LIMITS) == rules.Diagnosis(cause, "c", instances)


@pytest.mark.parametrize(
    "found",
    [
        component(100, 100, ms=20),
        component(100, 100, rates=(10, 16)),  # rates alone
        component(99, 2000, rates=(16, 10)),  # who has much to do is not who does much
        component(99, 2000, rates=(10, 16))._replace(blocked=frozenset("0")),
    ],
)
def test_what_no_diagnoser_knows(found: HeronComponent) -> None:
    assert rules.diagnosed([found], LIMITS) is None


def test_two_components_at_once_are_refused() -> None:
    both = [component(), component()._replace(name="d")]
    with pytest.raises(ValueError, match="c, d are back-pressured at once, and Dhalion takes one"):
        rules.diagnosed(both, LIMITS)


def minute(at: int, ms: float, *told: tuple[float, float | None]) -> Minute:
    parts = tuple(Part(task, rate, None, lag) for task, (rate, lag) in enumerate(told))
    return Minute(at * MINUTE_MS, 2, 1.0, 1.0, 1.0, None, blocked_ms=ms, parts=parts)


def run(minutes: list[Minute], job: JobFacts = JOB, **settings: Any) -> list[ScalingVerdict]:
    policy, verdicts = Dhalion.made(settings), []
    memory = policy.begin(job)
    for one in minutes:
        memory = policy.learn(memory, job, one)
        memory, verdict = policy.decide(memory, job, UNKNOWN, one.at_ms)
        verdicts.append(verdict)
    return verdicts


EVEN = ((10.0, 100.0), (10.0, 100.0))


def test_back_pressure_adds_tasks() -> None:
    (verdict,) = run([minute(1, 500, *EVEN)])
    assert verdict.action == SCALE_UP
    assert verdict.size is not None
    assert (verdict.size.tasks, verdict.raw, verdict.constraints) == (4, 4, ())
    assert verdict.explanation == "blocked for 500 ms of a second: 4 tasks for 2"


def test_every_clamp_is_told() -> None:
    (verdict,) = run([minute(1, 1200, *EVEN)], JOB._replace(tasks_max=8))
    names = [one.name for one in verdict.constraints]
    assert names == ["blocked-max", "growth-max", "limits.tasks"]
    assert [(one.before, one.after) for one in verdict.constraints] == [
        (1200, 999),
        (999, 4),
        (10, 8),
    ]


def test_after_an_action_it_waits() -> None:
    verdicts = run([minute(at, 500, *EVEN) for at in range(1, 6)])
    assert [one.action for one in verdicts] == [SCALE_UP, STAY, STAY, SCALE_UP, STAY]
    assert verdicts[1].until_ms == 4 * MINUTE_MS
    assert verdicts[1].alternatives[0].action == "4 tasks"


def test_what_has_no_room_is_not_waited_for() -> None:
    verdicts = run([minute(at, 500, *EVEN) for at in (1, 2)], JOB._replace(tasks_max=2))
    assert [(one.action, one.until_ms) for one in verdicts] == [(STAY, None)] * 2


def test_skew_and_slow_tasks_have_no_resolver() -> None:
    skew, slow = run([minute(1, 500, (10, 1), (16, 999)), minute(2, 500, (10, 1), (10, 999))])
    assert (skew.action, skew.diagnosis) == (STAY, rules.DATA_SKEW)
    assert (slow.action, slow.diagnosis) == (STAY, rules.SLOW_INSTANCE)
    assert slow.explanation == "a slow instance at task 1, and Heron has no resolver for it"


def test_symptoms_are_told() -> None:
    told = [minute(at, 500, (10, 9000 * at), (10, 9000 * at)) for at in (1, 2, 3)]
    assert run(told)[-1].symptom == "back-pressure, large queues, growing queues"


def test_lag_without_back_pressure_is_not_seen() -> None:
    assert run([minute(1, 20, (10, 1e9), (10, 1e9))])[0].symptom == ""


def test_it_never_takes_tasks_away() -> None:
    verdict = run([minute(1, 100, (10.0, 1.0))], JOB._replace(tasks=9))[0]
    assert (verdict.action, verdict.constraints[0].name) == (STAY, "never-down")
    assert run([minute(1, 0, *EVEN)])[0].action == STAY


@pytest.mark.parametrize("settings", [{"noise_ms": -1}, {"rate_skew_ratio": 0.9}, {"wait": 1}])
def test_settings_that_do_not_fit(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(settings))):
        Dhalion.made(settings)
