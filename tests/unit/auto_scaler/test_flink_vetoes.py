"""What keeps Flink's autoscaler from acting, and what it remembers and tunes when it acts."""

from __future__ import annotations

import math
from typing import Any

import pytest

from components.auto_scaler.core.policies.flink.policy import OVER
from components.auto_scaler.core.verdict import ScalingVerdict
from projections.scaling.actions import (
    SCALE_UP,
    STAY,
)
from tests.unit.auto_scaler.flink_played import FULL, Played, full


@pytest.mark.parametrize(
    ("settings", "job", "words"),
    [
        ({"scaling_enabled": False}, {}, "not enabled"),
        ({"excluded_periods": ["* * * * * ?"]}, {}, "excluded period"),
        ({}, {"granted": 20}, "room for 20 tasks"),
        ({"quota_cpu": 5.0}, {}, "quota"),
        ({"quota_memory_mb": 5000.0}, {}, "quota"),
        ({"quota_memory_mb": 5000.0, "number_of_task_slots": 2}, {}, "quota"),  # ten of two
    ],
)
def test_a_veto_refuses_the_whole_plan(
    settings: dict[str, Any], job: dict[str, Any], words: str
) -> None:
    played = full(busy=0.8, lag=900_000.0, settings=settings, **job)
    before = played.memory
    verdict = played.decide()
    assert (verdict.action, verdict.symptom, played.memory) == (STAY, OVER, before)
    assert words in verdict.alternatives[0].reason
    assert verdict.alternatives[0].action == "scale-up to 21"


@pytest.mark.parametrize(
    ("settings", "job"),
    [({}, {"granted": 21}), ({"quota_cpu": 5.25}, {}), ({"quota_memory_mb": 5376.0}, {})],
)
def test_what_just_fits_is_done(settings: dict[str, Any], job: dict[str, Any]) -> None:
    assert full(busy=0.8, lag=900_000.0, settings=settings, **job).decide().acts


def test_a_full_memory_stops_everything() -> None:
    settings = {"memory_heap_usage_threshold": 0.5}
    pressed = full(busy=1.0, lag=1e6, memory_mb=256, settings=settings)
    assert pressed.decide().acts  # the minutes say nothing of memory
    for used, acts in ((128.0, True), (129.0, False)):
        played = Played(10, settings, memory_mb=256)
        played.see(FULL, busy=1.0, lag=1e6, memory_mb=used)
        verdict = played.decide()
        assert verdict.acts == acts
    assert verdict.diagnosis == "memory pressure"
    assert "above 0.5 nothing is done" in verdict.explanation


def grown(settings: dict[str, Any], then: float) -> tuple[Played, ScalingVerdict]:
    """After a growth that was to double the rate, and has made it this many times as large."""
    played = full(busy=1.0, rate=1000, lag=850_000.0, settings=settings)
    played.rescale(played.decide(), rate=1000 * then, busy=1.0, lag=2_000_000.0)
    played.see(FULL, rate=1000 * then, busy=1.0, lag=2_000_000.0)
    return played, played.decide()


def test_growth_that_did_not_help_is_told_and_not_repeated_where_that_is_asked() -> None:
    watched = {"scaling_effectiveness_detection_enabled": True}
    played, verdict = grown(watched, 1.05)
    assert (verdict.action, verdict.symptom) == (STAY, OVER)
    assert "the last growth brought 5% of what was hoped" in verdict.explanation
    assert "did not help" in verdict.alternatives[0].reason
    _, verdict = grown({}, 1.05)
    assert (verdict.action, "brought 5% of" in verdict.explanation) == (SCALE_UP, True)
    _, verdict = grown(watched, 1.5)
    assert (verdict.action, "brought" in verdict.explanation) == (SCALE_UP, False)
    # Somebody else has rescaled it since: it is not judged.
    played.job = played.job._replace(tasks=22)
    played.see(FULL + 1, rate=1050, busy=1.0, lag=2e6)
    assert played.decide().action == SCALE_UP


