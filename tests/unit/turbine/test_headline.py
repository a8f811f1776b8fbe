"""How tasks stand as their container falls silent, is given up and begins again; what is wanted of
jobs that are quarantined, paused or held. With the tier's own limits, as nobody has set them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.spoken_log import SpokenLog
from events.generated.records import (
    ClockTicked,
    ContainerFailedOver,
    ContainerHeartbeat,
    ContainerStarted,
    Generation,
    JobQuarantined,
    LayerVersions,
    SyncCommitted,
    TaskFailed,
    TaskStarted,
    TierDefined,
)
from events.topics import CONTAINERS, JOURNAL, TASKS, TIERS, place
from events.wire.codec import Record, encode, headers_of
from projections.timing import Timing
from turbine.read.answers.fleet import Share, Totals, totals
from turbine.read.answers.lines import lines_of
from turbine.read.answers.tiers import containers
from turbine.read.sources.held import topics_of
from turbine.read.sources.log import Log
from turbine.read.state.headline import lives_of, tasks_of
from turbine.read.state.past import view_at
from turbine.read.state.view import View

NAME = "container-0"
CONFIG: Mapping[str, Any] = {
    "operator": "clicks.count:run",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "clicks", "version": "1.4.2"},
    "checkpoint": {"root": "/checkpoints"},
    "tasks": 1,
}
QUIET_S = (Timing().silence_ms // 3 + Timing().gap_ms) // 1000
"""So many ticks after its last heartbeat a container of usual limits counts as unheard."""


class Tale(SpokenLog):
    """One partition of everything, and a container that is told of second by second."""

    def __init__(self) -> None:
        super().__init__(1)
        self.beat = 0
        self.say(TIERS, "default/placement", TierDefined("default", 8), source="operator")

    def begins(self, epoch: int) -> int:
        """The container begins a life; the offset of its first heartbeat."""
        self.say(CONTAINERS, NAME, ContainerStarted(NAME, epoch, "default", "local", ()))
        beat = ContainerHeartbeat(NAME, epoch, 1, self.now_ms, "serving", 1, "")
        self.say(CONTAINERS, NAME, beat)
        at = place(CONTAINERS, 0)
        return self.ends([at])[at] - 1

    def fails_over(self) -> None:
        """The first life is over, if nothing was heard of it since its first heartbeat."""
        at = place(CONTAINERS, 0)
        said = ContainerFailedOver(NAME, 1, "decision", "nothing was heard of it", at, self.beat)
        self.say(CONTAINERS, NAME, said)

    def seconds(self, count: int) -> None:
        """Ticks pass in the container's partition."""
        for _ in range(count):
            body = ClockTicked(1)
            record = Record("clock", "tick", "ClockTicked", encode(body), body)
            self.now_ms += 999
            self.put(CONTAINERS, None, record.value, headers_of(record, CONTAINERS))

    def view(self) -> View:
        log = Log(source=self)
        return view_at(log, log.ends(log.places(topics_of(log))))

    def states(self, job: str = "clicks") -> list[str]:
        view = self.view()
        one, lives = view.jobs[job], lives_of(view.tiers.values())
        assert one.sync is not None
        return [task.state for task in tasks_of(one.sync, one.sightings, lives)]

    def totals(self) -> Totals:
        return totals(lines_of(self.view()))

    def containers(self) -> list[str]:
        return [one.state for one in containers(self.view().tiers["default"], gone=True)]


def lagging_and_unknown(tale: Tale) -> tuple[int, int]:
    """What is told of the lag of all tasks."""
    found = tale.totals()
    return found.tasks_lagging.count, found.tasks_unknown


@pytest.fixture
def tale() -> Tale:
    """A job of one task, which runs in a container that lives."""
    found = Tale()
    found.expect("clicks", CONFIG)
    found.beat = found.begins(1)
    found.run("clicks", CONFIG, 1)
    return found


def test_a_task_is_unheard_as_soon_as_its_container_is(tale: Tale) -> None:
    assert (tale.states(), tale.totals().tasks_not_running.count) == (["running"], 0)
    tale.seconds(QUIET_S)
    assert (tale.states(), tale.containers()) == (["running"], ["serving"])
    tale.seconds(1)
    assert (tale.states(), tale.containers()) == (["unheard"], ["unheard"])
    assert (tale.totals().tasks_running, tale.totals().tasks_not_running.count) == (0, 1)
    tale.say(CONTAINERS, NAME, ContainerHeartbeat(NAME, 1, 2, tale.now_ms, "serving", 1, ""))
    assert (tale.states(), tale.containers()) == (["running"], ["serving"])


def test_a_task_is_lost_from_the_failover_until_it_runs_again(tale: Tale) -> None:
    tale.seconds(70)
    assert (tale.states(), tale.containers()) == (["unheard"], ["silent"])
    tale.fails_over()
    assert tale.states() == ["lost"]
    late = TaskStarted("clicks", 0, Generation(1, 1), NAME, 1, attempt=2)
    tale.say(TASKS, "clicks", late)
    assert tale.states() == ["lost"], "what a life says that is over is void"
    tale.begins(2)
    assert tale.states() == ["lost"]
    assert tale.totals().tasks_not_running == Share(1, 100.0)
    tale.say(TASKS, "clicks", TaskStarted("clicks", 0, Generation(1, 2), NAME, 2))
    assert (tale.states(), tale.totals().tasks_not_running.count) == (["running"], 0)


