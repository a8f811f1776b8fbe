"""A job's recorded input under another policy: how far the plant is off, and what it says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.recorded_job import Recorded
from events.generated.records import CapacityGranted, JobDeleted, LayerVersions
from events.topics import GRANTS, JOURNAL, LOADS
from events.wire.codec import Read
from projections.scaling.actions import (
    SCALE_DOWN,
    SCALE_UP,
    JobSize,
)
from tests.unit.turbine.recordings import JOB, case_of, reads_of, recorded, words
from turbine.cli.backtest import text_of
from turbine.lab.model_error import hold, matched, near
from turbine.lab.plant.played_job import PlayedMinute, SizeChange
from turbine.lab.plot import draw_beside
from turbine.lab.whatif import what_if
from turbine.lab.whatif_answer import picture_of
from turbine.read.answers.journal import body_of
from turbine_client.errors import BadRequest

MINUTE_MS = 60_000
CALM = ("step", "spike", "ramp", "square", "dependency")


def sizes(deeds: Sequence[SizeChange]) -> list[tuple[str, JobSize]]:
    return [(one.action, one.after) for one in deeds]


# --- honesty


@pytest.mark.parametrize("scenario", CALM)
def test_the_same_policy_on_the_same_input_decides_the_same(scenario: str) -> None:
    found = what_if(recorded(scenario), JOB, None)
    real, plant, other = found.sides
    assert sizes(real.deeds) == sizes(plant.deeds) == sizes(other.deeds)
    assert found.honesty.within
    assert found.honesty.agreement == 1.0
    a, b = (one.figures(found.slo_s)["core_hours"] for one in (real, plant))
    assert a == pytest.approx(b, rel=0.01), "a change counts from its end, or from its begin"


@pytest.mark.parametrize("scenario", CALM)
def test_a_disturbed_history_is_played_within_the_tolerance(scenario: str) -> None:
    found = what_if(recorded(scenario, disturbed=True), JOB, None)
    assert abs(found.honesty.cost_off) < 0.05
    assert found.honesty.same_size > 0.9
    assert found.honesty.direction == 1.0
    assert found.honesty.within, found.honesty


@pytest.mark.parametrize(
    ("scenario", "note"),
    [("slow-node", ""), ("oom-ramp", "a task ran out of memory"), ("poison", "nothing was read")],
)
def test_who_cannot_play_what_went_wrong_says_that_it_is_off(scenario: str, note: str) -> None:
    found = what_if(recorded(scenario), JOB, None, {"margin": 1.2})
    assert not found.honesty.within
    assert any(note in one for one in found.notes) or not note


def test_minutes_of_seconds_are_played_as_they_are() -> None:
    """A job that is looked at every 6 s has minutes of 6 s, and costs a tenth."""
    usual, fast = (
        what_if(recorded("spike", interval_ms=pace), JOB, None) for pace in (60_000, 6_000)
    )
    assert fast.interval_ms == 6_000
    assert fast.honesty.agreement == 1.0
    a, b = (one.sides[0].figures(one.slo_s)["core_hours"] for one in (usual, fast))
    assert a > 5 * b
    rows = [one.to_plain() for one in (usual, fast)]
    assert [row["minutes"] for row in rows] == [
        (one.end_ms - one.begin_ms) / MINUTE_MS for one in (usual, fast)
    ]
    assert rows[1]["minutes"] == rows[1]["intervals"] / 10
    heads = [text_of(row).partition(" to ")[0] for row in rows]
    assert f"{rows[0]['intervals']:,} minutes, " in heads[0]
    assert f"{rows[1]['intervals']:,} intervals of 6 s, {rows[1]['minutes']:,g} minutes" in heads[1]
    assert [row["honesty"]["tolerance"]["match_minutes"] for row in rows] == [15.0, 1.5]
    assert "matched within 1.5 min" in text_of(rows[1])
    picture = draw_beside(*picture_of(fast))
    assert f">{round(rows[1]['minutes']):,} minutes, " in picture


def test_decisions_match_one_to_one_the_same_way_first() -> None:
    small, large = JobSize(2, 1, 1.0, 512), JobSize(4, 1, 1.0, 512)

    def deed(minute: int, action: str = SCALE_UP) -> SizeChange:
        before, after = (small, large) if action == SCALE_UP else (large, small)
        return SizeChange(minute * MINUTE_MS, action, before, after, "")

    real = [deed(10), deed(40, SCALE_DOWN), deed(200)]
    played = [deed(9, SCALE_DOWN), deed(13), deed(41, SCALE_DOWN), deed(300)]
    pairs = matched(real, played, 15 * MINUTE_MS)
    assert [(one.at_ms // MINUTE_MS, other.at_ms // MINUTE_MS) for one, other in pairs] == [
        (10, 13), (40, 41),
    ]  # fmt: skip
    line = [PlayedMinute(at * MINUTE_MS, 1.0, 0.0, small, 0.0) for at in range(1, 400)]
    found = hold(line, real, line, played, 90.0)
    assert (found.real, found.played, found.matched) == (3, 4, 2)
    assert found.agreement == 2 / 4
    assert (found.timing_minutes_median, found.timing_minutes_max) == (2.0, 3.0)
    assert not found.within
    assert hold(line, [], line, [], 90.0).within, "nothing was decided on either side"


@pytest.mark.parametrize(
    ("one", "other", "same"), [(1, 2, True), (1, 3, False), (20, 22, True), (20, 25, False)]
)
def test_sizes_are_alike_within_a_share(one: int, other: int, same: bool) -> None:
    assert near(one, other) is same


def test_who_is_late_on_one_side_alone_is_off() -> None:
    line = [PlayedMinute(at, 1.0, 0.0, JobSize(4, 1, 1.0, 512), 0.0) for at in range(100)]
    late = [one._replace(lag_s=91.0) if one.at_ms < 6 else one for one in line]
    found = hold(line, [], late, [], 90.0)
    assert (found.late_off, found.within) == (0.06, False)
    assert hold(line, [], late, [], 91.0).within


def test_another_size_all_along_is_no_agreement() -> None:
    line = [PlayedMinute(at, 1.0, 0.0, JobSize(4, 1, 1.0, 512), 0.0) for at in (1, 2, 3)]
    twice = [one._replace(size=JobSize(8, 1, 1.0, 512)) for one in line]
    found = hold(line, [], twice, [], 90.0)
    assert (found.same_size, found.cost_off, found.within) == (0.0, 1.0, False)


# --- what another policy would have done


def test_another_policy_and_other_settings_come_to_something_else() -> None:
    log = recorded("step", disturbed=True)
    wide = what_if(log, JOB, "turbine", {"margin": 2.0, "margin_up": 2.0})
    assert wide.sides[2].policy["settings"] == {"margin": 2.0, "margin_up": 2.0}
    plant, other = (one.figures(wide.slo_s)["cost"] for one in wide.sides[1:])
    assert other > 1.3 * plant
    peer = what_if(log, JOB, "reactive")
    assert peer.sides[2].policy["name"] == "reactive"
    assert sizes(peer.sides[2].deeds) != sizes(peer.sides[1].deeds)
    assert peer.sides[1].deeds == wide.sides[1].deeds, "what ran does not depend on what is asked"


def test_a_policy_that_only_observed_changed_nothing_and_the_other_one_acts() -> None:
    found = what_if(recorded("step", mode="observe"), JOB, None, {"margin": 1.1})
    assert [len(one.deeds) for one in found.sides[:2]] == [0, 0]
    assert found.sides[2].deeds
    assert "the job's policy was in mode observe: it changed nothing" in found.notes


def test_a_part_of_the_log_begins_with_what_was_known_by_then() -> None:
    log = recorded("step")
    whole = what_if(log, JOB, None)
    late = what_if(log, JOB, None, None, whole.begin_ms + 300 * MINUTE_MS)
    assert late.begin_ms == whole.begin_ms + 300 * MINUTE_MS
    kept = [one for one in whole.sides[1].deeds if one.at_ms > late.begin_ms]
    assert sizes(late.sides[1].deeds) == sizes(kept)
    short = what_if(log, JOB, None, None, None, whole.begin_ms + 100 * MINUTE_MS)
    assert short.end_ms == whole.begin_ms + 100 * MINUTE_MS


def test_what_others_said_is_said_again_on_every_side() -> None:
    reads = list(reads_of("step"))
    grant = CapacityGranted(JOB, "g", "default", (), "the tier is short", 3, 50)
    told = [one for one in reads if one.topic == LOADS][600]
    record = replace(told.record, id="g", kind="CapacityGranted", body=grant)
    granted = Read(f"{GRANTS}/0", GRANTS, 0, told.at_ms + 1, record)
    found = what_if(Recorded([*reads, granted]), JOB, None, {"margin": 1.05})
    assert any("words of people and other components" in one for one in found.notes)
    plant = found.sides[1]
    assert all(one.after.tasks <= 3 for one in plant.deeds if one.at_ms > told.at_ms + MINUTE_MS)


def test_an_answer_is_json_with_a_series_of_so_many_points() -> None:
    found = what_if(recorded("step"), JOB, "turbine", {"margin": 1.3})
    plain = json.loads(json.dumps(found.to_plain(50)))
    assert [one["side"] for one in plain["sides"]] == ["recorded", "replayed", "other"]
    series = plain["series"]
    assert len(series["at_ms"]) <= 50
    assert all(len(series[name]["lag_s"]) == len(series["at_ms"]) for name in ("recorded", "other"))
    assert max(series["rate_in"]) == pytest.approx(max(case_of("step").rates))
    assert {one["name"] for one in plain["nature"]} >= {"records_per_s_of_a_thread", "restart_s"}
    assert plain["honesty"]["within_tolerance"] is True


def test_decisions_of_the_recorded_side_are_those_of_the_log() -> None:
    log = recorded("step", disturbed=True)
    found = what_if(log, JOB, None)
    said = [body_of(one) for one in words(log) if one.read.record.kind == "ScalingDecided"]
    assert [one.explanation for one in found.sides[0].deeds] == [
        getattr(one, "explanation", "") for one in said
    ]


# --- bad input


def refused(log: Recorded, *asked: object, job: str = JOB) -> str:
    with pytest.raises(BadRequest) as bad:
        what_if(log, job, *asked)  # type: ignore[arg-type]  # as a caller may
    return str(bad.value)


def test_a_job_that_never_reported_has_nothing_to_play() -> None:
    quiet = Recorded([one for one in reads_of("spike") if one.topic != LOADS])
    sentence = refused(quiet, "turbine")
    assert sentence.startswith("clicks has no loads in the log: its tasks have reported nothing")
    assert refused(recorded("spike"), "turbine", job="views").startswith("views has no loads")


def test_a_policy_and_a_setting_that_are_none_are_told_with_those_there_are() -> None:
    log = recorded("spike")
    assert refused(log, "magic").startswith("--policy: there is no policy 'magic'; use one of")
    assert refused(log, "turbine", {"gain": 1}).startswith(
        '--set "gain": policy turbine has no such setting; it has margin,'
    )
    assert refused(log, None, {"margin": 9}).startswith("--set margin:")


def test_a_span_without_reports_says_where_they_are() -> None:
    log = recorded("spike")
    first = min(one.at_ms for one in log.reads if one.topic == LOADS)
    sentence = refused(log, None, {}, 10**13)
    assert "has 0 minutes of reports to play" in sentence
    assert "its reports begin at 2027-01-15T00:01:00.000Z" in sentence
    assert "ends before it begins" in refused(log, None, {}, first + 2, first + 1)
    assert "0 minutes of reports" in refused(log, None, {}, None, first - 1)


def test_a_job_that_is_gone_is_played_until_then() -> None:
    reads = list(reads_of("step"))
    last = [one for one in reads if one.topic == JOURNAL][-1]
    body = JobDeleted(JOB, "9.gone", LayerVersions(2, 0, 9, 0), author="ann", reason="")
    record = replace(
        last.record, id="gone", kind="JobDeleted", body=body, parent=last.record.id, evidence={}
    )
    gone = Read(last.place, JOURNAL, last.offset + 1, last.at_ms + 30 * MINUTE_MS, record)
    found = what_if(Recorded([*reads, gone]), JOB, None, {"margin": 1.1})
    assert found.end_ms <= gone.at_ms
    assert "the job was deleted: it is played until then" in found.notes
    after = refused(Recorded([*reads, gone]), None, {}, gone.at_ms + MINUTE_MS)
    assert "has no config at" in after or "minutes of reports" in after


def test_who_was_never_busy_cannot_be_asked() -> None:
    reads = [
        replace(
            one, record=replace(one.record, body=replace(one.record.body, busy_share=None))  # type: ignore[type-var,arg-type]  # a report
        )
        if one.topic == LOADS
        else one
        for one in reads_of("spike", mode="observe", minutes=60)
    ]  # fmt: skip
    assert "no report tells what its threads can read" in refused(Recorded(reads), "turbine")
