"""The checker of commits is checked: what they say of generations, tasks and rest (I11)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from events.generated.records import SyncCommitted, TaskSpecsPublished, TaskStarted, TaskStopped
from simulation.checkers.commits import check_commits
from tests.simulation.job_story import Script, Story, good, written
from tests.simulation.one_change import Change, changed, moved, nth, without


def overtaken(*, copied: bool) -> Script:
    """A job is deleted, told to stop, and created again; a plan of its own starts it, or it is
    taken to run."""
    story = Story()
    story.is_created()
    story.deleted()
    story.plans("delete", "stop")
    story.begins("stop")
    story.empties()
    story.fails(0, "overtaken")
    story.wants()
    if copied:
        story.commits("running", simple=True)
        return tuple(story.script)
    story.plans("restart", "stop", "start")
    story.stands_still_and_starts(listed=False)
    return tuple(story.script)


def told_again(started: int) -> Script:
    """A plan failed, what ran was listed again, and so many tasks have said that they run when the
    next config is copied."""
    story = Story()
    story.is_created()
    story.is_listed_again_after_a_failure()
    story.started(range(started))
    story.wants(priority=7)
    story.commits("running", simple=True)
    return tuple(story.script)


def pauses_in_vain(*, stopped: bool) -> Script:
    """What was to be resumed was told to start, and is paused without a word to its tasks."""
    story = Story()
    story.is_created()
    story.plans("pause", "stop")
    story.begins("stop")
    story.empties()
    story.stopped()
    story.finishes("stop")
    story.commits("paused")
    story.plans("resume", "start")
    story.begins("start")
    story.lists()
    story.started([0])
    story.fails(1)
    if stopped:
        story.stopped()
    story.commits("paused", simple=True)
    return tuple(story.script)


@pytest.mark.parametrize(
    "script", [good(), overtaken(copied=False), told_again(2), pauses_in_vain(stopped=True)]
)
def test_a_good_history_is_accepted(script: Script) -> None:
    assert list(check_commits(written(script))) == []


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (overtaken(copied=True), "says that generation 2 runs, and no task is listed"),
        (told_again(1), "says that generation 5 runs, and tasks [1] never said so"),
        (pauses_in_vain(stopped=False), "the job is paused, and tasks [0, 1] have not stopped"),
    ],
)
def test_a_bad_history_is_rejected(script: Script, sentence: str) -> None:
    (violation,) = check_commits(written(script))
    assert sentence in violation


BAD: list[tuple[str, Callable[[], Change], str]] = [
    (
        "another generation",
        lambda: changed(nth(SyncCommitted), generation=3),
        "says that generation 3 runs, and 2 is listed",
    ),
    (
        "a copy of another generation",
        lambda: changed(nth(SyncCommitted, kind="simple"), generation=1),
        "says that generation 1 runs, and 2 is listed",
    ),
    (
        "a list that comes after it",
        lambda: moved(nth(SyncCommitted), nth(TaskSpecsPublished)),
        "says that generation 2 runs, and no task is listed",
    ),
    ("a task without a word", lambda: without(nth(TaskStarted)), "tasks [0] never said so"),
    (
        "a word that comes after it",
        lambda: moved(nth(SyncCommitted), nth(TaskStarted)),
        "tasks [0, 1] never said so",
    ),
    ("a task that runs still", lambda: without(nth(TaskStopped, -1)), "have not stopped"),
]


@pytest.mark.parametrize(("change", "sentence"), [pytest.param(*one[1:], id=one[0]) for one in BAD])
def test_one_thing_said_otherwise_is_found(change: Callable[[], Change], sentence: str) -> None:
    violations = list(check_commits(written(change()(good()))))
    assert any(sentence in violation for violation in violations), violations[:5]
