"""Who may have how much: nobody has a limit where there is plenty, and all where it is tight."""

from __future__ import annotations

from itertools import pairwise

import pytest

from components.capacity_manager.core.sharing import LIMITS_MOST
from events.generated.records import (
    CapacityGranted,
    CapacityReported,
    CapacityShared,
    DrainRequested,
    UndrainRequested,
)
from events.wire.codec import VALUE_BYTES_MAX, encode
from projections.capacity import PLENTY, SHORT, TIGHT, UNKNOWN
from tests.unit.capacity_manager.tiers import CORES, MINUTE_MS, STEP_MS, Tale, of


def state_of(tale: Tale) -> str:
    assert tale.row.said is not None
    return tale.row.said.state


def tight(**jobs: int) -> Tale:
    """A tier of 100 cores in which so many tasks of a core each run, and limits are told."""
    tale = Tale()
    tale.start(*(f"c{n}" for n in range(10)), capacity=CORES)
    for name, tasks in jobs.items():
        tale.job(name, tasks)
    tale.settle()
    assert state_of(tale) == TIGHT
    return tale


@pytest.mark.parametrize(
    ("tasks", "state"), [(84, PLENTY), (85, TIGHT), (100, TIGHT), (101, SHORT)]
)
def test_both_sides_of_what_is_tight_and_what_is_short(tasks: int, state: str) -> None:
    tale = Tale()
    tale.start(*(f"c{n}" for n in range(10)))
    tale.job("a", tasks, most=tasks)
    tale.settle()
    assert state_of(tale) == state
    assert tale.grants() == ({} if state == PLENTY else {"a": tasks})


def test_head_room_that_placement_keeps_is_not_shared_out() -> None:
    tale = Tale(settings='{"headroom":100}')
    tale.start("c0")
    tale.job("a", 8)  # 8 of 9 usable cores
    tale.settle()
    assert state_of(tale) == TIGHT


def test_where_no_container_says_what_it_holds_nothing_is_limited() -> None:
    tale = Tale()
    tale.start("c0", capacity={})
    tale.job("a", 30)
    tale.settle()
    tale.wait(20)
    assert state_of(tale) == UNKNOWN
    assert tale.grants() == {}


def test_what_is_used_beyond_what_is_reserved_counts() -> None:
    tale = Tale()
    tale.start("c0")
    tale.job("a", 2)
    tale.settle()
    assert state_of(tale) == PLENTY
    tale.use("c0", 9.0)
    tale.later()
    assert state_of(tale) == TIGHT
    assert tale.grants() == {"a": 2}


def test_everyone_keeps_what_it_has_and_the_important_ones_get_the_rest() -> None:
    tale = tight(low=30, high=30, big=30)  # 10 cores are left
    tale.job("high", 30, priority=90)
    tale.job("big", 30, priority=10, privileged=True)
    tale.wish("low", 36, 30)
    tale.wish("high", 34, 30)
    tale.wish("big", 35, 30)
    tale.later()
    # The privileged one first, then by priority; what does not fit is given in part.
    assert tale.grants() == {"big": 35, "high": 34, "low": 31}
    tale.job("low", 30, priority=91)
    tale.later()
    assert tale.grants() == {"big": 35, "high": 30, "low": 35}


def test_a_wish_is_granted_as_far_as_there_is_room_and_no_further() -> None:
    tale = tight(a=88, b=3, c=3)
    tale.job("a", 88, priority=1)
    tale.wish("c", 9, 3)
    tale.wish("b", 5, 3)
    tale.later()
    assert tale.grants() == {"a": 88, "b": 5, "c": 7}
    granted = of(CapacityShared, tale.said)[-1].limits
    assert [(one.job, one.tasks_max, one.tasks_wanted) for one in granted] == [
        ("b", 5, 5),
        ("c", 7, 9),
    ]
    assert granted[0].resources[0].amount == 5.0


def test_a_large_task_gets_only_whole_ones() -> None:
    tale = tight(a=93)
    tale.job("b", 1, cores=2.0)
    tale.wish("b", 9, 1)
    tale.later()
    assert tale.grants()["b"] == 3  # 5 cores are left: two tasks more


def test_what_was_granted_and_is_not_used_yet_is_not_taken_back_by_a_report_of_loads() -> None:
    tale = Tale(settings='{"headroom":100}')
    tale.start(*(f"c{n}" for n in range(10)))
    tale.job("a", 80)
    tale.job("b", 2)
    tale.settle()
    tale.wish("b", 10, 2)
    tale.later()
    assert tale.grants()["b"] == 10  # 90 are usable
    tale.use("c0", 86.0)  # 4 are left of what is usable, and 14 of all
    assert of(CapacityShared, tale.wait(5)) == []
    tale.wish("b", 7, 2)
    tale.later()
    assert tale.grants()["b"] == 7, "what is not wanted any more is not kept"
    tale.job("a", 97)  # nothing is left at all
    tale.later()
    assert tale.grants()["b"] == 3


