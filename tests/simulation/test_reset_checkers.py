"""The checker of what is to be read anew is checked: a good history, and each way to break it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from events.generated.records import (
    OffsetResetRequested,
    SyncCommitted,
    SyncPlanned,
    TaskSpecsPublished,
)
from events.job_config.reset import Reset
from simulation.checkers.resets import check_resets
from tests.simulation.job_story import OPERATOR, Script, Story, written

WISH = Reset("900000.again", "earliest", 1_000).text()


def anew(body: Any) -> Any:
    """The same, said while the wish stands."""
    match body:
        case SyncPlanned() | SyncCommitted():
            return replace(body, reset_json=WISH)
        case TaskSpecsPublished(tasks=tasks) if tasks:
            return replace(body, config_json=json.dumps({"reset": json.loads(WISH)}))
        case _:
            return body


def story(*, deleted: bool = False) -> Script:
    """A job is created, read anew, and given another package; or it is deleted, and created."""
    story = Story()
    story.is_created()
    before = len(story.script)
    asked = "900000.again"
    again = OffsetResetRequested(
        change_id=asked, job="orders", to="earliest", author="a", reason="r"
    )
    story.script.append((OPERATOR, again))
    story.plans("reset", "stop", "start", change_id=asked)
    story.stands_still_and_starts()
    story.gets_a_package()
    after = len(story.script)
    if deleted:
        story.deleted()
        story.plans("delete")
        story.commits("deleted")
        story.is_created()
    script = story.script
    said = [(place, anew(body)) for place, body in script[before:after]]
    return (*script[:before], *said, *script[after:])


def changed(nth: int, kind: Any, **fields: Any) -> Script:
    """With other fields in one of its records, from the end."""
    script = list(story())
    at = [n for n, (_, body) in enumerate(script) if isinstance(body, kind)][nth]
    place, body = script[at]
    told: Any = body
    script[at] = (place, replace(told, **fields))
    return tuple(script)


@pytest.mark.parametrize("deleted", [False, True])
def test_a_good_history_has_no_violation(deleted: bool) -> None:
    assert list(check_resets(written(story(deleted=deleted)))) == []


OTHER = Reset("900000.again", "latest", 1_000).text()
BAD: list[tuple[str, Callable[[], Script], str]] = [
    (
        "another place than was asked for",
        lambda: changed(-1, SyncPlanned, reset_json=OTHER),
        "is for the reset 900000.again to earliest, and says",
    ),
    (
        "a plan that forgets it",
        lambda: changed(-1, SyncPlanned, reset_json=""),
        "is for the reset 900000.again to earliest, and says {}",
    ),
    (
        "a copy that forgets it",
        lambda: changed(-1, SyncCommitted, reset_json=""),
        "says '', and '{\"at_ms\":1000",
    ),
    (
        "a list that does not tell",
        lambda: changed(-1, TaskSpecsPublished, config_json="{}"),
        "tells tasks None, and {'at_ms': 1000",
    ),
    (
        "tasks that were not stopped",
        lambda: tuple(
            (place, replace(body, kind="simple")) if isinstance(body, SyncCommitted) else one
            for one in story()
            for place, body in (one,)
        ),
        "has tasks that run read anew, and they were not stopped",
    ),
]


@pytest.mark.parametrize(("make", "said"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_bad_history_is_found(make: Callable[[], Script], said: str) -> None:
    assert any(said in one for one in check_resets(written(make())))
