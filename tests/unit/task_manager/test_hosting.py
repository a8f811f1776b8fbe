"""What a container does with its tasks, example by example."""

from __future__ import annotations

import pytest
from immutables import Map

from components.task_manager.core.runs import Begin, Kill, RunStage, StopRun
from events.generated.records import (
    ShardAdded,
    ShardDropped,
    TaskFailed,
    TaskStarted,
    TaskStopped,
)
from projections.hold import DesiredShard
from projections.reports import report_of
from tasks.core.protocol import FAILED, FENCED, REFUSED, STOPPED, Ended, InputSpot, Started
from tests.unit.task_manager.examples import JOB, published
from tests.unit.task_manager.scenes import EACH, PERIODS, SHARDS, Scene, hosting, of


def test_tasks_of_shards_that_are_held_are_started_and_the_shards_told() -> None:
    scene = Scene().tell(published(2, 3)).give()
    done = scene.settle()
    assert [one.target.entry.name for one in of(Begin, done)] == [f"{JOB}/{n}" for n in range(3)]
    added = of(ShardAdded, done)
    assert [(one.shard, one.generation) for one in added] == [(n, 1) for n in range(EACH)]
    assert sum(one.tasks for one in added) == 3
    assert done.index(added[0]) > done.index(of(Begin, done)[-1])
    [started] = scene.hear(Started(scene.number(1), (InputSpot("clicks", 1, 7),)))
    assert isinstance(started, TaskStarted)
    assert (started.task, started.attempt, started.generation.specs) == (1, 1, 2)
    assert (started.generation.shard, started.offsets[0].offset) == (1, 7)
    assert scene.settle() == []


def test_an_empty_shard_is_added_as_well() -> None:
    assert of(ShardAdded, Scene().give(shards=[2]).settle())[0].tasks == 0


def test_without_an_engine_nothing_is_started_and_no_shard_with_tasks_is_told() -> None:
    scene = Scene(ready=False).tell(published(2, 3)).give()
    empty = set(range(EACH)) - set(SHARDS[:3])
    done = scene.settle()
    assert {one.shard for one in of(ShardAdded, done)} == empty
    assert of(Begin, done) == []


def test_tasks_of_another_tier_are_not_ours() -> None:
    assert of(Begin, Scene().tell(published(2, 3, tier="other")).give().settle()) == []


def test_a_shard_that_is_dropped_is_told_when_its_tasks_have_stopped() -> None:
    scene = hosting()
    shard = SHARDS[0]
    mine = [n for n in range(3) if SHARDS[n] == shard]
    done = scene.take(shard).settle()
    assert {one.run for one in of(StopRun, done)} == {scene.number(n) for n in mine}
    assert of(ShardDropped, done) == []
    for task in mine:
        [stopped] = scene.hear(Ended(scene.number(task), STOPPED))
        assert isinstance(stopped, TaskStopped)
        assert (stopped.cause, stopped.generation.shard) == ("dropped", 1)
        assert not report_of(stopped, 0).over, "another owner may start it any moment"
    [dropped] = scene.settle()
    assert (dropped.shard, dropped.generation) == (shard, 1)
    assert scene.settle() == []


def test_a_shard_that_was_never_held_is_dropped_all_the_same() -> None:
    scene = Scene()
    scene.wishes = Map({3: DesiredShard(5, False)})
    [dropped] = scene.settle()
    assert isinstance(dropped, ShardDropped)
    assert (dropped.shard, dropped.generation) == (3, 5)
    assert scene.settle() == []


def test_what_it_gave_up_is_told_again_until_somebody_else_has_it() -> None:
    scene = Scene().give(5, (1, 2, 3))
    scene.settle()
    assert list(scene.host.again()) == []
    for shard in (2, 3):
        scene.take(shard)
    said = of(ShardDropped, scene.settle())
    assert [one.shard for one in said] == [2, 3]
    assert list(scene.host.again()) == said
    assert list(scene.host.again()) == said
    scene.wishes = scene.wishes.set(2, DesiredShard(5, False, True, passed=True))
    scene.settle()
    assert list(scene.host.again()) == said[1:]
    scene.give(6, (3,)).settle()
    assert list(scene.host.again()) == []


