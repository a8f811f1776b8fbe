"""Laws of a container's tasks, for any course of things that may happen to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from components.task_manager.core.runs import Begin, Kill, RunStage, StopRun
from events.generated.records import (
    ShardDropped,
    TaskFailed,
    TaskStarted,
    TaskStopped,
)
from projections.reports import report_of
from tasks.core.protocol import FAILED, FENCED, REFUSED, STOPPED, Ended, Started
from tests.unit.task_manager.examples import JOB, published
from tests.unit.task_manager.scenes import EACH, PERIODS, SHARDS, Scene

EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("list"), st.integers(0, 3), st.booleans()),
        st.tuples(st.just("give"), st.integers(0, EACH - 1), st.booleans()),
        st.tuples(st.just("take"), st.integers(0, EACH - 1), st.booleans()),
        st.tuples(st.just("event"), st.integers(0, 3), st.booleans()),
        st.tuples(st.just("end"), st.sampled_from([STOPPED, FAILED, FENCED, REFUSED]), st.just(0)),
        st.tuples(st.just("crash"), st.just(0), st.just(0)),
        st.tuples(st.just("wait"), st.sampled_from([10, 1_000, 100_000]), st.just(0)),
    ),
    max_size=40,
)


@dataclass(slots=True)
class Course:
    """Any course of things, with an engine that runs what it is told to."""

    stage: Scene = field(default_factory=Scene)
    living: dict[int, str] = field(default_factory=dict)
    generation: int = 2
    tasks: int = -1  # of the list that stands
    shard_generation: int = 1

    def settle(self) -> None:
        for one in self.stage.settle():
            if isinstance(one, Begin):
                assert one.target.entry.name not in self.living.values(), "two of one task"
                self.living[one.run] = one.target.entry.name
            elif isinstance(one, StopRun | Kill):
                assert one.run in self.living
            elif isinstance(one, TaskStopped):
                name = f"{one.job}/{one.task}"
                run = self.stage.host.runs.get(name)
                older = run is None or run.target.generation.specs > one.generation.specs
                assert name not in self.living.values() or older, "it is told over, and lives"
            elif isinstance(one, ShardDropped):
                homes = {SHARDS[int(name.rpartition("/")[2])] for name in self.living.values()}
                assert one.shard not in homes, "it is told dropped, and a task of it lives"

    def go(self, what: str, which: Any, more: Any) -> None:
        stage = self.stage
        match what:
            case "list":
                # Another number of tasks is another generation: those that stopped are over.
                self.generation += bool(more) or which != self.tasks
                self.tasks = which
                stage.tell(published(self.generation, which))
            case "give":
                # What was taken comes back at the next generation, or not at all.
                taken = which in stage.wishes and not stage.wishes[which].wanted
                self.shard_generation += bool(more) or taken
                stage.give(self.shard_generation, [which])
            case "take" if which in stage.wishes:
                stage.take(which, at_once=more)
            case "event" if self.living:
                run = sorted(self.living)[which % len(self.living)]
                stage.hear(Started(run, ()))
            case "end" if self.living:
                run = min(self.living)
                del self.living[run]
                stage.hear(Ended(run, which, "x", "y"))
            case "crash":
                self.living.clear()
                stage.facts += stage.host.engine_died(stage.now_ms, 1_000)
            case "wait":
                stage.now_ms += which

    def finish(self) -> None:
        """Whoever is told to stop does so, and time passes."""
        for _ in range(6):
            self.settle()
            for run in sorted(self.living):
                if self.stage.host.runs[self.living[run]].stage is RunStage.STOPPING:
                    del self.living[run]
                    self.stage.hear(Ended(run, STOPPED))
            self.stage.now_ms += PERIODS.pause_most_ms
        self.settle()


@given(EVENTS)
def test_whatever_happens_no_task_runs_twice_and_none_is_told_over_that_lives(
    events: list[tuple[str, Any, Any]],
) -> None:
    course = Course()
    for what, which, more in events:
        course.go(what, which, more)
        course.settle()


@given(EVENTS)
def test_in_the_end_all_that_is_wanted_runs_and_nothing_else(
    events: list[tuple[str, Any, Any]],
) -> None:
    course = Course()
    for what, which, more in events:
        course.go(what, which, more)
        course.settle()
    course.finish()
    stage = course.stage
    wanted = {
        name
        for shard, wish in stage.wishes.items()
        if wish.wanted
        for name in stage.catalogue.entries(shard)
    }
    lost = {name for name, run in stage.host.runs.items() if run.stage is RunStage.LOST}
    assert set(course.living.values()) == wanted - lost
    dropped = {shard for shard, wish in stage.wishes.items() if not wish.wanted}
    for shard in dropped:
        assert stage.host.dropped[shard] >= stage.wishes[shard].generation


@given(EVENTS)
def test_what_is_told_of_a_task_only_grows(events: list[tuple[str, Any, Any]]) -> None:
    """Reports fold as a maximum: the last word of a life is the one that counts."""
    course = Course()
    for what, which, more in events:
        course.go(what, which, more)
        course.settle()
    course.finish()
    for task in range(4):
        words = [
            report_of(one, 0)
            for one in course.stage.facts
            if isinstance(one, TaskStarted | TaskStopped | TaskFailed) and one.task == task
        ]
        lives = f"{JOB}/{task}" in course.living.values()
        if words and lives:
            run = course.stage.host.runs[f"{JOB}/{task}"]
            newest = max(words)
            told = (newest.specs, newest.shard, newest.stopped)
            mine = (run.target.generation.specs, run.target.generation.shard, False)
            assert told <= mine
