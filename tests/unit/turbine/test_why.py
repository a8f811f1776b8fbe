"""Why: the evidence, the request and the difference of a decision, standing or void."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest

from events.codec import Read, Record, encode
from events.identity import change_id
from events.records import ConfigChangeProposed, ScalingDecided
from events.topics import CHANGES, JOURNAL
from projections.ingress import KNOWN
from projections.jobs import INGRESS_TOPICS
from tests.unit.turbine.decided import CLICKS, NOW, Journal, read_of
from turbine.cli.differences import differences
from turbine.cli.jobs import to_plain
from turbine.log import Log, Standing
from turbine.why import Why, explain, pick, uncounted, verdict_on


class FakeLog:
    """The log of a test: what is asked of a `Log` by `why`."""

    counts = dict.fromkeys((*INGRESS_TOPICS, JOURNAL), 1)

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def read(self, topics: Sequence[str], **_: Any) -> Iterator[Read]:
        said = [one.read for one in self.journal.decisions]
        return iter([one for one in (*self.journal.asked, *said) if one.topic in topics])

    def at(self, *_: Any) -> dict[str, int]:
        return {}

    def decisions(self, **_: Any) -> list[Standing]:
        return self.journal.decisions


def why(journal: Journal, name: str) -> Why | None:
    return explain(cast("Log", FakeLog(journal)), name)


@pytest.fixture
def journal() -> Journal:
    one = Journal()
    one.propose(CLICKS)
    return one


def changed(found: Why | None) -> list[str]:
    assert found is not None
    return [str(one) for one in differences(found.before, found.after)]


def test_an_accepted_change(journal: Journal) -> None:
    decision = journal.propose({"tasks": 4}, reason="more")
    found = why(journal, decision.read.record.id)
    assert found is not None
    plain = found.to_plain()
    assert changed(found) == ["~ tasks: 2 -> 4"]
    assert {name: plain[name] for name in ("kind", "job", "stands", "position", "logic")} == {
        "kind": "JobConfigChanged",
        "job": "clicks",
        "stands": True,
        "position": f"{JOURNAL}/0:1",
        "logic": "job-service/2",
    }
    assert plain["parent"] == journal.decisions[0].read.record.id
    assert plain["evidence"] == {"changes.base.v1/0": 2}
    assert plain["request"]["author"] == "ana"
    assert plain["request"]["reason"] == "more"
    assert plain["request"]["position"] == "changes.base.v1/0:1"
    json.dumps(plain)


def test_the_change_leads_to_the_same(journal: Journal) -> None:
    decision = journal.propose({"tasks": 4})
    assert why(journal, decision.read.record.cause) == why(journal, decision.read.record.id)


def test_a_rejection_changes_nothing(journal: Journal) -> None:
    decision = journal.propose({"tasks": 99})
    found = why(journal, decision.read.record.id)
    assert changed(found) == []
    assert found is not None
    assert found.to_plain()["body"]["path"] == "tasks"


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
    assert found is not None
    assert (found.instead, changed(found)) == (won.read.record.id, [])


def test_a_duplicate_is_explained_as_what_stands(journal: Journal) -> None:
    decision = journal.propose({"tasks": 4})
    record = decision.read.record
    assert record.body is not None
    journal.say(record.body, record.parent, stands=False)
    assert pick(journal.decisions, record.id) is decision
    assert pick(journal.decisions, record.cause) is decision


def test_of_a_decision_whose_evidence_is_not_there_nobody_can_say_whether_it_stands(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    decision = journal.propose({"tasks": 4}).read.record
    # The journal has it, and no fold has come as far.
    monkeypatch.setattr(FakeLog, "decisions", lambda *_, **__: journal.decisions[:-1])
    assert why(journal, decision.id) is None


def test_a_request_without_a_verdict(journal: Journal) -> None:
    decision = journal.propose({"tasks": 4})
    journal.decisions.remove(decision)
    found = why(journal, decision.read.record.cause)
    assert found is not None
    assert found.decision is None
    request = found.to_plain()["request"]
    assert request["valid_until_ms"] == NOW + 60_000


@pytest.mark.parametrize("more", [-1, 0])
def test_one_beyond_those_that_are_known_is_told_that_no_verdict_comes(more: int) -> None:
    journal = Journal()
    for n in range(KNOWN + more + 1):
        body = ConfigChangeProposed(change_id(NOW + 60_000, f"c{n}"), "clicks", "ana")
        record = Record("clicks", body.change_id, "ConfigChangeProposed", encode(body), body)
        journal.asked.append(read_of(CHANGES["base"], n, record, NOW))
    log = cast("Log", FakeLog(journal))
    assert uncounted(log, journal.asked[0].record.id, "clicks") == ""
    said = uncounted(log, record.id, "clicks")
    assert said.startswith("no verdict will come of it: as it came, 1,024 changes") is (more == 0)
    assert bool(said) is (more == 0)
    assert uncounted(log, change_id(NOW, "never"), "clicks") == ""


def test_an_unknown_id(journal: Journal) -> None:
    assert why(journal, "nope") is None


def test_an_expiry_names_the_request_that_it_takes_back(journal: Journal) -> None:
    asked = journal.propose({"tasks": 8}, "oncall", reason="x", expires_ms=NOW + 5_000)
    journal.propose({"priority": 7}, now=NOW + 10_000)
    [expired] = [one for one in journal.decisions if one.read.record.kind == "OverrideExpired"]
    found = why(journal, expired.read.record.id)
    assert found is not None
    assert found.request is not None
    assert found.request.record.id == asked.read.record.cause
    assert changed(found) == ["~ tasks: 8 -> 2"]


def test_the_verdict_on_a_change(journal: Journal) -> None:
    decision = journal.propose({"tasks": 4})
    log = cast("Log", FakeLog(journal))
    assert verdict_on(log, "clicks", decision.read.record.cause) is decision
    assert verdict_on(log, "clicks", "nope") is None


def test_who_owes_a_change_does_not_answer_it(journal: Journal) -> None:
    """A decision of the auto scaler names the change that it is to become."""
    name = change_id(NOW + 60_000, "owed")
    owed = ScalingDecided("clicks", name, 0, '{"tasks":8}', "lag", "under-capacity", 8, 8)
    journal.say(owed, journal.last, stands=True)
    log = cast("Log", FakeLog(journal))
    assert verdict_on(log, "clicks", name) is None
    answered = journal.propose({"tasks": 8}, "scaler", name=name)
    assert verdict_on(log, "clicks", name) is answered


def test_a_job_as_json_says_which_layer_each_key_is_from(journal: Journal) -> None:
    journal.propose({"tasks": 8, "priority": 9}, "oncall", reason="backlog", author="ben")
    row = to_plain(journal.job)
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
