"""One look: policies that remember are played again, and minutes may be of any length."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.auto_scaler.core.catalogue import BASELINES, policy_of
from components.auto_scaler.core.evaluation import evidence_of, finite, looked, replayed
from components.auto_scaler.core.verdict import ScalingVerdict
from events.generated.records import ScalingDecided
from projections.scaling import ring
from projections.scaling.row import Days
from projections.scaling.seen import UNKNOWN, JobFacts, Minute
from tests.unit.auto_scaler.desk import NOW_MS, Desk

JOB = JobFacts("orders", 4, partitions=16, tasks_max=32)


def packed(interval_ms: int, number: int = 60) -> bytes:
    """A job that falls behind."""
    found = b""
    for at in range(1, number + 1):
        lag = 0.0 if at < number // 2 else 40_000.0 * (at - number // 2)
        minute = Minute(
            at_ms=NOW_MS + at * interval_ms,
            tasks=4,
            arrived=2_000.0 + at % 7,
            rate=1_000.0 + at % 7,
            lag=lag,
            lag_s=lag / 1_000,
            busy=1.0 if lag else 0.8,
            busy_most=1.0,
            memory_mb=200.0,
            threads=1,
        )
        found = ring.kept(found, minute)
    return found


def lived(name: str, minutes: bytes) -> ScalingVerdict:
    """What the policy says last, asked as a back-test asks."""
    policy = policy_of(name, {})
    memory, verdict = policy.begin(JOB), None
    for minute in ring.minutes(minutes):
        memory = policy.learn(memory, JOB, minute)
        memory, verdict = policy.decide(memory, JOB, UNKNOWN, minute.at_ms)
    assert verdict is not None
    return verdict


@pytest.mark.parametrize("name", BASELINES)
def test_played_again_it_says_what_it_would_have_said(name: str) -> None:
    minutes = packed(60_000)
    again = replayed((name, "{}", 60_000), minutes, JOB, Days())
    every_ms = policy_of(name, {}).every_ms
    if every_ms == 60_000:
        assert again == lived(name, minutes)
    assert again.explanation


@pytest.mark.parametrize("name", [one for one in BASELINES if one != "keda"])
@pytest.mark.parametrize("interval_ms", [1_000, 5_000, 600_000])
def test_what_it_counts_in_minutes_it_counts_in_intervals(name: str, interval_ms: int) -> None:
    """Keda's lag is of its last poll, and its rates are of real seconds."""
    minute = replayed((name, "{}", 60_000), packed(60_000), JOB, Days())
    paced = replayed((name, "{}", interval_ms), packed(interval_ms), JOB, Days())
    assert (paced.action, paced.symptom) == (minute.action, minute.symptom)


def test_an_instant_in_a_verdict_is_by_the_logs_clock() -> None:
    paced = replayed(("reactive", "{}", 5_000), packed(5_000), JOB, Days())
    if paced.until_ms is not None:
        assert abs(paced.until_ms - NOW_MS) < 60 * 60_000


def test_a_policy_that_is_played_again_says_nothing_on_old_minutes() -> None:
    desk = Desk().runs(policy={"name": "reactive"})
    desk.minutes(10, 4_000.0)
    desk.now_ms += 121_000
    assert desk.row.config.facts is not None
    verdict = looked(desk.row, desk.row.config.facts, desk.now_ms).verdict
    assert (verdict.action, verdict.diagnosis) == ("stay", "metrics-missing")


@pytest.mark.parametrize("interval_ms", [1_000, 5_000, 60_000])
def test_with_shorter_minutes_a_job_is_sized_as_soon_as_it_has_some(interval_ms: int) -> None:
    desk = Desk().runs(policy={"interval_ms": interval_ms})
    desk.minutes(12, 4_000.0, busy_share=0.9, window_ms=interval_ms, pace_ms=interval_ms)
    late = {"lag_records": 20_000, "lag_ms": 85_000, "busy_share": 1.0}
    desk.minutes(1, 4_400.0, window_ms=interval_ms, pace_ms=interval_ms, **late)
    body = desk.last(ScalingDecided)
    assert body.action == "scale-up"
    assert body.verify_ms == desk.now_ms + 12 * interval_ms


def test_evidence_holds_no_number_that_json_does_not() -> None:
    plain: dict[str, Any] = {"a": float("inf"), "b": {"c": float("nan"), "d": 1.5}, "e": None}
    assert finite(plain) == {"b": {"d": 1.5}}
    desk = Desk().runs()
    desk.minutes(3, 0.0, lag_ms=None, lag_records=5)
    facts = desk.row.config.facts
    assert facts is not None
    told = evidence_of(desk.row, facts, JOB, desk.now_ms)
    json.dumps(told, allow_nan=False)
    assert "lag_s" not in told["minute"]


def test_a_minute_in_which_tasks_were_not_heard_tells_nothing_of_what_came_in() -> None:
    desk = Desk().runs()
    desk.minutes(3, 4_000.0, busy_share=0.9)
    before = desk.row.learnt.known
    desk.minutes(2, 100.0, tasks=5)  # of which four report
    after = desk.row.learnt.known
    assert after.seen.newest is not None
    assert after.seen.newest.heard < 1
    assert (after.arrived, after.curve) == (before.arrived, before.curve)
