"""The last resort: who stops when a tier is short for long, and who comes back first."""

from __future__ import annotations

from itertools import pairwise

import pytest

from components.capacity_manager.core.sharing import LIMITS_MOST
from components.capacity_manager.decide import SHORTAGE
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    CapacityLent,
    CapacityReported,
    CapacityShared,
    JobsPreempted,
    JobsRestored,
)
from tests.unit.capacity_manager.tiers import MINUTE_MS, NO_HEADROOM, STEP_MS, Tale, of


def tier(settings: str = NO_HEADROOM, **jobs: tuple[int, int]) -> Tale:
    """A tier of 100 cores; jobs by tasks of a core each, and priority."""
    tale = Tale(settings=settings)
    tale.start(*(f"c{n}" for n in range(10)))
    for name, (tasks, priority) in jobs.items():
        tale.job(name, tasks, priority=priority)
    tale.settle()
    return tale


def test_nobody_is_stopped_before_the_tier_was_short_for_five_minutes() -> None:
    tale = tier(a=(60, 50), b=(60, 20))
    tale.later(STEP_MS - 1)
    assert of(JobsPreempted, tale.said) == []
    tale.later(1)
    (stopped,) = of(JobsPreempted, tale.said)
    assert stopped.jobs == ("b",)
    assert stopped.priority_below == 21
    assert next((one.resource, one.amount) for one in stopped.freed) == ("cpu_cores", 60.0)
    assert "120 of 100 cpu_cores are reserved" in stopped.explanation
    assert tale.grants() == {"a": 60, "b": "stop"}


def test_a_tier_that_recovers_by_itself_stops_nobody() -> None:
    tale = tier(a=(60, 50), b=(39, 20))
    tale.end("c0")
    tale.wait(3)
    assert tale.row.short_ms is not None
    tale.start("c0")
    tale.wait(10)
    assert of(JobsPreempted, tale.said) == []
    assert of(AlertRaised, tale.said) == []


def test_the_lowest_priority_stops_first_and_as_few_as_free_enough() -> None:
    tale = tier(a=(40, 50), b=(30, 40), c=(3, 10), d=(25, 10), e=(20, 10), f=(2, 5))
    tale.later(STEP_MS)  # 120 of 100: 20 too many
    (stopped,) = of(JobsPreempted, tale.said)
    assert stopped.jobs == ("d",)  # with it, none of the others is needed


def test_one_large_job_stops_rather_than_two_small_ones() -> None:
    tale = tier(a=(10, 10), b=(10, 10), c=(20, 10), d=(80, 50))
    tale.later(STEP_MS)
    assert of(JobsPreempted, tale.said)[0].jobs == ("c",)


def test_what_stopped_jobs_want_is_lacking_until_they_run_again() -> None:
    tale = tier(a=(80, 50), b=(40, 20))
    tale.wait(6, heeds=True)
    tale.wait(3)
    last = of(CapacityReported, tale.said)[-1]
    assert (last.jobs, last.jobs_preempted, last.state) == (1, 1, "tight")
    assert last.resources[0].lacking == 35.0  # 120 are wanted, and 85 is the bar


def test_of_those_that_are_equal_it_is_told_by_their_names() -> None:
    tale = tier(a=(40, 10), b=(40, 10), c=(40, 10))
    tale.later(STEP_MS)
    assert of(JobsPreempted, tale.said)[0].jobs == ("a",)


def test_the_least_important_is_named_first() -> None:
    tale = tier(a=(80, 50), b=(20, 30), c=(10, 20), d=(10, 10))
    tale.job("a", 80, priority=50, memory_mb=1)
    tale.job("e", 20, priority=60)
    tale.wait(6)  # 140 of 100
    (stopped,) = of(JobsPreempted, tale.said)
    assert stopped.jobs == ("d", "c", "b")


def test_a_privileged_job_never_stops() -> None:
    tale = Tale()
    tale.start("c0")
    tale.job("a", 11, priority=1, privileged=True)
    tale.job("b", 5, priority=90, privileged=True)
    tale.settle()
    tale.wait(30)
    assert of(JobsPreempted, tale.said) == []
    (alert,) = of(AlertRaised, tale.said)
    assert (alert.alert, alert.subject) == (SHORTAGE, "default")
    assert "16 of 10 cpu_cores are reserved" in alert.cause


