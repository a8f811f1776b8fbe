"""What tasks are told may be another thing than what was committed: then a plan says when it is
over, whatever is asked for (III-B)."""

from __future__ import annotations

from typing import Any

import pytest

from components.state_syncer.core import logic_1
from components.state_syncer.core.words import ROUND_MS
from components.state_syncer.decide import DEADLINES_MS, decide
from events.generated.records import (
    Body,
    PauseRequested,
    ResumeRequested,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
)
from tests.unit.state_syncer.fleet import Fleet


@pytest.fixture
def told() -> Fleet:
    """A job runs at generation 2; it was deleted, and its tasks were told to stop."""
    fleet = Fleet().runs()
    fleet.deleted()
    fleet.decide()
    fleet.lists(3, 0)
    return fleet


def plan_of(said: list[Body]) -> SyncPlanned:
    """The one plan, after the one that it overtakes."""
    failed, planned, _ = said
    assert isinstance(failed, SyncFailed)
    assert isinstance(planned, SyncPlanned)
    assert (failed.cause, failed.failures) == ("overtaken", 0)
    return planned


def ends_with(said: list[Body]) -> tuple[str, str, int, int]:
    """The commit as the last word."""
    last = said[-1]
    assert isinstance(last, SyncCommitted)
    return last.kind, last.state, last.generation, last.tasks


def comes_up(fleet: Fleet, tasks: int = 2) -> list[Body]:
    """All that were told to stop have stopped, and those that are listed then start."""
    fleet.stopped(2, range(2))
    fleet.decide()
    at = fleet.plan.generation
    fleet.lists(at, tasks)
    fleet.started(at, range(tasks))
    return fleet.decide()


@pytest.mark.parametrize("stopped", [0, 1, 2])
@pytest.mark.parametrize("change", [{}, {"priority": 7}, {"tasks": 3}])
def test_a_job_that_is_created_again_amid_its_deletion_is_started_by_a_plan(
    told: Fleet, stopped: int, change: dict[str, Any]
) -> None:
    tasks = change.get("tasks", 2)
    told.stopped(2, range(min(stopped, 1)))  # with the second one the deletion is over
    if stopped == 2:
        told.stopped(2, [1])
        assert ends_with(told.decide())[1] == "deleted"
    told.wants(**change)
    said = told.decide()
    planned = plan_of(said) if stopped < 2 else next(b for b in said if isinstance(b, SyncPlanned))
    steps = [step.name for step in planned.steps]
    assert steps == (["stop", "start"] if stopped < 2 else ["start"])
    assert planned.intent == ("start" if stopped == 2 else "change" if tasks == 3 else "restart")
    at = planned.generation
    assert ends_with(comes_up(told, tasks)) == ("complex", "running", at, tasks)


def test_who_was_not_told_to_stop_yet_runs_on() -> None:
    fleet = Fleet().runs()
    fleet.deleted()
    fleet.decide()
    fleet.wants(priority=7)
    assert ends_with(fleet.decide()) == ("simple", "running", 2, 2)


def test_a_change_that_is_taken_back_amid_its_stop_starts_the_tasks_again() -> None:
    fleet = Fleet().runs()
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.lists(3, 0)
    fleet.stopped(2, [1])
    fleet.wants()
    planned = plan_of(fleet.decide())
    assert (planned.intent, planned.differences) == ("restart", ())
    assert ends_with(comes_up(fleet)) == ("complex", "running", planned.generation, 2)


def test_who_resumes_amid_the_stop_is_answered_when_the_tasks_run() -> None:
    fleet = Fleet().runs()
    fleet.asks(PauseRequested)
    fleet.decide()
    fleet.lists(3, 0)
    asked = fleet.asks(ResumeRequested, "again")
    planned = plan_of(fleet.decide())
    assert planned.change_id == asked
    assert not planned.held
    said = comes_up(fleet)
    assert ends_with(said) == ("complex", "running", planned.generation, 2)
    assert getattr(said[-1], "change_id", None) == asked


