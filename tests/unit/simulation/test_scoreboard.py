"""The scoreboard's verdicts on rows that are made up, its parts, and the storm."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import pytest

from components.auto_scaler.core.catalogue import policy_of
from components.auto_scaler.core.verdict import ScalingVerdict
from projections.scaling.actions import (
    SCALE_UP,
    JobSize,
)
from projections.scaling.seen import JobFacts
from turbine.lab.plant.backtest import Action, BacktestRun, Case, Score, back_test
from turbine.lab.plant.cases import SCENARIOS, USUAL
from turbine.lab.plant.job_model import Fault, Nature
from turbine.lab.plant.optimum import Optimum, optimum
from turbine.lab.plant.scoreboard import (
    COLUMNS,
    FIRST,
    LAST,
    WHOLE,
    ScoreRow,
    Still,
    better,
    dominated,
    drain_minutes,
    false_scale_outs,
    least,
    mean_over,
    of_plain,
    parts,
    rows,
    saved,
    speedup,
    sums,
    to_plain,
    worst,
)
from turbine.lab.plant.storm import (
    CALM_MINUTES,
    MORE,
    STORM_MINUTES,
    Weathered,
    storm,
    storm_case,
    weathered,
)

ZERO = Score(*[0.0] * len(Score._fields))._replace(explained=1.0)


def row(policy: str, case: str = "a", minutes: int = 1_000, **more: Any) -> ScoreRow:
    bound = Optimum(more.pop("least", 10.0), 0.0)
    return ScoreRow("trace", case, policy, WHOLE, minutes, ZERO._replace(**more), bound)


@pytest.mark.parametrize(
    ("ours", "theirs", "is_better"),
    [
        ({"violation_s": 60, "cpu_hours": 5}, {"violation_s": 60, "cpu_hours": 6}, True),
        ({"violation_s": 60, "cpu_hours": 6}, {"violation_s": 60, "cpu_hours": 6}, False),
        ({"violation_s": 120, "cpu_hours": 5}, {"violation_s": 60, "cpu_hours": 6}, False),
        # 10 of 1,000 minutes are 1 %: not more than it.
        ({"violation_s": 0, "cpu_hours": 7}, {"violation_s": 600, "cpu_hours": 6}, False),
        ({"violation_s": 0, "cpu_hours": 7}, {"violation_s": 660, "cpu_hours": 6}, True),
        ({"violation_s": 660, "cpu_hours": 7}, {"violation_s": 660, "cpu_hours": 6}, True),
        ({"violation_s": 720, "cpu_hours": 1}, {"violation_s": 660, "cpu_hours": 6}, False),
        ({"violation_s": 0, "gb_hours": 9}, {"violation_s": 0, "cpu_hours": 1}, False),
    ],
)
def test_who_is_better(ours: dict[str, float], theirs: dict[str, float], is_better: bool) -> None:
    assert better(row("ours", **ours), row("keda", **theirs)) is is_better


def test_a_case_is_dominated_when_nobody_is_left_to_beat() -> None:
    found = [
        row("ours", cpu_hours=5.0),
        row("keda", cpu_hours=6.0),
        row("flink", cpu_hours=5.5),
        row("ours", "b", cpu_hours=5.0),
        row("keda", "b", cpu_hours=4.0),
        row("flink", "b", cpu_hours=9.0),
    ]
    assert dominated(found, "ours") == {"a": [], "b": ["keda"]}


def test_the_worst_is_worse_than_all_others_and_not_as_bad_as_one() -> None:
    found = [
        row("ours", rescales=5, wrong_ways=2, lag_seconds=1.0, explained=0.0),
        row("keda", rescales=4, wrong_ways=2, lag_seconds=2.0),
        row("flink", rescales=3, wrong_ways=1, lag_seconds=0.5),
    ]
    assert worst(found, "ours") == [("a", "rescales")]
    assert worst(found[:1], "ours") == []
    assert set(COLUMNS) == {*Score._fields, "cost"} - {"explained"}


def test_the_cost_over_the_least_is_a_mean_over_cases() -> None:
    found = [
        row("ours", cpu_hours=12.0),
        row("ours", "b", cpu_hours=30.0, least=20.0),
        row("keda", cpu_hours=99.0),
        row("ours", "c", cpu_hours=5.0, least=0.0),
    ]
    assert mean_over(found, "ours") == pytest.approx((1.2 + 1.5) / 2)
    assert mean_over([], "ours") is None


def test_sums_are_of_all_cases_and_shares_are_means() -> None:
    found = [
        row("ours", violation_s=60, lag_s_p99=10, explained=1.0, converge_minutes=4),
        row("ours", "b", violation_s=120, lag_s_p99=30, explained=0.5, converge_minutes=0),
        row("keda", violation_s=1),
    ]
    ours, keda = sums(found)
    assert (ours.score.violation_s, ours.score.lag_s_p99, ours.minutes) == (180, 20, 2_000)
    assert (ours.score.explained, ours.score.converge_minutes) == (0.75, 2)
    assert (keda.policy, keda.score.violation_s) == ("keda", 1)


def test_what_is_saved_is_of_what_stands() -> None:
    found = [
        row("ours", cpu_hours=30.0, gb_hours=10.0),
        row("ours", "b", cpu_hours=30.0, gb_hours=10.0),
        row("still", cpu_hours=50.0, gb_hours=40.0),
        row("still", "b", cpu_hours=50.0, gb_hours=40.0),
        row("keda", cpu_hours=1.0),
    ]
    assert saved(found, "ours") == (pytest.approx(40.0), pytest.approx(75.0))


# --- parts


def case(minutes: int = 90, **more: Any) -> Case:
    job = JobFacts("clicks", 4, memory_mb=512, partitions=12)
    return replace(Case([3_000.0] * minutes, Nature(1_000.0, 12), job), **more)


def test_the_last_third_is_a_part_of_its_own() -> None:
    assert list(parts(case(90))) == [(WHOLE, 0, 90), (FIRST, 0, 60), (LAST, 60, 90)]
    assert list(parts(case(90, begin=30))) == [(WHOLE, 30, 90), (FIRST, 30, 70), (LAST, 70, 90)]
    assert list(parts(case(1))) == [(WHOLE, 0, 1), (LAST, 0, 1)]


def test_rows_are_of_each_part_with_the_least_of_it() -> None:
    played = case(90, begin=30)
    bounds = least(played)
    told = rows("trace", "a", played, Still.made({}), bounds)
    assert [(one.part, one.minutes, one.policy) for one in told] == [
        (WHOLE, 60, "still"), (FIRST, 40, "still"), (LAST, 20, "still"),
    ]  # fmt: skip
    assert [one.score.task_hours for one in told] == pytest.approx([4, 8 / 3, 4 / 3])
    assert told[0].least == optimum(played)
    assert bounds[FIRST].cost + bounds[LAST].cost <= bounds[WHOLE].cost + 1e-9
    assert all(one.over is not None and one.over >= 1 for one in told)


def test_a_row_comes_back_from_another_process_as_it_was() -> None:
    told = rows("scenario", "a", case(), Still.made({}), least(case()))
    assert [of_plain(to_plain(one)) for one in told] == told
    bare = told[0]._replace(least=None)
    assert of_plain(to_plain(bare)) == bare


def test_who_stands_still_does_nothing_at_all() -> None:
    run = back_test(case(rates=[9_000.0] * 30), Still.made({}))
    assert run.actions == []
    assert set(run.tasks) == {4}


# --- scenarios


def acted(minute: int, before: int, after: int) -> Action:
    verdict = ScalingVerdict(
        SCALE_UP, "lag", "under-capacity", "", after, JobSize(after, 1, 0.25, 512)
    )
    return Action(minute, before, after, verdict)


@pytest.mark.parametrize(
    ("minute", "before", "after", "count"),
    [
        (111, 4, 5, 0),  # the first try has not been verified
        (112, 4, 5, 1),
        (112, 5, 4, 0),
        (112, 4, 4, 0),  # larger tasks are no scale-out
        (199, 4, 5, 1),
        (200, 4, 5, 0),  # it is over, and what is left may be read sooner
    ],
)
@pytest.mark.parametrize("kind", ["dependency", "straggler", "hot", "poison", "keys", "frozen"])
def test_tasks_that_mend_nothing_are_counted(
    kind: Any, minute: int, before: int, after: int, count: int
) -> None:
    faulty = case(300, nature=Nature(1_000.0, 12, faults=(Fault(kind, 100, 200, 1.0),)))
    run = BacktestRun(90.0, faulty.rates, actions=[acted(minute, before, after)])
    assert false_scale_outs(faulty, run, 0, 300) == count
    assert false_scale_outs(faulty, run, 200, 300) == 0
    assert false_scale_outs(case(300), run, 0, 300) == 0


def test_a_backlog_is_read_sooner_by_so_many_times() -> None:
    backlog = SCENARIOS["backlog"]()
    days = 5 * USUAL / (10_000 - USUAL)
    assert drain_minutes(backlog) == pytest.approx(days * 24 * 60)
    assert speedup(backlog, row("ours", converge_minutes=1_440.0, minutes=9_999)) == pytest.approx(
        days
    )
    never = row("ours", converge_minutes=9_999.0, minutes=9_999)
    assert speedup(backlog, never) == 0
    full = replace(backlog, job=backlog.job._replace(tasks=8))
    assert drain_minutes(full) == inf


# --- the storm


def test_a_storm_is_the_same_for_the_same_seed_and_jobs_differ() -> None:
    one, again, other = storm_case(7), storm_case(7), storm_case(8)
    assert one == again
    assert one.rates != other.rates
    calm, rough = one.rates[:CALM_MINUTES], one.rates[CALM_MINUTES:]
    assert len(rough) == STORM_MINUTES
    assert sum(rough) / sum(calm) == pytest.approx(MORE, abs=0.03)


def test_jobs_of_the_storm_fit_the_tasks_they_may_have() -> None:
    for number in range(200):
        one = storm_case(number)
        assert one.job.tasks <= one.job.tasks_max
        assert max(one.rates) < one.nature.capacity(one.job.tasks_max, 1)


def test_what_a_storm_comes_to() -> None:
    jobs = [Weathered((10.0, 5.0), (11.0, 6.0), (0, 1)), Weathered((10.0, 5.0), (11.0, 5.0), (1,))]
    told = storm(jobs)
    assert told.tasks_percent == pytest.approx(10.0)
    assert told.cpu_percent == pytest.approx(10.0)
    assert told.jobs_in_slo_percent == pytest.approx(100 * (1 - 3 / (2 * STORM_MINUTES)))
    assert told.jobs_in_slo_percent_worst == 0


def test_a_job_is_weathered_by_what_it_held_and_when_it_was_late() -> None:
    run = back_test(storm_case(3), policy_of("turbine", {}))
    run.lag_s[:] = [0.0] * len(run.lag_s)
    run.lag_s[CALM_MINUTES - 1] = run.lag_s[CALM_MINUTES + 5] = 91.0
    told = weathered(run)
    assert told.late == (5,)
    assert told.before[1] == pytest.approx(
        sum(one.tasks * one.cpu_cores for one in run.sizes[CALM_MINUTES - 60 : CALM_MINUTES]) / 60
    )
    assert told.after[0] > 0
