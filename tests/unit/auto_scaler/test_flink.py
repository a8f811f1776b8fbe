"""Flink's autoscaler as a policy: blind after restarts, a band, and shrinking put off."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from components.auto_scaler.core.policies.flink import formulas as f
from components.auto_scaler.core.policies.flink.look import Sample, Window, looked, target
from components.auto_scaler.core.policies.flink.policy import BLIND, OFF, OVER, UNDER, Flink
from events.job_config.policies.flink import FlinkSettings
from projections.scaling.actions import (
    SCALE_DOWN,
    SCALE_UP,
    STAY,
)
from projections.scaling.seen import MINUTE_MS, JobFacts, Part
from tests.unit.auto_scaler.flink_played import FULL, START_MS, Played, full


def window(*rows: tuple[float, float], load: float) -> Window:
    """A sample a second: records read, and lag."""
    return tuple(
        Sample(1000 * at, read, lag, load, None, None, None) for at, (read, lag) in enumerate(rows)
    )


@pytest.mark.parametrize(
    ("rows", "load", "tasks", "then", "outside"),
    [
        (((0, 2000), (500, 2000)), 0.85, 1, 4, True),
        # It catches up: a backlog, so nothing shrinks although nothing comes in.
        (((0, 6000), (1800, 3600), (3600, 2000)), 1.0, 4, 3, False),
        (((1800, 3600), (3600, 2000), (5400, 400)), 1.0, 4, 2, True),
        (((0, 2000), (900, 1400), (1800, 800)), 1.0, 2, 3, False),
        (((900, 1400), (1800, 800), (2700, 300)), 1.0, 2, 2, True),
    ],
)
def test_the_sources_own_story_of_a_backlog(
    rows: tuple[tuple[float, float], ...], load: float, tasks: int, then: int, outside: bool
) -> None:
    given = {"utilization_target": 0.8, "utilization_max": 0.9, "utilization_min": 0.7}
    given |= {"scale_down_max_factor": 1, "backlog_processing_lag_threshold_s": 1}
    settings = FlinkSettings.model_validate(given)
    look = looked(window(*rows, load=load), tasks, f.VertexPace(2, 1), (), settings)
    assert look
    found = target(look, JobFacts("job", tasks, tasks_max=200), settings).value
    assert (found, look.outside) == (then, outside)


def test_every_default_is_the_sources() -> None:
    settings = Flink.made({}).settings
    defaults = settings.model_dump()
    assert defaults["metrics_window_s"] + defaults["stabilization_interval_s"] == 20 * 60
    assert (defaults["utilization_target"], defaults["target_utilization_boundary"]) == (0.7, 0.3)
    assert (settings.most, round(settings.least, 9)) == (1.0, 0.4)
    assert (defaults["scale_down_interval_s"], defaults["scale_down_max_factor"]) == (3600, 0.6)
    assert (defaults["catch_up_duration_s"], defaults["restart_time_s"]) == (1800, 300)
    assert (defaults["scale_up_max_factor"], defaults["vertex_max_parallelism"]) == (100_000, 200)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"utilization_target": 0}, "greater than or equal to 0.001"),
        (
            {"utilization_max": 0.6},
            "utilization_max: expected at least utilization_target, which is 0.7, found 0.6",
        ),
        (
            {"utilization_min": 0.8},
            "utilization_min: expected at most utilization_target, which is 0.7, found 0.8",
        ),
        (
            {"excluded_periods": ["10:00-09:00"]},
            "excluded_periods.0: expected an end after the begin",
        ),
        ({"scaling_parallelism_alignment_mode": "even"}, "balanced"),
        ({"metrics_window_s": 59}, "greater than or equal to 60"),
        ({"metrics_windows": 60}, "not permitted"),
    ],
)
def test_bad_settings_are_told(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Flink.made(settings)


def test_it_is_blind_until_the_window_after_the_start_is_full() -> None:
    played = Played()
    played.see(FULL - 2, busy=1.0, lag=1e6)
    verdict = played.decide()
    assert (verdict.action, verdict.symptom, verdict.diagnosis) == (STAY, BLIND, "restart")
    assert verdict.until_ms == START_MS + 20 * MINUTE_MS
    played.see(1, busy=1.0, lag=1e6)
    assert played.decide().action == SCALE_UP


def test_blind_from_the_first_minute_it_tells_until_when() -> None:
    played = Played()
    assert played.decide().symptom == BLIND
    played.see()
    assert played.decide().until_ms == START_MS + 20 * MINUTE_MS


def test_in_its_band_at_its_target_nothing_is_wrong() -> None:
    # 1000 a second at 81 %: 1235 can be processed. 1000/0.7 + 1000*5/30 = 1595 are wanted.
    verdict = full(busy=0.81, rate=1000).decide()
    assert (verdict.action, verdict.symptom) == (STAY, OFF)
    assert verdict.alternatives[0].action == "scale-up to 13"
    assert "inside the band" in verdict.alternatives[0].reason
    # 1595 are wanted of 1600.
    assert full(busy=0.625, rate=1000).decide().explanation == "nothing is wrong"


def test_above_the_band_it_grows() -> None:
    # 1000 at 80 % are 1250 of ten tasks. A lag of 900 000 in 30 minutes adds 500.
    verdict = full(busy=0.8, rate=1000, lag=900_000.0).decide()
    assert (verdict.action, verdict.symptom, verdict.diagnosis) == (SCALE_UP, OVER, "backlog")
    # round(500 + 166.7 + 1428.6) = 2095, and the observed rate is 1000: 2.095 * 10
    assert (verdict.raw, verdict.size and verdict.size.tasks) == (21, 21)
    assert verdict.constraints == ()
    assert verdict.expects
    assert verdict.expects.rate == pytest.approx(2100)
    assert verdict.expects.by_ms == START_MS + (FULL + 5 + 20) * MINUTE_MS
    assert "10 tasks become 21" in verdict.explanation


def test_a_band_is_left_at_its_edges_only() -> None:
    # The band's upper edge is 1000: at 99.9 % busy 1001 can be processed.
    assert full(busy=0.999, rate=1000).decide().symptom == OFF
    played = full(busy=1.0, rate=1000)
    assert played.decide().symptom == OFF  # exactly at the edge
    settings = {"utilization_max": 0.9}
    assert full(settings=settings, busy=1.0, rate=1000).decide().symptom == OVER


def test_shrinking_is_put_off_for_an_hour_and_the_greatest_number_counts() -> None:
    played = full(busy=0.2)
    first = played.decide()
    assert (first.action, first.symptom) == (STAY, UNDER)
    # 1595 of 5000 is 0.319, of ten tasks.
    assert (first.raw, first.alternatives[0].action) == (4, "scale-down to 4")
    due_ms = first.until_ms
    assert due_ms == START_MS + (20 + 60) * MINUTE_MS
    for _ in range(14):
        played.see(busy=0.2)
        assert played.decide().action == STAY
    played.see(15, busy=0.35)  # 1595 of 2857: six tasks, once the window holds nothing else
    played.see(29, busy=0.2)
    assert (played.at_ms, played.decide().action) == (due_ms - MINUTE_MS, STAY)
    played.see(busy=0.2)
    verdict = played.decide()
    assert (verdict.action, verdict.size and verdict.size.tasks) == (SCALE_DOWN, 6)
    assert verdict.constraints[-1].name == "scale-down.interval"
    assert (verdict.constraints[-1].before, verdict.constraints[-1].after) == (4, 6)
    assert verdict.expects is None
    assert played.memory.pending is None


def test_what_was_put_off_is_forgotten_where_the_target_comes_back() -> None:
    played = full(busy=0.2)
    assert played.memory.pending
    played.see(16, busy=0.625)
    assert played.memory.pending is None
    played.see(16, busy=0.2)
    until_ms = played.decide().until_ms
    assert until_ms
    assert until_ms > played.at_ms + 40 * MINUTE_MS


def test_shrinking_within_the_band_does_not_pass_the_gate() -> None:
    # 55 % busy is inside of 40 % to 100 %, though nine tasks would do.
    played = full(busy=0.55, settings={"scale_down_interval_s": 0})
    verdict = played.decide()
    assert (verdict.action, verdict.symptom) == (STAY, OFF)
    assert verdict.alternatives[0].action == "scale-down to 9"


def test_silence_is_endless_power() -> None:
    played = full(rate=0.0, busy=0.0, settings={"scale_down_interval_s": 0})
    verdict = played.decide()
    assert (verdict.diagnosis, verdict.raw) == ("silence", 0)
    assert (verdict.size and verdict.size.tasks, verdict.expects) == (4, None)
    assert [one.name for one in verdict.constraints] == ["scale-down.max-factor"]
    assert (played.memory.changes[-1].rate, played.memory.changes[-1].hoped) == (math.inf, None)


def test_with_a_backlog_nothing_shrinks() -> None:
    # 310 s behind, and a tenth busy: far too many tasks, but nothing is too much now.
    settings = {"scale_down_interval_s": 0, "observed_true_processing_rate_lag_threshold_s": 9999}
    verdict = full(busy=0.1, rate=1000, lag=310_000.0, settings=settings).decide()
    assert (verdict.action, verdict.symptom) == (STAY, OFF)
    assert full(busy=0.1, rate=1000, lag=290_000.0, settings=settings).decide().acts


def test_the_observed_rate_corrects_what_busy_time_overstates() -> None:
    # It lags by a minute: 1000 are what it can, not 10 000. Who writes to it counts for nothing.
    played = full(busy=0.1, rate=1000, lag=60_000.0, blocked_ms=500.0)
    assert played.memory.look
    assert played.memory.look.rate == 1000
    played = full(busy=0.1, rate=1000, lag=29_000.0, blocked_ms=500.0)
    assert played.memory.look
    assert played.memory.look.rate == pytest.approx(10_000)


def test_unknown_lag_is_read_as_none_at_all() -> None:
    played = full(lag=1e6)
    played.see(lag=None)
    assert played.memory.look
    assert (played.memory.look.lag, played.memory.look.asked.rate) == (0, 0)


def test_without_busy_time_the_job_is_passed_over_and_what_is_put_off_stays() -> None:
    played = full(busy=0.2)
    pending = played.memory.pending
    played.see(busy=None)
    verdict = played.decide()
    assert (verdict.diagnosis, verdict.acts) == ("missing metric", False)
    assert played.memory.pending == pending
    assert "no busy time" in verdict.explanation


@pytest.mark.parametrize(
    ("aggregator", "rate"), [("max", 1000 / 0.8), ("avg", 1000 / 0.5), ("min", 1000 / 0.2)]
)
def test_whose_busy_time_counts(aggregator: str, rate: float) -> None:
    parts = (Part(0, 500.0, 0.8), Part(1, 500.0, 0.2))
    played = Played(2, {"metrics_busy_time_aggregator": aggregator})
    played.see(FULL, busy=0.5, busy_most=0.8, parts=parts)
    assert played.memory.look
    assert played.memory.look.rate == pytest.approx(rate)


@pytest.mark.parametrize("seen", [{"down_s": 20.0}, {"tasks": 9}, {"tasks": 0}])
def test_every_restart_empties_the_window(seen: dict[str, Any]) -> None:
    played = full(busy=1.0, lag=1e6)
    played.see(busy=1.0, lag=1e6, **seen)
    assert played.decide().symptom == BLIND
    played.see(14, busy=1.0, lag=1e6)
    assert played.decide().symptom == BLIND
    played.see(7, busy=1.0, lag=1e6)
    assert played.decide().action == SCALE_UP


def test_while_a_rescale_is_under_way_nothing_is_done() -> None:
    played = full(busy=1.0, lag=1e6)
    played.job = played.job._replace(tasks=12)
    verdict = played.decide()
    assert (verdict.symptom, verdict.acts) == (BLIND, False)
    assert "10 tasks ran and 12 are wanted" in verdict.explanation


def test_the_window_holds_its_time_and_no_more() -> None:
    played = full()
    played.see(100)
    assert len(played.memory.window) == 16  # both ends
    assert played.memory.window[0].at_ms == played.at_ms - 15 * MINUTE_MS


def test_the_limits_are_told() -> None:
    verdict = full(busy=1.0, lag=9e6, settings={"vertex_max_parallelism": 15}).decide()
    assert verdict.size
    assert verdict.size.tasks == 15
    assert [one.name for one in verdict.constraints] == ["vertex.max-parallelism"]
    verdict = full(busy=1.0, lag=9e6, tasks_max=12).decide()
    assert [one.name for one in verdict.constraints] == ["limits.tasks"]
    verdict = full(busy=1.0, lag=9e6, settings={"max_parallelism": 13}).decide()
    assert (verdict.size and verdict.size.tasks, verdict.constraints[0].name) == (
        13, "max-parallelism")  # fmt: skip
    verdict = full(busy=1.0, lag=9e6, settings={"scale_up_max_factor": 0.5}).decide()
    assert (verdict.size and verdict.size.tasks, verdict.constraints[0].name) == (
        15, "scale-up.max-factor")  # fmt: skip
    now = {"scale_down_interval_s": 0}
    verdict = full(busy=0.1, settings={**now, "vertex_min_parallelism": 7}).decide()
    assert (verdict.size and verdict.size.tasks, verdict.constraints[-1].name) == (
        7, "vertex.min-parallelism")  # fmt: skip


def test_at_its_limit_it_stays_and_says_so() -> None:
    verdict = full(busy=1.0, lag=9e6, settings={"vertex_max_parallelism": 5}).decide()
    assert (verdict.action, verdict.symptom) == (STAY, OVER)
    assert "the limits leave it" in verdict.explanation
    assert verdict.constraints[0].after == 10


def test_partitions_draw_a_target_to_them() -> None:
    verdict = full(4, busy=1.0, rate=1000, lag=900_000.0, partitions=15).decide()
    assert (verdict.raw, verdict.size and verdict.size.tasks) == (9, 15)
    assert verdict.constraints[-1].name == "alignment balanced"
    assert verdict.constraints[-1].note == "to the number of partitions"


def test_one_sample_after_a_gap_is_too_few() -> None:
    played = full(busy=1.0, lag=1e6)
    played.at_ms += 20 * MINUTE_MS
    played.see(busy=1.0, lag=1e6)
    verdict = played.decide()
    assert (verdict.symptom, verdict.explanation) == (
        BLIND, "the window has fewer than two samples")  # fmt: skip
    played.see(busy=1.0, lag=1e6)
    assert played.decide().symptom == BLIND  # the window begins anew with that sample
    played.see(14, busy=1.0, lag=1e6)
    assert played.decide().action == SCALE_UP