def test_a_forced_drop_kills_what_was_told_to_stop() -> None:
    scene = hosting()
    run = scene.number(0)
    assert StopRun(run) in scene.take(SHARDS[0]).settle()
    assert Kill(run) in scene.take(SHARDS[0], at_once=True).settle()
    assert Kill(run) not in scene.settle(), "once is enough"


def test_a_shard_of_somebody_else_is_killed_and_not_asked_to_stop() -> None:
    scene = hosting()
    done = scene.take(SHARDS[0], at_once=True).settle()
    assert of(StopRun, done) == []
    assert Kill(scene.number(0)) in done


def test_who_does_not_stop_in_time_is_killed() -> None:
    scene = hosting()
    run = scene.number(0)
    scene.tell(published(3, 0)).settle()
    assert scene.host.wake_ms() == scene.now_ms + PERIODS.stop_ms
    scene.now_ms += PERIODS.stop_ms - 1
    assert scene.settle() == []
    scene.now_ms += 1
    assert Kill(run) in scene.settle()


def test_an_engine_that_does_not_even_kill_hangs() -> None:
    scene = hosting(1)
    scene.tell(published(3, 0)).settle()
    scene.now_ms += PERIODS.stop_ms
    scene.settle()
    assert not scene.host.hangs(scene.now_ms + PERIODS.stop_ms - 1)
    assert scene.host.hangs(scene.now_ms + PERIODS.stop_ms)
    scene.hear(Ended(1, STOPPED))
    assert not scene.host.hangs(scene.now_ms + PERIODS.stop_ms)


def test_a_start_that_takes_too_long_is_a_failure() -> None:
    scene = Scene().tell(published(2, 3)).give()
    scene.settle()
    begun_ms = scene.now_ms
    assert scene.host.wake_ms() == begun_ms + PERIODS.start_ms
    scene.now_ms = begun_ms + PERIODS.start_ms - 1
    assert scene.settle() == []
    scene.now_ms += 1
    numbers = sorted(run.number for run in scene.host.runs.values())
    assert sorted(one.run for one in of(Kill, scene.settle())) == numbers
    assert scene.settle() == [], "it is told once"
    assert scene.host.hangs(scene.now_ms + PERIODS.stop_ms)
    [failed] = scene.hear(Ended(numbers[0], STOPPED))
    assert isinstance(failed, TaskFailed)
    assert (failed.cause, failed.pause_ms) == ("start-timeout", PERIODS.pause_ms)
    assert failed.explanation == f"it did not start within {PERIODS.start_ms / 1000:g} s"


def test_who_hangs_again_as_it_starts_again_is_killed_again() -> None:
    scene = Scene().tell(published(2, 1)).give()
    for number in (1, 2):
        scene.settle()
        scene.now_ms += PERIODS.start_ms
        assert scene.settle() == [Kill(number)]
        assert scene.host.wake_ms() is None
        scene.hear(Ended(number, STOPPED))
        scene.now_ms += PERIODS.pause_ms * number


def test_who_stood_still_starts_within_its_time_anew() -> None:
    scene = Scene().tell(published(2, 3)).give()
    scene.settle()
    scene.now_ms += PERIODS.start_ms
    scene.host.thawed(scene.now_ms)
    assert scene.settle() == []


def test_who_stood_still_gets_its_time_anew() -> None:
    scene = hosting(1)
    scene.tell(published(3, 0)).settle()
    scene.now_ms += 10 * PERIODS.stop_ms
    scene.host.thawed(scene.now_ms)
    assert scene.settle() == []
    scene.now_ms += PERIODS.stop_ms
    assert scene.settle() == [Kill(1)]


def test_an_emptied_list_stops_all_and_tells_that_they_are_over() -> None:
    scene = hosting()
    done = scene.tell(published(3, 0)).settle()
    assert len(of(StopRun, done)) == 3
    assert of(TaskStopped, done) == []
    for task in range(3):
        [stopped] = scene.hear(Ended(scene.number(task), STOPPED, offsets=(InputSpot("x", 0, 4),)))
        assert isinstance(stopped, TaskStopped)
        assert (stopped.cause, stopped.generation.specs) == ("plan", 2)
        assert stopped.offsets[0].offset == 4
        assert report_of(stopped, 0).over
    assert scene.settle() == [], "each is told once"


