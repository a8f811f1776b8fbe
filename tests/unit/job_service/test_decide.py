"""What the job service says to each request: accepted, or refused with one clear sentence."""

from __future__ import annotations

import json

import pytest

from components.job_service.core import logic_1
from components.job_service.decide import (
    component,
    decide,
    wake_ms,
)
from events.generated.records import (
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    LayerVersions,
    OverrideExpired,
)
from projections.ingress import VALID_MS
from projections.jobs import BASE, ONCALL, dump, load
from tests.unit.job_service.desk import NOW_MS, SMALLEST, Desk

FIELD = "x" * 60_000


def changed(answer: object) -> JobConfigChanged:
    assert isinstance(answer, JobConfigChanged), answer
    return answer


# --- layers


def test_a_base_change_creates_the_job() -> None:
    desk = Desk(alive=False)
    answer = changed(desk.ask("base", set_=SMALLEST, author="ann", reason="new"))
    assert (answer.layer, answer.version, answer.versions) == (
        "base",
        1,
        LayerVersions(1, 0, 0, 0),
    )
    assert json.loads(answer.layer_json) == json.loads(answer.expected_json) == SMALLEST
    assert (answer.author, answer.reason) == ("ann", "new")
    assert desk.job.alive


def test_the_higher_layer_wins_key_by_key() -> None:
    desk = Desk()
    for layer, tasks in (("oncall", 5), ("scaler", 4), ("provisioner", 3), ("base", 2)):
        changed(desk.ask(layer, set_={"tasks": tasks, "resources": {"memory_mb": 512}}))
    changed(desk.ask("scaler", set_={"resources": {"cpu_cores": 2.0}}))
    expected = json.loads(desk.job.expected_json)
    assert expected["tasks"] == 5
    assert expected["resources"] == {"memory_mb": 512, "cpu_cores": 2}
    assert desk.job.versions == LayerVersions(2, 1, 2, 1)


def test_clearing_restores_what_lies_below() -> None:
    desk = Desk()
    changed(desk.ask("base", set_={"tasks": 2}))
    changed(desk.ask("oncall", set_={"tasks": 9}))
    answer = changed(desk.ask("oncall", clear=["tasks"]))
    assert json.loads(answer.expected_json)["tasks"] == 2
    assert answer.layer_json == "{}"


def test_a_null_hides_the_key_below() -> None:
    desk = Desk()
    changed(desk.ask("base", set_={"tasks": 2}))
    answer = changed(desk.ask("oncall", set_={"tasks": None}))
    assert "tasks" not in json.loads(answer.expected_json)
    assert json.loads(answer.layer_json) == {"tasks": None}


def test_a_decision_says_who_asked_for_it_and_passes_the_trace_on() -> None:
    desk = Desk()
    name = desk.put("base", set_={"tasks": 2}, traceparent="00-aa-bb-01", author="bob")
    answer = changed(*desk.decide())
    assert (answer.change_id, answer.author, answer.traceparent) == (name, "bob", "00-aa-bb-01")


# --- compare and set


def test_the_first_valid_one_in_log_order_wins() -> None:
    desk = Desk()
    desk.put("base", set_={"tasks": 2}, expected_version=1, author="ann")
    desk.put("base", set_={"tasks": 3}, expected_version=1, author="bob")
    first, second = desk.decide()
    assert changed(first).version == 2
    assert isinstance(second, JobConfigRejected)
    assert (second.reason, second.version, second.author) == ("stale", 2, "bob")
    assert second.explanation == ("expected version 1 of the base layer, but it is 2, set by ann")


@pytest.mark.parametrize("expected", [0, 2, -1, 10**9])
def test_another_version_than_expected_is_stale(expected: int) -> None:
    reason, path, _ = Desk().refusal("base", set_={"tasks": 2}, expected_version=expected)
    assert (reason, path) == ("stale", "")


def test_no_expected_version_is_unconditional() -> None:
    desk = Desk()
    for tasks in (2, 3, 4):
        changed(desk.ask("base", set_={"tasks": tasks}, expected_version=None))
    assert desk.job.layers[BASE].version == 4


def test_the_first_change_expects_version_0() -> None:
    desk = Desk()
    changed(desk.ask("oncall", set_={"tasks": 2}, expected_version=0))


def test_layers_have_versions_of_their_own() -> None:
    desk = Desk()
    changed(desk.ask("scaler", set_={"tasks": 2}, expected_version=0))
    changed(desk.ask("base", set_={"tasks": 2}, expected_version=1))


# --- existence


@pytest.mark.parametrize("layer", ["provisioner", "scaler", "oncall"])
def test_only_a_base_change_creates_a_job(layer: str) -> None:
    reason, path, sentence = Desk(alive=False).refusal(layer, set_={"tasks": 2})
    assert (reason, path) == ("no-such-job", "")
    assert sentence == "there is no job orders; a base change creates it"


