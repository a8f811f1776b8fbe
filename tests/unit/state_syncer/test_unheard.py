"""A job whose tier nobody has: corrected, it moves on within a round, and nothing is passed over
that anybody has begun."""

from __future__ import annotations

import pytest

from components.state_syncer.core import logic_1
from components.state_syncer.core.unheard import GONE_MS, QUIET_MS
from components.state_syncer.core.words import ROUND_MS
from components.state_syncer.decide import DEADLINES_MS, QUARANTINED_AT, decide, wake_ms
from events.generated.records import (
    Body,
    JobQuarantined,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
    SyncStepDone,
)
from tests.unit.state_syncer.fleet import Fleet


@pytest.fixture
def lost() -> Fleet:
    """A job was created in a tier that nobody has: its list stands, and nobody says a word."""
    fleet = Fleet()
    fleet.wants(tier="defualt")
    fleet.decide()
    fleet.lists(2, 2)
    fleet.now_ms += 5_000
    return fleet


def overtaken(fleet: Fleet) -> bool:
    return any(isinstance(body, SyncFailed) and body.cause == "overtaken" for body in fleet.said)


def done(said: list[Body]) -> list[tuple[str, str]]:
    return [(one.name, one.outcome_json) for one in said if isinstance(one, SyncStepDone)]


def test_a_corrected_tier_runs_within_a_round(lost: Fleet) -> None:
    lost.wants()
    failed, planned, _ = lost.decide()
    assert isinstance(failed, SyncFailed)
    assert (failed.cause, failed.failures) == ("overtaken", 0)
    assert failed.explanation == (
        "a newer config names another tier or other regions, and no task was heard of yet"
    )
    assert isinstance(planned, SyncPlanned)
    assert [step.name for step in planned.steps] == ["stop", "start"]
    lost.lists(3, 0)
    assert wake_ms(lost.row, lost.now_ms) == lost.now_ms + QUIET_MS
    lost.now_ms += QUIET_MS - 1
    assert lost.decide() == []
    lost.now_ms += 1
    assert done(lost.decide()) == [("stop", '{"unheard":2}')]
    lost.lists(4, 2)
    lost.started(4, range(2))
    committed = lost.decide()[-1]
    assert isinstance(committed, SyncCommitted)
    assert (committed.state, committed.generation) == ("running", 4)
    assert QUIET_MS <= ROUND_MS


@pytest.mark.parametrize("wrong", [{"tier": "defualt"}, {"allowed_regions": ["nroth"]}])
def test_regions_are_a_place_too(wrong: dict[str, object]) -> None:
    fleet = Fleet()
    fleet.wants(**wrong)
    fleet.decide()
    fleet.wants(allowed_regions=["north"])
    fleet.decide()
    assert overtaken(fleet)


def test_who_was_heard_of_is_brought_to_its_end(lost: Fleet) -> None:
    lost.started(2, [1])
    lost.wants()
    lost.decide()
    assert not overtaken(lost)


def test_in_the_same_place_a_start_is_brought_to_its_end(lost: Fleet) -> None:
    lost.wants(tier="defualt", tasks=3)
    lost.decide()
    assert not overtaken(lost)


def test_nothing_is_passed_over_before_the_list_is_emptied(lost: Fleet) -> None:
    lost.wants()
    lost.decide()
    lost.now_ms += DEADLINES_MS["stop"]
    assert lost.decide() == [], "who holds a shard has not been told yet"
    assert wake_ms(lost.row, lost.now_ms) == lost.now_ms + 1
    lost.lists(3, 0)
    assert lost.decide() == []


def test_one_who_was_heard_of_meanwhile_is_waited_for(lost: Fleet) -> None:
    lost.wants()
    lost.decide()
    lost.lists(3, 0)
    lost.started(2, [0])
    lost.now_ms += QUIET_MS
    assert lost.decide() == []
    lost.stopped(2, [0])
    assert done(lost.decide()) == [("stop", '{"unheard":1}')]


