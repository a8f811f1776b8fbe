"""What each record follows from: the table has every kind, and the rule names the right one."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any, cast, get_args, get_type_hints

import pytest

from components.runtime.core.following import (
    ALERTS,
    ANSWERS,
    FOLLOWS,
    MARKED,
    NUMBERED_MOST,
    ROOTS,
    cause_of,
    mark,
)
from components.runtime.core.step import ROOT, KeyState, Stepper
from components.state_syncer.decide import component
from events.generated.records import (
    RECORDS,
    AlertCleared,
    AlertRaised,
    Body,
    LayerVersions,
    ScalingDecided,
)
from events.topics import BY_SHORT, JOURNAL, TIERS
from events.wire.codec import Read, Record, encode
from projections.syncs import Sync

DEPENDS = {
    "AlertRaised",
    "AlertCleared",
    "OverrideExpired",
    "ShardAddRequested",
    "ShardForceKilled",
}
"""Kinds whose source hangs on more than the kind."""
DECIDED = {kind for topic in (JOURNAL, TIERS) for kind in BY_SHORT[topic].records}


def some(kind: str, /, **said: Any) -> Body:
    """A record of the kind: what is not given is the least that its type allows."""
    cls = RECORDS[kind]
    hints = get_type_hints(cls)
    given = {
        name: said.pop(name) if name in said else _least(hints[name])
        for name in (one.name for one in fields(cast("Any", cls)))
    }
    assert not said, f"{kind} has no {said}"
    return cls(**given)


def _least(hint: Any) -> Any:
    if type(None) in get_args(hint):
        return None
    return {int: 0, str: "", bool: False, float: 0.0}.get(hint, ())


def stood(*said: Body) -> dict[str, str]:
    """What is kept of these, as they stand one after the other; the first one's id is "1"."""
    marks: dict[str, str] = {}
    for number, body in enumerate(said, 1):
        kind = type(body).__name__
        if kind in MARKED:
            mark(marks, Record("k", str(number), kind, b"", body, parent="?"))
    return marks


def after(body: Body, *said: Body) -> str:
    return cause_of(body, stood(*said))


# --- the table


def test_every_decision_and_effect_has_its_row_in_the_table() -> None:
    placed = [*(ANSWERS - FOLLOWS.keys()), *FOLLOWS, *ROOTS, *DEPENDS]
    assert sorted(placed) == sorted(DECIDED | {"ConfigChangeProposed"})


def test_every_kind_that_is_named_as_a_source_is_kept() -> None:
    for names in (*FOLLOWS.values(), *ALERTS.values()):
        assert {name.split()[0] for name in names} <= set(RECORDS)
        assert set(names) <= MARKED


@pytest.mark.parametrize("kind", sorted(ROOTS))
def test_what_is_measured_follows_from_no_single_record(kind: str) -> None:
    everything = [some(one, **_shown(one)) for one in sorted(MARKED & set(RECORDS))]
    assert after(some(kind, **_shown(kind)), *everything) == ""


def _shown(kind: str) -> dict[str, Any]:
    return {"part": 1, "parts": 1, "measures_json": "{}"} if kind == "PlacementPlanned" else {}


# --- verdicts


@pytest.mark.parametrize("kind", sorted(ANSWERS))
def test_what_answers_a_request_names_it(kind: str) -> None:
    assert after(some(kind, change_id="1.a"), some("JobConfigChanged", change_id="1.x")) == "1.a"


def test_a_plan_that_was_asked_for_names_who_asked() -> None:
    told = json.dumps({"change_id": "1.p"})
    first = some("PlacementPlanned", trigger="operator", part=1, parts=2, measures_json=told)
    assert after(first) == "1.p"
    second = some("PlacementPlanned", trigger="operator", part=2, parts=2, measures_json="{}")
    assert after(second, first) == "1"


# --- of a job


CHANGED, OTHER = (
    some("JobConfigChanged", change_id="1.a"),
    some("JobConfigChanged", change_id="1.b"),
)
PLANNED, STARTED, DONE = some("SyncPlanned"), some("SyncStepStarted"), some("SyncStepDone")
FAILED = some("SyncFailed", failures=1)