@pytest.mark.parametrize(
    ("set_", "lacking"),
    [
        ({"tasks": 2}, "checkpoint, inputs, operator, package"),
        ({"operater": "a:b"}, "checkpoint, inputs, operator, package"),
        (SMALLEST | {"inputs": None}, "inputs"),
    ],
)
def test_a_change_that_makes_no_job_is_told_first_that_there_is_none(
    set_: dict[str, object], lacking: str
) -> None:
    reason, path, sentence = Desk(alive=False).refusal("base", set_=set_)
    assert (reason, path) == ("no-such-job", lacking.partition(",")[0])
    assert sentence == (f"there is no job orders, and this change makes none: it lacks {lacking}")


def test_of_a_whole_config_and_of_a_job_that_is_there_the_field_is_told() -> None:
    wrong = SMALLEST | {"tasks": "many"}
    assert Desk(alive=False).refusal("base", set_=wrong)[:2] == ("invalid", "tasks")
    lacking = Desk().refusal("base", clear=["operator"])
    assert lacking[:2] == ("invalid", "operator")


def test_the_first_logic_still_says_what_it_said() -> None:
    desk = Desk(alive=False)
    desk.put("base", set_={"tasks": 2})
    [then] = logic_1.decide(desk.job, NOW_MS)
    [now] = decide(desk.job, NOW_MS)
    assert isinstance(then, JobConfigRejected)
    assert isinstance(now, JobConfigRejected)
    assert (then.reason, now.reason) == ("invalid", "no-such-job")
    assert then.explanation.startswith("checkpoint: expected ")
    assert logic_1.component.logic == "job-service/1" != component.logic


def test_deletion_clears_all_layers_and_moves_all_versions() -> None:
    desk = Desk()
    changed(desk.ask("oncall", set_={"tasks": 2}))
    answer = desk.delete()
    assert isinstance(answer, JobDeleted)
    assert answer.versions == LayerVersions(2, 1, 1, 2) == desk.job.versions
    assert (answer.author, answer.reason) == ("ann", "done")
    assert not desk.job.alive
    assert desk.job.expected_json == "{}"
    assert {layer.config_json for layer in desk.job.layers} == {"{}"}


def test_what_was_proposed_to_a_deleted_job_is_stale_for_its_successor() -> None:
    desk = Desk()
    desk.delete()
    changed(desk.ask("base", set_=SMALLEST, expected_version=2))
    assert desk.job.versions == LayerVersions(3, 1, 1, 1)
    assert desk.refusal("base", set_={"tasks": 9}, expected_version=1)[0] == "stale"
    assert desk.refusal("oncall", set_={"tasks": 9}, expected_version=0)[0] == "stale"


def test_a_job_that_is_gone_cannot_be_deleted_again() -> None:
    desk = Desk()
    desk.delete()
    answer = desk.delete()
    assert isinstance(answer, JobConfigRejected)
    assert (answer.ingress, answer.reason, answer.version) == ("operator", "no-such-job", 2)


@pytest.mark.parametrize("name", ["Orders", "-a", "a-", "a" * 129, "a/b", "", "ä", "a\n"])
def test_a_name_that_is_no_job_id_is_refused(name: str) -> None:
    desk = Desk(name, alive=False)
    reason, path, sentence = desk.refusal("base", set_=SMALLEST)
    assert (reason, path) == ("invalid", "job")
    assert sentence.startswith("job: expected up to 128 of a-z")


# --- oncall and expiry


@pytest.mark.parametrize("reason", ["", " \n\t"])
def test_an_oncall_change_needs_a_reason(reason: str) -> None:
    refused = Desk().refusal("oncall", set_={"tasks": 2}, reason=reason)
    assert refused == ("reason-required", "reason", "an oncall change needs a reason; say why")


def test_other_layers_need_no_reason() -> None:
    changed(Desk().ask("scaler", set_={"tasks": 2}, reason=""))


@pytest.mark.parametrize("layer", ["base", "provisioner", "scaler"])
def test_only_an_oncall_change_may_expire(layer: str) -> None:
    refused = Desk().refusal(layer, set_={"tasks": 2}, expires_ms=NOW_MS + 1_000)
    assert refused == (
        "expiry-not-allowed",
        "expires_ms",
        "only an oncall change may expire",
    )


@pytest.mark.parametrize(("ahead_ms", "fine"), [(1, True), (0, False), (-1, False)])
def test_an_expiry_lies_ahead(ahead_ms: int, fine: bool) -> None:
    desk = Desk()
    answer = desk.ask("oncall", set_={"tasks": 2}, expires_ms=NOW_MS + ahead_ms)
    assert isinstance(answer, JobConfigChanged) is fine
    if isinstance(answer, JobConfigRejected):
        assert (answer.reason, answer.path) == ("invalid", "expires_ms")
        assert answer.explanation == "expires_ms: expected an instant to come"


def test_an_override_that_expires_restores_what_lies_below() -> None:
    desk = Desk()
    before = desk.job.expected_json
    changed(desk.ask("oncall", set_={"tasks": 9}, expires_ms=NOW_MS + 10_000))
    desk.now_ms += 9_999
    assert desk.decide() == []
    desk.now_ms += 1
    (expired,) = desk.decide()
    assert isinstance(expired, OverrideExpired)
    assert (expired.layer, expired.version, expired.expires_ms) == ("oncall", 2, NOW_MS + 10_000)
    assert expired.expected_json == before == desk.job.expected_json
    assert desk.job.layers[ONCALL].config_json == "{}"
    assert desk.decide() == []


