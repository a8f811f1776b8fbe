"""The checker of syncs is checked: what tasks had said, and lists of task specs (I12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from events.generated.records import (
    Generation,
    InputPartitions,
    JobConfigChanged,
    LayerVersions,
    ResumeRequested,
    SyncCommitted,
    SyncPlanned,
    SyncStepDone,
    SyncStepStarted,
    TaskFailed,
    TaskSpecsPublished,
    TaskStarted,
    TaskStopped,
)
from simulation.checkers.syncs import check_syncs
from tests.simulation.job_story import empty_list, good, written
from tests.simulation.one_change import Change, after, body_of, changed, moved, nth, without


def no_stop_step() -> Change:
    """The plan that changes the shape does without a stop, and its records with it."""
    at, begun = nth(SyncPlanned, intent="change"), nth(SyncStepStarted, name="stop")
    steps = tuple(step for step in body_of(at).steps if step.name != "stop")
    return lambda script: without(begun)(changed(at, steps=steps)(script))


def specs_of(at: int, tasks: Iterable[tuple[int, ...]]) -> Change:
    """The list shares the partitions out in another way."""
    specs = [
        replace(spec, inputs=(InputPartitions("clicks", numbers),))
        for spec, numbers in zip(body_of(at).specs, tasks, strict=True)
    ]
    return changed(at, specs=tuple(specs))


def whole(at: int) -> int:
    """Where the nth list of one part with tasks is published."""
    return nth(TaskSpecsPublished, at, parts=1, tasks=3)


BAD: list[tuple[str, Callable[[], Change], str]] = [
    # I12
    ("a task that never stopped", lambda: without(nth(TaskStopped)), "tasks [0] have not stopped"),
    (
        "a stop of an older generation",
        lambda: changed(nth(TaskStopped), generation=Generation(1, 1)),
        "tasks [0] have not stopped",
    ),
    (
        "a stop that was read too late",
        lambda: moved(nth(SyncStepDone, name="stop"), nth(TaskStopped, 1)),
        "says stop, and tasks [1] have not stopped by its evidence",
    ),
    (
        "a task that began anew elsewhere",
        lambda: after(nth(TaskStopped), TaskStarted("orders", 0, Generation(2, 2), "c2", 1)),
        "says stop, and tasks [0] have not stopped",
    ),
    (
        "a task of an older list that had more of them",
        lambda: after(nth(TaskStopped), TaskStarted("orders", 7, Generation(1, 1), "c1", 1)),
        "says stop, and tasks [7] have not stopped",
    ),
    (
        "a start before the stops",
        lambda: without(nth(TaskStopped, 1)),
        "says start, and tasks [1] have not stopped",
    ),
    ("a plan without a stop", no_stop_step, "plans to start without a stop, and tasks [0, 1]"),
    ("a task that never started", lambda: without(nth(TaskStarted, 4)), "tasks [1] do not run"),
    (
        "a start of an older generation",
        lambda: changed(nth(TaskStarted, 4), generation=Generation(2, 1)),
        "tasks [1] do not run",
    ),
    (
        "a task that failed again",
        lambda: changed(nth(TaskFailed), attempt=2),
        "says start, and tasks [1] do not run",
    ),
    (
        "a task that stopped again",
        lambda: after(nth(TaskStarted), TaskStopped("orders", 0, Generation(2, 1), "c1", 1, "x")),
        "says start, and tasks [0] do not run",
    ),
    # lists
    ("a part lost", lambda: without(nth(TaskSpecsPublished)), "does not come right before it"),
    (
        "a word between two parts",
        lambda: moved(nth(JobConfigChanged, 1), nth(TaskSpecsPublished, 1)),
        "does not come right before it",
    ),
    (
        "parts of two lists",
        lambda: changed(nth(TaskSpecsPublished, 1), config_json='{"disk_mb":9}'),
        "of another list",
    ),
    (
        "a generation that goes back",
        lambda: changed(nth(TaskSpecsPublished, 5), generation=3),
        "goes back from generation 4 to 3",
    ),
    (
        "two shapes of one generation",
        lambda: changed(nth(TaskSpecsPublished, tasks=0), generation=2),
        "at a generation that had 2",
    ),
    (
        "tasks before the start",
        lambda: moved(whole(0), nth(SyncStepStarted, 1, name="start")),
        "lists tasks while none may run",
    ),
    (
        "tasks of a paused job",
        lambda: moved(whole(2), nth(ResumeRequested)),
        "lists tasks while none may run",
    ),
    (
        "tasks of another config",
        lambda: changed(nth(TaskSpecsPublished, 2), versions=LayerVersions(1, 0, 0, 0)),
        "lists tasks of 2.0.0.0",
    ),
    (
        "another package",
        lambda: changed(nth(TaskSpecsPublished, 2), package_version="1.0.0"),
        "runs counts 1.0.0",
    ),
    (
        "another generation than the plan's",
        lambda: changed(whole(0), generation=5),
        "has generation 5, and its plan 4",
    ),
    (
        "an empty list of a running job",
        lambda: after(
            nth(SyncCommitted, kind="simple"), empty_list("", 3, LayerVersions(2, 0, 0, 0))
        ),
        "empties the list",
    ),
    (
        "an empty list after the start",
        lambda: moved(nth(SyncStepStarted, 1, name="start"), nth(TaskSpecsPublished, tasks=0)),
        "empties the list",
    ),
    (
        "a task without a spec",
        lambda: changed(whole(0), specs=body_of(whole(0)).specs[:2]),
        "has not one spec for each of 3 tasks",
    ),
    (
        "a partition with two tasks",
        lambda: specs_of(whole(0), [(0, 3), (1, 4), (2, 5, 0)]),
        "gives [('clicks', 0)] to several tasks",
    ),
    (
        "a partition without a task",
        lambda: specs_of(whole(0), [(0, 3), (1, 4), (2,)]),
        "of clicks out, which has 6 partitions",
    ),
    (
        "a partition that there is not",
        lambda: specs_of(whole(0), [(0, 3), (1, 4), (2, 5, 6)]),
        "of clicks out, which has 6 partitions",
    ),
]


@pytest.mark.parametrize(("change", "sentence"), [pytest.param(*one[1:], id=one[0]) for one in BAD])
def test_a_bad_history_is_rejected(change: Callable[[], Change], sentence: str) -> None:
    violations = list(check_syncs(written(change()(good()))))

    assert any(sentence in violation for violation in violations), violations[:5]
