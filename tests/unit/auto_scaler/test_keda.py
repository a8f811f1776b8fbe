"""KEDA as a policy: lag in, replicas out, minute by minute."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from components.auto_scaler.core.policies.keda import hpa
from components.auto_scaler.core.policies.keda import policy as keda
from components.auto_scaler.core.policies.keda.policy import Keda, KedaMemory
from components.auto_scaler.core.verdict import ScalingVerdict
from projections.scaling.actions import (
    SCALE_DOWN,
    SCALE_UP,
    STAY,
)
from projections.scaling.seen import MINUTE_MS, UNKNOWN, JobFacts, Minute, Part

JOB = JobFacts("j", 4, partitions=32)


def minute(at: int, lag: float | None, **more: Any) -> Minute:
    return Minute(at * MINUTE_MS, 4, 1.0, 1.0, lag, None, **more)


def run(
    policy: Keda, lags: list[float | None], job: JobFacts = JOB, *, follow: bool = False
) -> list[ScalingVerdict]:
    memory, verdicts = policy.begin(job), []
    for at, lag in enumerate(lags, 1):
        memory = policy.learn(memory, job, minute(at, lag))
        memory, verdict = policy.decide(memory, job, UNKNOWN, at * MINUTE_MS)
        verdicts.append(verdict)
        if follow and verdict.size:
            job = job._replace(tasks=verdict.size.tasks)
    return verdicts


def tasks(verdict: ScalingVerdict) -> int | None:
    return verdict.size.tasks if verdict.size else None


def names(verdict: ScalingVerdict) -> list[str]:
    return [one.name for one in verdict.constraints]


def test_lag_asks_for_tasks() -> None:
    (verdict,) = run(Keda.made({}), [80.0])
    assert (verdict.action, tasks(verdict), verdict.raw) == (SCALE_UP, 8, 8)
    assert verdict.constraints == ()
    assert "lag 80 at 10 a task asks for 8 tasks" in verdict.explanation


def test_a_minute_has_four_looks() -> None:
    """From 1 task: 5, 10, 20, 40 are the limits, and the third look reaches 20."""
    (verdict,) = run(Keda.made({}), [200.0], JobFacts("j", 1, partitions=32))
    assert tasks(verdict) == 20
    (verdict,) = run(Keda.made({"sync_s": 60}), [200.0], JobFacts("j", 1, partitions=32))
    assert tasks(verdict) == 5
    assert [(one.name, one.before, one.after) for one in verdict.constraints] == [
        ("scale-up-rate", 20, 5)
    ]
    plain = Keda.made({"sync_s": 60, "plain_hpa": True})
    assert tasks(run(plain, [200.0], JobFacts("j", 1, partitions=32))[0]) == 4


def test_lag_beyond_the_partitions_is_cut() -> None:
    (verdict,) = run(Keda.made({}), [10_000.0], JOB._replace(tasks=30))
    assert (tasks(verdict), verdict.raw) == (None, 1000)  # 320 of 300 lies in the tolerance
    (verdict,) = run(Keda.made({}), [10_000.0], JOB._replace(tasks=20))
    assert tasks(verdict) == 32
    assert names(verdict) == ["consumers-max"]
    loose = Keda.made({"allow_idle_consumers": True})
    (verdict,) = run(loose, [500.0], JOB._replace(tasks=30, tasks_max=64))
    assert tasks(verdict) == 50


def test_the_room_of_the_job() -> None:
    (verdict,) = run(Keda.made({}), [100.0], JOB._replace(tasks_max=6))
    assert (tasks(verdict), names(verdict)) == (6, ["limits.tasks"])
    (verdict,) = run(Keda.made({}), [100.0], JOB._replace(granted=4))
    assert (verdict.action, names(verdict)) == (STAY, ["granted"])
    assert verdict.alternatives[0].action == "10 tasks"


def test_a_grant_takes_no_tasks_away() -> None:
    (verdict,) = run(Keda.made({}), [100.0], JOB._replace(granted=2))
    assert (verdict.action, verdict.constraints[-1].after) == (STAY, 4)


def test_the_tolerance_changes_nothing() -> None:
    (verdict,) = run(Keda.made({}), [105.0], JOB._replace(tasks=10))
    assert (verdict.action, verdict.symptom, verdict.diagnosis) == (STAY, keda.ABOVE, keda.NEAR)
    assert (verdict.raw, names(verdict)) == (11, ["tolerance"])
    assert verdict.alternatives[0].action == "11 tasks"


def test_down_after_five_minutes() -> None:
    policy = Keda.made({"min_replica_count": 1})
    verdicts = run(policy, [40.0, *[0.0] * 7])
    assert [one.action for one in verdicts[:6]] == [STAY] * 5 + [SCALE_DOWN]
    assert names(verdicts[1]) == ["stabilization"]
    assert verdicts[1].until_ms == 6 * MINUTE_MS
    assert tasks(verdicts[5]) == 1
    assert names(verdicts[5]) == ["min-replicas"]


def test_what_runs_is_the_first_recommendation() -> None:
    verdicts = run(Keda.made({"min_replica_count": 1}), [0.0] * 6)
    assert [one.action for one in verdicts] == [STAY] * 4 + [SCALE_DOWN] * 2


def test_the_cool_down_has_to_be_over() -> None:
    policy = Keda.made({"cooldown_period_s": 120, "down_window_s": 3600})
    verdicts = run(policy, [40.0, 0.0, 0.0, 0.0])
    assert [one.action for one in verdicts] == [STAY, STAY, STAY, SCALE_DOWN]
    assert verdicts[3].diagnosis == keda.COOLED
    assert (verdicts[3].raw, tasks(verdicts[3]), names(verdicts[3])) == (0, 1, ["one-task"])


def test_never_active_is_cooled_at_once() -> None:
    assert tasks(run(Keda.made({}), [0.0])[0]) == 1
    assert tasks(run(Keda.made({"force_activation": True}), [0.0])[0]) is None
    assert tasks(run(Keda.made({"paused_scale_in": True}), [0.0])[0]) is None


def test_active_is_strictly_above() -> None:
    policy = Keda.made({"activation_lag_threshold": 40, "cooldown_period_s": 0})
    assert tasks(run(policy, [40.0])[0]) == 1
    assert tasks(run(policy, [41.0])[0]) is None


def test_idle_tasks() -> None:
    policy = Keda.made({"min_replica_count": 3, "idle_replica_count": 2})
    (verdict,) = run(policy, [0.0])
    assert (tasks(verdict), verdict.raw) == (2, 2)


def test_bounds_are_taken_at_once() -> None:
    assert tasks(run(Keda.made({"max_replica_count": 2}), [40.0])[0]) == 2
    assert tasks(run(Keda.made({"min_replica_count": 9}), [40.0])[0]) == 9
    (verdict,) = run(Keda.made({"max_replica_count": 6}), [100.0])
    assert (tasks(verdict), names(verdict)) == (6, ["max-replicas"])


def test_pauses() -> None:
    assert run(Keda.made({"paused": True}), [999.0])[0].symptom == keda.PAUSED
    assert tasks(run(Keda.made({"paused_replicas": 7}), [999.0])[0]) == 7
    assert run(Keda.made({"paused_replicas": 4}), [999.0])[0].symptom == ""
    (verdict,) = run(Keda.made({"paused_scale_out": True}), [80.0])
    assert (verdict.action, names(verdict)) == (STAY, ["scale-up-rate"])
    verdicts = run(Keda.made({"paused_scale_in": True, "down_window_s": 0}), [10.0, 10.0])
    assert (verdicts[1].action, names(verdicts[1])) == (STAY, ["scale-down-rate"])


def test_lost_lag_is_not_zero() -> None:
    verdicts = run(Keda.made({}), [40.0, *[None] * 10])
    assert {one.action for one in verdicts} == {STAY}
    assert verdicts[5].symptom == keda.LOST


@pytest.mark.parametrize(
    ("threshold", "behavior", "replicas", "expected"),
    [
        (3, "static", 9, 9),
        (4, "static", 9, None),  # four looks failed, which is not above four
        (3, "currentReplicas", 9, None),
        (3, "currentReplicasIfHigher", 9, 9),
        (3, "currentReplicasIfHigher", 2, None),
        (3, "currentReplicasIfLower", 9, None),
    ],
)
def test_the_fallback(threshold: int, behavior: str, replicas: int, expected: int | None) -> None:
    fallback = {"failure_threshold": threshold, "replicas": replicas, "behavior": behavior}
    assert tasks(run(Keda.made({"fallback": fallback}), [None])[0]) == expected


def test_failures_are_counted_in_a_row() -> None:
    policy = Keda.made({"fallback": {"failure_threshold": 7, "replicas": 9}})
    assert [tasks(one) for one in run(policy, [None, 40.0, None, None])] == [None, None, None, 9]


def test_after_lost_lag_the_window_is_not_filled_anew() -> None:
    policy = Keda.made({"min_replica_count": 1})
    verdicts = run(policy, [40.0, *[None] * 6, 0.0])
    assert tasks(verdicts[-1]) == 1


def test_rates_count_what_was_changed_before() -> None:
    rates = [{"kind": "pods", "value": 2, "period_s": 120}]
    policy = Keda.made({"up_rates": rates})
    verdicts = run(policy, [300.0] * 4, follow=True)
    assert [tasks(one) for one in verdicts] == [6, None, 8, None]


def parts(*told: tuple[float, float | None]) -> tuple[Part, ...]:
    return tuple(Part(at, rate, None, lag) for at, (rate, lag) in enumerate(told))


def test_persistent_lag_counts_at_the_first_poll_alone() -> None:
    policy = Keda.made({"exclude_persistent_lag": True})
    stuck = parts((0.0, 100.0), (5.0, 40.0))
    memory = policy.learn(policy.begin(JOB), JOB, minute(1, 140.0, parts=stuck))
    assert (memory.lag, memory.activity) == (140, 140)
    memory = policy.learn(memory, JOB, minute(2, 140.0, parts=stuck))
    assert (memory.lag, memory.activity) == (40, 140)
    plain = Keda.made({})
    memory = plain.learn(memory, JOB, minute(3, 140.0, parts=stuck))
    assert memory.lag == 140


def test_only_partitions_with_lag_get_a_task() -> None:
    policy = Keda.made({"limit_to_partitions_with_lag": True})
    job = JobFacts("j", 4, partitions=10)
    told = parts((5.0, 900.0), (5.0, 0.0), (5.0, 0.0), (5.0, 0.0))
    memory = policy.learn(policy.begin(job), job, minute(1, 900.0, parts=told))
    assert memory.lagging == 3  # 10 partitions on 4 tasks are 3, 3, 2, 2
    _, verdict = policy.decide(memory, job, UNKNOWN, MINUTE_MS)
    assert [one.name for one in verdict.constraints][:1] == ["lagging-partitions"]
    unknown = policy.learn(policy.begin(job), job, minute(1, 900.0, parts=parts((5.0, None))))
    assert unknown.lagging == 10


class EveryLook(Keda):
    """Takes no short cut."""

    def _looks(self, *_: Any) -> range:
        return range(self._syncs - 1, -1, -1)


@pytest.mark.parametrize("seed", range(20))
def test_the_short_cut_is_none(seed: int) -> None:
    chance = Random(seed)
    settings = {
        "min_replica_count": 1,
        "down_window_s": chance.choice((0, 30, 60, 300)),
        "up_window_s": chance.choice((0, 30, 120)),
        "up_rates": [{"kind": "pods", "value": 2, "period_s": chance.choice((15, 45, 60, 180))}],
        "down_rates": [{"kind": "percent", "value": 25, "period_s": chance.choice((15, 60, 90))}],
    }
    lags: list[float | None] = [chance.choice((None, 0.0, 35.0, 90.0, 200.0)) for _ in range(60)]
    short, long = (
        run(one.made(settings), lags, JobFacts("j", 4, partitions=32), follow=True)
        for one in (Keda, EveryLook)
    )
    assert short == long
    assert any(one.acts for one in short)


def test_without_partitions_nothing_bounds() -> None:
    (verdict,) = run(Keda.made({}), [500.0], JobFacts("j", 30, tasks_max=64))
    assert tasks(verdict) == 50


def test_before_the_first_minute_nothing_is_wrong() -> None:
    policy = Keda.made({})
    assert policy.decide(policy.begin(JOB), JOB, UNKNOWN, 0)[1].symptom == ""
    assert policy.begin(JOB) == KedaMemory(tasks=4)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"allow_idle_consumers": True, "limit_to_partitions_with_lag": True},
            "allow_idle_consumers: expected false, as limit_to_partitions_with_lag is true",
        ),
        (
            {"ensure_even_distribution": True, "limit_to_partitions_with_lag": True},
            "ensure_even_distribution: expected false, as limit_to_partitions_with_lag is true",
        ),
        (
            {"min_replica_count": 5, "max_replica_count": 4},
            "min_replica_count: expected at most max_replica_count, which is 4, found 5",
        ),
        (
            {"min_replica_count": 2, "idle_replica_count": 2},
            "idle_replica_count: expected a number below min_replica_count, which is 2, found 2",
        ),
        ({"lag_threshold": 0}, "lag_threshold"),
        ({"lag_treshold": 5}, "lag_treshold"),
        ({"up_rates": []}, "up_rates"),
        ({"fallback": {"replicas": 1}}, "failure_threshold"),
    ],
)
def test_settings_that_do_not_fit(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        Keda.made(settings)


def test_the_defaults_are_kubernetes_own() -> None:
    policy = Keda.made({})
    assert (policy._up, policy._down) == (hpa.UP, hpa.DOWN)
    assert policy.settings.tolerance_up == policy.settings.tolerance_down == hpa.TOLERANCE