def test_a_failover_that_a_heartbeat_forestalled_changes_nothing(tale: Tale) -> None:
    tale.say(CONTAINERS, NAME, ContainerHeartbeat(NAME, 1, 2, tale.now_ms, "serving", 1, ""))
    tale.fails_over()
    assert tale.states() == ["running"]


def test_another_life_of_the_container_does_not_run_the_tasks_of_the_last(tale: Tale) -> None:
    tale.begins(2)
    assert tale.states() == ["lost"]


@pytest.mark.parametrize(("pause_ms", "state"), [(1_000, "lost"), (None, "failed")])
def test_who_would_start_it_again_is_gone(tale: Tale, pause_ms: int | None, state: str) -> None:
    """What failed for good is as it was, whoever is gone."""
    failed = TaskFailed("clicks", 0, Generation(1, 1), NAME, 1, "x", "y", 2, pause_ms=pause_ms)
    tale.say(TASKS, "clicks", failed)
    tale.begins(2)
    assert tale.states() == [state]


def test_a_fleet_whose_jobs_are_all_in_quarantine_does_not_run() -> None:
    tale = Tale()
    for job, tasks in (("a", 3), ("b", 2)):
        tale.expect(job, dict(CONFIG) | {"tasks": tasks})
        held = JobQuarantined(job, "p", "s", LayerVersions(1, 0, 0, 0), 0, "start", "x", "y", 3)
        tale.say(JOURNAL, job, held)
    assert tale.states("a") == ["quarantined"] * 3
    found = tale.totals()
    assert (found.tasks_wanted, found.tasks_running) == (5, 0)
    assert found.tasks_not_running.percent == found.tasks_unhealthy.percent == 100.0
    assert found.jobs_by_state == {"quarantined": 2}


def test_a_task_of_a_quarantined_job_that_runs_still_is_said_to_run(tale: Tale) -> None:
    """The plan failed, and what ran before goes on: nobody has to be called for that."""
    tale.expect("clicks", dict(CONFIG) | {"tasks": 3}, 2)
    held = JobQuarantined("clicks", "p", "s", LayerVersions(2, 0, 0, 0), 0, "start", "x", "y", 3)
    tale.say(JOURNAL, "clicks", held)
    assert tale.states() == ["running", "quarantined", "quarantined"]
    assert (tale.totals().tasks_running, tale.totals().tasks_not_running.count) == (1, 2)


@pytest.mark.parametrize("how", ["config", "operator"])
def test_of_a_paused_job_nothing_is_wanted(tale: Tale, how: str) -> None:
    config = dict(CONFIG) | {"paused": how == "config"}
    tale.expect("clicks", config, 2)
    versions = LayerVersions(2, 0, 0, 0)
    committed = SyncCommitted(
        "clicks", "q", "complex", versions, 2, "{}", "paused", 1, held=how == "operator"
    )
    tale.say(JOURNAL, "clicks", committed)
    found = tale.totals()
    assert (found.tasks_wanted, found.tasks_not_running) == (0, Share(0, 0.0))


def test_a_job_that_nobody_has_begun_is_wanted_all_the_same() -> None:
    tale = Tale()
    tale.expect("a", dict(CONFIG) | {"tasks": 2})
    assert tale.states("a") == ["waiting", "waiting"]
    assert (tale.totals().tasks_wanted, tale.totals().tasks_not_running.count) == (2, 2)


def test_how_old_a_report_may_be_is_the_same_for_all(tale: Tale) -> None:
    """Five minutes after its last report nobody knows a task's lag: on no surface."""
    tale.load("clicks", 0, lag_ms=240_000)
    tale.tick()
    assert lagging_and_unknown(tale) == (1, 0)
    tale.tick(tale.now_ms + 301_000)
    assert lagging_and_unknown(tale) == (0, 1)
    [one] = lines_of(tale.view())
    assert one.lag_seconds is None


@pytest.mark.parametrize("over", [False, True])
def test_who_does_not_run_says_nothing_of_the_lag(tale: Tale, over: bool) -> None:
    """The input goes on while nobody reads it: the last word of who did is no measurement."""
    tale.load("clicks", 0, lag_ms=0)
    tale.seconds(1)
    [one] = lines_of(tale.view())
    assert (one.lag_seconds, one.unknown, tale.states()) == (0.0, 0, ["running"])
    tale.seconds(70)
    if over:
        tale.fails_over()
    [one] = lines_of(tale.view())
    assert tale.states() == ["lost" if over else "unheard"]
    assert (one.lag_seconds, one.lag_records, one.rate_in) == (None, None, None)
    assert one.unknown == one.tasks
    assert lagging_and_unknown(tale) == (0, 1)
