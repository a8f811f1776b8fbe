"""What runs and what it waits for, as people read it: agreeing with what the state syncer says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from components.state_syncer.core.words import ROUND_MS
from components.state_syncer.decide import DEADLINES_MS
from events.generated.records import Generation, SyncFailed, TaskFailed, TaskStarted
from events.wire.codec import Read, Record, encode
from projections.syncs import Sync
from projections.waits import missing
from tests.unit.state_syncer.fleet import NOW_MS, Fleet
from turbine.cli.jobs import section
from turbine.cli.reading import reached, running_config, told
from turbine.failures import Code, Failed
from turbine.read.answers.syncs import Missing, sync_line
from turbine.read.answers.tasks import states_of
from turbine.read.plain import plain
from turbine.read.state.running import Sightings, condition


@pytest.fixture
def fleet() -> Fleet:
    return Fleet().runs()


def states(sync: Sync) -> list[tuple[int, str]]:
    return [(row.task, row.state) for row in states_of(sync, Sightings(), {})]


def quarantined(fleet: Fleet) -> Fleet:
    fleet.wants(tasks=3)
    for _ in range(3):
        fleet.decide()
        fleet.now_ms += DEADLINES_MS["stop"] + 1
        fleet.decide()
        fleet.now_ms += ROUND_MS
    return fleet


def test_a_job_that_runs_what_is_expected(fleet: Fleet) -> None:
    line = sync_line(fleet.row, "running", 2, 2)
    assert (line.in_effect, line.condition, line.plan) == ("running", "in sync", None)
    assert states(fleet.row) == [(0, "running"), (1, "running")]
    assert reached(fleet.row, "running")
    assert not reached(fleet.row, "paused")
    assert not reached(fleet.row, "quarantined")


def test_what_is_in_effect_does_not_run_before_its_tasks_do(fleet: Fleet) -> None:
    fleet.stopped(2, [1])
    assert condition(fleet.row) == "in sync"
    assert not reached(fleet.row, "running")
    assert told(fleet.row) == "1 of its tasks do not run; `turbine why orders` tells why"


def test_a_newer_config_is_waited_for_although_the_older_one_runs(fleet: Fleet) -> None:
    fleet.wants(tasks=3)
    assert condition(fleet.row) == "behind"
    assert not reached(fleet.row, "running")
    assert told(fleet.row).endswith("is the state syncer running?")
    fleet.decide()
    assert condition(fleet.row) == "syncing"
    assert not reached(fleet.row, "running")


def test_each_step_names_the_tasks_that_it_waits_for(fleet: Fleet) -> None:
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.lists(3, 0)
    fleet.stopped(2, [0])
    assert list(missing(fleet.row, fleet.plan)) == [(1, "not stopped")]
    assert states(fleet.row) == [(0, "waiting"), (1, "stopping"), (2, "waiting")]
    assert told(fleet.row) == "its change waits in step stop, for tasks 1 (not stopped)"
    plan = sync_line(fleet.row, "syncing", 3, 0).plan
    assert plan is not None
    assert plan.missing == (Missing(1, "not stopped"),)
    assert plan.deadline_ms == NOW_MS + DEADLINES_MS["stop"]
    fleet.stopped(2, [1])
    fleet.decide()
    fleet.lists(4, 3)
    fleet.started(4, [0])
    fleet.failed(4, 1, pause_ms=1_000)
    assert list(missing(fleet.row, fleet.plan)) == [(1, "operator-error"), (2, "not started")]
    assert states(fleet.row) == [(0, "running"), (1, "restarting"), (2, "waiting")]


@pytest.mark.parametrize("step", ["stop", "start"])
def test_it_says_of_missing_tasks_what_the_failure_says(fleet: Fleet, step: str) -> None:
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.lists(3, 0)
    if step != "stop":
        fleet.stopped(2, range(2))
        fleet.decide()
    if step == "start":
        fleet.lists(4, 3)
        fleet.started(4, [1])
    assert fleet.plan.step == step
    waits = ", ".join(f"{at} ({why})" for at, why in missing(fleet.row, fleet.plan))
    fleet.now_ms += DEADLINES_MS[step] + 1
    (failed,) = fleet.decide()
    assert isinstance(failed, SyncFailed)
    assert failed.explanation == f"{step} took too long: tasks {waits}"


def test_a_quarantine_ends_the_wait_for_anything_else(fleet: Fleet) -> None:
    quarantined(fleet)
    assert condition(fleet.row) == "quarantined"
    assert reached(fleet.row, "quarantined")
    with pytest.raises(Failed, match="`turbine release orders --reason R`") as failed:
        reached(fleet.row, "running")
    assert failed.value.code is Code.FAILED


def test_a_deleted_job_that_never_ran_is_deleted() -> None:
    fleet = Fleet()
    fleet.wants()
    fleet.deleted()
    assert reached(fleet.row, "deleted")
    assert running_config(fleet.row) == {}


def read_of(body: TaskStarted | TaskFailed | SyncFailed, at_ms: int) -> Read:
    record = Record("orders", f"r{at_ms}", type(body).__name__, encode(body), body)
    return Read("tasks.v1/0", "tasks.v1", at_ms, at_ms, record)


def test_a_task_is_where_its_newest_report_says(fleet: Fleet) -> None:
    sightings = Sightings()
    newest = TaskStarted("orders", 0, Generation(2, 1), "c1", 1)
    sightings(read_of(newest, NOW_MS), True)
    sightings(read_of(TaskStarted("orders", 0, Generation(1, 1), "c0", 1), NOW_MS + 1), True)
    first, second = states_of(fleet.row, sightings, {})
    assert (first.container, first.since_ms) == ("c1", NOW_MS)
    assert (second.container, second.since_ms) == (None, None)


def test_a_description_tells_the_plan_the_difference_and_the_failures(fleet: Fleet) -> None:
    quarantined(fleet)
    [*_, failed] = [body for body in fleet.said if isinstance(body, SyncFailed)]
    sightings = Sightings()
    for at_ms in range(1, 9):
        sightings(read_of(failed, at_ms), at_ms != 8)
    line = sync_line(fleet.row, "quarantined", 3, 2, sightings.failures(fleet.row.name))
    row: dict[str, Any] = plain(line)
    assert [one["at_ms"] for one in row["last_failures"]] == [3, 4, 5, 6, 7]
    expected: Mapping[str, object] = row["running"] | {"tasks": 3}
    text = section({"sync": row, "expected": expected})
    assert "condition    quarantined" in text
    assert "~ tasks: 2 -> 3" in text
    assert "quarantine   stop: step-timeout: stop took too long" in text
    assert "1970-01-01T00:00:00.007Z" in text
