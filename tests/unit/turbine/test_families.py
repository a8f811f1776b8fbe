"""What the exporter tells of fleets that were made by hand; its labels are bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from components.runtime.process import metrics
from events.generated.records import (
    JobConfigChanged,
    JobConfigRejected,
    JobQuarantined,
    LayerVersions,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    ShardAddRequested,
    ShardDropRequested,
    SyncCommitted,
)
from tests.unit.turbine.watched import (
    NOW,
    Case,
    alert,
    bad,
    exposition,
    good,
    read_of,
    scaled,
    told,
    view_of,
)
from turbine.exporter import page
from turbine.exporter.catalogue import OF_FLEET
from turbine.exporter.families import TIERS_MOST, Beside, MetricOptions
from turbine.read.answers.fleet import totals
from turbine.read.answers.lines import badness, lines_of
from turbine.read.state.move_reasons import REASONS, reason_of
from turbine.read.state.tally import REASONS_MOST, Tally
from turbine.read.state.view import View

ROOT = Path(__file__).parents[3]


# --- jobs


def test_the_three_numbers_are_of_all_tasks_that_should_run() -> None:
    text = exposition(bad())
    assert told(text, "turbine_tasks_wanted") == {(): 7}
    assert told(text, "turbine_tasks_not_running_ratio") == {(): pytest.approx(3 / 7)}
    assert told(text, "turbine_tasks_lagging_ratio") == {(): pytest.approx(1 / 7)}
    assert told(text, "turbine_tasks_unhealthy_ratio") == {(): pytest.approx(3 / 7)}
    assert told(exposition(View({})), "turbine_tasks_lagging_ratio") == {}, "of none is no ratio"


def test_what_nobody_knows_is_absent_and_not_nothing() -> None:
    silent, partly = Case("silent", told=False), Case("partly", lag_ms=None)
    text = exposition(view_of(silent, partly, Case("known", lag_ms=2500)))
    assert told(text, "turbine_job_lag_seconds") == {("known",): 2.5}
    health = told(text, "turbine_job_health")
    assert health["lag_known", "silent"] == health["lag_known", "partly"] == 0
    assert ("lag_within_slo", "silent") not in health
    assert health["lag_within_slo", "known"] == 1


def test_a_report_that_is_old_says_nothing_about_now() -> None:
    fresh, old = (Case(name, told_ms=NOW - age) for name, age in (("a", 300_000), ("b", 300_001)))
    text = exposition(view_of(fresh, old))
    assert told(text, "turbine_job_lag_seconds") == {("a",): 1.0}


def test_both_sides_of_the_promise() -> None:
    jobs = (Case("in", lag_ms=90_000), Case("out", lag_ms=90_001))
    health = told(exposition(view_of(*jobs)), "turbine_job_health")
    assert (health["lag_within_slo", "in"], health["lag_within_slo", "out"]) == (1, 0)


def test_jobs_beyond_the_bound_are_told_together_by_the_worst() -> None:
    jobs = [Case(f"job-{n}", lag_ms=1000 * n) for n in range(1, 6)]
    jobs.append(Case("urgent", config={"priority": 90}))
    jobs.append(Case("off", oncall={"tasks": 2}, config={"policy": {"mode": "off"}}))
    text = exposition(view_of(*jobs), asked=MetricOptions(jobs_most=2))
    lags = told(text, "turbine_job_lag_seconds")
    assert lags == {("urgent",): 1.0, ("job-1",): 1.0, ("other",): 5.0}
    modes = told(text, "turbine_policy_mode")
    assert modes["other", "off", "turbine"] == modes["other", "act", "turbine"] == 1
    assert told(text, "turbine_jobs")["running",] == 7, "all are counted"


@pytest.mark.parametrize(("most", "labels"), [(0, 1), (299, 300), (300, 300), (301, 300)])
def test_there_are_as_many_labels_as_are_asked_for(most: int, labels: int) -> None:
    view = view_of(*(Case(f"j{n}", 1) for n in range(300)))
    text = exposition(view, asked=MetricOptions(jobs_most=most))
    assert len(told(text, "turbine_job_lag_seconds")) == labels


def test_a_job_keeps_its_label_however_it_fares() -> None:
    jobs = [Case(f"j{n}") for n in range(5)]
    before = told(exposition(view_of(*jobs), asked=MetricOptions(3)), "turbine_job_health")
    jobs[4] = Case("j4", crashing=2, lag_ms=10**6)
    after = told(exposition(view_of(*jobs), asked=MetricOptions(3)), "turbine_job_health")
    assert before.keys() == after.keys()


def test_tiers_that_configs_name_are_bounded() -> None:
    jobs = (Case(f"j{n}", 1, config={"tier": f"t{n}"}) for n in range(TIERS_MOST + 5))
    found = told(exposition(view_of(*jobs)), "turbine_tasks")
    assert len(found) == TIERS_MOST + 1
    assert found["running", "other"] == 5


def test_tasks_of_jobs_are_told_on_demand() -> None:
    plain = exposition(good(), asked=MetricOptions())
    assert told(plain, "turbine_job_tasks") == {}
    assert told(exposition(good()), "turbine_job_tasks")["clicks", "running"] == 4


def test_an_override_is_counted_by_whether_it_ends() -> None:
    jobs = (
        Case("a", oncall={"tasks": 2}),
        Case("b", oncall={"tasks": 2}, expires_ms=NOW),
        Case("c"),
    )
    found = told(exposition(view_of(*jobs)), "turbine_overrides")
    assert found == {("none",): 1, ("set",): 1}


def test_alerts_of_another_build_are_other() -> None:
    some = (alert("new-one", "a", "info"), alert("newer-one", "b", "info"))
    found = told(exposition(view_of(Case("a"), alerts=some)), "turbine_alerts")
    assert found["other", "info"] == 2
    assert len(found) == 14, "each of ours is 0, so that a rule sees it come"


def test_figures_order_and_sum_as_they_say() -> None:
    jobs = {one.job: one for one in lines_of(bad())}
    worst = sorted(jobs.values(), key=badness)
    assert [one.job for one in worst] == ["views", "ads", "clicks"]
    assert jobs["ads"].cause == "task 0: operator-error"
    assert jobs["views"].cause == "start: task-failed"
    found = totals(jobs.values())
    assert (found.tasks_running, found.tasks_not_running.count, found.tasks_unknown) == (4, 3, 3)
    assert totals([]).tasks_not_running.percent == 0.0


# --- what has happened


def drop(reason: str) -> ShardDropRequested:
    return ShardDropRequested("default", 1, 1, "c1", 1, "plan", reason)


def add(reason: str, plan: str = "") -> ShardAddRequested:
    return ShardAddRequested("default", 1, 2, "c2", 1, plan, reason)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (drop("c1 is being emptied"), "drain"),
        (drop("c1 has 12 % of the mean cpu_cores more than the band allows; next best was c3"),
         "over"),
        (drop("c2 has 12 % of the mean load less than the band allows"), "under"),
        (drop("it changes places with another shard: c1 is out of band in load"), "swap"),
        (drop("c2 is nearly empty"), "fill"),
        (drop("c1 is in a region where it may not be"), "illegal"),
        (drop("an operator asked for it"), "operator"),
        (add("nobody holds it", "plan"), "orphan"),
        (add("its container began another life"), "restart"),
        (add("c1 has given it up"), ""),
    ],
)  # fmt: skip
def test_a_move_has_one_word_for_its_reason(body: Any, reason: str) -> None:
    assert reason_of(body) == reason
    assert reason in (*REASONS, "")


def test_a_move_counts_once() -> None:
    tally = Tally()
    for number, body in enumerate((drop("c1 is being emptied"), add("c1 has given it up"))):
        tally.take(read_of(body, number, NOW, "default/placement", topic="tiers.v1"), True)
    tally.take(read_of(drop("c1 is being emptied"), 9, NOW, topic="tiers.v1"), False)
    assert dict(tally.moves) == {"drain": 1}
    assert tally.decisions["auto-scaler", "ShardDropRequested", "void"] == 1


@pytest.mark.parametrize("outcome", [ScalingVerified, ScalingReverted])
def test_an_action_is_counted_from_its_decision_to_its_outcome(outcome: Any) -> None:
    tally = Tally()
    for at_s, body in scaled(0, "scale-up", outcome):
        tally.take(read_of(body, at_s, NOW + 1000 * at_s), True)
    word = "verified" if outcome is ScalingVerified else "reverted"
    assert dict(tally.actions) == {("up", "decided"): 1, ("up", word): 1}
    text = exposition(View({}), tally)
    buckets = told(text, "turbine_scaling_time_to_effect_seconds_bucket")
    assert (buckets["30.0",], buckets["60.0",], buckets["+Inf",]) == (0, 1, 1)
    assert told(text, "turbine_scaling_time_to_effect_seconds_sum") == {(): 40.0}
    assert tally.pending == {}


def test_an_effect_counts_once_and_a_refusal_has_none() -> None:
    tally = Tally()
    words = scaled(0, "scale-down", ScalingVerified)
    for at_s, body in (*words[:3], words[2]):
        tally.take(read_of(body, at_s, NOW + 1000 * at_s), True)
    assert sum(tally.effects) == 1
    _, decided = scaled(1, "scale-up", ScalingVerified)[0]
    tally.take(read_of(decided, 5, NOW), True)
    refused = JobConfigRejected("clicks", "scaler", f"{NOW}.1", "stale", "too late", 1)
    tally.take(read_of(refused, 6, NOW), True)
    assert tally.actions["up", "rejected"] == 1
    assert sum(tally.effects) == 1


def test_reasons_of_declines_are_bounded() -> None:
    tally = Tally()
    for number in range(REASONS_MOST + 3):
        body = ScalingDeclined("clicks", f"reason-{number}", "no")
        tally.take(read_of(body, number, NOW), True)
    assert len(tally.declined) == REASONS_MOST + 1
    assert tally.declined["other"] == 3


def changed(version: int) -> JobConfigChanged:
    versions = LayerVersions(version, 0, 0, 0)
    return JobConfigChanged("clicks", "base", f"c{version}", version, versions, "{}", "{}", "ana")


def committed(version: int) -> SyncCommitted:
    versions = LayerVersions(version, 0, 0, 0)
    return SyncCommitted("clicks", "p", "simple", versions, 1, "{}", "running", 1)


def test_drift_lasts_from_the_first_change_that_is_not_in_effect() -> None:
    tally = Tally()
    for number, (at_s, body) in enumerate([(0, changed(1)), (10, changed(2)), (20, committed(1))]):
        tally.take(read_of(body, number, NOW - 60_000 + 1000 * at_s), True)
    text = exposition(view_of(Case("clicks")), tally)
    assert told(text, "turbine_reconcile_lag_seconds") == {(): 60.0}
    tally.take(read_of(committed(2), 4, NOW), True)
    text = exposition(view_of(Case("clicks")), tally)
    assert told(text, "turbine_reconcile_lag_seconds") == {(): 0.0}


def test_a_quarantined_job_is_not_waited_for() -> None:
    tally = Tally()
    tally.take(read_of(changed(1), 0, NOW - 9000), True)
    held = JobQuarantined("clicks", "p", "s", LayerVersions(1, 0, 0, 0), 0, "stop", "x", "y", 3)
    tally.take(read_of(held, 1, NOW), True)
    assert tally.drifting == {}


def test_a_tally_is_kept_whole() -> None:
    tally = Tally()
    for at_s, body in scaled(0, "scale-up", ScalingVerified)[:3]:
        tally.take(read_of(body, at_s, NOW + 1000 * at_s), True)
    tally.take(read_of(changed(7), 9, NOW), True)
    again = Tally.of(tally.kept())
    assert again == tally
    again.take(read_of(changed(8), 10, NOW), True)
    assert again != tally, "a copy goes its own way"


# --- the process and the page


def test_what_the_process_knows_is_told() -> None:
    text = exposition(good(), beside=Beside("9.9", 17, up=False, sse_clients=4))
    assert told(text, "turbine_build_info") == {("9.9",): 1}
    assert told(text, "turbine_projection_lag_events") == {(): 17}
    assert told(text, "turbine_projection_up") == {(): 0}
    assert told(text, "turbine_sse_clients") == {(): 4}
    assert told(exposition(good(), beside=Beside("9.9")), "turbine_sse_clients") == {}


def test_all_families_are_named_and_none_twice() -> None:
    found = list(text_string_to_metric_families(exposition(View({}))))
    names = {family.name + "_total" * (family.type == "counter") for family in found}
    assert {family.name for family in OF_FLEET} <= names
    for family in OF_FLEET:
        assert family.name.endswith("_total") == (family.sort == "counter"), family.name


def test_the_families_of_a_process_are_those_it_has() -> None:
    there = {
        one.name + "_total" * (one.type == "counter")
        for one in REGISTRY.collect()
        if one.name.startswith("turbine_")
    }
    assert there == {family.name for family in page.of_process()}
    assert metrics.BUILD.describe()


def test_the_page_has_the_tables_as_they_are() -> None:
    text = (ROOT / "docs" / "monitoring.md").read_text()
    again = "write it again with `python -m turbine.exporter.page docs/monitoring.md`"
    assert page.written(text) == text, again
    for name, table in page.TABLES.items():
        assert f"<!-- {name} -->\n{table}\n<!-- end -->" in text
