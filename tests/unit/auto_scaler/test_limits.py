"""What limits the auto scaler: people, grants, budgets, turns, and what its tier asks for."""

from __future__ import annotations

import json
from typing import Any

from components.auto_scaler.core.acting import BUDGET, BUDGET_LATE, TURNS, turn
from components.auto_scaler.decide import wake_ms
from events.generated.records import (
    ScalingDecided,
    ScalingDeclined,
    ScalingVerified,
)
from projections.scaling.actions import JobSize
from tests.unit.auto_scaler.desk import MINUTE_MS, Desk


def declines(desk: Desk) -> list[ScalingDeclined]:
    return [one for one in desk.said if isinstance(one, ScalingDeclined)]


def threads(size: JobSize) -> int:
    return size.tasks * size.threads


def test_what_people_have_set_is_never_fought() -> None:
    desk = Desk().runs()
    keys: dict[str, Any] = {"tasks": 4, "threads_per_task": 1, "resources": {"cpu_cores": 0.25}}
    desk.wants("oncall", **keys)
    desk.commit()
    desk.minutes(12, 4_000.0, busy_share=0.9)
    desk.minutes(1, 4_400.0, busy_share=1.0, lag_records=200_000, lag_ms=60_000)
    said = declines(desk)[-1]
    assert (said.action, said.reason) == ("scale-up", "oncall")
    assert said.constraints[-1].name == "oncall"
    assert desk.owed() == []
    desk.expires(**keys)
    assert desk.row.config.oncall >= {"tasks", "threads_per_task"}
    desk.expires()
    desk.commit()
    desk.minutes(1, 4_400.0, busy_share=1.0, lag_records=200_000, lag_ms=60_000)
    assert isinstance(desk.last(ScalingDecided), ScalingDecided)


def test_a_part_of_a_change_is_not_made_where_it_would_be_the_opposite() -> None:
    """Fewer threads for more tasks is no less only with the tasks."""
    desk = Desk().runs(tasks=2, threads_per_task=8, resources={"cpu_cores": 8.0})
    desk.wants("oncall", tasks=2)
    desk.commit()
    before = desk.row.size
    assert before is not None
    desk.minutes(30, 9_000.0, busy_share=0.9)
    for body in desk.said:
        if isinstance(body, ScalingDecided):
            desk.carry_out()
            after = desk.row.size
            assert after is not None
            assert after.tasks == 2
            assert threads(after) * 1_000 > 9_000


def test_a_grant_limits_growth_and_says_so() -> None:
    desk = Desk().runs(threads_per_task=6, resources={"cpu_cores": 1.5})
    desk.grants(5)
    body = desk.grows()
    assert body.final_tasks == 5
    [grant] = [one for one in body.constraints if one.name == "grant"]
    assert (grant.before > 5, grant.after) == (True, 5.0)
    assert "so it is" in grant.note


def test_who_may_have_no_more_is_declined_with_the_grant() -> None:
    desk = Desk().runs(threads_per_task=6, resources={"cpu_cores": 1.5})
    desk.grants(4)
    desk.minutes(12, 4_000.0, busy_share=0.9)
    desk.minutes(1, 4_400.0, busy_share=1.0, lag_records=200_000, lag_ms=60_000)
    said = declines(desk)[-1]
    assert said.reason == "at-limit"
    assert [one.name for one in said.constraints if one.before > one.after][-1] == "grant"


def test_a_grant_is_over_when_it_says_so() -> None:
    desk = Desk().runs(threads_per_task=6, resources={"cpu_cores": 1.5})
    desk.grants(4, until_ms=desk.now_ms + 3 * MINUTE_MS)
    assert wake_ms(desk.row, desk.now_ms) == desk.now_ms + 3 * MINUTE_MS
    assert desk.grows().final_tasks > 4


def test_a_job_has_so_many_changes_an_hour() -> None:
    desk = Desk().runs()
    late = {"busy_share": 1.0, "lag_records": 200_000, "lag_ms": 60_000}
    desk.minutes(12, 4_000.0, busy_share=0.9)
    spent = tuple(desk.now_ms - at * MINUTE_MS for at in range(BUDGET, 0, -1))
    desk.row = desk.row._replace(restarts=spent)
    desk.minutes(1, 4_400.0, **late)
    said = declines(desk)[-1]
    assert (said.action, said.reason) == ("scale-up", "budget")
    assert said.until_ms == spent[0] + 60 * MINUTE_MS
    desk.minutes(1, 4_400.0, **late | {"lag_ms": 91_000})
    assert len(desk.owed()) == 1, "one that breaks its promise is not left there"


def test_who_has_spent_more_than_its_budget_waits_until_less_is_spent() -> None:
    """As one that was late, and had more then, and is not late any more."""
    desk = Desk().runs()
    desk.minutes(12, 4_000.0, busy_share=0.9)
    spent = tuple(desk.now_ms - at * MINUTE_MS for at in range(BUDGET + 2, 0, -1))
    desk.row = desk.row._replace(restarts=spent)
    desk.minutes(1, 4_400.0, busy_share=1.0, lag_records=200_000, lag_ms=60_000)
    said = declines(desk)[-1]
    assert said.reason == "budget"
    assert said.until_ms == spent[2] + 60 * MINUTE_MS


