"""What a change costs: tasks that stop and start, how long that took before, who runs beside."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from events.generated.records import (
    Body,
    JobConfigChanged,
    JobDeleted,
    LayerVersions,
    SyncCommitted,
    SyncPlanned,
    SyncStep,
)
from events.job_config.strict_json import canonical_json
from events.wire.codec import Read, Record
from projections.reports import Report
from projections.syncs import START, STOP, Sync
from tests.unit.state_syncer.fleet import Fleet
from turbine.read.answers.costs import (
    GOES,
    LEFT,
    UNSURE,
    Steps,
    cost_of,
    sentences,
    steps_of,
    times_of,
)
from turbine.read.sources.log import Standing
from turbine.read.state.headline import tasks_of
from turbine.read.state.running import Sightings

RESTART = (STOP, START)


def said(body: Body, at_ms: int, *, stands: bool = True) -> Standing:
    job = getattr(body, "job", "")
    record = Record(job, f"{at_ms}", type(body).__name__, b"", body, parent="p")
    return Standing(Read("journal.v1/0", "journal.v1", at_ms, at_ms, record), stands)


def plan(job: str, number: int, *steps: str) -> SyncPlanned:
    return SyncPlanned(
        job=job,
        plan_id=f"p{number}",
        signature="s",
        kind="complex",
        intent="change",
        to_versions=LayerVersions(number, 0, 0, 0),
        generation=number,
        steps=tuple(SyncStep(one) for one in steps),
        expected_json='{"tasks":2}',
        differences=(),
        attempt=1,
        held=False,
        reset_json="",
    )


def commit(job: str, number: int) -> SyncCommitted:
    return SyncCommitted(
        job=job,
        plan_id=f"p{number}",
        kind="complex",
        versions=LayerVersions(number, 0, 0, 0),
        generation=number,
        running_json="{}",
        state="running",
        tasks=2,
        held=False,
        reset_json="",
    )


# --- how long


def test_how_long_is_from_a_plan_to_its_effect_by_its_steps() -> None:
    decisions = [
        said(plan("a", 1, START), 1_000),
        said(plan("b", 1, *RESTART), 1_500),
        said(commit("a", 1), 5_000),
        said(plan("a", 2, *RESTART), 10_000),
        said(commit("a", 2), 22_000),
        said(commit("b", 1), 31_500),
        said(plan("a", 3, *RESTART), 40_000),  # never in effect
        said(plan("a", 4, START), 50_000, stands=False),
        said(commit("a", 4), 51_000),
    ]
    assert times_of(decisions) == {(START,): [4_000], RESTART: [12_000, 30_000]}
    assert times_of(decisions, "a") == {(START,): [4_000], RESTART: [12_000]}


@pytest.mark.parametrize(
    ("own", "fleet", "expected_ms", "measured"),
    [
        ({RESTART: [8_000, 9_000, 60_000]}, {}, 9_000, {"plans": 3, "of": "job"}),
        ({(START,): [1]}, {RESTART: [5_000]}, 5_000, {"plans": 1, "of": "fleet"}),
        ({}, {(START,): [5_000]}, None, None),
        ({RESTART: [90_000] * 5 + [1_000] * 9}, {}, 1_000, {"plans": 9, "of": "job"}),
    ],
)
def test_the_last_plans_of_the_kind_tell_and_nothing_else(
    own: Any, fleet: Any, expected_ms: int | None, measured: Any
) -> None:
    cost = cost_of("a", Steps(RESTART, 2, 2), {}, own, fleet)
    assert (cost["expected_ms"], cost["measured"]) == (expected_ms, measured)


# --- what stops and starts


def changed(row: Sync, **more: Any) -> JobConfigChanged:
    config = json.loads(row.expected_json) | more
    versions = row.versions
    return JobConfigChanged(
        job=row.name,
        layer="base",
        change_id="9.x",
        version=versions.base + 1,
        versions=LayerVersions(versions.base + 1, 0, 0, 0),
        layer_json=canonical_json(config),
        expected_json=canonical_json(config),
        author="ana",
        reason="",
    )


def test_another_number_of_tasks_stops_those_that_run() -> None:
    row = Fleet().runs().row
    steps = steps_of(row, changed(row, tasks=5), row.name)
    assert steps is not None
    assert (steps.stops, steps.starts, steps.names[0], steps.names[-1]) == (2, 5, STOP, START)


def test_what_is_only_copied_stops_nothing() -> None:
    row = Fleet().runs().row
    assert steps_of(row, changed(row, priority=9), row.name) == Steps((), 0, 0)


def test_a_deletion_stops_all_and_a_new_job_starts_all() -> None:
    row = Fleet().runs().row
    gone = JobDeleted(
        job=row.name, change_id="9.x", versions=LayerVersions(2, 1, 1, 1), author="ana"
    )
    assert steps_of(row, gone, row.name) == Steps((STOP,), 2, 0)
    made = changed(Sync("new"), operator="a:b", tasks=3)
    assert steps_of(None, made, "new") == Steps((START,), 0, 3)


def test_a_plan_that_would_be_made_says_its_steps_itself() -> None:
    row = Fleet().runs().row
    assert steps_of(row, plan(row.name, 9, STOP), row.name) == Steps((STOP,), 2, 0)


# --- what becomes of state

WISH = '{"at_ms":1,"id":"9.a","to":"earliest"}'


def keeping() -> Sync:
    fleet = Fleet().runs()
    fleet.started(2, [0], keeps_state=True)
    return fleet.row


def state_of(row: Sync, verdict: Body) -> str:
    steps = steps_of(row, verdict, row.name)
    assert steps is not None
    return steps.state


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({"tasks": 5}, GOES),
        ({"priority": 9}, GOES),
        ({"package": {"name": "counts", "version": "2.0.0"}}, UNSURE),
        ({"tasks": 5, "arguments": ["--window", "1 hour"]}, UNSURE),
    ],
)
def test_what_a_change_makes_of_state(change: dict[str, Any], state: str) -> None:
    row = keeping()
    assert state_of(row, changed(row, **change)) == state
    assert state_of(Fleet().runs().row, changed(row, **change)) == ""


def test_a_reset_leaves_state_behind_and_a_pause_does_not() -> None:
    row = keeping()
    assert state_of(row, plan(row.name, 9, STOP)) == GOES
    assert state_of(row, replace(plan(row.name, 9, *RESTART), reset_json=WISH)) == LEFT


def test_a_job_that_is_to_go_keeps_nothing_for_anyone() -> None:
    row = keeping()
    gone = JobDeleted(row.name, "9.x", LayerVersions(2, 1, 1, 1), author="ana")
    assert state_of(row, gone) == ""


# --- beside whom


def seen(job: str, *containers: str) -> tuple[Sync, Sightings]:
    row = Fleet().runs().row._replace(name=job)
    reports = {at: report for at, report in row.tasks.items() if at < len(containers)}
    where: dict[int, tuple[Report, str, int]] = {
        at: (report, containers[at], 1) for at, report in reports.items()
    }
    return row, Sightings.of(job, where, ())


def test_neighbours_are_tasks_of_others_on_the_same_containers() -> None:
    fleet = {
        "a": seen("a", "c0", "c1"),
        "b": seen("b", "c1", "c2"),
        "c": seen("c", "c2", "c2"),
        "d": seen("d", "c0", "c1"),
    }
    assert all(one.state == "running" for row in fleet.values() for one in tasks_of(*row, {}))
    cost = cost_of("a", Steps(RESTART, 2, 2), fleet, {}, {})
    assert cost["containers"] == ["c0", "c1"]
    assert cost["neighbours"] == {"b": 1, "d": 2}


# --- in words


def told(**more: Any) -> list[str]:
    usual = {"steps": ["stop", "start"], "stops": 2, "starts": 1, "expected_ms": 12_400}
    usual |= {
        "measured": {"plans": 3, "of": "job"},
        "containers": [],
        "neighbours": {},
        "state": None,
    }
    return list(sentences(usual | more))


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        ({}, ["2 tasks stop, 1 task starts; about 12 s, as the last 3 times of this job"]),
        (
            {"stops": 0, "measured": {"plans": 1, "of": "fleet"}},
            ["1 task starts; about 12 s, as the last time in this fleet"],
        ),
        (
            {"starts": 0, "stops": 1, "measured": None, "expected_ms": None},
            ["1 task stops; how long it takes is unknown, as nothing of the kind was measured"],
        ),
        ({"steps": [], "stops": 0, "starts": 0}, ["no task stops: what differs is only copied"]),
    ],
)
def test_a_cost_is_a_sentence(more: Any, lines: list[str]) -> None:
    assert told(**more) == lines


UNSEEN = (
    "the job keeps state, and whether other code or arguments can read it shows when tasks run:"
    " where they lay it out otherwise the tasks fail, and the former ones bring it back"
)


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (GOES, "the job keeps state, which goes along"),
        (LEFT, "the job keeps state, which is left behind"),
        (UNSURE, UNSEEN),
    ],
)
def test_what_becomes_of_state_is_told_where_it_may_matter(state: str, line: str) -> None:
    assert told(state=state)[1:] == [line]
    copied = told(state=state, steps=[])[1:]
    assert copied == ([] if state == GOES else [line])


def test_neighbours_are_named_and_then_counted() -> None:
    few = told(containers=["c0"], neighbours={"b": 1})[1]
    assert few == "beside it, on c0, run tasks of others: 1 of b"
    many = told(containers=["c0", "c1"], neighbours={f"j{n}": n for n in range(1, 8)})[1]
    assert many.endswith("1 of j1, 2 of j2, 3 of j3, 4 of j4, 5 of j5 and of 2 jobs more")
