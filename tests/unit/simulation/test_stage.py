"""A job that is played by the auto scaler itself: its log is one, and tells what it is like."""

from __future__ import annotations

import pytest

from components.auto_scaler.decide import component
from events.generated.records import SyncCommitted, SyncPlanned, TaskLoadReported
from events.topics import place
from tests.unit.runtime.naive_audit import audit_places
from tests.unit.turbine.recordings import JOB, case_of, reads_of, recorded
from turbine.lab.plant.closed_loop import TAKES
from turbine.lab.plant.learnt import Unlearnt, learn
from turbine.lab.span import span_of


@pytest.mark.parametrize(
    ("scenario", "policy"), [("step", "turbine"), ("spike", "reactive"), ("hot-key", "turbine")]
)
def test_the_auditor_comes_to_every_word_of_a_history_again(scenario: str, policy: str) -> None:
    reads = reads_of(scenario, policy, minutes=420, disturbed=True)
    ticks = {read.record.tick_ms for read in reads if read.record.tick_ms}
    places = [place(topic, 0) for topic in component.inputs]
    found = list(audit_places(component, reads, ticks, lambda *_: True, places))
    assert {one.verdict for one in found} == {"same"}, [one.sentence for one in found]
    assert {one.read.record.kind for one in found} >= {"ScalingDecided", "ScalingDeclined"}


def test_what_is_disturbed_comes_late_and_restarts_as_chance_has_it() -> None:
    spans = {}
    for disturbed in (False, True):
        begun = {}
        reads = reads_of("step", disturbed=disturbed)
        took = spans.setdefault(disturbed, set())
        for read in reads:
            match read.record.body:
                case SyncPlanned(plan_id=plan):
                    begun[plan] = read.at_ms
                case SyncCommitted(plan_id=plan) if plan in begun:
                    took.add((read.at_ms - begun[plan]) / 1000)
        late = {read.at_ms % 60_000 for read in reads if read.topic == "loads.v1"}
        assert (late == {0}) == (not disturbed)
    usual = case_of("step").nature.restart_s
    assert spans[False] == {usual}
    assert all(TAKES[0] * usual <= one <= TAKES[1] * usual for one in spans[True])


# --- what is learnt of it


def test_a_plant_is_learnt_from_the_log_alone() -> None:
    case = case_of("hot-key")
    span = span_of(recorded("hot-key"), JOB, None, None)
    minutes = [one.minute for one in span.minutes]
    pauses = [one.took_s for one in span.pauses()]
    learnt = learn(minutes, span.facts, span.came, pauses, stateful=False)
    nature, told = learnt.nature, {one.name: one for one in learnt.told}
    assert nature.per_thread == pytest.approx(case.nature.per_thread, rel=0.05)
    assert nature.power == pytest.approx(1.0, abs=0.03)
    assert nature.partitions == case.nature.partitions
    assert nature.restart_s == case.nature.restart_s
    assert nature.bytes_per_record == pytest.approx(100.0)
    assert max(nature.weights) == nature.weights[7], "the partition that was hot"
    assert told["restart_s"].source.startswith(f"{len(pauses)} plan")
    assert all(one.known for one in told.values() if one.name != "power_of_threads")


def test_what_nobody_told_is_said_to_be_unknown() -> None:
    span = span_of(recorded("step", minutes=30), JOB, None, None)
    facts = span.facts._replace(inputs=(("input", None),))
    minutes = [one.minute._replace(bytes_per_record=None, memory_mb=None) for one in span.minutes]
    learnt = learn(minutes, facts, {}, [], stateful=True)
    unknown = {one.name for one in learnt.told if not one.known}
    assert unknown == {
        "power_of_threads", "partitions", "weights", "restart_s", "bytes_per_record",
        "memory_mb_of_a_task",
    }  # fmt: skip
    assert learnt.nature.restart_s == 60.0, "what a job with state usually takes"
    assert learnt.nature.base_mb == facts.size.memory_mb / 2


def test_who_was_never_busy_tells_nothing_of_what_it_can_read() -> None:
    span = span_of(recorded("step", minutes=30), JOB, None, None)
    idle = [one.minute._replace(busy=0.01) for one in span.minutes]
    with pytest.raises(Unlearnt, match="no report tells what its threads can read"):
        learn(idle, span.facts, {}, [], stateful=False)
    unsaid = [one.minute._replace(busy=None, lag=0.0) for one in span.minutes]
    with pytest.raises(Unlearnt):
        learn(unsaid, span.facts, {}, [], stateful=False)
    behind = [one._replace(lag=10 * one.rate) for one in unsaid]
    learnt = learn(behind, span.facts, {}, [], stateful=False)
    threads = span.facts.size.tasks
    assert learnt.fit.reads(threads) == pytest.approx(behind[-1].rate, rel=0.05)


def test_reports_tell_of_all_that_was_read() -> None:
    """Nothing is lost between the plant and its log."""
    case = case_of("step", 60)
    told = sum(
        read.record.body.records_in_per_s * read.record.body.window_ms / 1000
        for read in reads_of("step", minutes=60)
        if isinstance(read.record.body, TaskLoadReported)
    )
    assert told == pytest.approx(60 * sum(case.rates), rel=0.001)
