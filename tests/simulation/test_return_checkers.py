"""The checker of what a failed plan leaves is checked: who ran before it runs after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from events.records import TaskSpecsPublished, TaskStarted
from simulation.checkers.returns import check_returns
from tests.simulation.job_story import Script, Story, good, written

OTHER = {"operator": "examples.counts:other"}


def failed_plan() -> Script:
    """Two tasks run, three were to be; that fails, and the two run again."""
    story = Story()
    story.is_created()
    tasks = story.config["tasks"]
    story.wants(tasks=3)
    story.plans("change", "stop", "start")
    story.begins("stop")
    story.empties()
    story.stopped()
    story.fails(1)
    story.config["tasks"], story.live = tasks, (story.live[0] + 3, tasks)
    story.lists()
    story.started(range(tasks))
    return tuple(story.script)


def other_program(*, keeps: bool = True, asked: bool = False, simple: bool = False) -> Script:
    """What tasks keep, or do not, is given to another program, or read anew, as is asked."""
    story = Story()
    story.is_created()
    for task in range(2):
        story.say(TaskStarted("orders", task, story_generation(story), "c1", 1, keeps_state=keeps))
    story.wants(**OTHER)
    if simple:
        story.commits("running", simple=True)
        return tuple(story.script)
    story.plans("change", "stop", "start")
    script = list(story.script)
    if asked:
        place, body = script[-1]
        told: Any = body
        story.script[-1] = (place, with_reset(told))
    story.begins("stop")
    return tuple(story.script)


def story_generation(story: Story) -> Any:
    started = [body for _, body in story.script if isinstance(body, TaskStarted)]
    return started[-1].generation


def with_reset(body: Any) -> Any:
    return replace(body, reset_json='{"at_ms":1,"id":"9.a","to":"earliest"}')


@pytest.mark.parametrize(
    "script",
    [
        good(),
        failed_plan(),
        other_program(keeps=False),
        other_program(asked=True),
        other_program(keeps=False, simple=True),
    ],
    ids=["all of it", "a failed plan", "nothing is kept", "read anew", "nothing kept, copied"],
)
def test_a_good_history_is_accepted(script: Script) -> None:
    assert list(check_returns(written(script))) == []


BAD: list[tuple[str, Callable[[], Script], str]] = [
    (
        "nobody is told to run again",
        lambda: failed_plan()[:-3],
        "0 tasks are listed, and 2 ran before the plan that failed",
    ),
    (
        "a task does not run again",
        lambda: failed_plan()[:-1],
        "tasks [1] ran before the plan that failed, and do not run",
    ),
    (
        "another number of them",
        lambda: lists_three(failed_plan()),
        "3 tasks are listed, and 2 ran before the plan that failed",
    ),
    ("another program", other_program, "its tasks keep what another program has made"),
    (
        "another program is copied",
        lambda: other_program(simple=True),
        "its tasks keep what another program has made",
    ),
]


def lists_three(script: Script) -> Script:
    at = max(n for n, (_, body) in enumerate(script) if isinstance(body, TaskSpecsPublished))
    place, body = script[at]
    told: Any = body
    return (*script[:at], (place, replace(told, tasks=3)), *script[at + 1 :])


@pytest.mark.parametrize(("make", "said"), [one[1:] for one in BAD], ids=[one[0] for one in BAD])
def test_what_breaks_it_is_told(make: Callable[[], Script], said: str) -> None:
    found = list(check_returns(written(make())))
    assert found
    assert all(said in one for one in found)