def test_tasks_that_nobody_had_started_are_over_as_well() -> None:
    """Their container may be gone: whoever has the shard now answers for them."""
    scene = Scene().tell(published(2, 3), published(3, 0)).give(7)
    stopped = of(TaskStopped, scene.settle())
    assert sorted(one.task for one in stopped) == [0, 1, 2]
    assert {(one.generation.specs, one.generation.shard) for one in stopped} == {(2, 7)}
    assert of(TaskStopped, scene.settle()) == []


def test_a_list_that_replaces_another_at_once_stops_the_old_before_it_starts_the_new() -> None:
    scene = hosting(1)
    run = scene.number(0)
    done = scene.tell(published(4, 1)).settle()
    assert of(Begin, done) == []
    assert of(TaskStopped, done) == [], "a process of it lives"
    [stopped] = scene.hear(Ended(run, STOPPED))
    assert isinstance(stopped, TaskStopped)
    [begin] = of(Begin, scene.settle())
    assert (begin.target.generation.specs, begin.run > run) == (4, True)


def test_another_generation_of_the_shard_is_another_owner() -> None:
    scene = hosting(1)
    scene.give(5)
    assert of(StopRun, scene.settle()) != []
    [stopped] = scene.hear(Ended(scene.number(0), STOPPED))
    assert isinstance(stopped, TaskStopped)
    assert stopped.cause == "dropped"
    done = scene.settle()
    assert of(Begin, done)[0].target.generation.shard == 5
    assert {one.generation for one in of(ShardAdded, done)} == {5}


def test_a_task_that_goes_to_another_tier_is_not_over() -> None:
    """Its list stands: whoever has its shard there starts it."""
    scene = hosting(1)
    assert scene.tell(published(2, 1, base=2, tier="other")).settle() == [StopRun(1)]
    [stopped] = scene.hear(Ended(1, STOPPED))
    assert isinstance(stopped, TaskStopped)
    assert stopped.cause == "dropped"
    assert scene.settle() == []


def test_a_copied_change_of_what_runs_restarts_it_under_its_generation() -> None:
    scene = hosting(1)
    done = scene.tell(published(2, 1, base=2, package="1.1")).settle()
    assert done == [StopRun(1)]
    assert scene.hear(Ended(1, STOPPED)) == [], "it is not over: it goes on as another program"
    [begin] = of(Begin, scene.settle())
    [started] = scene.hear(Started(begin.run, ()))
    assert isinstance(started, TaskStarted)
    assert started.versions is not None
    assert (started.attempt, started.versions.base, started.generation.specs) == (2, 2, 2)


def test_a_copied_change_of_nothing_that_runs_is_told_and_restarts_nothing() -> None:
    scene = hosting(1)
    [started] = scene.tell(published(2, 1, base=2)).settle()
    assert isinstance(started, TaskStarted)
    assert started.versions is not None
    assert (started.attempt, started.versions.base) == (1, 2)


def test_a_failed_task_is_started_again_after_a_pause_that_grows() -> None:
    scene = hosting(1)
    pauses = []
    for attempt in range(1, 9):
        ended = Ended(scene.number(0), FAILED, "operator-error", "it broke", "E", (), "frames\nE")
        [failed] = scene.hear(ended)
        assert isinstance(failed, TaskFailed)
        assert failed.traceback == "frames\nE"
        assert (failed.attempt, failed.cause, failed.error_class) == (
            attempt,
            "operator-error",
            "E",
        )
        assert failed.pause_ms is not None
        pauses.append(failed.pause_ms)
        scene.now_ms += failed.pause_ms - 1
        assert scene.settle() == []
        assert scene.host.wake_ms() == scene.now_ms + 1
        scene.now_ms += 1
        [begin] = scene.settle()
        scene.hear(Started(begin.run, ()))
    assert pauses == [1000 * n for n in (1, 2, 4, 8, 16, 32, 60, 60)]


def test_after_a_steady_minute_a_failure_is_a_first_one() -> None:
    scene = hosting(1)
    for steady_ms, pause_ms in (
        (0, 1_000),
        (PERIODS.steady_ms - 1, 2_000),
        (PERIODS.steady_ms, 1_000),
    ):
        scene.now_ms += steady_ms
        [failed] = scene.hear(Ended(scene.number(0), FAILED, "x", "y"))
        assert isinstance(failed, TaskFailed)
        assert failed.pause_ms == pause_ms
        scene.now_ms += pause_ms
        scene.run_all()