def test_a_grant_stays_while_the_change_that_uses_it_is_on_its_way() -> None:
    tale = tight(a=88, b=2)
    tale.wish("b", 6, 2)
    tale.later()
    assert tale.grants()["b"] == 6
    tale.decided("b", 6)  # nothing stands in the way any more; its config is not changed yet
    tale.wait(3)
    assert tale.grants()["b"] == 6
    tale.job("b", 6)
    assert of(CapacityShared, tale.wait(3)) == []
    assert not tale.row.wishes


@pytest.mark.parametrize("mode", ["observe", "advise"])
def test_a_policy_that_only_watches_wants_nothing(mode: str) -> None:
    tale = tight(a=90)
    tale.wish("a", 95, 90, mode=mode)
    assert of(CapacityShared, tale.later()) == []


def test_who_wants_less_again_gives_its_room_to_others() -> None:
    tale = tight(a=90, b=4)
    tale.wish("a", 96, 90)
    tale.later()
    assert tale.grants() == {"a": 96, "b": 4}
    tale.content("a")
    tale.wish("b", 9, 4)
    tale.later()
    assert tale.grants() == {"a": 90, "b": 9}


def test_a_limit_follows_the_job_down() -> None:
    tale = tight(a=80, b=10)
    tale.job("b", 5)
    tale.later()
    assert tale.grants() == {"a": 80, "b": 5}


def test_limits_do_not_come_and_go_between_the_two_bars() -> None:
    tale = tight(a=80, b=5)
    before = len(of(CapacityShared, tale.said))
    for tasks in (1, 4, 0, 3, 5, 2) * 10:  # from 75 to 85
        tale.job("b", max(1, tasks) if tasks else 1, paused=not tasks)
        tale.job("a", 76)
        tale.wait(1)
        assert state_of(tale) == TIGHT
    assert tale.grants()["a"] == 76
    lifted = [
        one
        for one in of(CapacityShared, tale.said)[before:]
        for limit in one.limits
        if limit.tasks_max is None
    ]
    assert lifted == []


def test_limits_are_lifted_once_there_is_plenty_for_those_who_wait_too() -> None:
    tale = tight(a=80, b=5)
    tale.job("a", 60)
    tale.wish("b", 30, 5)
    tale.wait(3)
    assert state_of(tale) == TIGHT  # 65 run; with what b wants it were 90
    assert tale.grants() == {"a": 60, "b": 30}
    tale.wish("b", 20, 5)
    tale.wait(3)
    assert state_of(tale) == PLENTY
    assert tale.grants() == {"a": None, "b": None}
    assert not tale.row.limits
    assert of(CapacityShared, tale.wait(60)) == []


def test_limits_change_once_a_minute_at_most() -> None:
    tale = tight(a=90)
    for n in range(120):
        tale.job(f"j{n % 7}", 1 + n % 2, cores=0.5)
        tale.later(1_000)
    shared = [read.at_ms for read in tale.log if isinstance(read.record.body, CapacityShared)]
    assert len(shared) > 2
    assert all(b - a >= MINUTE_MS for a, b in pairwise(shared))


def test_a_tier_of_many_jobs_is_limited_piece_by_piece_the_important_ones_first() -> None:
    tale = Tale()
    tale.start("c0", capacity={"cpu_cores": 1_000.0})
    for n in range(450):
        tale.job(f"job-{n:03d}", 2, priority=n % 100)
    out = tale.settle()
    shared = of(CapacityShared, out)
    assert [len(one.limits) for one in shared] == [LIMITS_MOST, LIMITS_MOST, 50]
    assert [one.more for one in shared] == [True, True, False]
    priorities = [one.priority for said in shared for one in said.limits]
    assert priorities == sorted(priorities, reverse=True)
    assert all(len(encode(one)) < VALUE_BYTES_MAX for one in shared)
    assert len(of(CapacityGranted, out)) == 450
    assert not tale.row.owed


def test_one_limit_more_than_a_record_holds_is_told_in_two() -> None:
    for jobs, records in ((LIMITS_MOST, 1), (LIMITS_MOST + 1, 2)):
        tale = Tale()
        tale.start("c0", capacity={"cpu_cores": float(jobs)})
        for n in range(jobs):
            tale.job(f"job-{n:03d}")
        assert len(of(CapacityShared, tale.settle())) == records


def test_a_grant_is_told_until_it_is_read_back() -> None:
    tale = tight(a=90)
    tale.job("b", 2)
    tale.now_ms += MINUTE_MS
    tale.told("default", of(CapacityShared, tale.would_emit())[0])
    owed = tale.row.owed["b"]
    tale.read("grants.v1/0", "b", CapacityGranted("b", "x", "other", (), "why"), "another")
    assert tale.row.owed["b"] == owed
    tale.settle()
    assert not tale.row.owed
    assert tale.grants() == {"a": 90, "b": 2}


def test_jobs_that_are_gone_lose_their_limits_and_come_back_without() -> None:
    tale = tight(a=80, b=8)
    tale.delete("b")
    tale.job("c", 7)
    tale.later()
    assert tale.grants() == {"a": 80, "b": None, "c": 7}
    assert "b" not in tale.row.limits
    assert "b" not in tale.row.open
    tale.job("a", 80, tier="other")
    tale.later()
    assert tale.grants()["a"] is None


