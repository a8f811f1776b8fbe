"""Scaling, rolling back, and the verdicts on what operators ask of a job."""

from __future__ import annotations

import pytest

from events.generated.records import (
    Body,
    PauseRequested,
    ReleaseRequested,
    ResumeRequested,
    SyncCommitted,
    SyncFailed,
)
from events.topics import JOURNAL
from events.wire.codec import Record, encode
from tests.unit.state_syncer.fleet import Fleet
from tests.unit.turbine.decided import CLICKS, NOW, Journal, read_of
from turbine.cli.operators import goal_text, layer_at, layer_of
from turbine.cli.plans import asked_row
from turbine.failures import Code, Failed, code_of
from turbine.read.answers.outcomes import outcome_of
from turbine_client.errors import BadRequest, TurbineError
from turbine_client.verdicts import VERDICTS, Accepted, Outcome, Rejected, heard_in


@pytest.fixture
def journal() -> Journal:
    one = Journal()
    one.propose(CLICKS)
    one.propose({"tasks": 4, "priority": 7})
    return one


# --- rollback


def test_a_layer_is_found_as_it_was(journal: Journal) -> None:
    assert layer_at(journal.decisions, "clicks", "base", 1, 2) == dict(CLICKS)
    assert layer_at(journal.decisions, "clicks", "base", 2, 2)["tasks"] == 4
    assert layer_at(journal.decisions, "clicks", "oncall", 0, 0) == {}


def test_what_is_void_was_never_a_version(journal: Journal) -> None:
    other = Journal()
    other.propose(dict(CLICKS) | {"tasks": 9})
    body = other.decisions[0].read.record.body
    assert body is not None
    journal.decisions.insert(0, journal.say(body, "root", stands=False))
    assert layer_at(journal.decisions, "clicks", "base", 1, 2)["tasks"] == 2


def test_an_expired_layer_was_empty(journal: Journal) -> None:
    journal.propose({"tasks": 8}, "oncall", reason="x", expires_ms=NOW + 5_000)
    journal.propose({"priority": 6}, now=NOW + 10_000)
    assert layer_at(journal.decisions, "clicks", "oncall", 1, 2) == {"tasks": 8}
    assert layer_at(journal.decisions, "clicks", "oncall", 2, 2) == {}


def test_a_layer_of_which_one_change_ended_held_the_rest(journal: Journal) -> None:
    journal.propose({"priority": 7}, "oncall", reason="x")
    journal.propose({"tasks": 8}, "oncall", reason="x", expires_ms=NOW + 5_000)
    journal.propose({"priority": 6}, now=NOW + 10_000)
    assert layer_at(journal.decisions, "clicks", "oncall", 3, 3) == {"priority": 7}


@pytest.mark.parametrize(
    ("layer", "version", "newest", "refusal"),
    [
        ("base", 9, 2, ("clicks never had a version 9 of base; it has 1 to 2", Code.NOT_FOUND)),
        ("base", 0, 2, ("clicks never had a version 0 of base; it has 1 to 2", Code.NOT_FOUND)),
        ("oncall", 1, 0, ("clicks never had a version 1 of oncall; nobody", Code.NOT_FOUND)),
        ("base", 3, 3, ("version 3 of base of clicks cannot be read by this", Code.FAILED)),
    ],
)
def test_a_version_that_never_was(
    journal: Journal, layer: str, version: int, newest: int, refusal: tuple[str, Code]
) -> None:
    sentence, code = refusal
    with pytest.raises(Failed, match=sentence) as failed:
        layer_at(journal.decisions, "clicks", layer, version, newest)
    assert code_of(failed.value) is code


def test_a_deletion_is_not_rolled_back_to(journal: Journal) -> None:
    journal.delete("done")
    version = layer_of(journal.job, "base").version
    with pytest.raises(BadRequest, match="is the deletion of clicks") as failed:
        layer_at(journal.decisions, "clicks", "base", version, version)
    assert code_of(failed.value) is Code.USAGE


# --- verdicts of the state syncer


def outcome(body: Body) -> Outcome:
    cause = getattr(body, "change_id", None) or ""
    record = Record("orders", "d1", type(body).__name__, encode(body), body, cause=cause)
    return outcome_of(read_of(JOURNAL, 3, record))


def answer(fleet: Fleet, name: str) -> Body:
    [found] = [one for one in fleet.said if getattr(one, "change_id", None) == name]
    return found


def test_a_plan_for_a_request_accepts_it() -> None:
    fleet = Fleet().runs()
    name = fleet.asks(PauseRequested)
    fleet.decide()
    verdict = heard_in(outcome(answer(fleet, name)))
    expected = Accepted(name, "orders", "", 0, "d1", "journal.v1/0:3", "planned")
    assert verdict == expected
    row = asked_row(expected, "pause", table=True)
    assert row["verdict"] == "pause planned"
    assert "version" not in row
    assert asked_row(expected, "pause", table=False)["verdict"] == "accepted"


def test_a_refusal_rejects_it_with_cause_and_explanation() -> None:
    fleet = Fleet().runs()
    for kind, reason in ((ResumeRequested, "not-paused"), (ReleaseRequested, "not-quarantined")):
        name = fleet.asks(kind, reason)
        fleet.decide()
        verdict = heard_in(outcome(answer(fleet, name)))
        assert isinstance(verdict, Rejected)
        assert (verdict.change_id, verdict.reason) == (name, reason)
        assert verdict.explanation.endswith("so there is nothing to do")
        assert asked_row(verdict, "resume", table=True)["verdict"] == "rejected"


def test_what_answers_nobody_is_no_verdict() -> None:
    fleet = Fleet().runs()
    fleet.wants(priority=9)
    (committed,) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert type(committed).__name__ in VERDICTS
    assert heard_in(outcome(committed)) is None
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.wants(tasks=4)
    fleet.decide()
    [failed] = [one for one in fleet.said if isinstance(one, SyncFailed)]
    assert heard_in(outcome(failed)) is None


# --- reset


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("earliest", "earliest"),
        ("1970-01-01T00:01:00Z", "60000"),
        ("60000", "60000"),
        ('{"clicks":{"0":4}}', '{"clicks":{"0":4}}'),
    ],
)
def test_a_place_to_read_from_is_said_as_requests_have_it(to: str, said: str) -> None:
    assert goal_text(to) == said


@pytest.mark.parametrize(
    ("to", "sentence"),
    [
        ("journal.v1/3:40", "--to: a position is of Turbine's own log; write earliest, latest"),
        ('{"clicks":4}', "--to: .*clicks.*: write its partitions and offsets"),
        ("soon", "--to: 'soon' is neither a time nor a position"),
    ],
)
def test_what_is_no_place_to_read_from_is_refused_at_once(to: str, sentence: str) -> None:
    with pytest.raises(TurbineError, match=sentence) as refused:
        goal_text(to)
    assert code_of(refused.value) is Code.USAGE