def test_expiries_come_before_verdicts() -> None:
    desk = Desk()
    changed(desk.ask("oncall", set_={"tasks": 9}, expires_ms=NOW_MS + 10_000))
    desk.now_ms += 10_000
    desk.put("oncall", set_={"priority": 1}, expected_version=1)
    expired, refused = desk.decide()
    assert isinstance(expired, OverrideExpired)
    assert isinstance(refused, JobConfigRejected)
    assert refused.reason == "stale"


def test_the_next_look_is_later_than_now() -> None:
    desk = Desk()
    assert wake_ms(desk.job, NOW_MS) is None
    changed(desk.ask("oncall", set_={"tasks": 9}, expires_ms=NOW_MS + 10_000))
    assert wake_ms(desk.job, NOW_MS) == NOW_MS + 10_000
    assert wake_ms(desk.job, NOW_MS + 9_999) == NOW_MS + 10_000
    assert wake_ms(desk.job, NOW_MS + 10_000) is None


def test_a_config_must_stand_once_the_override_has_expired() -> None:
    desk = Desk()
    changed(desk.ask("oncall", set_={"limits": {"tasks": 16}}, expires_ms=NOW_MS + 50_000))
    changed(desk.ask("base", set_={"tasks": 10}))
    changed(desk.ask("oncall", set_={"tasks": 2, "limits": {"tasks": 4}}, expires_ms=NOW_MS + 90))
    reason, path, sentence = desk.refusal("base", set_={"limits": {"tasks": 8}})
    assert (reason, path) == ("invalid", "tasks")
    assert sentence == (
        "once the oncall override expires, tasks: expected at most limits.tasks, which is 8,"
        " found 10"
    )


def test_an_override_that_hides_a_fault_of_its_own_is_refused_if_it_expires() -> None:
    desk = Desk()
    changed(desk.ask("oncall", set_={"tasks": 4}))
    # What lies below is sound, so an override that expires leaves a config that is.
    changed(desk.ask("oncall", set_={"tasks": 5}, expires_ms=NOW_MS + 5_000))
    desk.now_ms += 5_000
    desk.decide()
    assert json.loads(desk.job.expected_json) == {**SMALLEST, "tasks": 4}


# --- waiting requests


def test_people_come_first() -> None:
    desk = Desk()
    for layer in ("base", "provisioner", "scaler"):
        desk.put(layer, set_={"tasks": 2})
    desk.put_deletion()
    desk.put("oncall", set_={"tasks": 3})
    doors = [getattr(body, "layer", getattr(body, "ingress", "operator")) for body in desk.decide()]
    assert doors == ["oncall", "operator", "base", "provisioner", "scaler"]


def test_of_one_door_the_first_comes_first() -> None:
    desk = Desk()
    names = [desk.put("base", set_={"tasks": tasks}) for tasks in (2, 3, 4)]
    assert [changed(body).change_id for body in desk.decide()] == names


def test_a_request_that_could_not_be_decided_in_time_is_too_late() -> None:
    desk = Desk()
    desk.put("base", name=f"{NOW_MS + 5_000}.a", set_={"tasks": 2})
    desk.now_ms += 5_001
    (answer,) = desk.decide()
    assert isinstance(answer, JobConfigRejected)
    assert answer.reason == "too-late"
    assert answer.explanation == "its validity passed before it could be decided; ask again"


def test_at_the_last_instant_of_its_validity_it_is_decided() -> None:
    desk = Desk()
    desk.put("base", name=f"{NOW_MS + 5_000}.a", set_={"tasks": 2})
    desk.now_ms += 5_000
    changed(*desk.decide())


def test_the_same_request_twice_is_one_change() -> None:
    desk = Desk()
    name = desk.put("base", set_={"tasks": 2})
    desk.put("base", name=name, set_={"tasks": 2})
    changed(*desk.decide())
    desk.put("base", name=name, set_={"tasks": 2})
    assert desk.decide() == []
    desk.now_ms += VALID_MS
    desk.put("base", name=name, set_={"tasks": 2})
    assert desk.decide() == [], "its validity has passed"


# --- the whole


def test_deciding_changes_nothing_and_says_the_same_again() -> None:
    desk = Desk()
    desk.put("base", set_={"tasks": 2})
    desk.put("oncall", set_={"tasks": 3}, expires_ms=NOW_MS + 1_000)
    assert list(decide(desk.job, NOW_MS)) == list(decide(load(dump(desk.job)), NOW_MS))


def test_what_it_said_it_does_not_say_again() -> None:
    desk = Desk()
    desk.put("base", set_={"tasks": 2})
    desk.put("oncall", set_={"tasks": 3}, expires_ms=NOW_MS + 1_000)
    desk.put("scaler", set_="{")
    desk.put_deletion()
    assert len(desk.decide()) == 4
    assert desk.decide() == []


def test_the_table_entry_is_whole() -> None:
    assert component.effects(Desk().job) == ()
    assert component.says < component.folds
    assert component.output in component.inputs
