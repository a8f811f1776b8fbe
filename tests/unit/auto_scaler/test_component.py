"""The auto scaler on a job that is played by hand: what it asks for, and when it leaves it."""

from __future__ import annotations

import json

import pytest

from components.auto_scaler.core.catalogue import BASELINES
from components.auto_scaler.decide import AUTHOR, component, wake_ms
from events.generated.records import (
    AlertRaised,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
)
from tests.unit.auto_scaler.desk import MINUTE_MS, Desk
from turbine_client.identity import valid_until_ms


def declines(desk: Desk) -> list[ScalingDeclined]:
    return [one for one in desk.said if isinstance(one, ScalingDeclined)]


# --- a change from its decision to its outcome


def test_a_job_that_lags_gets_more_and_every_number_is_told() -> None:
    desk = Desk().runs()
    body = desk.grows()
    assert (body.action, body.symptom, body.diagnosis) == ("scale-up", "lag", "under-capacity")
    assert (body.policy, body.mode, body.expected_version) == ("turbine", "act", 0)
    evidence = json.loads(body.evidence_json)
    assert evidence["minute"]["lag"] == 800_000
    assert evidence["limits"] == {"partitions": 16, "slo_s": 90, "tasks_max": 32}
    assert evidence["capacity"]["reads_records_per_s"] == evidence["reads_records_per_s"]
    assert {"demand", "size", "restart_s"} <= evidence.keys()
    assert body.expected_records_per_s is not None
    assert body.verify_ms == desk.now_ms + 12 * MINUTE_MS
    assert valid_until_ms(body.change_id) > desk.now_ms


def test_a_decision_owes_its_proposal_until_that_is_read_back() -> None:
    desk = Desk().runs()
    body = desk.grows()
    [effect] = desk.owed()
    assert effect.id == body.change_id
    asked = desk.ask()
    assert (asked.change_id, asked.expected_version) == (body.change_id, 0)
    assert (asked.set_json, asked.author) == (body.set_json, AUTHOR)
    assert asked.reason == body.explanation[:512]
    assert desk.minutes(3, 4_000.0) == [], "it waits for the verdict"


def test_only_what_changes_is_set() -> None:
    desk = Desk().runs()
    made = json.loads(desk.grows().set_json)
    assert made.keys() <= {"tasks", "threads_per_task", "resources"}
    assert made.get("resources", {}).keys() <= {"cpu_cores"}


def test_nothing_is_said_while_a_change_is_on_its_way() -> None:
    desk = Desk().runs()
    body = desk.grows()
    asked = desk.ask()
    desk.accept("scaler", json.loads(asked.set_json), (), asked.change_id)
    assert desk.minutes(5, 4_000.0, lag_records=10**6, lag_ms=10**6) == []
    assert desk.row.change is not None
    assert (desk.row.change.version, desk.row.change.effect_ms) == (1, None)
    desk.commit()
    assert desk.row.change.id == body.change_id
    assert desk.row.change.effect_ms == desk.now_ms


def test_a_change_that_helped_is_verified_once_it_has_had_its_time() -> None:
    desk = Desk().runs()
    body = desk.grows()
    desk.carry_out()
    more = {"busy_share": 0.8, "lag_records": 0}
    before = desk.minutes(11, 15_000.0, **more)
    assert not [one for one in before if isinstance(one, ScalingVerified)]
    desk.minutes(1, 15_000.0, **more)
    closed = desk.last(ScalingVerified)
    assert closed.change_id == body.change_id
    assert "expected" in closed.explanation
    assert json.loads(closed.measures_json)["expected_records_per_s"] > 0
    assert desk.row.change is None
    assert desk.row.done.fails == 0


def test_a_change_that_did_not_help_is_taken_back_and_not_tried_again_for_a_while() -> None:
    desk = Desk().runs()
    body, before = desk.grows(), desk.row.size
    desk.carry_out()
    late = {"busy_share": 1.0, "lag_records": 200_000, "lag_ms": 80_000}
    desk.minutes(12, 4_400.0, **late)
    closed = desk.last(ScalingReverted)
    assert closed.change_id == body.change_id
    assert "taken back" in closed.explanation
    [effect] = desk.owed()
    assert effect.id == closed.revert_change_id
    desk.carry_out()
    assert desk.row.size == before
    assert (desk.row.change, desk.row.done.fails) == (None, 1)
    held_ms = json.loads(closed.measures_json)["held_until_ms"]
    desk.said.clear()
    desk.minutes(25, 4_400.0, **late)
    assert desk.now_ms < held_ms
    assert {(one.reason, one.until_ms) for one in declines(desk)} == {("held", held_ms)}
    assert "ScalingDecided" not in desk.kinds()


def test_it_is_verified_only_after_minutes_in_effect_however_late_it_came() -> None:
    desk = Desk().runs()
    desk.grows()
    asked = desk.ask()
    desk.accept("scaler", json.loads(asked.set_json), (), asked.change_id)
    desk.minutes(30, 4_400.0)
    desk.commit()
    desk.said.clear()
    desk.minutes(2, 15_000.0, busy_share=0.8)
    assert "ScalingVerified" not in desk.kinds()
    desk.minutes(1, 15_000.0, busy_share=0.8)
    assert "ScalingVerified" in desk.kinds()


# --- proposals that come to nothing


def test_a_proposal_that_is_rejected_is_given_up_and_another_waits_for_its_validity() -> None:
    desk = Desk().runs()
    body = desk.grows()
    desk.refuse("stale")
    [closed] = desk.decide()
    assert isinstance(closed, ScalingDeclined)
    assert (closed.reason, closed.change_id) == ("rejected", body.change_id)
    assert "stale" in closed.explanation
    assert desk.row.retry_ms == valid_until_ms(body.change_id) + 1
    assert wake_ms(desk.row, desk.now_ms) is not None