def test_jobs_that_use_nothing_of_what_is_missing_are_left_alone() -> None:
    tale = Tale()
    tale.start("c0", capacity={"cpu_cores": 100.0, "memory_bytes": 100 * 2.0**20})
    tale.job("slim", 10, priority=1, memory_mb=1)
    tale.job("fat", 1, priority=50, memory_mb=95)
    tale.settle()
    tale.later(STEP_MS)
    assert of(JobsPreempted, tale.said)[0].jobs == ("slim",)
    other = Tale()
    other.start("c0", capacity={"cpu_cores": 10.0, "memory_bytes": 2.0**40})
    other.job("tiny", 1, cores=0.0000001, memory_mb=500, priority=1)
    other.job("busy", 11, priority=50)
    other.settle()
    other.later(STEP_MS)
    assert "busy" in of(JobsPreempted, other.said)[0].jobs


def test_to_stop_a_job_that_frees_nothing_of_what_is_missing_helps_nobody() -> None:
    tale = Tale()
    tale.start("c0", capacity={"cpu_cores": 100.0, "disk_bytes": 10 * 2.0**20})
    tale.job("wide", 1, disk_mb=11, privileged=True)
    tale.job("slim", 10, priority=1)
    tale.settle()
    tale.wait(20)
    assert of(JobsPreempted, tale.said) == []
    assert len(of(AlertRaised, tale.said)) == 1


def test_enough_stop_that_head_room_is_free_again() -> None:
    tale = tier('{"headroom":100}', a=(81, 90), b=(12, 20), c=(12, 10))
    tale.later(STEP_MS)  # 105 of 100 are reserved, and 90 can be placed
    assert of(JobsPreempted, tale.said)[0].jobs == ("c", "b")


def test_a_tier_may_be_told_never_to_stop_jobs() -> None:
    tale = tier('{"preempt":0,"headroom":0}', a=(60, 50), b=(60, 20))
    tale.wait(30)
    assert of(JobsPreempted, tale.said) == []
    assert [one.alert for one in of(AlertRaised, tale.said)] == [SHORTAGE]


def test_a_job_that_was_told_to_stop_is_given_time_to() -> None:
    """Until its config says so it is not counted, and nobody else is stopped in its place."""
    tale = tier(a=(60, 50), b=(30, 20), c=(30, 30))
    tale.later(STEP_MS)
    assert of(JobsPreempted, tale.said)[0].jobs == ("b",)
    tale.wait(4)
    assert len(of(JobsPreempted, tale.said)) == 1
    tale.heed()
    tale.wait(30)
    assert len(of(JobsPreempted, tale.said)) == 1
    assert tale.row.reserved[0] == 90_000


def test_where_a_person_keeps_it_running_the_next_one_stops() -> None:
    tale = tier(a=(60, 50), b=(30, 20), c=(30, 30))
    tale.wait(17)  # b never stops, so that it counts again after five minutes
    assert [one.jobs for one in of(JobsPreempted, tale.said)] == [("b",), ("c",)]


def test_they_come_back_the_important_ones_first_as_far_as_there_is_room() -> None:
    tale = tier(a=(80, 90), b=(20, 30), c=(20, 20), d=(20, 10))
    tale.wait(6)
    (stopped,) = of(JobsPreempted, tale.said)
    assert stopped.jobs == ("d", "c")
    tale.heed()
    tale.wait(10)
    assert of(JobsRestored, tale.said) == []  # 100 of 100 are taken
    tale.job("a", 45, priority=90)  # 85 is the bar: room for one of 20
    tale.wait(10, heeds=True)
    assert [[one.job for one in said.limits] for said in of(JobsRestored, tale.said)] == [["c"]]
    assert tale.grants() == {"a": 45, "b": 20, "c": 20, "d": "stop"}
    tale.heed()
    tale.job("a", 25, priority=90)
    tale.wait(10, heeds=True)
    assert [one.tasks_max for one in of(JobsRestored, tale.said)[1].limits] == [20]
    assert tale.row.reserved[0] == 85_000
    assert tale.grants()["d"] == 20  # 85 of 100: between the bars
    assert not tale.row.preempted


