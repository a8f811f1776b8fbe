"""What a job's state could not go along to is refused at the change, with the remedy."""

from __future__ import annotations

from typing import Any

import pytest

from components.job_service.core import logic_1
from components.job_service.decide import component, decide
from events.generated.records import (
    Generation,
    JobConfigChanged,
    JobConfigRejected,
    LayerVersions,
    OverrideExpired,
    SyncCommitted,
    SyncPlanned,
    TaskStarted,
)
from events.topics import JOURNAL, TASKS
from tests.unit.job_service.desk import NOW_MS, SMALLEST, Desk

OTHER = {"operator": "examples.counts:other"}
SQL = {"sql": "SELECT key, count(*) FROM clicks GROUP BY key"}
TWO = [{"topic": "clicks", "partitions": 4}, {"topic": "views", "partitions": 4}]
WISH = '{"at_ms":1,"id":"9.a","to":"earliest"}'
OPERATOR = (
    "operator: the job keeps state, and another operator or query would take it for what it is not;"
    " let the old one stand and bring new code as a version of its package, or make the new one a"
    " job of another name"
)
TASKS_MANY = (
    "tasks: the job keeps state of 2 inputs, whose equal numbers have to meet in one task; set it"
    " to at most 4"
)
ASSIGNMENT = (
    "assignment: the job keeps state, for which equal numbers of all inputs have to meet in one"
    " task; assign them so"
)
REMEDY = (
    "; or give the state up: pause the job, have all inputs read anew (`turbine reset job orders"
    " --to earliest --reason R`), and change it then"
)
REMEDY_GONE = (
    "; the state is that of the deleted job of this name; or give the state up: create the job as"
    " it was with `paused: true`, have all inputs read anew (`turbine reset job orders --to"
    " earliest --reason R`), and change it then"
)


def keeping(*, keeps: bool | None = True, **config: Any) -> Desk:
    """It runs as it was asked for, and its tasks have said what they keep."""
    desk = Desk(alive=False)
    assert isinstance(desk.ask("base", set_=SMALLEST | config), JobConfigChanged)
    desk.hear(TASKS, started(2, keeps))
    commit(desk, "running", 2)
    return desk


def started(generation: int, keeps: bool | None) -> TaskStarted:
    return TaskStarted("orders", 0, Generation(generation, 1), "c1", 1, keeps_state=keeps)


def commit(desk: Desk, state: str, generation: int, reset: str = "") -> None:
    desk.hear(
        JOURNAL,
        SyncCommitted(
            job="orders",
            plan_id="p",
            kind="complex",
            versions=desk.job.versions,
            generation=generation,
            running_json="{}" if state == "deleted" else desk.job.expected_json,
            state=state,
            tasks=1,
            reset_json=reset,
        ),
    )


def planned(reset: str) -> SyncPlanned:
    versions = LayerVersions(1, 0, 0, 0)
    return SyncPlanned(
        *("orders", "p", "s", "complex", "reset"), versions, 4, (), "{}", reset_json=reset
    )


def test_another_operator() -> None:
    desk = keeping()
    assert desk.refusal("base", set_=OTHER) == ("state-stays", "operator", OPERATOR + REMEDY)


@pytest.mark.parametrize(
    ("before", "change", "path", "sentence"),
    [
        ({"operator": SQL}, {"operator": {"sql": "SELECT 1"}}, "operator", OPERATOR),
        (
            {},
            {"checkpoint": {"root": "/elsewhere"}},
            "checkpoint.root",
            'checkpoint.root: the job keeps state, which lies in "/checkpoints"; let that stand',
        ),
        (
            {"inputs": TWO},
            {"tasks": 5},
            "tasks",
            TASKS_MANY,
        ),
        (
            {"inputs": TWO},
            {"tasks": 2, "assignment": [["clicks/0", "views/1"], ["clicks/1", "views/0"]]},
            "assignment",
            ASSIGNMENT,
        ),
    ],
)
def test_each_thing_with_its_place(
    before: dict[str, Any], change: dict[str, Any], path: str, sentence: str
) -> None:
    refusal = keeping(**before).refusal("base", set_=change)
    assert refusal == ("state-stays", path, sentence + REMEDY)
    for keeps in (False, None):  # one that keeps nothing, or does not know
        answer = keeping(keeps=keeps, **before).ask("base", set_=change)
        assert isinstance(answer, JobConfigChanged)


@pytest.mark.parametrize("layer", ["provisioner", "scaler", "oncall"])
def test_whoever_asks_for_it(layer: str) -> None:
    assert keeping().refusal(layer, set_=OTHER)[:2] == ("state-stays", "operator")


@pytest.mark.parametrize(
    "change",
    [
        {"tasks": 7},
        {"paused": True},
        {"inputs": TWO},
        {"arguments": ["--window", "1 hour"]},
        {"package": {"name": "counts", "version": "2.0.0"}},
        {"operator": {"sql": "select key,count( * ) from clicks -- all\n group by key"}},
        {"checkpoint": {"root": "/checkpoints/"}},
    ],
)
def test_what_leaves_state_where_it_is_is_accepted(change: dict[str, Any]) -> None:
    operator = SQL if "operator" in change else SMALLEST["operator"]
    answer = keeping(operator=operator).ask("base", set_=change)
    assert isinstance(answer, JobConfigChanged)


def test_a_job_that_does_not_run_yet() -> None:
    assert isinstance(Desk().ask("base", set_=OTHER), JobConfigChanged)


# --- who is created again


def deleted(*, gone: bool, **more: Any) -> Desk:
    """It was deleted while it ran, and perhaps is gone by now."""
    desk = keeping(**more)
    desk.delete()
    if gone:
        commit(desk, "deleted", 4)
    return desk