@pytest.mark.parametrize(
    ("body", "said", "wanted"),
    [
        (PLANNED, [CHANGED, OTHER], "2"),
        (PLANNED, [CHANGED, PLANNED, FAILED], "3"),
        (PLANNED, [CHANGED, PLANNED, OTHER, some("SyncFailed", failures=0)], "3"),
        (PLANNED, [some("JobDeleted")], "1"),
        (STARTED, [CHANGED, PLANNED], "2"),
        (STARTED, [CHANGED, PLANNED, STARTED, DONE], "4"),
        (DONE, [PLANNED, STARTED, CHANGED], "2"),
        (some("SyncCommitted", kind="complex"), [PLANNED, STARTED, DONE, CHANGED], "3"),
        (some("SyncCommitted", kind="simple"), [CHANGED, PLANNED, STARTED, DONE], "1"),
        (FAILED, [CHANGED, PLANNED, STARTED, OTHER], "3"),
        (some("JobQuarantined"), [PLANNED, FAILED], "2"),
        (some("JobReleased"), [FAILED, some("JobQuarantined"), CHANGED], "3"),
        (some("TaskSpecsPublished"), [PLANNED, STARTED, some("TaskSpecsPublished")], "2"),
        (some("TaskSpecsPublished"), [CHANGED, some("SyncCommitted")], "2"),
        (AlertRaised("j", "job-quarantined", "critical", "", ""), [some("JobQuarantined")], "1"),
        (AlertRaised("j", "tasks-failing", "critical", "", ""), [some("TaskFailed"), DONE], "1"),
        (AlertRaised("j", "no-task-specs", "critical", "", ""), [STARTED], "1"),
        (AlertRaised("j", "what-nobody-says", "critical", "", ""), [STARTED], ""),
    ],
)
def test_what_is_said_of_a_job(body: Body, said: list[Body], wanted: str) -> None:
    assert after(body, *said) == wanted


def test_an_alert_is_cleared_for_the_one_that_was_raised() -> None:
    one, other = (AlertRaised("j", name, "critical", "", "") for name in ("one", "other"))
    assert after(AlertCleared("j", "one", ""), one, other) == "1"


def test_an_override_expires_for_the_change_that_said_until_when() -> None:
    until = [
        some("JobConfigChanged", layer="oncall", change_id=f"1.{at}", expires_ms=at)
        for at in (100, 200)
    ]
    marks = stood(*until, CHANGED)
    first = some("OverrideExpired", layer="oncall", change_id="1.100", expires_ms=100)
    assert cause_of(first, marks) == "1"
    mark(marks, Record("k", "9", "OverrideExpired", b"", first))
    assert cause_of(first, marks) == ""
    second = some("OverrideExpired", layer="oncall", change_id="1.200", expires_ms=200)
    assert cause_of(second, marks) == "2"


# --- of its size


def scaled(mode: str, **said: Any) -> ScalingDecided:
    body = some("ScalingDecided", mode=mode, **said)
    assert isinstance(body, ScalingDecided)
    return body


def test_what_a_job_is_to_have() -> None:
    decided, shown = scaled("act", change_id="1.s"), scaled("advise", change_id="1.t")
    proposal = some("ConfigChangeProposed", change_id="1.s")
    back = some("ScalingReverted", change_id="1.s", revert_change_id="1.r")
    assert after(decided, CHANGED) == ""
    assert after(proposal, decided, shown) == "1"
    assert after(some("ScalingVerified", change_id="1.s"), decided, CHANGED) == "1"
    assert after(back, decided, CHANGED) == "1"
    assert after(some("ConfigChangeProposed", change_id="1.r"), decided, back) == "2"
    assert after(some("ScalingDeclined", change_id="1.s"), decided) == "1"
    assert after(some("ScalingDeclined", change_id=None), decided) == ""
    advised = AlertRaised("j", "scaling-advised", "info", "", "")
    assert after(advised, decided, shown) == "2"