def test_one_that_does_not_fit_holds_back_those_behind_it() -> None:
    tale = tier(a=(90, 90), big=(40, 30), small=(2, 10))
    tale.wait(6)
    tale.heed()
    assert set(tale.row.preempted) == {"big"}
    tale.job("a", 97, priority=90)
    tale.job("x", 2, priority=95)
    tale.wait(12)
    tale.heed()
    assert set(tale.row.preempted) == {"big", "small"}
    tale.job("a", 60, priority=90)  # room for the small one alone
    tale.wait(12)
    assert of(JobsRestored, tale.said) == []
    tale.job("a", 40, priority=90)
    tale.wait(12)
    assert [one.job for one in of(JobsRestored, tale.said)[0].limits] == ["big", "small"]


def test_to_come_back_takes_less_than_to_stop_so_that_jobs_do_not_flap() -> None:
    tale = tier(a=(70, 90), b=(40, 30))
    changes = []
    for tasks in (70, 62, 70, 60, 66, 61) * 10:  # with b that is 100 to 110 of 100
        tale.job("a", tasks, priority=90)
        changes += of(JobsPreempted, tale.wait(2)) + of(JobsRestored, tale.said[-1:])
        tale.heed()
    assert len(of(JobsPreempted, tale.said)) == 1
    assert of(JobsRestored, tale.said) == []


def test_steps_are_five_minutes_apart() -> None:
    tale = tier(a=(20, 50))
    for n in range(9):
        tale.job(f"j{n}", 20, priority=n)
    for n in range(60):
        tale.heed()
        tale.job("a", (20, 99, 20, 40)[n // 7 % 4], priority=50)
        tale.later()
    kinds = (JobsPreempted, JobsRestored)
    at_ms = [read.at_ms for read in tale.log if isinstance(read.record.body, kinds)]
    assert len(at_ms) > 3
    assert all(b - a >= STEP_MS for a, b in pairwise(at_ms))


def test_a_limit_does_not_let_a_stopped_job_run_again() -> None:
    tale = tier(a=(60, 50), b=(60, 20))
    tale.wait(6)
    tale.heed()
    tale.job("b", 59, priority=20, paused=True)
    told = [one.job for said in of(CapacityShared, tale.wait(10)) for one in said.limits]
    assert "b" not in told
    assert tale.grants()["b"] == "stop"


@pytest.mark.parametrize("how", ["deleted", "moved"])
def test_one_that_is_gone_is_let_go(how: str) -> None:
    tale = tier(a=(60, 50), b=(60, 20))
    tale.wait(6)
    if how == "deleted":
        tale.delete("b")
    else:
        tale.job("b", 60, tier="other")
    (said,) = of(JobsRestored, tale.settle())
    assert [(one.job, one.tasks_max) for one in said.limits] == [("b", None)]
    assert tale.grants()["b"] is None
    assert not tale.row.preempted


def test_the_alert_stands_as_long_as_it_lasts() -> None:
    tale = tier(a=(60, 50), b=(60, 20))
    tale.later(STEP_MS - 1)
    assert of(AlertRaised, tale.said) == []
    tale.wait(20, heeds=True)
    assert len(of(AlertRaised, tale.said)) == 1
    assert "1 jobs are stopped for the others, b among them" in of(AlertRaised, tale.said)[0].cause
    assert of(AlertCleared, tale.said) == []
    tale.job("a", 10, priority=50)
    tale.wait(10, heeds=True)
    (cleared,) = of(AlertCleared, tale.said)
    assert cleared.alert == SHORTAGE
    assert SHORTAGE not in tale.row.alerts


def test_as_many_stop_at_once_as_one_record_holds() -> None:
    tale = Tale()
    tale.start("c0", capacity={"cpu_cores": 100.0})
    for n in range(LIMITS_MOST + 101):
        tale.job(f"j{n:03d}")
    tale.settle()
    tale.wait(6, heeds=True)
    (first,) = of(JobsPreempted, tale.said)
    assert len(first.jobs) == LIMITS_MOST
    tale.wait(5)
    assert [len(one.jobs) for one in of(JobsPreempted, tale.said)] == [LIMITS_MOST, 1]


def test_who_borrows_is_not_short_before_what_is_lent_has_come() -> None:
    tale = Tale("default", "rich")
    tale.start("c0")
    tale.start(*(f"r{n}" for n in range(10)), tier="rich")
    tale.job("a", 12)
    tale.settle()
    tale.wait(2)
    assert of(CapacityLent, tale.said)
    tale.wait(5)
    assert of(JobsPreempted, tale.said) == []
    tale.wait(10)  # they never come
    assert of(JobsPreempted, tale.said)[0].jobs == ("a",)
    assert MINUTE_MS < STEP_MS
