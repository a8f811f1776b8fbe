"""Whatever overtakes a plan, and wherever it meets it: a commit says what runs, and all tasks do.

A scene asks for one thing and, some records later, for another. It is played once for each record
that comes in meanwhile, so the second one meets the first one's plan in each of its steps, before
it is made and after it is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import pytest

from events.generated.records import (
    AlertRaised,
    JobDeleteRequested,
    OffsetResetRequested,
    PauseRequested,
    ResumeRequested,
    SyncCommitted,
    SyncFailed,
    TaskSpecsPublished,
)
from events.topics import JOURNAL, place
from simulation.casts import SYNCING
from simulation.checkers.commits import check_commits
from simulation.checkers.history import History
from simulation.checkers.resets import check_resets
from simulation.checkers.returns import check_returns
from simulation.checkers.syncs import check_syncs
from simulation.crash_points import JOB, CrashStage, asks, wants
from simulation.log import PARTITION
from turbine.read.state.headline import tasks_of
from turbine.read.state.running import Sightings

Scene = Callable[..., None]

BEN = "ben"
"""Who asks second; ids are by author and scene."""
DELETE = partial(asks, kind=JobDeleteRequested)
PAUSE = partial(asks, kind=PauseRequested)
RESUME = partial(asks, kind=ResumeRequested)
RESET = partial(asks, kind=OffsetResetRequested, to="earliest")
TWO, THREE = partial(wants, tasks=2), partial(wants, tasks=3)
STILL = partial(wants, tasks=2, paused=True)
MOVING = partial(wants, tasks=2, paused=False)
NEWER = partial(wants, tasks=2, priority=7)
AWAY, ABROAD = partial(TWO, tier="defualt"), partial(TWO, allowed_regions=["mars"])
"""Where nobody is."""
HERE = partial(TWO, tier="default", allowed_regions=[])


class Way(NamedTuple):
    """What was before, what is asked for, what overtakes it, and how it is in the end."""

    before: list[Scene]
    first: Scene
    second: Scene
    state: str
    tasks: int
    gives_way: bool = True  # a start is brought to its end, and what has no step cannot be met


WAYS: dict[str, Way] = {
    "deleted, created again": Way([TWO], DELETE, TWO, "running", 2),
    "deleted, created again with a newer config": Way([TWO], DELETE, NEWER, "running", 2),
    "deleted, created again in another shape": Way([TWO], DELETE, THREE, "running", 3),
    "reset once, deleted, created again": Way([TWO, RESET], DELETE, TWO, "running", 2),
    "paused, deleted, created again": Way([TWO, PAUSE], DELETE, TWO, "running", 2, False),
    "changed and changed back": Way([TWO], THREE, TWO, "running", 2),
    "changed and changed again": Way([TWO], THREE, partial(wants, tasks=4), "running", 4),
    "changed and deleted": Way([TWO], THREE, DELETE, "deleted", 0),
    "changed and paused": Way([TWO], THREE, PAUSE, "paused", 3),
    "paused and resumed": Way([TWO], PAUSE, RESUME, "running", 2),
    "paused and deleted": Way([TWO], PAUSE, DELETE, "deleted", 0),
    "resumed and paused": Way([TWO, PAUSE], RESUME, PAUSE, "paused", 2, False),
    "resumed and deleted": Way([TWO, PAUSE], RESUME, DELETE, "deleted", 0, False),
    "reset and changed": Way([TWO], RESET, NEWER, "running", 2),
    "reset and deleted": Way([TWO], RESET, DELETE, "deleted", 0),
    "created and deleted": Way([], TWO, DELETE, "deleted", 0, False),
    "paused by its config and not": Way([TWO], STILL, MOVING, "running", 2),
    "moved to another tier and back": Way([TWO], AWAY, HERE, "running", 2),
    "moved to other regions and back": Way([TWO], ABROAD, HERE, "running", 2),
    "created elsewhere and corrected": Way([], AWAY, HERE, "running", 2),
    "deleted elsewhere, created again here": Way([TWO, AWAY], DELETE, HERE, "running", 2),
}


def rest(_: CrashStage) -> None:
    """Nobody asks for anything: what waits for time goes on."""


def history_of(stage: CrashStage) -> History:
    """All that was said."""
    log = stage.log
    reads = {
        at: [log.read(at, offset, None, 1) for offset in range(log.end(at))] for at in log.lines
    }
    return History(reads, place(JOURNAL, PARTITION))


@dataclass(slots=True)
class Meeting:
    """Somebody asks for another thing once so many records have come in after the first."""

    before: list[Scene]
    first: Scene
    second: Scene
    after: int
    stage: CrashStage = field(init=False)
    asked: bool = False
    _left: int | None = None

    def __post_init__(self) -> None:
        self.stage = CrashStage(SYNCING, heard=self._hear, slow=True)

    def play(self) -> History:
        """The story to its end; where the plan was over by then, the second comes after it."""
        self.stage.play([*self.before, self._begin, self._end, rest])
        return history_of(self.stage)

    def _begin(self, stage: CrashStage) -> None:
        self._left = self.after
        self.first(stage)

    def _end(self, stage: CrashStage) -> None:
        self._left = None
        if not self.asked:
            self.second(stage, author=BEN)

    def _hear(self, at: str) -> None:
        if self._left is None or at.startswith("clock"):
            return
        if self._left == 0:
            self._left, self.asked = None, True
            self.second(self.stage, author=BEN)
        else:
            self._left -= 1


def shown(stage: CrashStage) -> dict[int, int]:
    """The tasks that every list shows as running, each with its generation."""
    [syncer] = [one for one in stage.processes if one.component.name == "state-syncer"]
    tasks = tasks_of(syncer.owner.held[JOB].row, Sightings(), {})
    return {one.task: one.report.specs for one in tasks if one.state == "running" and one.report}


def runs(stage: CrashStage) -> dict[int, int]:
    """The same, by those who run them."""
    running = stage.managers.sites[JOB].running
    return {task: one.generation for task, one in sorted(running.items())}


def test_a_job_whose_containers_are_gone_runs_elsewhere_when_it_is_told_to() -> None:
    """Nobody is left to say that its tasks have stopped."""
    stage = CrashStage(SYNCING)

    def gone(stage: CrashStage) -> None:
        stage.managers.sites.clear()
        stage.managers.tier = "spare"

    stage.play([TWO, gone, partial(TWO, tier="spare"), rest, rest])
    assert shown(stage) == runs(stage) == {0: 4, 1: 4}
    history = history_of(stage)
    for check in (check_syncs, check_commits):
        assert [*check(history)] == []
    assert not any(isinstance(read.record.body, SyncFailed) for read in history.standing)


@pytest.mark.parametrize("before", [[], [TWO], [TWO, DELETE]])
def test_what_runs_nowhere_is_never_said_to_run(before: list[Scene]) -> None:
    """Its tier is misspelt, and nobody corrects it: in the end somebody is called."""
    stage = CrashStage(SYNCING)
    stage.play([*before, AWAY, *[rest] * 12])
    history = history_of(stage)
    assert [*check_syncs(history)] == []
    standing = [read.record.body for read in history.standing]
    for one in standing:
        if isinstance(one, SyncCommitted) and one.state == "running":
            assert "defualt" not in one.running_json
    alerts = [one.alert for one in standing if isinstance(one, AlertRaised)]
    assert alerts == ["job-quarantined"]
    assert shown(stage) == runs(stage) == {}


@pytest.mark.parametrize("name", WAYS)
def test_a_commit_says_what_runs_wherever_a_plan_is_overtaken(name: str) -> None:
    way = WAYS[name]
    overtaken = 0
    for after in range(1, 200):  # once the first one has its verdict or its plan
        meeting = Meeting(way.before, way.first, way.second, after)
        history = meeting.play()
        where = f"{name}, after {after} records"
        for check in (check_syncs, check_commits, check_resets, check_returns):
            assert [*check(history)] == [], where
        standing = [read.record.body for read in history.standing]
        overtaken += any(isinstance(one, SyncFailed) for one in standing)
        commits = [one for one in standing if isinstance(one, SyncCommitted)]
        lists = [one for one in standing if isinstance(one, TaskSpecsPublished)]
        if commits or lists:  # or the job was deleted before anybody had planned it
            assert (commits[-1].state, commits[-1].tasks) == (way.state, way.tasks), where
            assert lists[-1].tasks == (way.tasks if way.state == "running" else 0), where
        assert shown(meeting.stage) == runs(meeting.stage), where
        if not meeting.asked:
            break
    else:
        raise AssertionError("the first plan does not come to its end")
    assert overtaken > 1 or not way.gives_way, f"it was overtaken {overtaken} times"