def test_a_proposal_that_came_too_late_to_count_is_given_up() -> None:
    desk = Desk().runs()
    body = desk.grows()
    desk.now_ms = valid_until_ms(body.change_id) + 1
    desk.ask()
    closed = desk.decide()[0]
    assert isinstance(closed, ScalingDeclined)
    assert (closed.reason, closed.change_id) == ("too-late", body.change_id)
    assert desk.row.change is None or desk.row.change.id != body.change_id


def test_what_people_have_changed_since_is_not_held_against_anything() -> None:
    desk = Desk().runs()
    body = desk.grows()
    desk.carry_out()
    desk.wants("oncall", threads_per_task=2)
    closed = desk.decide()[0]
    assert isinstance(closed, ScalingDeclined)
    assert (closed.reason, closed.change_id) == ("overridden", body.change_id)


def test_a_deleted_job_is_left_alone_and_owes_what_was_said() -> None:
    desk = Desk().runs()
    desk.grows()
    desk.deleted()
    assert len(desk.owed()) == 1
    assert desk.decide() == []
    desk.refuse("no-such-job")
    assert desk.decide() == []
    assert desk.row.ingress.waiting == ()


# --- when it looks at all


@pytest.mark.parametrize("state", ["off", "paused", "plan", "unheard"])
def test_who_is_not_to_be_judged_is_not(state: str) -> None:
    desk = Desk()
    match state:
        case "off":
            desk.runs(policy={"mode": "off"})
        case "paused":
            desk.runs(paused=True)
        case "plan":
            desk.runs()
            desk.wants("base", priority=7)  # expected, and not in effect yet
        case _:
            desk.runs()
            assert desk.decide() == []
            return
    late = {"busy_share": 1.0, "lag_records": 200_000, "lag_ms": 60_000}
    assert desk.minutes(20, 4_000.0, **late) == []


def test_a_healthy_job_says_so_once() -> None:
    desk = Desk().runs()
    desk.minutes(60, 4_000.0, busy_share=0.85)
    assert desk.kinds() == ["ScalingDeclined"]


def test_silence_is_noticed_though_nothing_arrives() -> None:
    desk = Desk().runs()
    desk.minutes(20, 4_000.0, busy_share=0.85)
    at_ms = wake_ms(desk.row, desk.now_ms)
    assert at_ms is not None
    assert at_ms == desk.now_ms + 2 * MINUTE_MS + 1
    desk.now_ms = at_ms
    [said] = desk.decide()
    assert isinstance(said, ScalingDeclined)
    assert said.reason == "blind"
    assert desk.decide() == []


def test_minutes_may_be_shorter() -> None:
    desk = Desk().runs(policy={"interval_ms": 5_000})
    desk.minutes(3, 4_000.0, busy_share=0.85)
    assert wake_ms(desk.row, desk.now_ms) == desk.now_ms + 10_001


@pytest.mark.parametrize("mode", ["observe", "advise"])
def test_what_is_only_shown_is_not_asked_for(mode: str) -> None:
    desk = Desk().runs(policy={"mode": mode})
    body = desk.grows()
    assert (body.mode, desk.owed(), desk.row.change) == (mode, [], None)
    assert desk.row.done.acted_ms is None
    advised = [one.alert for one in desk.said if isinstance(one, AlertRaised)]
    assert advised == (["scaling-advised"] if mode == "advise" else [])
    desk.said.clear()
    desk.minutes(8, 4_400.0, busy_share=1.0, lag_records=200_000, lag_ms=60_000)
    assert desk.kinds() == [], "the same is not shown again and again"
    desk.minutes(12, 4_400.0, busy_share=0.8)
    assert (mode == "advise") == ("AlertCleared" in desk.kinds())


@pytest.mark.parametrize("name", BASELINES)
def test_every_policy_can_size_a_job(name: str) -> None:
    """Played again over the minutes that the row has kept, each look."""
    desk = Desk().runs(policy={"name": name})
    desk.minutes(10, 4_000.0, busy_share=0.9)
    late = {"busy_share": 1.0, "lag_records": 900_000, "lag_ms": 300_000}
    desk.minutes(20, 4_400.0, **late)
    said = [one for one in desk.said if isinstance(one, ScalingDecided | ScalingDeclined)]
    assert said
    assert all(one.policy == name and one.explanation for one in said)
    asked = [one for one in said if isinstance(one, ScalingDecided)]
    if name not in {"dhalion", "ds2", "streamops"}:  # back-pressure, busy time alone, a day's looks
        assert asked, f"{name} asked for nothing"


@pytest.mark.parametrize("name", ["turbine", *BASELINES])
def test_no_rate_is_too_small_or_too_great_for_a_policy(name: str) -> None:
    """One after the other they are further apart than what a float holds as their quotient."""
    desk = Desk().runs(policy={"name": name})
    for rate in (5e-324, 1e-300, 1e300, 4_000.0):
        desk.minutes(12, rate, busy_share=1.0, lag_records=2**62, lag_ms=2**62)
    assert desk.said, "it looked"


def test_it_says_only_what_its_table_entry_says() -> None:
    assert component.name == "auto-scaler"
    desk = Desk().runs()
    desk.grows()
    desk.carry_out()
    desk.minutes(30, 4_400.0, busy_share=1.0, lag_records=200_000, lag_ms=60_000)
    assert {type(body).__name__ for body in desk.said} <= component.says
    assert {read.record.kind for read in desk.reads} <= component.folds
    assert {read.topic for read in desk.reads} <= component.inputs
