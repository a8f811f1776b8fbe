"""Back-tests: when a policy is asked, when what it says is done, and how a run is scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import pytest

from components.auto_scaler.core.policy import ScalingPolicy
from components.auto_scaler.core.verdict import (
    ScalingVerdict,
    stay,
)
from projections.scaling.actions import (
    MOVE,
    SCALE_DOWN,
    SCALE_UP,
    JobSize,
)
from projections.scaling.seen import DAY_MS, JobFacts, Minute, Profile
from turbine.lab.plant.backtest import (
    DAY_MINUTES,
    BacktestRun,
    Case,
    PastDays,
    Score,
    back_test,
    cost,
    score,
)
from turbine.lab.plant.cases import PER_THREAD, SCENARIOS, USUAL, case_of
from turbine.lab.plant.job_model import Fault, Nature

Heard = tuple[tuple[int, ...], tuple[int, ...]]
"""Minutes that were learnt, and those at whose end the policy was asked."""


class Planned(ScalingPolicy[Heard]):
    """Says at certain minutes what it was told to say."""

    name: ClassVar[str] = "planned"

    def __init__(self, plan: Mapping[int, ScalingVerdict]) -> None:
        self.plan = plan
        self.heard: Heard = ((), ())
        self.profiles = list[Profile]()

    @classmethod
    def made(cls, settings: Mapping[str, Any]) -> Self:
        return cls(settings["plan"])

    def begin(self, job: JobFacts) -> Heard:
        return ((), ())

    def learn(self, memory: Heard, job: JobFacts, minute: Minute) -> Heard:
        return ((*memory[0], minute.at_ms // 60_000 - 1), memory[1])

    def detect(self, memory: Heard, job: JobFacts, now_ms: int) -> str:
        return "planned"

    def diagnose(self, memory: Heard, job: JobFacts, symptom: str, profile: Profile) -> str:
        return "planned"

    def resolve(
        self, memory: Heard, job: JobFacts, found: tuple[str, str], profile: Profile, now_ms: int
    ) -> tuple[Heard, ScalingVerdict]:
        minute = now_ms // 60_000 - 1
        self.heard = (memory[0], (*memory[1], minute))
        self.profiles.append(profile)
        return self.heard, self.plan.get(minute, stay("not planned"))


def to(tasks: int, threads: int = 1, **more: Any) -> ScalingVerdict:
    size = JobSize(tasks, threads, 0.25 * threads, more.get("memory_mb", 512))
    return ScalingVerdict(SCALE_UP, "lag", "under-capacity", "it was planned", tasks, size)


def case(rates: list[float], **more: Any) -> Case:
    job = JobFacts("clicks", 4, memory_mb=512, partitions=12)
    return replace(Case(rates, Nature(1_000.0, 12, restart_s=60.0), job), **more)


def test_it_is_asked_after_each_minute_and_obeyed_from_the_next_one_on() -> None:
    policy = Planned({2: to(8)})
    run = back_test(case([3_000.0] * 6), policy)
    assert run.tasks == [4, 4, 4, 8, 8, 8]
    assert [one > 0 for one in run.lag_s] == [False, False, False, True, False, False]
    assert policy.heard[0] == policy.heard[1] == tuple(range(6))
    assert [(one.minute, one.before, one.after) for one in run.actions] == [(2, 4, 8)]


def test_one_that_is_asked_more_rarely_learns_every_minute() -> None:
    class Slow(Planned):
        every_ms: ClassVar[int] = 180_000

    policy = Slow({})
    back_test(case([3_000.0] * 7), policy)
    assert policy.heard == (tuple(range(7)), (0, 3, 6))


def test_what_it_has_already_is_no_action() -> None:
    run = back_test(case([3_000.0] * 5), Planned({1: to(4), 2: stay("fine")}))
    assert run.actions == []
    assert max(run.lag_s) == 0


def test_a_move_is_an_action_and_no_rescale() -> None:
    moved = ScalingVerdict(MOVE, "lag", "straggler", "it is slow", task=0)
    run = back_test(case([4_000.0] * 5), Planned({1: moved}))
    assert score(run).rescales == 0
    assert [one.verdict.action for one in run.actions] == [MOVE]
    assert run.lag_s[2] > 0


def test_before_its_first_minute_the_job_stands_and_nothing_counts() -> None:
    outage = Fault("dependency", 0, 3, 0.0)
    policy = Planned({1: to(9), 4: to(8)})
    begun = case([1_000.0] * 8, begin=3, nature=Nature(1_000.0, 12, faults=(outage,)))
    run = back_test(begun, policy)
    assert run.tasks == [4, 4, 4, 4, 4, 8, 8, 8]
    assert policy.heard == ((3, 4, 5, 6, 7), (3, 4, 5, 6, 7))
    assert run.lag_s[:3] == pytest.approx([60.0, 120.0, 180.0])
    whole = score(run)
    assert whole == score(run, 3, 8)
    assert whole.task_hours == pytest.approx((2 * 4 + 3 * 8) / 60)
    assert whole.violation_s == 0
    assert score(run, 0).violation_s == 120


def test_the_backlog_of_five_days_is_there_when_the_policy_begins() -> None:
    begun = SCENARIOS["backlog"]()
    short = replace(begun, rates=begun.rates[: begun.begin + 2])
    run = back_test(short, Planned({}))
    assert run.begin == 5 * DAY_MINUTES
    assert run.lag_s[run.begin - 1] == pytest.approx(5 * DAY_MINUTES * 60)


# --- scores


def run_of(lag_s: list[float], plan: dict[int, ScalingVerdict] | None = None) -> BacktestRun:
    run = back_test(case([1_000.0] * len(lag_s)), Planned(plan or {}))
    return replace(run, lag_s=lag_s)


def test_violations_are_minutes_beyond_the_limit_and_not_those_at_it() -> None:
    told = score(run_of([0.0, 90.0, 90.1, 200.0, 0.0, 91.0]))
    assert told.violation_s == 3 * 60
    assert told.lag_seconds == pytest.approx((90 + 90.1 + 200 + 91) * 60)
    assert told.converge_minutes == 2


def test_parts_add_up_to_the_whole_where_threads_and_memory_change() -> None:
    plan = {3: to(2, 3, memory_mb=1_024), 11: to(6)}
    run = back_test(case([1_000.0] * 20), Planned(plan))
    whole, first, last = score(run), score(run, 0, 12), score(run, 12, 20)
    for name in ("violation_s", "lag_seconds", "task_hours", "cpu_hours", "gb_hours", "rescales"):
        parts = getattr(first, name) + getattr(last, name)
        assert parts == pytest.approx(getattr(whole, name)), name
    assert (whole.task_hours, whole.cpu_hours, whole.gb_hours) == pytest.approx(run.spent)
    assert first.cpu_hours == pytest.approx((4 * 4 * 0.25 + 8 * 2 * 0.75) / 60)
    assert whole.cost == pytest.approx(cost(whole.cpu_hours, whole.gb_hours))
    assert cost(1.0, 8.0) == 2.0


@pytest.mark.parametrize(
    ("plan", "wrong"),
    [
        ({1: to(8), 50: to(4)}, 1),
        ({1: to(8), 61: to(4)}, 1),
        ({1: to(8), 62: to(4)}, 0),
        ({1: to(8), 20: to(9)}, 0),
        ({1: to(8), 20: to(3, 4), 40: to(2, 8)}, 0),  # fewer tasks, and more threads
        ({1: to(8), 20: to(8, memory_mb=1_024), 40: to(4)}, 1),
        ({1: to(3), 20: to(4), 40: to(3)}, 2),
    ],
)
def test_wrong_ways_are_those_that_are_taken_back_within_an_hour(
    plan: dict[int, ScalingVerdict], wrong: int
) -> None:
    assert score(run_of([0.0] * 80, plan)).wrong_ways == wrong


def test_an_action_without_a_reason_is_not_explained() -> None:
    mute = replace(to(8), explanation="")
    assert score(run_of([0.0] * 9, {1: to(5), 4: mute})).explained == 0.5
    assert score(run_of([0.0] * 9)).explained == 1.0
    assert Score._fields[-1] == "explained"


# --- days before


def test_profiles_are_of_whole_days_and_made_anew_each_day() -> None:
    history = [float(at // DAY_MINUTES + 1) for at in range(DAY_MINUTES // 2 + 2 * DAY_MINUTES)]
    past = PastDays(history)
    assert past.profile.days == 2
    half = DAY_MINUTES // 15 // 2
    assert past.profile.mean[0] == pytest.approx((1 + 2) / 2)
    assert past.profile.mean[half] == pytest.approx((2 + 3) / 2)
    for _ in range(DAY_MINUTES - 1):
        past.add(9.0)
    assert past.profile.days == 2
    past.add(9.0)
    assert past.profile.days == 3
    assert past.profile.peak[0] == 9.0
    assert past.profile.slot(DAY_MS + 900_000) == 1


def test_a_job_without_a_whole_day_has_no_profile() -> None:
    assert PastDays([1.0] * (DAY_MINUTES - 1)).profile.days == 0
    assert PastDays([]).profile.days == 0


# --- cases


def test_a_trace_of_any_unit_makes_the_same_job() -> None:
    rates = [float(at % 100) for at in range(2_000)]
    one, other = case_of("a", rates), case_of("a", [1e-3 * rate for rate in rates])
    assert one.nature == other.nature
    assert list(one.rates) == pytest.approx(list(other.rates))
    assert sorted(one.rates)[int(0.995 * len(rates))] == pytest.approx(16 * PER_THREAD)


def test_a_trace_of_nothing_is_a_job_of_nothing() -> None:
    assert set(case_of("none", [0.0] * 10).rates) == {0.0}


def test_every_scenario_begins_within_what_its_job_can_read() -> None:
    for name, made in SCENARIOS.items():
        one = made()
        assert one.rates[0] <= USUAL * 1.7, name
        assert one.nature.capacity(one.job.tasks, one.job.threads) >= one.rates[0], name
        assert len(one.history) % DAY_MINUTES == 0, name


def test_down_is_a_direction_too() -> None:
    down = replace(to(2), action=SCALE_DOWN)
    assert score(run_of([0.0] * 80, {1: down, 30: to(4)})).wrong_ways == 1
