"""Who is told that tasks of a job fail: once, for what does not pass by itself, until it has."""

from __future__ import annotations

import pytest

from components.state_syncer.core.failing_tasks import STEADY_MS
from components.state_syncer.decide import wake_ms
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Generation,
    PauseRequested,
    TaskFailed,
    TaskStarted,
)
from events.topics import TASKS
from projections.reports import LONG_PAUSE_MS
from projections.syncs import FAILING
from tests.unit.state_syncer.fleet import Fleet


@pytest.fixture
def fleet() -> Fleet:
    """A job whose two tasks run."""
    return Fleet().runs()


def fails(
    fleet: Fleet, task: int, pause_ms: int | None, cause: str = "operator-error", attempt: int = 1
) -> None:
    body = TaskFailed(
        job="orders",
        task=task,
        generation=Generation(2, 1),
        container="c1",
        epoch=1,
        cause=cause,
        explanation="there is no module counts",
        attempt=attempt,
        pause_ms=pause_ms,
    )
    fleet.tell(TASKS, body)


def starts(fleet: Fleet, task: int, attempt: int) -> None:
    body = TaskStarted("orders", task, Generation(2, 1), "c1", 1, attempt=attempt)
    fleet.tell(TASKS, body)


@pytest.mark.parametrize(
    ("pause_ms", "cause"),
    [(None, "operator-error"), (1_000, "input-gone"), (LONG_PAUSE_MS, "out-of-memory")],
    ids=["for good", "its input is gone", "again and again"],
)
def test_what_does_not_pass_by_itself_is_told_once(
    fleet: Fleet, pause_ms: int | None, cause: str
) -> None:
    fails(fleet, 1, pause_ms, cause)
    (told,) = fleet.decide()
    assert isinstance(told, AlertRaised)
    assert (told.subject, told.alert, told.severity) == ("orders", FAILING, "critical")
    end = "will not be started again" if pause_ms is None else "is started again in vain"
    assert told.cause == f"orders/1 has failed and {end} ({cause}): there is no module counts"
    fails(fleet, 0, pause_ms, cause)
    assert fleet.decide() == []


def test_several_are_one_alert(fleet: Fleet) -> None:
    for task in (1, 0):
        fails(fleet, task, None)
    (told,) = fleet.decide()
    assert isinstance(told, AlertRaised)
    assert told.cause.startswith("orders/0 has failed and will not be started again")
    assert "and so have 1 others" in told.cause
    assert told.details_json == '{"cause":"operator-error","task":0,"tasks":2}'


def test_a_failure_that_may_pass_wakes_nobody(fleet: Fleet) -> None:
    fails(fleet, 0, LONG_PAUSE_MS - 1, "out-of-memory", attempt=9)
    assert fleet.decide() == []


def test_it_is_over_when_the_task_has_run_for_a_while(fleet: Fleet) -> None:
    """A task whose input is gone starts and fails, and starts again: that is one alert."""
    fails(fleet, 0, 1_000, "input-gone")
    fleet.decide()
    for attempt in (2, 3):
        fleet.now_ms += 60_000
        starts(fleet, 0, attempt)
        assert fleet.decide() == []
        fails(fleet, 0, 60_000, "input-gone", attempt)
        assert fleet.decide() == []
    starts(fleet, 0, 4)
    began_ms = fleet.now_ms
    assert fleet.decide() == []
    assert wake_ms(fleet.row, fleet.now_ms) == began_ms + STEADY_MS
    fleet.now_ms = began_ms + STEADY_MS
    (told,) = fleet.decide()
    assert isinstance(told, AlertCleared)
    assert (told.alert, told.explanation) == (FAILING, "all its tasks run again")
    assert wake_ms(fleet.row, fleet.now_ms) is None


def test_it_is_over_when_the_job_is_paused(fleet: Fleet) -> None:
    fails(fleet, 0, None)
    fleet.decide()
    fleet.asks(PauseRequested)
    fleet.decide()
    fleet.lists(3, 0)
    fleet.stopped(2, [0, 1])
    told = fleet.decide()[-1]
    assert isinstance(told, AlertCleared)
    assert told.explanation == "the job does not run any more"


def test_a_newer_list_begins_anew(fleet: Fleet) -> None:
    fails(fleet, 0, None)
    fleet.decide()
    fleet.wants(tasks=1)
    fleet.decide()
    fleet.lists(3, 0)
    fleet.stopped(2, [0, 1])
    fleet.decide()
    fleet.lists(4, 1)
    fleet.started(4, [0])
    assert isinstance(fleet.decide()[-1], AlertCleared)
