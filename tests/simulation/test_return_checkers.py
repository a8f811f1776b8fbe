"""The checker of what a failed plan leaves is checked: who ran before it runs after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from events.generated.records import JobConfigRejected, TaskSpecsPublished, TaskStarted
from simulation.checkers.returns import check_returns
from tests.simulation.job_story import Script, Story, good, written

OTHER = {"operator": "examples.counts:other"}


def failed_plan() -> Script:
    """Two tasks run, three were to be; that fails, and the two run again."""
    story = Story()
    story.is_created()
    story.is_listed_again_after_a_failure()
    story.started(range(story.live[1]))
    return tuple(story.script)


def other_program(*, keeps: bool = True, asked: bool = False, simple: bool = False) -> Script:
    """What tasks keep, or do not, is given to another program, or read anew, as is asked. That
    they keep it is heard once the change was accepted."""
    story = Story()
    story.is_created()
    story.wants(**OTHER)
    hear(story, keeps=keeps)
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


def hear(story: Story, *, keeps: bool) -> None:
    for task in range(2):
        story.say(TaskStarted("orders", task, story_generation(story), "c1", 1, keeps_state=keeps))


def verdict(*, keeps: bool, accepts: bool, emptied: bool = False, gone: bool = False) -> Script:
    """Tasks have said what they keep, and then another program is asked for, perhaps of a job that
    was deleted since."""
    story = Story()
    story.is_created()
    hear(story, keeps=keeps)
    if emptied:
        story.commits("paused", simple=True)
        place, body = story.script[-1]
        told: Any = body
        story.script[-1] = (place, with_reset(told))
    if gone:
        story.deleted()
        story.commits("deleted", simple=True)
    if accepts:
        story.wants(**OTHER)
        return tuple(story.script)
    no = JobConfigRejected("orders", "base", "9.9", "state-stays", "it stays", 1, "operator")
    story.say(no)
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
        verdict(keeps=True, accepts=False),
        verdict(keeps=False, accepts=True),
        verdict(keeps=True, accepts=False, gone=True),
        verdict(keeps=False, accepts=True, gone=True),
        verdict(keeps=True, accepts=True, emptied=True),
    ],
    ids=[
        *("all of it", "a failed plan", "nothing is kept", "read anew", "nothing kept, copied"),
        *(
            "refused",
            "accepted",
            "refused of who is gone",
            "accepted of who is gone",
            "accepted, as it was reset while it stood still",
        ),
    ],
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
        "another program is accepted",
        lambda: verdict(keeps=True, accepts=True),
        "and its tasks keep what ('examples.counts:count', {'root': '/checkpoints'}) has made",
    ),
    (
        "another program is accepted of who is gone",
        lambda: verdict(keeps=True, accepts=True, gone=True),
        "and its tasks keep what ('examples.counts:count', {'root': '/checkpoints'}) has made",
    ),
    (
        "it is refused without need",
        lambda: verdict(keeps=False, accepts=False),
        "keeps a job to its program, and its tasks keep nothing",
    ),
    (
        "it is refused after a reset",
        lambda: verdict(keeps=True, accepts=False, emptied=True),
        "keeps a job to its program, and its tasks keep nothing",
    ),
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
