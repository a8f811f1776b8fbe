"""From expected to running: which way is taken, in which steps, and what it ends with (III-B)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.state_syncer.decide import wake_ms
from events.generated.records import SyncCommitted, SyncPlanned, SyncStepStarted
from projections.syncs import dump, load
from projections.waits import standing
from tests.unit.state_syncer.fleet import Fleet

START = ["SyncPlanned", "SyncStepStarted"]
END = ["SyncStepDone", "SyncCommitted"]
NEXT = ["SyncStepDone", "SyncStepStarted"]


@pytest.fixture
def fleet() -> Fleet:
    return Fleet().runs()


def test_a_new_job_is_started_and_runs_once_all_its_tasks_say_so() -> None:
    fleet = Fleet()
    fleet.wants()
    fleet.decide()
    assert fleet.planned.intent == "start"
    assert [step.name for step in fleet.planned.steps] == ["start"]
    assert fleet.kinds() == START
    fleet.lists(2, 2)
    fleet.started(2, [0])
    assert fleet.decide() == []
    fleet.started(2, [1])
    fleet.decide()
    assert fleet.kinds() == END
    running = fleet.row.running
    assert running is not None
    assert (running.state, running.tasks, running.versions.base) == ("running", 2, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"package": {"name": "counts", "version": "1.0.1"}},
        {"arguments": ["--fast"]},
        {"resources": {"cpu_cores": 0.5}},
        {"slo": {"lag_seconds": 5}, "priority": 9},
    ],
)
def test_fields_that_are_only_copied_are_in_effect_at_once(
    fleet: Fleet, change: dict[str, Any]
) -> None:
    fleet.wants(**change)
    (committed,) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert (committed.kind, committed.state, committed.generation) == ("simple", "running", 2)
    assert json.loads(committed.running_json) | change == json.loads(committed.running_json)


@pytest.mark.parametrize(
    "change",
    [
        {"tasks": 4},
        {"inputs": [{"topic": "clicks"}, {"topic": "views"}]},
        {"checkpoint": {"root": "/elsewhere"}},
        {"assignment": [["clicks/0"], ["clicks/1"]]},
        {"tasks": 4, "package": {"name": "counts", "version": "1.0.1"}},
    ],
)
def test_another_shape_takes_all_steps_in_order(fleet: Fleet, change: dict[str, Any]) -> None:
    fleet.wants(**change)
    fleet.decide()
    planned = fleet.planned
    assert [step.name for step in planned.steps] == ["stop", "start"]
    assert set(change) == {one.path for one in planned.differences}
    assert all(one.reason for one in planned.differences)
    assert planned.generation == 4
    assert fleet.kinds() == START
    fleet.lists(3, 0)
    fleet.stopped(2, [0])
    assert fleet.decide() == [], "one task runs still"
    fleet.stopped(2, [1])
    fleet.decide()
    assert fleet.kinds() == NEXT
    tasks = change.get("tasks", 2)
    fleet.lists(4, tasks)
    fleet.started(4, range(tasks))
    fleet.decide()
    assert fleet.kinds() == END
    running = fleet.row.running
    assert running is not None
    assert (running.tasks, running.versions.base) == (tasks, 2)


def test_a_default_that_is_spelled_out_is_no_other_shape(fleet: Fleet) -> None:
    fleet.wants(threads_per_task=1, guarantee="exactly_once")
    (committed,) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert committed.kind == "simple"


def test_running_changes_with_the_last_word_only(fleet: Fleet) -> None:
    before = fleet.row.running
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.stopped(2, range(2))
    fleet.decide()
    assert fleet.row.running == before
    fleet.lists(4, 3)
    fleet.started(4, range(3))
    fleet.decide()
    assert fleet.row.running != before


def test_reports_of_an_older_generation_prove_nothing(fleet: Fleet) -> None:
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.stopped(1, range(2))
    assert fleet.decide() == []
    assert list(standing(fleet.row)) == [0, 1]


def test_a_start_of_another_generation_starts_nothing() -> None:
    fleet = Fleet()
    fleet.wants()
    fleet.decide()
    fleet.lists(2, 2)
    fleet.started(1, range(2))
    assert fleet.decide() == []
    fleet.started(3, range(2))
    assert fleet.decide() == []


def test_a_start_that_is_repeated_after_the_stop_changes_nothing(fleet: Fleet) -> None:
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.stopped(2, range(2))
    fleet.started(2, range(2))
    assert list(standing(fleet.row)) == []


def test_a_newer_config_overtakes_a_plan_before_its_tasks_start(fleet: Fleet) -> None:
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.kinds()
    fleet.wants(tasks=5)
    failed, planned, _ = fleet.decide()
    assert getattr(failed, "cause", "") == "overtaken"
    assert getattr(failed, "failures", -1) == 0
    assert isinstance(planned, SyncPlanned)
    assert (planned.attempt, planned.generation) == (1, 6)
    fleet.stopped(2, range(2))
    fleet.decide()
    fleet.lists(6, 5)
    fleet.started(6, range(5))
    fleet.decide()
    assert fleet.row.running is not None
    assert fleet.row.running.tasks == 5


def test_a_plan_whose_tasks_start_is_brought_to_its_end_first(fleet: Fleet) -> None:
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.stopped(2, range(2))
    fleet.decide()
    fleet.wants(tasks=5)
    assert fleet.decide() == []
    fleet.kinds()
    fleet.lists(4, 3)
    fleet.started(4, range(3))
    fleet.decide()
    assert fleet.kinds() == [*END, *START]


def test_a_deleted_job_is_stopped(fleet: Fleet) -> None:
    fleet.deleted()
    fleet.decide()
    assert fleet.planned.intent == "delete"
    assert [step.name for step in fleet.planned.steps] == ["stop"]
    fleet.lists(3, 0)
    fleet.stopped(2, range(2))
    (_, committed) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert (committed.state, committed.tasks, committed.running_json) == ("deleted", 0, "{}")
    assert not fleet.row.tasks, "nobody needs its reports any more"


def test_a_job_that_is_created_anew_starts_again(fleet: Fleet) -> None:
    fleet.deleted()
    fleet.decide()
    fleet.stopped(2, range(2))
    fleet.decide()
    fleet.kinds()
    fleet.wants()
    fleet.decide()
    assert fleet.planned.intent == "start"
    assert fleet.planned.generation > 4


def test_a_config_may_pause_a_job_and_start_it_again(fleet: Fleet) -> None:
    fleet.wants(paused=True)
    fleet.decide()
    assert [step.name for step in fleet.planned.steps] == ["stop"]
    fleet.stopped(2, range(2))
    fleet.decide()
    assert fleet.row.running is not None
    assert fleet.row.running.state == "paused"
    fleet.wants(paused=True, arguments=["--fast"])
    (committed,) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert (committed.kind, committed.state) == ("simple", "paused")
    fleet.kinds()
    fleet.wants(arguments=["--fast"])
    fleet.decide()
    assert fleet.planned.intent == "resume"
    assert [step.name for step in fleet.planned.steps] == ["start"]


def test_a_job_that_stands_still_gets_another_shape_at_once(fleet: Fleet) -> None:
    fleet.wants(paused=True)
    fleet.decide()
    fleet.stopped(2, range(2))
    fleet.decide()
    fleet.wants(paused=True, tasks=4)
    (committed,) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert committed.kind == "simple"
    assert fleet.row.running is not None
    assert (fleet.row.running.state, fleet.row.running.tasks) == ("paused", 4)


def test_the_next_look_is_at_the_deadline(fleet: Fleet) -> None:
    fleet.wants(tasks=3)
    (_, step) = fleet.decide()
    assert isinstance(step, SyncStepStarted)
    assert step.deadline_ms is not None
    assert wake_ms(fleet.row, fleet.now_ms) == step.deadline_ms + 1


def test_what_is_kept_comes_back(fleet: Fleet) -> None:
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.stopped(2, range(2))
    fleet.decide()
    fleet.started(4, [0], keeps_state=True)
    for _ in range(3):
        assert load(json.loads(json.dumps(dump(fleet.row)))) == fleet.row
        fleet.now_ms += 700_000
        fleet.decide()
