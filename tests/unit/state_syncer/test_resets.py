"""An operator has a job read its inputs anew: in which steps, and what remembers it."""

from __future__ import annotations

from typing import Any

import pytest

from components.task_service.decide import decide as list_tasks
from events.generated.records import (
    OffsetResetRequested,
    PauseRequested,
    ResumeRequested,
    SyncCommitted,
    SyncFailed,
    TaskSpecsPublished,
)
from events.job_config.reset import reset_of
from events.topics import OPERATOR
from projections.syncs import dump, load
from tests.unit.state_syncer.fleet import Fleet
from turbine_client.identity import change_id

INPUTS: list[dict[str, Any]] = [{"topic": "clicks", "partitions": 4}]


@pytest.fixture
def fleet() -> Fleet:
    return Fleet().runs(inputs=INPUTS)


def asks(fleet: Fleet, to: str = "earliest", name: str = "again") -> str:
    """An operator's request; its id."""
    name = change_id(fleet.now_ms + 60_000, name)
    body = OffsetResetRequested(change_id=name, job="orders", to=to, author="ann", reason="why")
    fleet.tell(OPERATOR, body, name)
    return name


def listed(fleet: Fleet) -> list[TaskSpecsPublished]:
    """What the task service would list now."""
    found = list(list_tasks(fleet.row, fleet.now_ms))
    return [body for body in found if isinstance(body, TaskSpecsPublished)]


def restart(fleet: Fleet) -> None:
    """Both tasks stop, and start under the plan's generation."""
    assert fleet.row.plan is not None
    generation = fleet.row.plan.generation
    fleet.lists(generation - 1, 0)
    fleet.stopped(fleet.row.live.generation if fleet.row.live else 0, [0, 1])
    fleet.decide()
    fleet.lists(generation, 2)
    fleet.started(generation, [0, 1])
    fleet.decide()


def test_the_tasks_stop_and_start_and_the_list_tells_from_where(fleet: Fleet) -> None:
    asked = asks(fleet, "latest")
    fleet.decide()
    planned = fleet.planned
    assert (planned.intent, planned.change_id) == ("reset", asked)
    assert [step.name for step in planned.steps] == ["stop", "start"]
    generation = planned.generation
    fleet.lists(generation - 1, 0)
    fleet.stopped(2, [0, 1])
    fleet.decide()
    (one,) = listed(fleet)
    assert f'"reset":{{"at_ms":{fleet.now_ms},"id":"{asked}","to":"latest"}}' in one.config_json
    fleet.lists(generation, 2)
    fleet.started(generation, [0, 1])
    (_, committed) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert (committed.change_id, reset_of(committed.reset_json)) == (
        asked,
        reset_of(planned.reset_json),
    )
    assert load(dump(fleet.row)) == fleet.row


def test_lists_that_follow_tell_it_as_well(fleet: Fleet) -> None:
    """A partition that comes later, or whose task never came to claim it, is moved then."""
    asked = asks(fleet)
    fleet.decide()
    restart(fleet)
    fleet.wants(inputs=INPUTS, arguments=["--fast"])
    (committed,) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert committed.kind == "simple"
    (one,) = listed(fleet)
    assert asked in one.config_json


def test_of_a_paused_job_it_is_noted_and_heeded_when_it_runs_again(fleet: Fleet) -> None:
    fleet.asks(PauseRequested, "pause")
    fleet.decide()
    assert fleet.row.plan is not None
    fleet.lists(fleet.row.plan.generation - 1, 0)
    fleet.stopped(2, [0, 1])
    fleet.decide()
    asked = asks(fleet)
    (committed,) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert (committed.kind, committed.state, committed.change_id) == ("simple", "paused", asked)
    fleet.asks(ResumeRequested, "go")
    fleet.decide()
    assert fleet.planned.intent == "resume"
    (one,) = listed(fleet)
    assert asked in one.config_json


def test_a_wish_outlives_a_plan_that_fails(fleet: Fleet) -> None:
    asked = asks(fleet)
    fleet.decide()
    fleet.now_ms += 181_000  # nobody stops in time
    (failed,) = fleet.decide()
    assert isinstance(failed, SyncFailed)
    fleet.now_ms = failed.retry_ms or 0
    fleet.decide()
    assert (fleet.planned.intent, fleet.planned.attempt) == ("reset", 2)
    assert asked in fleet.planned.reset_json


def test_a_newer_wish_takes_the_place_of_one_under_way(fleet: Fleet) -> None:
    asks(fleet, "earliest", "first")
    fleet.decide()
    newer = asks(fleet, "latest", "second")
    said = fleet.decide()
    assert [type(body).__name__ for body in said][:2] == ["SyncFailed", "SyncPlanned"]
    restart(fleet)
    assert fleet.row.running is not None
    assert newer in fleet.row.running.reset


def test_who_is_deleted_and_made_again_reads_where_its_group_is(fleet: Fleet) -> None:
    asks(fleet)
    fleet.decide()
    restart(fleet)
    fleet.deleted()
    assert fleet.row.reset == ""


@pytest.mark.parametrize(
    ("to", "cause", "sentence"),
    [
        ("yesterday", "bad-goal", "is no place to read from"),
        ('{"orders":{"0":1}}', "no-such-input", "the job reads no"),
        ('{"clicks":{"4":1}}', "no-such-input", "clicks has partitions 0 to 3, and no 4"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(
    fleet: Fleet, to: str, cause: str, sentence: str
) -> None:
    asked = asks(fleet, to)
    (failed,) = fleet.decide()
    assert isinstance(failed, SyncFailed)
    assert (failed.change_id, failed.cause) == (asked, cause)
    assert sentence in failed.explanation
    assert fleet.row.reset == ""