def test_a_paused_job_asks_for_nothing() -> None:
    tale = tight(a=90)
    tale.job("a", 90, paused=True)
    tale.later()
    assert tale.row.reserved[0] == 0
    assert state_of(tale) == PLENTY


def test_other_tiers_jobs_are_nobodys_here() -> None:
    tale = Tale()
    tale.start("c0")
    tale.job("a", 50, tier="other")
    tale.settle()
    assert not tale.row.jobs
    assert tale.grants() == {}


# --- reports


def reports(tale: Tale) -> list[int]:
    return [read.at_ms for read in tale.log if isinstance(read.record.body, CapacityReported)]


def test_a_tier_tells_what_it_holds_at_least_every_half_hour() -> None:
    tale = Tale()
    tale.start("c0")
    tale.wait(65)
    at_ms = reports(tale)
    assert [b - a for a, b in pairwise(at_ms)] == [1_800_000] * 2


def test_and_never_more_often_than_once_a_minute() -> None:
    tale = Tale()
    for n in range(200):
        tale.start(f"c{n}")
        tale.later(1_000)
    at_ms = reports(tale)
    assert len(at_ms) == 4
    assert all(b - a >= MINUTE_MS for a, b in pairwise(at_ms))


@pytest.mark.parametrize(("tasks", "told"), [(4, False), (5, True)])
def test_a_twentieth_of_the_capacity_is_a_change(tasks: int, told: bool) -> None:
    tale = Tale()
    tale.start(*(f"c{n}" for n in range(10)))
    tale.settle()
    tale.job("a", tasks)
    assert bool(of(CapacityReported, tale.later())) == told


def test_a_report_says_what_there_is() -> None:
    tale = Tale("default", "other")
    tale.start("c0", "c1", capacity={"cpu_cores": 10.0, "memory_bytes": 2.0**30})
    tale.use("c0", 1.5)
    tale.job("a", 4, memory_mb=64)
    tale.job("b", 2, paused=True)
    tale.wish("a", 6, 4)
    said = of(CapacityReported, tale.would_emit())[0]
    assert (said.containers, said.containers_measured, said.jobs) == (2, 1, 1)
    assert (said.state, said.jobs_waiting, said.jobs_preempted) == (PLENTY, 1, 0)
    assert [(one.resource, one.capacity, one.reserved, one.used) for one in said.resources] == [
        ("cpu_cores", 20.0, 4.0, 1.5),
        ("memory_bytes", 2.0**31, 4 * 64 * 2.0**20, 0.0),
    ]


def test_containers_that_leave_or_are_gone_do_not_count() -> None:
    tale = Tale()
    tale.start("c0", "c1", "c2")
    assert tale.row.capacity[0] == 30_000
    tale.beat("c1", "draining")
    assert tale.row.capacity[0] == 20_000
    tale.beat("c1")
    assert tale.row.capacity[0] == 30_000
    tale.use("c2", 5.0)
    tale.end("c2")
    assert tale.row.capacity[0] == 20_000
    assert tale.row.used[0] == 0
    tale.start("c2")
    assert tale.row.capacity[0] == 30_000
    tale.start("c0", tier="other")  # another life, elsewhere
    assert tale.row.capacity[0] == 20_000


def test_a_container_that_an_operator_drains_does_not_count_until_it_is_undrained() -> None:
    tale = Tale()
    tale.start("c0", "c1")
    asked = tale.drain("c1", DrainRequested)
    assert tale.row.capacity[0] == 10_000
    tale.drain("c1", UndrainRequested)
    assert tale.row.capacity[0] == 20_000
    assert asked.record.body is not None
    tale.read(asked.place, "c1", asked.record.body)  # a copy
    assert tale.row.capacity[0] == 20_000
    tale.now_ms += 1_000_000
    tale.read(asked.place, "c1", asked.record.body)  # and one that is not valid any more
    assert tale.row.capacity[0] == 20_000
    tale.drain("new", DrainRequested)
    tale.start("new")
    assert tale.row.capacity[0] == 20_000


def test_a_report_of_use_counts_once_and_a_newer_one_replaces_it() -> None:
    tale = Tale()
    tale.start("c0")
    tale.use("c0", 5.0, number=2)
    tale.use("c0", 5.0, number=2)
    assert tale.row.used[0] == 5_000
    tale.use("c0", 9.0, number=1)
    assert tale.row.used[0] == 5_000
    tale.use("c0", 3.0, number=3)
    assert tale.row.used[0] == 3_000
    tale.use("c0", 8.0, number=4, tier="other")
    assert tale.row.used[0] == 0


def test_nothing_is_said_of_a_tier_that_is_not_defined() -> None:
    tale = Tale("default")
    tale.rows["default"] = tale.row._replace(defined=False)
    tale.start("c0")
    tale.job("a", 20)
    assert tale.later(STEP_MS) == []