def test_a_restart_is_timed() -> None:
    settings = {"restart_time_tracking_enabled": True}
    played = full(busy=1.0, rate=1000, lag=850_000.0, settings=settings)
    played.rescale(played.decide(), down_s=48.0)
    assert played.memory.restarts[-1].took_s == 48
    played.see(FULL, busy=0.7)
    assert played.memory.look
    # A restart of 48 s is 26.7 a second: round(1000/0.7 + 26.7)
    assert played.memory.look.needed == 1455


def test_three_changes_are_remembered_for_a_day() -> None:
    settings = {"observed_scalability_enabled": True, "scale_down_interval_s": 0}
    played = full(2, busy=1.0, rate=1000, lag=1e6, settings=settings)
    for rate in (1200, 1300, 1350, 1360):
        played.rescale(played.decide(), rate=rate, busy=1.0, lag=1e6)
        played.see(FULL, rate=rate, busy=1.0, lag=1e6)
    assert played.memory.look
    assert played.memory.look.alpha is not None
    assert played.memory.look.alpha < 0.8
    verdict = played.decide()
    assert verdict.constraints[0].name == "observed-scalability"
    assert len(played.memory.changes) == 3 + 1  # of the last look, and what came of it
    played.rescale(verdict)
    played.see(24 * 60 + FULL, busy=0.7)
    assert played.memory.look
    assert played.memory.look.alpha == 1


def test_memory_is_tuned_with_the_tasks_and_never_above_the_jobs_own() -> None:
    settings = {"memory_tuning_enabled": True, "scale_down_interval_s": 0}
    played = Played(10, settings, memory_mb=1000)
    played.see(FULL, busy=0.2, memory_mb=100.0)
    verdict = played.decide()
    assert verdict.size
    assert verdict.size == (4, 1, 0.25, 300)  # 100 MiB and a fifth, for ten where there are four
    played.rescale(verdict, memory_mb=100.0)
    played.see(FULL, busy=1.0, lag=4e6, memory_mb=290.0)
    verdict = played.decide()
    assert (verdict.action, verdict.size and verdict.size.memory_mb) == (SCALE_UP, 348)
    assert played.memory.spec_mb == 1000
    played = Played(10, settings, memory_mb=1000)
    played.see(FULL, busy=0.2, memory_mb=900.0)
    verdict = played.decide()
    assert (verdict.size and verdict.size.memory_mb, verdict.constraints[-1].name) == (
        1000, "memory.spec")  # fmt: skip


def test_memory_stays_where_its_use_is_not_known_or_tuning_is_off() -> None:
    settings = {"memory_tuning_enabled": True}
    assert full(busy=1.0, lag=1e6, settings=settings).decide().size == (22, 1, 0.25, 256)
    played = Played(10)
    played.see(FULL, busy=1.0, lag=1e6, memory_mb=10.0)
    assert played.decide().size == (22, 1, 0.25, 256)


def test_an_oncalls_memory_is_the_new_spec() -> None:
    played = full(settings={"memory_tuning_enabled": True})
    played.job = played.job._replace(memory_mb=512)
    played.see()
    assert played.memory.spec_mb == 512


def test_an_endless_rate_in_the_history_is_the_sources_error() -> None:
    settings = {
        "observed_scalability_enabled": True,
        "observed_scalability_min_observations": 1,
        "scale_down_interval_s": 0,
    }
    played = full(rate=0.0, busy=0.0, settings=settings)
    played.rescale(played.decide(), rate=0.0, busy=0.0)
    played.see(FULL, busy=1.0, lag=1e6)
    verdict = played.decide()
    assert (verdict.acts, verdict.diagnosis) == (False, "missing metric")
    assert "infinite rate" in verdict.explanation


def test_the_same_minutes_give_the_same_memory() -> None:
    one, other = full(busy=0.2), full(busy=0.2)
    assert one.memory == other.memory
    assert one.memory.look
    assert not math.isnan(one.memory.look.needed)
