"""The checker of syncs is checked: plans, commits, quarantines and requests (I10, I11, I13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    JobConfigChanged,
    JobQuarantined,
    JobReleased,
    LayerVersions,
    PauseRequested,
    ReleaseRequested,
    ResumeRequested,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
    SyncStepDone,
    SyncStepStarted,
)
from events.job_config.strict_json import canonical_json
from simulation.checkers.syncs import check_syncs
from tests.simulation.job_story import BASE, JOURNAL, OPERATOR, good, written
from tests.simulation.one_change import Change, after, body_of, changed, moved, nth, without


def test_a_good_history_is_accepted() -> None:
    assert list(check_syncs(written(good()))) == []


def test_every_decision_of_it_stands() -> None:
    history = written(good())
    assert len(history.standing) == len(history.log[JOURNAL])


def release_of_another_kind() -> Change:
    at = nth(ReleaseRequested)
    asked = body_of(at)
    other = ResumeRequested(asked.change_id, asked.job, asked.author, asked.reason)
    return lambda script: (*script[:at], (OPERATOR, other), *script[at + 1 :])


def last_pause() -> int:
    return nth(SyncCommitted, kind="simple", state="paused")


def reshaped(asked: int, committed: int, **fields: Any) -> Change:
    """What was only to be copied has another shape: the wish and its copy say the same."""
    text = canonical_json(BASE | fields)
    return lambda script: changed(committed, running_json=text)(
        changed(asked, layer_json=text, expected_json=text)(script)
    )


BAD: list[tuple[str, Callable[[], Change], str]] = [
    # I10, I11: whole plans
    ("no plan", lambda: without(nth(SyncPlanned, intent="delete")), "which is not in progress"),
    ("a step not done", lambda: without(nth(SyncStepDone, name="stop")), "were begun and 0"),
    ("the last step not done", lambda: without(nth(SyncStepDone, 1, name="start")), "1 of 2 steps"),
    ("a step not begun", lambda: without(nth(SyncStepStarted, 1, name="start")), "were begun"),
    (
        "a step twice",
        lambda: after(nth(SyncStepDone, name="stop"), body_of(nth(SyncStepDone, name="stop"))),
        "were begun",
    ),
    (
        "steps out of order",
        lambda: moved(nth(SyncStepStarted, 1, name="start"), nth(SyncStepStarted, name="stop")),
        "were begun",
    ),
    (
        "a step of another name",
        lambda: changed(nth(SyncStepDone, 1, name="start"), name="stop"),
        "which is not step 1",
    ),
    (
        "a commit after a failure",
        lambda: after(
            nth(SyncStepDone, 1, name="start"),
            SyncFailed(
                "orders",
                body_of(nth(SyncPlanned, intent="change")).plan_id,
                body_of(nth(SyncPlanned, intent="change")).signature,
                body_of(nth(SyncPlanned, intent="change")).to_versions,
                1,
                "start",
                "step-timeout",
                "it took too long",
                1,
            ),
        ),
        "which is not in progress",
    ),
    (
        "another config than the plan's",
        lambda: changed(nth(SyncCommitted, 1, kind="complex"), running_json=canonical_json(BASE)),
        "commits something else",
    ),
    (
        "another version than the plan's",
        lambda: changed(nth(SyncCommitted, 1, kind="complex"), versions=LayerVersions(4, 0, 0, 0)),
        "commits something else",
    ),
    (
        "a plan of another version",
        lambda: changed(nth(SyncPlanned, intent="change"), to_versions=LayerVersions(2, 0, 0, 0)),
        "plans for 2.0.0.0, and 3.0.0.0 is expected",
    ),
    (
        "a plan of another config",
        lambda: changed(nth(SyncPlanned, intent="change"), expected_json=canonical_json(BASE)),
        "plans for 3.0.0.0",
    ),
    (
        "a plan that deletes what lives",
        lambda: changed(nth(SyncCommitted, state="paused"), state="deleted"),
        "makes the job deleted",
    ),
    ("a copy of what does not stand", lambda: without(nth(JobConfigChanged, 1)), "copies 2.0.0.0"),
    (
        "a copy of another config",
        lambda: changed(nth(SyncCommitted, kind="simple"), running_json=canonical_json(BASE)),
        "copies 2.0.0.0",
    ),
    (
        "a copy over a running plan",
        lambda: moved(nth(SyncCommitted, 1, kind="simple"), nth(SyncStepDone, 1, name="start")),
        "copies while 3.0.0.0#4 is in progress",
    ),
    (
        "a copy of another shape",
        lambda: reshaped(nth(JobConfigChanged, 1), nth(SyncCommitted, kind="simple"), tasks=3),
        "copies ['tasks'], for which the tasks have to stop",
    ),
    (
        "a copy that pauses",
        lambda: changed(nth(SyncCommitted, kind="simple"), state="paused"),
        "tasks [0, 1] have not stopped",
    ),
    (
        "a copy that deletes",
        lambda: changed(nth(SyncCommitted, kind="simple"), state="deleted"),
        "makes the job deleted, and it is alive",
    ),
    # one plan at a time
    (
        "two plans at once",
        lambda: without(nth(SyncFailed, cause="overtaken")),
        "plans while 5.0.0.0#10 is in progress",
    ),
    # I13
    (
        "a failure that is not counted",
        lambda: changed(nth(SyncFailed, failures=2), failures=1),
        "counts 1 failures, and it is number 2",
    ),
    (
        "an overtaken plan that counts",
        lambda: changed(nth(SyncFailed, cause="overtaken"), failures=1),
        "counts 1 failures, and it is number 0",
    ),
    (
        "a failure of another plan",
        lambda: changed(nth(SyncFailed, failures=2), plan_id="another"),
        "fails another, which is not in progress",
    ),
    (
        "another signature",
        lambda: changed(nth(SyncFailed, failures=1), signature="another"),
        "by another signature",
    ),
    (
        "a refusal that is a plan's",
        lambda: changed(nth(SyncFailed, cause="not-paused"), plan_id="another"),
        "is neither",
    ),
    ("no quarantine", lambda: without(nth(JobQuarantined)), "without a quarantine"),
    (
        "a quarantine too soon",
        lambda: moved(nth(JobQuarantined), nth(SyncFailed, failures=3)),
        "comes without 3 failures in a row",
    ),
    (
        "a quarantine for another cause",
        lambda: changed(nth(JobQuarantined), cause="task-failed"),
        "tells another failure",
    ),
    ("no alert", lambda: without(nth(AlertRaised)), "is without an alert"),
    (
        "no alert at the end",
        lambda: lambda script: script[: nth(AlertRaised)],
        "is without an alert, and the history ends",
    ),
    (
        "an alert that names no version",
        lambda: changed(nth(AlertRaised), cause="orders stands still: stop took too long"),
        "does not name 6.0.0.0",
    ),
    (
        "an alert that names no cause",
        lambda: changed(nth(AlertRaised), details_json='{"step":"stop"}'),
        "does not name step-timeout",
    ),
    (
        "a plan in quarantine",
        lambda: without(nth(JobReleased)),
        "comes though the job is in quarantine and nobody asked for it",
    ),
    (
        "a release that nobody asked for",
        lambda: without(nth(ReleaseRequested)),
        "had read no such wish to release",
    ),
    (
        "a release that was asked for later",
        lambda: moved(nth(JobReleased), nth(ReleaseRequested)),
        "had read no such wish to release",
    ),
    ("a release for another wish", release_of_another_kind, "no such wish to release"),
    (
        "a release without a newer config",
        lambda: changed(nth(JobReleased), change_id=None, versions=LayerVersions(6, 0, 0, 0)),
        "without a newer config and without a request",
    ),
    (
        "a release of nothing",
        lambda: after(nth(AlertCleared), JobReleased("orders", "again", versions=None)),
        "releases a job that is not in quarantine",
    ),
    # operators' requests
    (
        "a refusal of what was served",
        lambda: changed(nth(SyncFailed, cause="not-paused"), change_id="900000.pause"),
        "answers 900000.pause, which has an answer",
    ),
    (
        "two refusals",
        lambda: after(
            nth(SyncFailed, cause="not-paused"), body_of(nth(SyncFailed, cause="not-paused"))
        ),
        "answers 900000.again, which has an answer",
    ),
    (
        "a plan that nobody asked for",
        lambda: without(nth(PauseRequested)),
        "answers 900000.pause, and its author had read no such request",
    ),
    (
        "a copy that nobody asked for",
        lambda: changed(last_pause(), change_id="900000.nobody"),
        "answers 900000.nobody, and its author had read no such request",
    ),
    (
        "a commit without its request",
        lambda: changed(nth(SyncCommitted, kind="complex", state="paused"), change_id=None),
        "serves None, and its plan serves 900000.pause",
    ),
]


@pytest.mark.parametrize(("change", "sentence"), [pytest.param(*one[1:], id=one[0]) for one in BAD])
def test_a_bad_history_is_rejected(change: Callable[[], Change], sentence: str) -> None:
    violations = list(check_syncs(written(change()(good()))))

    assert any(sentence in violation for violation in violations), violations[:5]