@pytest.mark.parametrize("gone", [False, True])
def test_who_is_created_again_is_kept_to_it_whenever_that_is(gone: bool) -> None:
    desk = deleted(gone=gone)
    found = desk.refusal("base", set_=SMALLEST | OTHER)
    assert found == ("state-stays", "operator", OPERATOR + REMEDY_GONE)
    assert isinstance(desk.ask("base", set_=SMALLEST), JobConfigChanged)


@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("keeps", [False, None])
def test_who_kept_nothing_may_be_created_as_another(gone: bool, keeps: bool | None) -> None:
    desk = deleted(gone=gone, keeps=keeps)
    assert isinstance(desk.ask("base", set_=SMALLEST | OTHER), JobConfigChanged)


@pytest.mark.parametrize("gone", [False, True])
def test_a_reset_that_was_in_effect_by_then_takes_nothing_back(gone: bool) -> None:
    desk = keeping()
    desk.hear(JOURNAL, planned(WISH))
    desk.hear(TASKS, started(4, True))
    commit(desk, "running", 4, WISH)
    desk.delete()
    if gone:
        commit(desk, "deleted", 6)
    assert desk.refusal("base", set_=SMALLEST | OTHER)[0] == "state-stays"


def test_a_reset_that_nobody_had_begun_ends_with_the_job() -> None:
    desk = keeping()
    desk.hear(JOURNAL, planned(WISH))
    desk.delete()
    assert desk.refusal("base", set_=SMALLEST | OTHER)[0] == "state-stays"


def test_the_remedy_for_who_is_gone_helps() -> None:
    desk = deleted(gone=True)
    assert isinstance(desk.ask("base", set_=SMALLEST | {"paused": True}), JobConfigChanged)
    commit(desk, "paused", 4)
    assert desk.refusal("base", set_=OTHER)[0] == "state-stays"
    commit(desk, "paused", 4, WISH)
    assert isinstance(desk.ask("base", set_=OTHER), JobConfigChanged)


# --- who gives the state up


def test_it_is_given_up_by_a_reset_while_the_job_is_paused() -> None:
    desk = keeping()
    commit(desk, "paused", 4)
    assert desk.refusal("base", set_=OTHER)[0] == "state-stays"
    commit(desk, "paused", 4, WISH)
    assert isinstance(desk.ask("base", set_=OTHER), JobConfigChanged)


def test_what_ran_before_the_reset_and_is_heard_after_it_keeps_nothing() -> None:
    desk = keeping(keeps=None)
    commit(desk, "paused", 4, WISH)
    desk.hear(TASKS, started(4, True))
    assert isinstance(desk.ask("base", set_=OTHER), JobConfigChanged)


def test_once_it_runs_again_it_keeps_state_again() -> None:
    desk = keeping()
    commit(desk, "paused", 4, WISH)
    desk.hear(TASKS, started(6, True))
    commit(desk, "running", 6, WISH)
    assert desk.refusal("base", set_=OTHER)[0] == "state-stays"


def test_a_reset_of_a_job_that_runs_leaves_it_what_its_next_tasks_keep() -> None:
    desk = keeping()
    desk.hear(JOURNAL, planned(WISH))
    assert isinstance(desk.ask("base", set_={"tasks": 2}), JobConfigChanged)
    desk.hear(TASKS, started(4, True))
    commit(desk, "running", 4, WISH)
    assert desk.refusal("base", set_=OTHER)[0] == "state-stays"


def test_a_reset_that_is_not_in_effect_yet_takes_the_change_along() -> None:
    desk = keeping()
    desk.hear(JOURNAL, planned(WISH))
    assert isinstance(desk.ask("base", set_=OTHER), JobConfigChanged)


# --- who is to blame


def test_whoever_changes_something_else_is_not_to_blame() -> None:
    """It was accepted before anybody knew of any state, and the state syncer refuses it."""
    desk = keeping(keeps=None)
    desk.ask("base", set_=OTHER)
    desk.hear(TASKS, started(2, True))
    assert isinstance(desk.ask("oncall", set_={"priority": 7}), JobConfigChanged)
    again = desk.refusal("base", set_={"operator": "examples.counts:third"})
    assert again[:2] == ("state-stays", "operator")
    back = desk.ask("base", set_={"operator": SMALLEST["operator"]})
    assert isinstance(back, JobConfigChanged)


def test_what_an_override_hides_until_it_expires() -> None:
    desk = keeping()
    operator = SMALLEST["operator"]
    desk.ask("oncall", set_={"operator": operator}, expires_ms=NOW_MS + 60_000)
    reason, path, sentence = desk.refusal("base", set_=OTHER)
    assert (reason, path) == ("state-stays", "operator")
    assert sentence == f"once the oncall override expires, {OPERATOR}{REMEDY}"
    desk.now_ms += 60_000
    [expired] = desk.decide()
    assert isinstance(expired, OverrideExpired)


def test_a_config_that_is_not_valid_is_told_so_first() -> None:
    assert keeping().refusal("base", set_=OTHER | {"tasks": "x"})[:2] == ("invalid", "tasks")


# --- what was decided before


def test_the_first_logic_neither_reads_tasks_nor_refuses() -> None:
    desk = keeping()
    desk.put("base", set_=OTHER)
    [then] = logic_1.decide(desk.job, NOW_MS)
    [now] = decide(desk.job, NOW_MS)
    assert isinstance(then, JobConfigChanged)
    assert isinstance(now, JobConfigRejected)
    assert component.inputs - logic_1.component.inputs == {TASKS}