def test_uncorrected_it_is_quarantined_for_its_start(lost: Fleet) -> None:
    for _ in range(QUARANTINED_AT):
        lost.now_ms += DEADLINES_MS["start"] + 1
        lost.decide()
        lost.now_ms += ROUND_MS
        lost.decide()
        if lost.row.plan is not None:
            lost.lists(lost.plan.generation - 1, 0)
            lost.now_ms += QUIET_MS
            lost.decide()
            lost.lists(lost.plan.generation, 2)
    [quarantined] = [body for body in lost.said if isinstance(body, JobQuarantined)]
    assert quarantined.explanation == (
        "start took too long: tasks 0 (not started), 1 (not started)"
    )
    lost.wants()
    lost.decide()
    assert lost.row.plan is not None, "and a corrected one is tried at once"


def test_tasks_that_are_told_to_run_again_are_waited_for() -> None:
    """Whoever ran before may run still, and be heard of by nobody."""
    fleet = Fleet().runs()
    fleet.wants(tasks=3)
    fleet.decide()
    fleet.lists(3, 0)
    fleet.now_ms += DEADLINES_MS["stop"] + 1
    fleet.decide()
    fleet.lists(5, 2)  # the old shape again, and one of them may never have stopped
    fleet.now_ms += ROUND_MS
    fleet.decide()
    fleet.lists(6, 0)
    fleet.now_ms += QUIET_MS
    assert fleet.decide() == []


def moving() -> Fleet:
    """A job that runs is told to run in another tier, and its tasks to stop."""
    fleet = Fleet().runs()
    fleet.wants(tier="other")
    fleet.decide()
    fleet.lists(3, 0)
    return fleet


def test_a_job_moves_although_nobody_is_left_where_it_ran() -> None:
    fleet = moving()
    fleet.stopped(2, [0])
    for wait_ms in (QUIET_MS, GONE_MS - QUIET_MS - 1):
        fleet.now_ms += wait_ms
        assert fleet.decide() == [], "its container may be on its way down"
    assert wake_ms(fleet.row, fleet.now_ms) == fleet.now_ms + 1
    fleet.now_ms += 1
    assert done(fleet.decide()) == [("stop", '{"unheard":1}')]
    assert fleet.plan.step == "start"
    assert DEADLINES_MS["stop"] > GONE_MS


@pytest.mark.parametrize("more", [{"tasks": 3}, {"tier": "other", "paused": True}])
def test_who_does_not_move_waits_for_all(more: dict[str, object]) -> None:
    fleet = Fleet().runs()
    fleet.wants(**more)
    fleet.decide()
    fleet.lists(3, 0)
    fleet.now_ms += GONE_MS
    assert fleet.decide() == []


def test_who_was_not_told_to_stop_is_waited_for() -> None:
    fleet = Fleet().runs()
    fleet.wants(tier="other")
    fleet.decide()
    fleet.now_ms += GONE_MS
    assert fleet.decide() == []


@pytest.mark.parametrize("elsewhere", [{"tier": "other"}, {"allowed_regions": ["north"]}])
def test_to_the_first_logic_another_place_was_only_copied(elsewhere: dict[str, object]) -> None:
    fleet = Fleet().runs()
    fleet.wants(**elsewhere)
    [committed] = logic_1.decide(fleet.row, fleet.now_ms)
    assert isinstance(committed, SyncCommitted)
    assert (committed.kind, committed.generation) == ("simple", 2)
    fleet.decide()
    assert [step.name for step in fleet.planned.steps] == ["stop", "start"]


def test_to_the_first_logic_a_start_was_brought_to_its_end(lost: Fleet) -> None:
    lost.wants()
    assert list(logic_1.decide(lost.row, lost.now_ms)) == []
    assert list(decide(lost.row, lost.now_ms)) != []
