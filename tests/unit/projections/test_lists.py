"""Lists of tasks: they stand with their last part, and the one before is not forgotten."""

from __future__ import annotations

import dataclasses
import json

from hypothesis import given
from hypothesis import strategies as st

from events.generated.records import (
    Body,
    InputPartitions,
    JobDeleted,
    LayerVersions,
    SyncCommitted,
    SyncPlanned,
    SyncStep,
    SyncStepDone,
    SyncStepStarted,
    TaskSpec,
    TaskSpecsPublished,
)
from events.wire.codec import SKIPPED, Read, Record
from projections import syncs
from projections.lists import FOLDED_KINDS, PreviousList, TaskLists, apply, dump, fold, load
from projections.syncs import DELETED, START, STOP, Sync

JOB = "orders"


def versions(base: int) -> LayerVersions:
    return LayerVersions(base, 0, 0, 0)


def spec(task: int, *argv: str) -> TaskSpec:
    return TaskSpec(task, argv, (InputPartitions("clicks", (task,)),), f"/c/{JOB}/{task}")


def published(
    generation: int, tasks: int, *, base: int = 1, part: int = 1, parts: int = 1, first: int = 0
) -> TaskSpecsPublished:
    share = range(first, tasks if part == parts else first + 1)
    return TaskSpecsPublished(
        job=JOB,
        plan_id=f"{base}#{generation}",
        generation=generation,
        part=part,
        parts=parts,
        tasks=tasks,
        versions=versions(base),
        tier="default" if tasks else "",
        operator="a.b:c",
        guarantee="exactly_once",
        specs=tuple(spec(task) for task in share),
    )


def step(name: str, plan: str = "p") -> SyncStepStarted:
    return SyncStepStarted(JOB, plan, 0, name, 3)


def committed(state: str) -> SyncCommitted:
    return SyncCommitted(
        job=JOB,
        plan_id="p",
        kind="complex",
        versions=versions(1),
        generation=4,
        running_json="{}",
        state=state,
        tasks=0,
    )


def told(*bodies: Body) -> TaskLists:
    row = TaskLists(JOB)
    for body in bodies:
        row = apply(row, body)
    return row


def test_a_list_stands_with_its_last_part() -> None:
    first, last = published(2, 3, part=1, parts=2), published(2, 3, part=2, parts=2, first=1)
    assert told(first).listed is None
    listed = told(first, last).listed
    assert listed is not None
    assert [one.task for one in listed.specs] == [0, 1, 2]


def test_a_list_that_breaks_off_is_begun_anew() -> None:
    first, last = published(2, 3, part=1, parts=2), published(2, 3, part=2, parts=2, first=1)
    assert told(last).listed is None
    assert told(first, last, published(3, 3, part=2, parts=2)).part is None
    listed = told(first, first, last).listed
    assert listed is not None
    assert [one.task for one in listed.specs] == [0, 1, 2]


def test_an_empty_list_and_one_of_another_generation_make_a_former() -> None:
    assert told(published(2, 3)).former is None
    assert told(published(2, 3), published(2, 3, base=2)).former is None
    assert told(published(2, 3), published(3, 0)).former == PreviousList(2, 3, "default", ())
    assert told(published(2, 3), published(3, 1)).former == PreviousList(2, 3, "default", ())
    assert told(published(2, 3), published(3, 0), published(4, 5)).former == (2, 3, "default", ())


def test_a_job_that_is_gone_leaves_no_former() -> None:
    assert told(published(2, 3), published(3, 0), committed(DELETED)).former is None


def test_what_cannot_be_read_or_is_of_no_concern_changes_nothing() -> None:
    row = told(published(2, 3))
    for body in (None, SKIPPED, JobDeleted(JOB, versions(2), "", "", "")):
        record = Record(JOB, "id", "JobDeleted", b"", body)
        assert fold(row, Read("journal.v1/0", "journal.v1", 1, 1, record)) == row


def test_only_what_is_folded_is_decoded() -> None:
    assert FOLDED_KINDS <= syncs.FOLDED_KINDS


BODIES = st.one_of(
    st.builds(
        published,
        st.integers(1, 6),
        st.integers(0, 3),
        base=st.integers(1, 3),
        part=st.integers(1, 3),
        parts=st.integers(1, 3),
    ),
    st.builds(step, st.sampled_from([STOP, START])),
    st.just(SyncStepDone(JOB, "p", 1, STOP, "{}")),
)


def planned() -> SyncPlanned:
    return SyncPlanned(
        job=JOB,
        plan_id="p",
        signature="s",
        kind="complex",
        intent="change",
        to_versions=versions(1),
        generation=4,
        steps=(SyncStep(STOP), SyncStep(START)),
        expected_json="{}",
    )


@given(st.lists(BODIES, max_size=12))
def test_it_agrees_with_who_decides(bodies: list[Body]) -> None:
    """The state syncer waits for the tasks of its `live` list: they are those we answer for."""
    ours, theirs = TaskLists(JOB), syncs.apply(Sync(JOB), planned())
    ours = apply(ours, planned())
    for body in bodies:
        ours, theirs = apply(ours, body), syncs.apply(theirs, body)
        assert (ours.listed is None) == (theirs.listed is None)
        if ours.listed is not None and theirs.listed is not None:
            seen = (ours.listed.plan_id, ours.listed.generation, ours.listed.tasks)
            assert seen == (theirs.listed.plan_id, theirs.listed.generation, theirs.listed.tasks)
        live = theirs.live and (theirs.live.generation, theirs.live.tasks)
        assert (ours.live and ours.live[:2]) == live


@given(st.lists(BODIES, max_size=12))
def test_a_row_is_what_its_records_say_and_no_more(bodies: list[Body]) -> None:
    copies = [dataclasses.replace(body) for body in bodies]  # type: ignore[type-var]  # all are
    assert told(*bodies) == told(*copies)


def test_what_is_kept_of_a_list_comes_back() -> None:
    row = TaskLists(JOB)
    for body in (published(1, 2), published(2, 3), published(3, 2, part=1, parts=2)):
        row = apply(row, body)
        plain = json.loads(json.dumps(dump(row)))
        assert load(plain) == row
        assert dump(load(plain)) == dump(row)
    assert row.former is not None
    assert row.part is not None
    assert load(json.loads(json.dumps(dump(TaskLists(JOB))))) == TaskLists(JOB)
