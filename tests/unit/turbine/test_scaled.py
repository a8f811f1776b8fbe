"""What the auto scaler said, told to people: each record, and what became of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from events.generated.records import (
    JobQuarantined,
    LayerVersions,
    ScalingDecided,
    ScalingDeclined,
    SyncFailed,
)
from events.sentences import sentence
from tests.unit.turbine.decided import NOW, Journal
from tests.unit.turbine.lines import run
from tests.unit.turbine.scalings import (
    BACK,
    CHANGE,
    DECLINED,
    REVERTED,
    UP,
    lines,
    say,
    served,
    synced,
    told,
    whole,
)
from turbine.cli.scaling_report import EVIDENCE_ROWS
from turbine.read.answers.journal import parsed
from turbine.read.answers.scaling import consequences, flat


@pytest.fixture
def journal(monkeypatch: pytest.MonkeyPatch) -> Journal:
    return served(monkeypatch)


# --- a decision


def test_a_decision_says_all_that_it_looked_at(journal: Journal) -> None:
    found = lines(run("why", whole(journal).read.record.id))
    for line in (
        "action scale-up",
        "of 2 tasks of 1 thread, 0.25 cores and 256 MiB",
        "policy turbine, mode act",
        "because 9,000 records/s are needed and 2,000 can be read",
        "symptom lag",
        "cause under-capacity",
        "tasks 12 wanted, 8 decided",
        'set {"tasks":8}',
        "expected 8,000 records/s can be read, looked at again 2027-01-15T08:12:00.000Z",
        "CONSTRAINT BEFORE AFTER NOTE",
        "limit 12 8 the job may have 8 tasks",
        "NOT TAKEN BECAUSE",
        "rebalance partitions are even",
        "EVIDENCE VALUE",
        "arrived_per_s 9,000",
        "lag_s -",
        "curve.one 1,000.5",
        "curve.points [1, 2]",
    ):
        assert line in found, line
    assert not any(line.startswith("difference") for line in found), "it owes a change, and is none"


def test_what_became_of_it_is_told_in_order(journal: Journal) -> None:
    decision = whole(journal)
    found = told("why", decision.read.record.id)
    events = found["became"]
    assert found["scaling"]["decided"] is None, "it is the decision itself"
    assert [(one["kind"], one["text"]) for one in events] == [
        ("JobConfigChanged", "accepted: version 1 of scaler by auto-scaler, which sets tasks 8"),
        ("SyncCommitted", "runs 8 tasks with version 1.0.1.0"),
        ("ScalingVerified", "kept: 7,900 records/s are read"),
    ]
    found = lines(run("why", decision.read.record.id))
    assert "THEN KIND WHAT ID" in found
    assert [line for line in found if "runs 8 tasks with version" in line]


def test_the_change_leads_to_the_decision_that_owes_it(journal: Journal) -> None:
    decision = whole(journal)
    assert told("why", CHANGE)["id"] == decision.read.record.id


def test_a_sync_of_other_versions_is_not_its_own(journal: Journal) -> None:
    decision = say(journal, UP)
    say(journal, synced(journal, tasks=2))
    journal.propose({"tasks": 8}, "scaler", name=CHANGE)
    before = LayerVersions(9, 0, 0, 0)
    say(journal, SyncFailed("clicks", "p", "s", before, 1, "start", "x", "older", 1))
    now = journal.job.versions
    say(journal, SyncFailed("clicks", "p", "s", now, 1, "start", "x", "a task failed", 1))
    say(journal, JobQuarantined("clicks", "p", "s", now, 1, "start", "x", "again", 3))
    say(journal, synced(journal))
    say(journal, synced(journal, tasks=9))
    assert [one.text for one in consequences(journal.decisions, decision)] == [
        "accepted: version 1 of scaler by ana, which sets tasks 8",
        "failed at step start on the way to version 1.0.1.0, failure 1: a task failed",
        "quarantined after 3 failures of version 1.0.1.0 at step start: again",
        "runs 8 tasks with version 1.0.1.0",
    ]


def test_a_refused_change_and_the_word_that_gives_it_up(journal: Journal) -> None:
    decision = say(journal, UP)
    journal.propose({"tasks": 99}, "scaler", name=CHANGE)
    given_up = ScalingDeclined("clicks", "rejected", "the change was refused", CHANGE, "scale-up")
    closed = say(journal, given_up)
    texts = [one["text"] for one in told("why", decision.read.record.id)["became"]]
    assert texts[0].startswith("rejected as invalid, asked by ana: tasks: ")
    assert texts[1:] == ["gave up its change, rejected: the change was refused"]
    found = lines(run("why", closed.read.record.id))
    assert {"action scale-up, not taken", "reason rejected", f"gave up change {CHANGE}"} <= set(
        found
    )


def test_what_is_taken_back_is_followed_to_its_end(journal: Journal) -> None:
    decision = say(journal, UP)
    journal.propose({"tasks": 8}, "scaler", name=CHANGE)
    say(journal, synced(journal))
    reverted = say(journal, REVERTED)
    journal.propose({"tasks": 2}, "scaler", name=BACK)
    say(journal, synced(journal, tasks=2))
    assert [one.text for one in consequences(journal.decisions, decision)] == [
        "accepted: version 1 of scaler by ana, which sets tasks 8",
        "runs 8 tasks with version 1.0.1.0",
        "taken back: nothing was gained",
        "accepted: version 2 of scaler by ana, which sets tasks 2",
        "runs 2 tasks with version 1.0.2.0",
    ]
    found = lines(run("why", reverted.read.record.id))
    assert "outcome taken back" in found
    assert f"taken back by change {BACK}" in found
    assert "gained 0" in found


def test_tasks_of_another_size_do_not_pass_for_those_of_the_size_before(journal: Journal) -> None:
    wide = replace(UP, final_tasks=1, set_json='{"threads_per_task": 6}')
    found = lines(run("why", say(journal, wide).read.record.id))
    assert "tasks 12 of the size before wanted, 1 decided" in found
    assert sentence(wide).startswith("resized: to 1 task of 6 threads, as ")


def test_what_ends_without_being_taken_back_does_not_pass_for_taken_back(
    journal: Journal,
) -> None:
    say(journal, UP)
    left = say(journal, replace(REVERTED, revert_change_id=None))
    found = lines(run("why", left.read.record.id))
    assert "outcome did not help, and is left as it is" in found
    assert not [line for line in found if line.startswith("taken back by")]


def test_who_says_nothing_yet_is_asked_for(journal: Journal) -> None:
    decision = say(journal, UP)
    assert "nothing came of it yet: its change has no verdict; is the job service running?" in (
        lines(run("why", decision.read.record.id))
    )


@pytest.mark.parametrize("mode", ["observe", "advise"])
def test_what_is_only_shown_comes_to_nothing(journal: Journal, mode: str) -> None:
    assert UP.verify_ms is not None
    seen = ScalingDecided.from_plain(UP.to_plain() | {"mode": mode})
    found = lines(run("why", say(journal, seen).read.record.id))
    assert "change -" in found
    assert f"nothing came of it: in mode {mode} nothing is proposed" in found
    assert f"policy turbine, mode {mode}" in found
    assert "expected 8,000 records/s can be read" in found


def test_a_void_decision_came_to_nothing(journal: Journal) -> None:
    stands = whole(journal)
    other = ScalingDecided.from_plain(UP.to_plain() | {"change_id": CHANGE, "final_tasks": 9})
    lost = journal.say(other, stands.read.record.parent, stands=False)
    found = told("why", lost.read.record.id)
    assert (found["stands"], found["became"]) == (False, [])
    assert found["instead"] == stands.read.record.id


# --- the other words


def test_a_declined_one_says_until_when_and_on_what(journal: Journal) -> None:
    found = lines(run("why", say(journal, DECLINED).read.record.id))
    for line in (
        "reason settling",
        "because the last change is too new to judge",
        "until 2027-01-15T08:05:00.000Z",
        "since_ms 60000",
    ):
        assert line in found, line
    assert "limit 12 8 the job may have 8 tasks" in found
    assert not any("gave up" in line or line.startswith("action") for line in found)


def test_a_verified_one_shows_before_and_after_and_what_it_closes(journal: Journal) -> None:
    decision = whole(journal)
    verified = journal.decisions[-1].read.record.id
    found = lines(run("why", verified))
    for line in (
        "outcome kept",
        "which said resized: to 8 tasks, as 9,000 records/s are needed and 2,000 can be read",
        "MEASURED BEFORE AFTER",
        "rate 2,000 7,900",
        "lag_s - 3.5",
        "of_expected 0.98",
    ):
        assert line in found, line
    assert told("why", verified)["scaling"]["decided"]["id"] == decision.read.record.id


def test_evidence_that_is_no_object_is_shown_as_it_is(journal: Journal) -> None:
    broken = ScalingDeclined("clicks", "x", "y", evidence_json="{")
    assert told("why", say(journal, broken).read.record.id)["scaling"]["evidence"] == {"": "{"}
    assert parsed("[1]") == {"": [1]}


def test_instants_are_shown_as_such_and_lengths_of_time_are_not(journal: Journal) -> None:
    held = json.dumps({"minute": {"at_ms": NOW}, "interval_ms": 60_000, "n": NOW})
    body = ScalingDeclined("clicks", "x", "y", evidence_json=held)
    found = lines(run("why", say(journal, body).read.record.id))
    assert "minute.at_ms 2027-01-15T08:00:00.000Z" in found
    assert {"interval_ms 60000", f"n {NOW}"} <= set(found)


def test_to_stay_is_no_action_that_was_not_taken(journal: Journal) -> None:
    body = ScalingDeclined.from_plain(DECLINED.to_plain() | {"action": "stay"})
    assert not any(
        "not taken" in one for one in lines(run("why", say(journal, body).read.record.id))
    )


@pytest.mark.parametrize("more", [0, 1, 3])
def test_evidence_has_a_bound(journal: Journal, more: int) -> None:
    held = {f"n{at:03}": at for at in range(EVIDENCE_ROWS + more)}
    body = ScalingDeclined("clicks", "x", "y", evidence_json=json.dumps(held))
    found = lines(run("why", say(journal, body).read.record.id))
    assert f"n{EVIDENCE_ROWS - 1:03} {EVIDENCE_ROWS - 1}" in found
    last = f"and {more} more; -o json has all"
    assert (last in found) == (more > 0)


def test_values_have_dotted_paths_and_long_lists_are_cut(journal: Journal) -> None:
    assert list(flat({"a": {"b.c": 1, "d": {}}, "e": [1]})) == [
        ("a.b\\.c", 1), ("a.d", {}), ("e", [1]),
    ]  # fmt: skip
    body = ScalingDeclined("clicks", "x", "y", evidence_json=json.dumps({"l": list(range(99))}))
    [line] = [
        one
        for one in run("why", say(journal, body).read.record.id).out.splitlines()
        if one.startswith("l ")
    ]
    assert line.endswith("…")
    assert len(line) < 120