def fails_to_stop(fleet: Fleet) -> None:
    """A change of the shape whose stop takes too long; what ran is told to run again."""
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.lists(3, 0)
    fleet.stopped(2, [0])
    fleet.now_ms += DEADLINES_MS["stop"] + 1
    fleet.decide()
    fleet.lists(5, 2)


def test_after_a_plan_that_failed_a_commit_waits_until_all_run_again() -> None:
    fleet = Fleet().runs()
    fails_to_stop(fleet)
    fleet.started(5, [0])
    fleet.wants(priority=7)
    fleet.decide()
    planned = fleet.planned
    assert (planned.intent, [step.name for step in planned.steps]) == ("restart", ["stop", "start"])


def test_once_all_run_again_what_is_copied_is_in_effect_at_once() -> None:
    fleet = Fleet().runs()
    fails_to_stop(fleet)
    fleet.started(5, range(2))
    fleet.wants(priority=7)
    assert ends_with(fleet.decide()) == ("simple", "running", 5, 2)
    fleet.failed(5, 1, pause_ms=1_000)
    fleet.wants(priority=8)
    assert ends_with(fleet.decide()) == ("simple", "running", 5, 2), "all of them have run at it"


def paused(fleet: Fleet) -> Fleet:
    fleet.asks(PauseRequested)
    fleet.decide()
    fleet.lists(3, 0)
    fleet.stopped(2, range(2))
    assert ends_with(fleet.decide())[1] == "paused"
    return fleet


def test_a_pause_of_a_start_that_failed_waits_for_its_tasks() -> None:
    fleet = paused(Fleet().runs())
    fleet.asks(ResumeRequested, "again")
    fleet.decide()
    at = fleet.plan.generation
    fleet.lists(at, 2)
    fleet.started(at, [0])
    fleet.now_ms += DEADLINES_MS["start"] + 1
    fleet.decide()
    assert fleet.row.plan is None
    asked = fleet.asks(PauseRequested, "still")
    fleet.decide()
    assert (fleet.planned.intent, fleet.planned.change_id) == ("pause", asked)
    assert [step.name for step in fleet.planned.steps] == ["stop"]
    fleet.lists(fleet.plan.generation - 1, 0)
    fleet.stopped(at, range(2))
    assert ends_with(fleet.decide())[:2] == ("complex", "paused")


def test_a_deletion_of_what_never_came_to_run_waits_for_its_tasks() -> None:
    fleet = Fleet()
    fleet.wants()
    fleet.decide()
    fleet.lists(2, 2)
    fleet.started(2, [0])
    fleet.now_ms += DEADLINES_MS["start"] + 1
    fleet.decide()
    fleet.deleted()
    fleet.decide()
    assert fleet.planned.intent == "delete"
    fleet.lists(fleet.plan.generation - 1, 0)
    fleet.stopped(2, range(2))
    assert ends_with(fleet.decide())[:2] == ("complex", "deleted")


def test_a_job_that_nobody_had_planned_is_deleted_without_a_word() -> None:
    fleet = Fleet()
    fleet.wants()
    fleet.deleted()
    assert fleet.decide() == []


def test_a_copy_while_nothing_runs_says_so_above_all_that_ran() -> None:
    fleet = paused(Fleet().runs())
    fleet.now_ms += ROUND_MS
    fleet.wants(priority=7)
    assert ends_with(fleet.decide()) == ("simple", "paused", 4, 2)


def test_to_the_first_logic_what_had_been_said_to_run_ran(told: Fleet) -> None:
    told.wants()
    _, committed = logic_1.decide(told.row, told.now_ms)
    assert isinstance(committed, SyncCommitted)
    assert (committed.kind, committed.generation) == ("simple", 2)
    assert isinstance([*decide(told.row, told.now_ms)][1], SyncPlanned)
