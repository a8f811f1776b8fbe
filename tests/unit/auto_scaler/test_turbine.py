"""Turbine's own policy on a job that is played: the cause before the size, and outcomes closed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from pydantic import ValidationError

from components.auto_scaler.core.policies.turbine.policy import Turbine
from components.auto_scaler.core.verdict import ScalingVerdict
from projections.scaling.actions import (
    MEMORY_UP,
    MOVE,
    REBALANCE,
    REVERT,
    SCALE_UP,
)
from projections.scaling.seen import JobFacts, Minute
from turbine.lab.plant.backtest import Action, BacktestRun, Case, back_test, score
from turbine.lab.plant.cases import PER_THREAD, SCENARIOS, USUAL
from turbine.lab.plant.job_model import Fault, Nature


def played(case: Case, **settings: Any) -> BacktestRun:
    return back_test(case, Turbine.made(settings))


def scenario(name: str) -> BacktestRun:
    return played(SCENARIOS[name]())


def of(run: BacktestRun, *names: str) -> list[Action]:
    return [one for one in run.actions if one.verdict.action in names]


def threads(verdict: ScalingVerdict) -> int:
    assert verdict.size is not None
    return verdict.size.tasks * verdict.size.threads


def test_three_times_as_much_is_met_within_minutes_and_in_one_step() -> None:
    run = scenario("step")
    up = [one for one in of(run, SCALE_UP) if one.minute >= 360]
    assert up[0].minute <= 362
    assert threads(up[0].verdict) * PER_THREAD >= 3 * USUAL
    assert score(run).violation_s == 0
    assert run.lag_s[-1] == 0.0


def test_a_quiet_job_is_made_as_small_as_it_may_be_and_left_there() -> None:
    case = SCENARIOS["step"]()
    quiet = replace(case, rates=[USUAL] * 600)
    run = played(quiet)
    assert of(run, SCALE_UP) == []
    assert len(run.actions) <= 2
    assert score(run).violation_s == 0


@pytest.mark.parametrize("name", ["dependency", "poison", "hot-key", "slow-node", "metric-loss"])
def test_what_more_tasks_do_not_mend_gets_none(name: str) -> None:
    case = SCENARIOS[name]()
    first = min(fault.first for fault in case.nature.faults)
    run = played(case)
    grown = [one for one in of(run, SCALE_UP) if one.minute > first + 12]
    if name == "metric-loss":  # its load rises by day: growing is right once metrics are there
        loss = [fault for fault in case.nature.faults if fault.kind != "late"]
        grown = [one for one in grown if any(fault.holds(one.minute) for fault in loss)]
    if name == "dependency":  # what it left is read within two hours, once it is over
        [last] = [fault.last for fault in case.nature.faults]
        assert all(one.minute >= last for one in grown)
        assert max(run.tasks[last:]) <= 1.5 * max(run.tasks[:last])
        assert run.lag_s[last + 120] < run.slo_s
        return
    assert grown == []


def test_a_slow_task_is_moved_and_then_keeps_up() -> None:
    run = scenario("slow-node")
    [moved] = of(run, MOVE)
    assert moved.verdict.task == 0
    assert moved.verdict.explanation.startswith("slow node/0 lags while the other tasks have time")
    assert max(run.lag_s[-60:]) < run.slo_s


def test_where_one_gets_more_than_the_others_it_is_shared_anew() -> None:
    first, *more = of(scenario("hot-key"), REBALANCE)
    assert (first.verdict.diagnosis, first.minute < 250) == ("skew", True)
    assert all(after.minute - one.minute >= 60 for one, after in pairwise([first, *more]))


def test_memory_grows_before_tasks_do() -> None:
    run = scenario("oom-ramp")
    assert of(run, MEMORY_UP)
    assert not run.lag_s[-1] > run.slo_s


def test_nothing_is_decided_on_metrics_that_are_not_there() -> None:
    case = SCENARIOS["metric-loss"]()
    gone = [fault for fault in case.nature.faults if fault.kind in {"vanished", "frozen"}]
    run = played(case)
    blind = [
        one for one in run.actions for fault in gone if fault.first + 4 < one.minute < fault.last
    ]
    assert blind == []


def test_a_change_that_does_not_help_is_taken_back_and_tried_ever_more_rarely() -> None:
    """Twice as many threads read no more: what they share is full."""
    full = Nature(PER_THREAD, 120, noise=0.0, base_mb=300.0, faults=(
        Fault("dependency", 0, 10_000, 0.95 * USUAL),
    ))  # fmt: skip
    case = replace(SCENARIOS["step"](), nature=full, rates=[USUAL] * 1_200)
    run = played(case)
    ups, reverts = of(run, SCALE_UP), of(run, REVERT)
    if ups:  # it may also see at once that tasks are slow, and not grow at all
        assert len(reverts) == len(ups)
        assert run.tasks[-1] == ups[0].before
        gaps = [after.minute - one.minute for one, after in pairwise(ups)]
        assert gaps == sorted(gaps)


def test_every_action_says_why_with_its_numbers() -> None:
    for name in SCENARIOS:
        for one in scenario(name).actions:
            assert one.verdict.symptom
            assert one.verdict.diagnosis
            assert any(letter.isdigit() for letter in one.verdict.explanation), one.verdict


def test_the_same_again_is_the_same() -> None:
    first, second = scenario("diurnal"), scenario("diurnal")
    assert first == second


def test_usual_days_are_met_before_they_come() -> None:
    """With a history its rises are met ahead, and none of them is late."""
    case = SCENARIOS["diurnal"]()
    known, unknown = score(played(case)), score(played(replace(case, history=())))
    assert known.violation_s <= unknown.violation_s
    assert known.violation_s == 0


@pytest.mark.parametrize(
    "settings", [{"margin": 0.5}, {"no_such": 1}, {"look_back_minutes": "many"}]
)
def test_bad_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Turbine.made(settings)


def most(rates: Sequence[float]) -> BacktestRun:
    return played(replace(SCENARIOS["step"](), rates=rates))


def test_more_input_never_gives_fewer_threads() -> None:
    """All else equal: the same hours, at more and more."""
    sizes = [max(most([share * USUAL] * 240).tasks[-60:]) for share in (0.5, 1.0, 1.5, 2.0, 3.0)]
    cores = [most([share * USUAL] * 240).spent[1] for share in (0.5, 1.0, 1.5, 2.0, 3.0)]
    assert cores == sorted(cores), sizes


@pytest.mark.parametrize(("down_s", "restart_s"), [(40.0, 50.0), (90.0, 90.0), (900.0, 60.0)])
def test_who_was_paused_has_not_restarted_for_as_long(down_s: float, restart_s: float) -> None:
    policy, job = Turbine.made({}), JobFacts("clicks", 4)
    memory = policy.begin(job)
    for at, down in enumerate((0.0, down_s, 0.0)):
        minute = Minute((at + 1) * 60_000, 4, 10.0, 10.0, 0.0, 0.0, 0.5, down_s=down)
        memory = policy.learn(memory, job, minute)
    assert memory.restart_s == restart_s
    assert memory.down_s == 0
