"""What `turbine` says of a change can be read without the code: units, limits, gains."""

from __future__ import annotations

from typing import Any

import pytest

from components.auto_scaler.core.policies.turbine.words import (
    became,
    gain_told,
    rate_told,
    size_told,
    waiting_told,
)
from events.generated.records import ScalingDecided, ScalingDeclined, ScalingVerified
from projections.scaling.actions import JobSize
from projections.scaling.decision_memory import Open
from projections.scaling.seen import JobFacts
from tests.unit.auto_scaler.desk import Desk

JOB = JobFacts("orders", 4, 1, 0.25, 256, partitions=16, tasks_max=32)
BUSY: dict[str, Any] = {"busy_share": 1.0, "lag_records": 200_000, "lag_ms": 60_000}


@pytest.mark.parametrize(
    ("rate", "told"),
    [(9.994, "9.99 records/s"), (10.0, "10 records/s"), (26_650.4, "26,650 records/s")],
)
def test_a_rate_has_its_unit(rate: float, told: str) -> None:
    assert rate_told(rate) == told


def test_one_of_something_is_no_plural() -> None:
    assert size_told(JobSize(1, 6, 1.5, 256)) == "1 task of 6 threads"
    assert size_told(JobSize(2, 1, 0.25, 256)) == "2 tasks of 1 thread"


def test_a_backlog_is_told_where_there_is_one() -> None:
    assert waiting_told(20.0, 0.0) == ""
    assert waiting_told(20.0, 1e6) == " (20 records/s come in, 1,000,000 records wait)"


def test_a_gain_that_was_smaller_than_expected_says_why_it_is_enough() -> None:
    opened = Open(0, JobSize(4, 1, 0.25, 256), 4_000.0, 24_000.0)
    assert gain_told(opened, 8_000.0, 0.1) == (
        "8,000 records/s can be read, 4,000 records/s could be before, and 24,000 records/s were"
        " expected: that is 20 % of the gain, and 10 % are enough"
    )
    assert gain_told(opened, 25_000.0, 0.1).endswith("and 24,000 records/s were expected")
    assert gain_told(opened._replace(expected=4_000.0), 4_000.0, 0.1).endswith("were expected")


@pytest.mark.parametrize(
    ("job", "name", "said"),
    [
        (JOB._replace(tasks_max=8), "limits.tasks", "the job's own limit is 8 tasks"),
        (JOB._replace(tasks_max=1), "limits.tasks", "the job's own limit is 1 task"),
        (JOB, "partitions", "16 partitions can be read by 16 tasks"),
        (JOB._replace(granted=5), "granted", "the tier's room is 5 tasks"),
    ],
)
def test_a_size_that_reads_too_little_names_what_limits_it(
    job: JobFacts, name: str, said: str
) -> None:
    most = int(said.split()[-2])
    [told] = became(job, JobSize(most, 6, 1.5, 256), 400.0, (4e5, 5e4), 0.2)
    assert (told.name, told.before, told.after) == (name, 400.0, most * 6.0)
    each = "each of at most 6 threads, 20 % of 8 cores"
    assert told.note == f"{said}, {each} (threads of all tasks)"


def test_a_size_that_reads_enough_has_a_shape_or_nothing_to_say() -> None:
    size = JobSize(4, 2, 0.5, 256)
    [told] = became(JOB, size, 7.5, (7_500.0, 8_000.0), 0.2)
    assert (told.name, told.before, told.after) == ("shape", 7.5, 8.0)
    assert told.note.startswith("nothing cheaper than 4 tasks of 2 threads reads as much")
    assert became(JOB, size, 8.0, (8_000.0, 8_000.0), 0.2) == ()


# --- in its records


def capped(limit: int) -> Desk:
    desk = Desk().runs(limits={"tasks": limit}, threads_per_task=6, resources={"cpu_cores": 1.5})
    desk.minutes(12, 4_000.0, busy_share=0.9)
    desk.minutes(1, 4_400.0, **BUSY)
    return desk


def test_a_change_that_is_capped_names_the_limit() -> None:
    body = capped(8).last(ScalingDecided)
    assert body.final_tasks == 8
    assert [one.name for one in body.constraints] == ["limits.tasks"]
    assert " records/s come in, 800,000 records wait)" in body.explanation


def test_a_job_that_may_have_no_more_says_what_limits_it() -> None:
    body = capped(4).last(ScalingDeclined)
    assert (body.diagnosis, [one.name for one in body.constraints]) == (
        "under-capacity", ["limits.tasks"]
    )  # fmt: skip
    assert "can be read with 4 tasks of 6 threads: the job's own limit is 4" in body.explanation


def test_a_constraint_on_threads_does_not_pass_for_one_on_tasks() -> None:
    desk = Desk().runs(limits={"tasks": 4})
    desk.wants("oncall", threads_per_task=1, resources={"cpu_cores": 0.25})
    desk.commit()
    desk.minutes(12, 4_000.0, busy_share=0.9)
    desk.minutes(1, 4_400.0, **BUSY)
    told = next(
        one
        for body in reversed(desk.said)
        if isinstance(body, ScalingDecided | ScalingDeclined)
        for one in body.constraints
        if one.name == "oncall"
    )
    assert (told.before > told.after, told.after) == (True, 1.0)
    assert told.note.endswith("(threads of each task)")


def test_a_wait_for_fewer_threads_is_told_in_threads() -> None:
    desk = Desk().runs(tasks=1, threads_per_task=6, resources={"cpu_cores": 1.5})
    desk.minutes(40, 1_000.0, busy_share=0.1)
    told = next(
        one
        for body in desk.said
        if isinstance(body, ScalingDeclined) and body.reason == "staggered"
        for one in body.constraints
        if one.name == "staggered"
    )
    assert (told.before < told.after, told.after) == (True, 6.0)
    assert told.note.endswith("(threads of each task)")


def test_a_change_that_helped_says_by_how_much() -> None:
    desk = Desk().runs()
    desk.grows()
    desk.carry_out()
    desk.minutes(20, 6_000.0, busy_share=0.9)
    body = desk.last(ScalingVerified)
    assert "could be before" in body.explanation
    assert "of the gain" in body.explanation