@pytest.mark.parametrize("kind", ["CapacityGranted", "PreemptionRequested"])
def test_what_a_tier_calls_for_names_its_grant(kind: str) -> None:
    assert after(scaled("act", symptom="tier-short"), CHANGED, some(kind)) == "2"
    assert after(scaled("act", symptom="lag"), CHANGED, some(kind)) == ""


# --- of a tier


PLAN = some("PlacementPlanned", part=1, parts=1, measures_json="{}")
HELD = some("PlacementPlanned", part=1, parts=1, measures_json="{}", held=True)


def test_moves_follow_from_their_plan_and_from_one_another() -> None:
    drops = [some("ShardDropRequested", shard=shard, plan_id="p-1") for shard in (1, 12)]
    add = some("ShardAddRequested", shard=1)
    assert after(drops[0], PLAN, HELD) == "1"
    assert after(add, PLAN, *drops) == "2"
    assert after(some("ShardForceKilled", shard=12), PLAN, *drops) == "3"
    assert after(some("ShardAddRequested", shard=2, plan_id="p-1"), PLAN, *drops) == "1"
    assert after(some("ShardAddRequested", shard=2), PLAN, *drops) == "", "another life of its own"
    assert after(add, PLAN, *drops, add) == "", "the move is over"


@pytest.mark.parametrize(
    ("alert", "said", "wanted"),
    [
        ("mass-failure", [PLAN, HELD], "2"),
        ("shards-unplaced", [HELD, PLAN], "2"),
        ("tier-short", [some("CapacityReported"), PLAN], "1"),
    ],
)
def test_alerts_of_a_tier(alert: str, said: list[Body], wanted: str) -> None:
    assert after(AlertRaised("t", alert, "critical", "", ""), *said) == wanted


@pytest.mark.parametrize(
    "kind",
    ["CapacityShared", "CapacityLent", "CapacityBorrowed", "JobsPreempted", "JobsRestored"],
)
def test_what_a_tier_gives_follows_from_how_it_stands(kind: str) -> None:
    assert after(some(kind), some("CapacityReported"), PLAN) == "1"


# --- what is kept


def test_what_is_kept_has_a_bound() -> None:
    drops = [some("ShardDropRequested", shard=shard) for shard in range(NUMBERED_MOST + 1)]
    marks = stood(PLAN, *drops)
    assert len(marks) == NUMBERED_MOST + 1
    assert "ShardDropRequested 0" not in marks
    assert cause_of(drops[0], marks) == "1"


def test_every_alert_of_ours_is_in_the_table() -> None:
    from components.capacity_manager.decide import SHORTAGE
    from components.shard_manager.decide import UNPLACED
    from projections.fleet_folds import MASS_FAILURE
    from projections.scaling.row import OWN_ALERTS
    from projections.syncs import FAILING, QUARANTINED, UNLISTED

    ours = {SHORTAGE, UNPLACED, MASS_FAILURE, FAILING, QUARANTINED, UNLISTED} | OWN_ALERTS
    assert ours == ALERTS.keys()


# --- in a step


def test_what_is_said_in_a_step_names_what_stands_and_what_it_follows_there() -> None:
    owner: Stepper[Sync] = Stepper(component, [], lambda *_: True, held={"j": KeyState()})
    versions = LayerVersions(1, 0, 0, 0)
    body = some(
        "JobConfigChanged", job="j", layer="base", version=1, versions=versions,
        expected_json="{}", layer_json="{}", change_id="1.a",
    )  # fmt: skip
    changed = Record("j", "d-1", "JobConfigChanged", encode(body), body, parent=ROOT, cause="1.a")
    owner.fold(owner.held["j"], Read("journal.v1/0", JOURNAL, 0, 1_000, changed))
    (_, planned), (_, started) = owner.would_emit("j", 1_000)
    assert (planned.kind, planned.cause) == ("SyncPlanned", "d-1")
    assert (started.kind, started.cause) == ("SyncStepStarted", planned.id)
