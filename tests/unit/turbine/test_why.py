"""Why: the evidence, the request and the difference of a decision, standing or void."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from events.generated.records import ConfigChangeProposed, ScalingDecided
from events.topics import CHANGES, JOURNAL
from events.wire.codec import Record, encode
from projections.ingress import KNOWN
from tests.unit.turbine.decided import CLICKS, NOW, Journal, read_of
from turbine.read.answers.decision import (
    Explanation,
    OpenRequest,
    decision,
    pick,
    uncounted,
    verdict_on,
)
from turbine.read.answers.jobs import layers_row
from turbine.read.plain import plain
from turbine_client.identity import change_id


def why(journal: Journal, name: str) -> Explanation:
    found = decision(journal.log(), name)
    assert isinstance(found, Explanation)
    return found


@pytest.fixture
def journal() -> Journal:
    one = Journal()
    one.propose(CLICKS)
    return one


def changed(found: Explanation) -> list[str]:
    return [str(difference) for difference in found.differences]


def test_an_accepted_change(journal: Journal) -> None:
    decided = journal.propose({"tasks": 4}, reason="more")
    found = why(journal, decided.read.record.id)
    row = plain(found)
    assert changed(found) == ["~ tasks: 2 -> 4"]
    assert {name: row[name] for name in ("kind", "job", "stands", "position", "logic")} == {
        "kind": "JobConfigChanged",
        "job": "clicks",
        "stands": True,
        "position": f"{JOURNAL}/0:1",
        "logic": "job-service/2",
    }
    assert row["parent"] == journal.decisions[0].read.record.id
    assert row["evidence"] == {"changes.base.v1/0": 2}
    assert row["request"]["author"] == "ana"
    assert row["request"]["reason"] == "more"
    assert row["request"]["position"] == "changes.base.v1/0:1"
    json.dumps(row)


def test_the_change_leads_to_the_same(journal: Journal) -> None:
    decided = journal.propose({"tasks": 4})
    assert why(journal, decided.read.record.cause) == why(journal, decided.read.record.id)


def test_a_rejection_changes_nothing(journal: Journal) -> None:
    decided = journal.propose({"tasks": 99})
    found = why(journal, decided.read.record.id)
    assert changed(found) == []
    assert found.body is not None
    assert found.body["path"] == "tasks"


def test_a_deletion_takes_all(journal: Journal) -> None:
    found = why(journal, journal.delete("done").read.record.id)
    assert "- tasks: 2" in changed(found)


def test_a_void_decision_names_what_stands_instead(journal: Journal) -> None:
    won = journal.propose({"tasks": 4})
    body = won.read.record.body
    assert body is not None
    other = Journal()
    other.propose(CLICKS)
    lost_body = other.propose({"tasks": 6}).read.record.body
    assert lost_body is not None
    lost = journal.say(lost_body, won.read.record.parent, stands=False)
    found = why(journal, lost.read.record.id)
    assert (found.instead, changed(found)) == (won.read.record.id, [])


def test_a_duplicate_is_explained_as_what_stands(journal: Journal) -> None:
    decided = journal.propose({"tasks": 4})
    record = decided.read.record
    assert record.body is not None
    journal.say(record.body, record.parent, stands=False)
    assert pick(journal.decisions, record.id) is decided
    assert pick(journal.decisions, record.cause) is decided


def test_of_a_decision_whose_evidence_is_not_there_nobody_can_say_whether_it_stands(
    journal: Journal,
) -> None:
    journal.propose({"tasks": 4})
    # The journal has it, and no fold has come as far.
    last = journal.decisions[-1]
    record = replace(last.read.record, evidence={f"{CHANGES['base']}/0": 99})
    journal.decisions[-1] = replace(last, read=replace(last.read, record=record))
    assert decision(journal.log(), record.id) is None


def test_a_request_without_a_verdict(journal: Journal) -> None:
    decided = journal.propose({"tasks": 4})
    journal.decisions.remove(decided)
    found = decision(journal.log(), decided.read.record.cause)
    assert isinstance(found, OpenRequest)
    assert (found.request.valid_until_ms, found.void) == (NOW + 60_000, None)


@pytest.mark.parametrize("more", [-1, 0])
def test_one_beyond_those_that_are_known_is_told_that_no_verdict_comes(more: int) -> None:
    journal = Journal()
    for n in range(KNOWN + more + 1):
        body = ConfigChangeProposed(change_id(NOW + 60_000, f"c{n}"), "clicks", "ana")
        record = Record("clicks", body.change_id, "ConfigChangeProposed", encode(body), body)
        journal.asked.append(read_of(CHANGES["base"], n, record, NOW))
    log = journal.log()
    assert uncounted(log, journal.asked[0].record.id, "clicks") == ""
    said = uncounted(log, record.id, "clicks")
    assert said.startswith("no verdict will come of it: as it came, 1,024 changes") is (more == 0)
    assert bool(said) is (more == 0)
    assert uncounted(log, change_id(NOW, "never"), "clicks") == ""


def test_an_unknown_id(journal: Journal) -> None:
    assert decision(journal.log(), "nope") is None


def test_an_expiry_names_the_request_that_it_takes_back(journal: Journal) -> None:
    asked = journal.propose({"tasks": 8}, "oncall", reason="x", expires_ms=NOW + 5_000)
    journal.propose({"priority": 7}, now=NOW + 10_000)
    [expired] = [one for one in journal.decisions if one.read.record.kind == "OverrideExpired"]
    found = why(journal, expired.read.record.id)
    assert found.request is not None
    assert found.request.change_id == asked.read.record.cause
    assert changed(found) == ["~ tasks: 8 -> 2"]


def test_the_verdict_on_a_change(journal: Journal) -> None:
    decided = journal.propose({"tasks": 4})
    log = journal.log()
    assert verdict_on(log, "clicks", decided.read.record.cause) == decided
    assert verdict_on(log, "clicks", "nope") is None


def test_who_owes_a_change_does_not_answer_it(journal: Journal) -> None:
    """A decision of the auto scaler names the change that it is to become."""
    name = change_id(NOW + 60_000, "owed")
    owed = ScalingDecided("clicks", name, 0, '{"tasks":8}', "lag", "under-capacity", 8, 8)
    journal.say(owed, journal.last, stands=True)
    assert verdict_on(journal.log(), "clicks", name) is None
    answered = journal.propose({"tasks": 8}, "scaler", name=name)
    assert verdict_on(journal.log(), "clicks", name) == answered


def test_a_job_as_json_says_which_layer_each_key_is_from(journal: Journal) -> None:
    journal.propose({"tasks": 8, "priority": 9}, "oncall", reason="backlog", author="ben")
    row = layers_row(journal.job)
    assert row["expected"]["tasks"] == 8
    assert (row["origins"]["tasks"], row["origins"]["package.name"]) == ("oncall", "base")
    assert row["versions"] == {"base": 1, "provisioner": 0, "scaler": 0, "oncall": 1}
    assert row["layers"]["oncall"] == {
        "version": 1,
        "author": "ben",
        "reason": "backlog",
        "change_id": journal.asked[-1].record.id,
        "expires_ms": None,
        "ends": [],
        "config": {"priority": 9, "tasks": 8},
    }
