"""What goes wrong, and who is told: failures, quarantine, release, and requests of operators."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from components.state_syncer.core import logic_1
from components.state_syncer.core.words import ROUND_MS
from components.state_syncer.decide import (
    DEADLINES_MS,
    QUARANTINED_AT,
    component,
    decide,
    wake_ms,
)
from events.generated.records import (
    AlertRaised,
    JobQuarantined,
    JobReleased,
    PauseRequested,
    ReleaseRequested,
    ResumeRequested,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
    SyncStepStarted,
)
from events.topics import JOURNAL
from projections.ingress import WAITING
from tests.unit.state_syncer.fleet import Fleet
from turbine_client.creating import MAKES


@pytest.fixture
def fleet() -> Fleet:
    return Fleet().runs()


def failing(fleet: Fleet) -> Fleet:
    """A change whose tasks never stop failed as often as it is tried."""
    fleet.wants(tasks=3)
    for _ in range(QUARANTINED_AT):
        fleet.decide()
        fleet.now_ms += DEADLINES_MS["stop"] + 1
        fleet.decide()
        fleet.now_ms += ROUND_MS
    return fleet


def test_a_step_that_takes_too_long_fails_the_plan_and_the_old_config_stands(fleet: Fleet) -> None:
    before = fleet.row.running
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.stopped(2, [0])
    fleet.now_ms += DEADLINES_MS["stop"]
    assert fleet.decide() == []
    fleet.now_ms += 1
    (failed,) = fleet.decide()
    assert isinstance(failed, SyncFailed)
    assert (failed.cause, failed.name, failed.failures) == ("step-timeout", "stop", 1)
    assert failed.explanation == "stop took too long: tasks 1 (not stopped)"
    assert fleet.row.running == before
    assert fleet.row.plan is None


def test_it_is_tried_again_in_the_next_round(fleet: Fleet) -> None:
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.now_ms += DEADLINES_MS["stop"] + 1
    fleet.decide()
    assert wake_ms(fleet.row, fleet.now_ms) == fleet.now_ms + ROUND_MS
    fleet.now_ms += ROUND_MS - 1
    assert fleet.decide() == []
    fleet.now_ms += 1
    (planned, _) = fleet.decide()
    assert isinstance(planned, SyncPlanned)
    assert planned.attempt == 2


def test_who_asks_again_does_not_wait_for_the_next_round(fleet: Fleet) -> None:
    asked = fleet.asks(PauseRequested)
    fleet.decide()
    fleet.now_ms += DEADLINES_MS["stop"] + 1
    fleet.decide()
    assert fleet.decide() == [], "by itself it waits"
    again = fleet.asks(PauseRequested, "again")
    planned = next(body for body in fleet.decide() if isinstance(body, SyncPlanned))
    assert asked != again == planned.change_id
    assert (planned.intent, planned.attempt) == ("pause", 2)


def test_a_success_begins_the_count_of_failures_anew(fleet: Fleet) -> None:
    """Also that of the same plan, should it be wanted once more."""
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.now_ms += DEADLINES_MS["stop"] + 1
    fleet.decide()
    fleet.now_ms += ROUND_MS
    fleet.decide()
    for now, before in ((3, 2), (2, 3)):
        running = fleet.row.running
        assert running is not None
        fleet.stopped(running.generation, range(before))
        fleet.decide()
        fleet.lists(fleet.plan.generation, now)
        fleet.started(fleet.plan.generation, range(now))
        fleet.decide()
        fleet.wants(tasks=before)
        fleet.decide()
    fleet.now_ms += DEADLINES_MS["stop"] + 1
    (failed,) = fleet.decide()
    assert isinstance(failed, SyncFailed)
    assert failed.failures == 1


def test_the_third_failure_quarantines_the_job_and_names_version_step_and_cause(
    fleet: Fleet,
) -> None:
    failing(fleet)
    quarantined = next(body for body in fleet.said if isinstance(body, JobQuarantined))
    alert = next(body for body in fleet.said if isinstance(body, AlertRaised))
    assert quarantined.failures == QUARANTINED_AT
    assert fleet.kinds().count("JobQuarantined") == 1
    for word in ("2.0.0.0", "stop", "took too long"):
        assert word in alert.cause
    assert json.loads(alert.details_json)["versions"] == "2.0.0.0"
    fleet.now_ms += 100 * ROUND_MS
    assert fleet.decide() == []
    assert wake_ms(fleet.row, fleet.now_ms) is None


def test_a_newer_config_ends_the_quarantine(fleet: Fleet) -> None:
    failing(fleet).kinds()
    fleet.wants(tasks=4)
    released, cleared, planned, _ = fleet.decide()
    assert isinstance(released, JobReleased)
    assert (released.change_id, released.versions and released.versions.base) == (None, 3)
    assert getattr(cleared, "alert", "") == "job-quarantined"
    assert isinstance(planned, SyncPlanned)
    assert planned.attempt == 1


def test_an_operator_ends_the_quarantine(fleet: Fleet) -> None:
    failing(fleet).kinds()
    asked = fleet.asks(ReleaseRequested)
    released, _, planned, _ = fleet.decide()
    assert isinstance(released, JobReleased)
    assert (released.change_id, released.author, released.reason) == (asked, "ann", "why")
    assert isinstance(planned, SyncPlanned)
    assert planned.attempt == 1


def test_a_task_that_fails_for_good_fails_the_plan_at_once() -> None:
    fleet = Fleet()
    fleet.wants()
    fleet.decide()
    fleet.lists(2, 2)
    fleet.started(2, [0])
    fleet.failed(2, 1, pause_ms=1_000)
    assert fleet.decide() == [], "it will be tried again"
    fleet.failed(2, 1)
    (failed,) = fleet.decide()
    assert isinstance(failed, SyncFailed)
    assert (failed.cause, failed.name) == ("task-failed", "start")
    assert failed.explanation == "task 1 failed for good: division by zero"


def test_a_start_that_failed_stops_what_it_started_before_the_next_try() -> None:
    fleet = Fleet()
    fleet.wants()
    fleet.decide()
    fleet.lists(2, 2)
    fleet.started(2, [0])
    fleet.failed(2, 1)
    fleet.decide()
    fleet.now_ms += ROUND_MS
    (planned, _) = fleet.decide()
    assert isinstance(planned, SyncPlanned)
    assert [step.name for step in planned.steps] == ["stop", "start"]


def test_failures_of_another_plan_do_not_add_up(fleet: Fleet) -> None:
    for tasks in (3, 4, 5, 6):
        fleet.wants(tasks=tasks)
        fleet.decide()
        fleet.now_ms += DEADLINES_MS["stop"] + 1
        fleet.decide()
    assert "JobQuarantined" not in fleet.kinds()


def test_what_is_said_of_another_plan_changes_nothing_of_this_one(fleet: Fleet) -> None:
    fleet.wants(tasks=3)
    _, begun = fleet.decide()
    assert isinstance(begun, SyncStepStarted)
    fleet.now_ms += DEADLINES_MS["stop"] + 1
    failed = next(iter(decide(fleet.row, fleet.now_ms)))
    assert isinstance(failed, SyncFailed)
    before = fleet.row
    for body in (replace(begun, step=7), failed):
        fleet.tell(JOURNAL, replace(body, plan_id="another"))
    assert fleet.row == before


def test_an_operator_pauses_and_resumes(fleet: Fleet) -> None:
    asked = fleet.asks(PauseRequested)
    (planned, _) = fleet.decide()
    assert isinstance(planned, SyncPlanned)
    assert (planned.intent, planned.change_id) == ("pause", asked)
    fleet.stopped(2, range(2))
    (_, committed) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert (committed.state, committed.change_id) == ("paused", asked)
    fleet.wants(priority=3)
    (committed,) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert committed.state == "paused", "a change does not wake what an operator has paused"
    fleet.asks(ResumeRequested, "again")
    (planned, _) = fleet.decide()
    assert isinstance(planned, SyncPlanned)
    assert (planned.intent, [step.name for step in planned.steps]) == ("resume", ["start"])


def test_a_pause_that_has_nothing_to_do_is_in_effect_at_once(fleet: Fleet) -> None:
    fleet.wants(paused=True)
    fleet.decide()
    fleet.stopped(2, range(2))
    fleet.decide()
    asked = fleet.asks(PauseRequested)
    (committed,) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert (committed.state, committed.change_id, committed.kind) == ("paused", asked, "simple")
    fleet.wants()
    (committed,) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert committed.state == "paused", "the operator's word outlives the config's"


def test_a_resume_of_what_the_config_pauses_too_leaves_it_to_the_config(fleet: Fleet) -> None:
    fleet.asks(PauseRequested)
    fleet.decide()
    fleet.stopped(2, range(2))
    fleet.decide()
    fleet.wants(paused=True)
    fleet.decide()
    fleet.asks(ResumeRequested, "again")
    (committed,) = fleet.decide()
    assert isinstance(committed, SyncCommitted)
    assert committed.state == "paused"
    fleet.wants()
    (planned, _) = fleet.decide()
    assert isinstance(planned, SyncPlanned)
    assert planned.intent == "resume"


def test_many_that_live_are_no_flood_while_none_waits(fleet: Fleet) -> None:
    for number in range(2 * WAITING):
        asked = fleet.asks(ReleaseRequested, f"ask{number}")
        [refused] = fleet.decide()
        assert (refused.change_id, refused.cause) == (asked, "not-quarantined")


def test_more_than_may_wait_are_refused(fleet: Fleet) -> None:
    for number in range(WAITING + 1):
        fleet.asks(ReleaseRequested, f"ask{number}")
    refused = [body for body in fleet.decide() if isinstance(body, SyncFailed)]
    assert [one.cause for one in refused] == ["not-quarantined"] * WAITING + ["overloaded"]
    said = "too many requests about this job are waiting; ask again later"
    assert refused[-1].explanation == said


def test_to_the_first_logic_many_that_live_were_a_flood() -> None:
    fleet = Fleet(logic_1.fold)
    for number in range(WAITING + 1):
        fleet.asks(ReleaseRequested, f"ask{number}")
        [then] = logic_1.decide(fleet.row, fleet.now_ms)
        assert isinstance(then, SyncFailed)
        fleet.tell(JOURNAL, then)
    assert then.cause == "overloaded"
    assert logic_1.component.logic == "state-syncer/1" != component.logic


def test_a_pause_waits_for_a_start_that_is_under_way() -> None:
    fleet = Fleet()
    fleet.wants()
    fleet.decide()
    fleet.asks(PauseRequested)
    assert fleet.decide() == []
    fleet.lists(2, 2)
    fleet.started(2, range(2))
    fleet.kinds()
    fleet.decide()
    assert fleet.planned.intent == "pause"
    ended = ["SyncStepDone", "SyncCommitted"]
    assert fleet.kinds() == [*ended, "SyncPlanned", "SyncStepStarted"]


@pytest.mark.parametrize(
    ("kind", "cause"),
    [(ResumeRequested, "not-paused"), (ReleaseRequested, "not-quarantined")],
)
def test_a_request_without_an_object_is_refused_in_a_sentence(
    fleet: Fleet, kind: type, cause: str
) -> None:
    asked = fleet.asks(kind)
    (refused,) = fleet.decide()
    assert isinstance(refused, SyncFailed)
    assert (refused.cause, refused.change_id) == (cause, asked)
    assert refused.explanation.endswith("so there is nothing to do")
    assert fleet.row.ingress.waiting == ()


def test_a_request_about_no_job_is_refused() -> None:
    fleet = Fleet()
    fleet.asks(PauseRequested)
    (refused,) = fleet.decide()
    assert isinstance(refused, SyncFailed)
    assert refused.cause == "no-such-job"
    assert refused.explanation.endswith(MAKES), "commands find it there, and say what helps"


def test_a_request_that_comes_too_late_is_refused(fleet: Fleet) -> None:
    fleet.asks(PauseRequested)
    fleet.now_ms += 60_001
    (refused,) = fleet.decide()
    assert isinstance(refused, SyncFailed)
    assert refused.cause == "too-late"
    assert fleet.row.held is False