def test_even_who_breaks_its_promise_has_a_budget() -> None:
    desk = Desk().runs()
    desk.minutes(12, 4_000.0, busy_share=0.9)
    spent = tuple(desk.now_ms - at * 1_000 for at in range(BUDGET_LATE, 0, -1))
    desk.row = desk.row._replace(restarts=spent)
    desk.minutes(1, 4_400.0, busy_share=1.0, lag_records=200_000, lag_ms=120_000)
    assert declines(desk)[-1].reason == "budget"
    assert desk.owed() == []


def test_a_change_is_not_said_to_be_followed_by_one_that_has_to_wait() -> None:
    desk = Desk().runs()
    desk.grows()
    desk.carry_out()
    desk.said.clear()
    spent = tuple(desk.now_ms - at * 1_000 for at in range(BUDGET_LATE, 0, -1))
    desk.row = desk.row._replace(restarts=spent)
    more = {"busy_share": 1.0, "lag_records": 900_000, "lag_ms": 120_000}
    desk.minutes(2, 14_000.0, **more)
    assert not [one for one in desk.said if isinstance(one, ScalingVerified)]
    assert desk.row.change is not None, "its outcome is still waited for"
    desk.row = desk.row._replace(restarts=())
    desk.minutes(1, 14_000.0, **more | {"lag_records": 1_500_000})
    assert [kind for kind in desk.kinds() if kind != "AlertRaised"] == [
        "ScalingVerified",
        "ScalingDecided",
    ]


def test_jobs_take_turns_in_being_made_smaller() -> None:
    desk = Desk().runs(tasks=16)
    desk.minutes(40, 1_000.0, busy_share=0.1)
    said = [one for one in desk.said if getattr(one, "action", "") == "scale-down"]
    assert isinstance(said[-1], ScalingDecided)
    for waiting in said[:-1]:
        assert isinstance(waiting, ScalingDeclined)
        assert waiting.reason == "staggered"
        assert waiting.until_ms is not None
    names, now_ms = [f"job-{at}" for at in range(1_000)], 7 * MINUTE_MS
    free = [name for name in names if turn(name, MINUTE_MS, now_ms) == now_ms]
    assert abs(len(free) - 1_000 / TURNS) < 60
    for name in names:
        at_ms = turn(name, MINUTE_MS, now_ms)
        assert at_ms - now_ms < TURNS * MINUTE_MS
        assert turn(name, MINUTE_MS, at_ms) == at_ms


def test_what_a_policy_says_of_one_moment_waits_for_no_turn() -> None:
    """Flink shrinks a job an hour after it could, says so once, and counts anew from then."""
    desk = Desk().runs(tasks=16, policy={"name": "flink"})
    desk.minutes(120, 2_000.0, busy_share=0.125)
    assert (desk.last(ScalingDecided).action, desk.last(ScalingDecided).policy) == (
        "scale-down",
        "flink",
    )


def test_who_has_a_process_of_its_own_keeps_the_memory_that_it_takes() -> None:
    desk = Desk().runs(tasks=16, isolation="process", resources={"memory_mb": 1_024})
    desk.minutes(40, 1_000.0, busy_share=0.1, memory_bytes=100 * 2**20)
    asked = desk.last(ScalingDecided)
    made = json.loads(asked.set_json).get("resources", {})
    assert made.get("memory_mb", 896) == 896


# --- the capacity manager


def test_a_job_that_has_to_stop_stops_and_comes_back() -> None:
    desk = Desk().runs()
    desk.minutes(3, 4_000.0)
    desk.said.clear()
    desk.preempts()
    [asked] = desk.decide()
    assert isinstance(asked, ScalingDecided)
    assert (asked.action, asked.diagnosis) == ("stop", "preempted")
    assert asked.set_json == '{"paused":true}'
    desk.carry_out()
    [verified] = desk.decide()
    assert isinstance(verified, ScalingVerified)
    assert desk.decide() == []
    desk.grants(None)
    [asked] = desk.decide()
    assert isinstance(asked, ScalingDecided)
    assert (asked.action, asked.clear, asked.set_json) == ("resume", ("paused",), "{}")
    desk.carry_out()
    assert desk.row.config.facts is not None
    assert desk.row.config.facts.paused is False


def test_a_stop_does_not_wait_for_the_outcome_of_a_change() -> None:
    desk = Desk().runs()
    body = desk.grows()
    desk.carry_out()
    desk.preempts()
    desk.now_ms += 2 * MINUTE_MS
    given_up, asked = desk.decide()
    assert isinstance(given_up, ScalingDeclined)
    assert (given_up.reason, given_up.change_id) == ("overtaken", body.change_id)
    assert isinstance(asked, ScalingDecided)
    assert asked.action == "stop"


def test_a_stop_holds_in_every_mode_but_not_against_people() -> None:
    desk = Desk().runs(policy={"mode": "off"})
    desk.preempts()
    [asked] = desk.decide()
    assert isinstance(asked, ScalingDecided)
    desk = Desk().runs()
    desk.wants("oncall", paused=False)
    desk.commit()
    desk.preempts()
    [said] = desk.decide()
    assert isinstance(said, ScalingDeclined)
    assert (said.action, said.reason) == ("stop", "oncall")


def test_a_job_that_has_to_shrink_shrinks() -> None:
    desk = Desk().runs()
    desk.preempts("shrink", 2)
    [asked] = desk.decide()
    assert isinstance(asked, ScalingDecided)
    assert (asked.action, asked.final_tasks) == ("scale-down", 2)
    desk.carry_out()
    desk.decide()
    assert desk.row.size is not None
    assert desk.row.size.tasks == 2