def test_what_a_start_takes_is_no_part_of_a_steady_minute() -> None:
    scene = hosting(1)
    for failures in (1, 2):
        [failed] = scene.hear(Ended(scene.number(0), FAILED, "x", "y"))
        assert isinstance(failed, TaskFailed)
        assert failed.pause_ms == failures * 1_000
        scene.now_ms += failed.pause_ms
        [begin] = scene.settle()
        scene.now_ms += PERIODS.steady_ms
        scene.hear(Started(begin.run, ()))


def test_a_fenced_task_whose_generation_is_the_newest_claims_again() -> None:
    scene = hosting(1)
    [failed] = scene.hear(Ended(1, FENCED, "fenced", "another has its name"))
    assert isinstance(failed, TaskFailed)
    assert (failed.cause, failed.pause_ms) == ("fenced", 1_000)
    scene.now_ms += 1_000
    assert len(of(Begin, scene.settle())) == 1


def test_a_refusal_is_final_until_something_else_is_wanted() -> None:
    scene = hosting(1)
    [failed] = scene.hear(Ended(1, REFUSED, "refused", "no such operator"))
    assert isinstance(failed, TaskFailed)
    assert failed.pause_ms is None
    assert report_of(failed, 0).final
    scene.now_ms += 10 * PERIODS.pause_most_ms
    assert scene.settle() == []
    done = scene.tell(published(2, 1, base=2, package="1.1")).settle()
    [begin] = of(Begin, done) or of(Begin, scene.settle())
    [started] = scene.hear(Started(begin.run, ()))
    assert isinstance(started, TaskStarted)
    assert started.attempt == 2


def test_under_another_generation_a_failed_task_begins_to_count_anew() -> None:
    scene = hosting(1)
    scene.hear(Ended(1, FAILED, "x", "y"))
    [begin] = of(Begin, scene.tell(published(4, 1)).settle())
    [started] = scene.hear(Started(begin.run, ()))
    assert isinstance(started, TaskStarted)
    assert (started.attempt, started.generation.specs) == (1, 4)


def test_a_task_that_stops_unasked_is_started_again() -> None:
    scene = hosting(1)
    [failed] = scene.hear(Ended(1, STOPPED))
    assert isinstance(failed, TaskFailed)
    assert failed.cause == "ended"


def test_an_engine_that_dies_takes_all_along_and_they_start_again() -> None:
    scene = hosting(3)
    scene.take(SHARDS[0]).settle()
    said = list(scene.host.engine_died(scene.now_ms, 4_000))
    failed, stopped = of(TaskFailed, said), of(TaskStopped, said)
    assert {one.task for one in stopped} == {n for n in range(3) if SHARDS[n] == SHARDS[0]}
    assert {one.cause for one in stopped} == {"dropped"}
    assert {(one.cause, one.pause_ms, one.attempt) for one in failed} == {("engine-died", 4_000, 1)}
    scene.now_ms += 4_000
    begun = of(Begin, scene.settle())
    assert {one.target.entry.task for one in begun} == {one.task for one in failed}
    assert {scene.host.runs[one.target.entry.name].attempt for one in begun} == {2}


def test_who_has_another_engine_is_spared() -> None:
    scene = hosting(3)
    spared = scene.number(1)
    failed = of(TaskFailed, list(scene.host.engine_died(scene.now_ms, 4_000, spared={spared})))
    assert {one.task for one in failed} == {0, 2}
    assert scene.host.runs[f"{JOB}/1"].stage is RunStage.RUNNING


def test_what_an_earlier_run_says_late_is_nobodys() -> None:
    scene = hosting(1)
    scene.hear(Ended(1, FAILED, "x", "y"))
    scene.now_ms += 1_000
    scene.settle()
    assert scene.hear(Ended(1, FAILED, "x", "y")) == []
    assert scene.hear(Started(1, ())) == []
    assert scene.hear(Ended(99, FAILED, "x", "y")) == []
    assert scene.host.runs[f"{JOB}/0"].stage is RunStage.STARTING


def test_what_is_held_and_runs_is_known() -> None:
    scene = hosting(2)
    assert scene.host.held() == [(n, 1) for n in range(EACH)]
    assert scene.host.running() == 2
    scene.take(0).settle()
    assert (0, 1) not in scene.host.held()


@pytest.mark.parametrize("ready", [True, False])
def test_nothing_wanted_is_nothing_done(ready: bool) -> None:
    assert Scene(ready=ready).tell(published(2, 3)).settle() == []
