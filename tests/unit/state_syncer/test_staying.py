"""What a job that keeps state cannot be brought to is refused before anything stops."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.state_syncer.core import logic_1
from events.generated.records import (
    JobQuarantined,
    OffsetResetRequested,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
)
from events.topics import OPERATOR
from events.wire.codec import Read, Record, encode
from projections.syncs import dump, load
from tests.unit.state_syncer.fleet import Fleet
from turbine_client.identity import change_id

SQL = {"sql": "SELECT key, count(*) FROM clicks GROUP BY key"}
TWO = [{"topic": "clicks", "partitions": 4}, {"topic": "views", "partitions": 4}]
REMEDY = (
    "; or have all inputs read anew (`turbine reset job orders --to earliest --reason R`), and the"
    " job begins so without its state"
)


def keeping(**config: Any) -> Fleet:
    """Its tasks have said that they keep state."""
    fleet = Fleet().runs(**config)
    fleet.started(2, [0], keeps_state=True)
    return fleet


def refusal(fleet: Fleet) -> SyncFailed:
    """The last word, with nothing but its plan before it."""
    planned, failed = fleet.decide()
    assert isinstance(planned, SyncPlanned)
    assert isinstance(failed, SyncFailed)
    assert (failed.name, failed.cause, failed.plan_id) == ("check", "state-stays", planned.plan_id)
    assert fleet.row.plan is None
    return failed


OTHER_OPERATOR = (
    "operator: the job keeps state, and another operator or query would take it for what it is not;"
    " let the old one stand and bring new code as a version of its package, or make the new one a"
    " job of another name"
)
ROOT = 'checkpoint.root: the job keeps state, which lies in "/checkpoints"; let that stand'
TASKS = (
    "tasks: the job keeps state of 2 inputs, whose equal numbers have to meet in one task; set it"
    " to at most 4"
)
ASSIGNMENT = (
    "assignment: the job keeps state, for which equal numbers of all inputs have to meet in one"
    " task; assign them so"
)
OTHER = {"sql": "SELECT value, count(*) FROM clicks GROUP BY value"}
CROSSED = [["clicks/0", "views/1"], ["clicks/1", "views/0"]]
CANNOT: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {"operator": "examples.counts:other"}, OTHER_OPERATOR),
    ({"operator": SQL}, {"operator": OTHER}, OTHER_OPERATOR),
    ({"checkpoint": {"root": "/checkpoints"}}, {"checkpoint": {"root": "/elsewhere"}}, ROOT),
    ({"inputs": TWO}, {"tasks": 5}, TASKS),
    ({"inputs": TWO}, {"tasks": 2, "assignment": CROSSED}, ASSIGNMENT),
]


@pytest.mark.parametrize(("before", "change", "sentence"), CANNOT)
def test_it_is_told_with_its_place_and_the_remedy(
    before: dict[str, Any], change: dict[str, Any], sentence: str
) -> None:
    fleet = keeping(**before)
    running = fleet.row.running
    fleet.wants(**before | change)
    assert refusal(fleet).explanation == sentence + REMEDY
    assert fleet.row.running == running, "what runs goes on"


@pytest.mark.parametrize(("before", "change", "sentence"), CANNOT)
def test_a_job_that_keeps_nothing_is_brought_there(
    before: dict[str, Any], change: dict[str, Any], sentence: str
) -> None:
    fleet = Fleet().runs(**before)
    fleet.started(2, [0], keeps_state=False)
    fleet.wants(**before | change)
    fleet.decide()
    assert [step.name for step in fleet.planned.steps] == ["stop", "start"], sentence


@pytest.mark.parametrize(
    ("before", "change"),
    [
        ({}, {"tasks": 7}),
        ({}, {"inputs": TWO}),
        ({"inputs": TWO}, {"inputs": TWO, "tasks": 4}),
        ({"inputs": TWO}, {"inputs": TWO[:1]}),
        ({"operator": SQL}, {"operator": {"sql": SQL["sql"].replace(" ", "\n  ")}, "tasks": 3}),
        ({"checkpoint": {"root": "/c"}}, {"checkpoint": {"root": "/c/"}, "tasks": 3}),
    ],
)
def test_what_leaves_state_where_it_is_is_brought_about(
    before: dict[str, Any], change: dict[str, Any]
) -> None:
    fleet = keeping(**before)
    fleet.wants(**before | change)
    fleet.decide()
    assert [step.name for step in fleet.planned.steps] == ["stop", "start"]


@pytest.mark.parametrize(
    "change", [{"package": {"name": "counts", "version": "1.0.1"}}, {"arguments": ["--fast"]}]
)
def test_another_package_or_argument_is_only_copied(change: dict[str, Any]) -> None:
    fleet = keeping()
    fleet.wants(**change)
    (committed,) = fleet.decide()
    assert isinstance(committed, SyncCommitted)


def test_a_job_that_stands_still_is_told_as_well() -> None:
    fleet = keeping()
    fleet.wants(paused=True)
    fleet.decide()
    fleet.stopped(2, range(2))
    fleet.decide()
    fleet.wants(paused=True, operator="examples.counts:other")
    assert refusal(fleet).step == 0
    assert fleet.row.running is not None
    assert "examples.counts:other" not in fleet.row.running.config_json


def test_after_three_times_it_is_left_alone_and_runs_on() -> None:
    fleet = keeping()
    fleet.wants(operator="examples.counts:other")
    for _ in range(3):
        fleet.decide()
        fleet.now_ms += 30_000
    quarantined = next(one for one in fleet.said if isinstance(one, JobQuarantined))
    assert (quarantined.name, quarantined.cause) == ("check", "state-stays")
    assert fleet.row.running is not None
    assert fleet.row.running.state == "running"
    fleet.wants()
    fleet.decide()
    assert fleet.row.quarantine is None


def test_who_is_created_again_is_kept_to_what_ran_before() -> None:
    """Also where nobody who accepts a config had heard of the state by then."""
    fleet = keeping()
    fleet.deleted()
    fleet.decide()
    fleet.stopped(2, range(2))
    fleet.decide()
    assert fleet.row.running is not None
    assert fleet.row.running.state == "deleted"
    assert load(json.loads(json.dumps(dump(fleet.row)))) == fleet.row
    fleet.wants(operator="examples.counts:other")
    assert refusal(fleet).explanation == OTHER_OPERATOR + REMEDY
    first = list(logic_1.decide(logic_1.fold(fleet.row, of_deletion(fleet)), fleet.now_ms))
    assert [type(one).__name__ for one in first] == ["SyncPlanned", "SyncStepStarted"]
    fleet.wants()
    fleet.decide()
    assert [step.name for step in fleet.planned.steps] == ["start"]


def of_deletion(fleet: Fleet) -> Read:
    """The word that the job is gone."""
    body = next(one for one in fleet.said if getattr(one, "state", "") == "deleted")
    record = Record("orders", "gone", "SyncCommitted", encode(body), body)
    return Read("journal.v1/0", "journal.v1", 99, fleet.now_ms, record)


def test_a_reset_leaves_the_state_behind_and_brings_it_there() -> None:
    fleet = keeping()
    fleet.wants(operator="examples.counts:other")
    refusal(fleet)
    name = change_id(fleet.now_ms + 60_000, "again")
    asked = OffsetResetRequested(name, "orders", "earliest", author="ann", reason="why")
    fleet.tell(OPERATOR, asked, name)
    fleet.decide()
    assert (fleet.planned.intent, fleet.planned.change_id) == ("reset", name)
    assert [step.name for step in fleet.planned.steps] == ["stop", "start"]


def test_the_newest_word_counts_in_whatever_order_they_are_read() -> None:
    words: list[tuple[int, bool | None]] = [(2, True), (4, False), (4, None), (3, True)]
    for order in (words, words[::-1], words[2:] + words[:2]):
        fleet = Fleet().runs()
        for generation, keeps in order:
            fleet.started(generation, [0], keeps_state=keeps)
        assert not fleet.row.keeps_state
        fleet.started(4, [1], keeps_state=True)
        assert fleet.row.keeps_state, "one of its tasks does"
