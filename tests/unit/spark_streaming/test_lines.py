"""Where the state of a partition lies, who goes on with it, and what would leave it behind."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from spark_streaming.batch_stream import Inputs, StreamSpec, by_partition, check_state
from spark_streaming.context import BadOperator
from spark_streaming.kept import fit
from spark_streaming.source import At, by_topic

COUNTS = {"clicks": 4, "users": 4}


def never(_: object) -> set[str]:
    """No partition was read anew."""
    return set()


def cuts(
    inputs: Inputs,
    counts: Mapping[str, int | None] = {},
    task: int = 1,
    what: str = "a.b:c",
) -> list[StreamSpec]:
    return by_partition(inputs, counts, f"/kept/job/{task}", what, never)


@pytest.mark.parametrize("lines", [set(), {"7"}, {"6", "7"}])
def test_state_goes_on_in_its_own_line(lines: set[str]) -> None:
    check_state(lines, "7")


def test_state_of_another_line_is_not_forgotten_in_silence() -> None:
    with pytest.raises(BadOperator, match=r"it lies with another line of batches \(6\)"):
        check_state({"5", "6"}, "7")


def test_what_reads_anew_begins_without_state() -> None:
    inputs = [("clicks", (0, 1)), ("users", (1,))]
    before = cuts(inputs)
    after = by_partition(
        inputs, {}, "/kept/job/1", "a.b:c", lambda some: {"9.a"} if ("users", 1) in some else set()
    )
    assert before[0] == after[0]
    assert before[1].checkpoint != after[1].checkpoint


def test_a_partition_has_its_line_whichever_task_reads_it() -> None:
    both = cuts([("clicks", (0, 3)), ("users", (3,))])
    assert [cut.inputs for cut in both] == [
        [("clicks", (0,))],
        [("clicks", (3,)), ("users", (3,))],
    ]
    (alone,) = cuts([("clicks", (0,))], task=7)
    assert alone == both[0], "the place is the job's"
    assert alone.checkpoint == f"/kept/job/{alone.lineage}"
    (other,) = cuts([("clicks", (0,))], what="a.b:d")
    assert other.lineage != alone.lineage, "another operator keeps another state"


def test_another_input_finds_the_state_that_is_there() -> None:
    (before,) = cuts([("clicks", (0,))])
    (after,) = cuts([("clicks", (0,)), ("users", (0,))], COUNTS)
    assert (before.lineage, before.checkpoint) == (after.lineage, after.checkpoint)


def test_what_two_tasks_would_keep_of_one_number_is_refused() -> None:
    with pytest.raises(BadOperator) as refused:
        cuts([("clicks", (3,))], COUNTS)
    assert str(refused.value) == (
        "the job keeps state, and another task reads users/3: equal numbers of all inputs have to"
        " meet in one task; set tasks to at most 4"
    )
    assert cuts([("clicks", (3,))], {"clicks": 4, "users": 3}), "there is no users/3"
    assert cuts([("clicks", (3,))], {"clicks": 4, "users": None}), "nobody knows of one"


# --- a checkpoint, and the inputs of today


def written(position: Mapping[At, int]) -> str:
    return "\n".join(["v1", '{"batchWatermarkMs":7}', json.dumps(by_topic(position))])


KEPT = {("clicks", 0): 30, ("users", 0): 7}


def test_a_checkpoint_of_the_same_inputs_stays_as_it_is() -> None:
    text = written(KEPT)
    assert fit(text, {("clicks", 0): 31, ("users", 0): 9}) is text


@pytest.mark.parametrize(
    ("begins", "fitted"),
    [
        ({("clicks", 0): 29}, {("clicks", 0): 30}),
        (
            {("clicks", 0): 29, ("users", 0): 7, ("views", 0): 5},
            {("clicks", 0): 30, ("users", 0): 7, ("views", 0): 5},
        ),
        ({("views", 0): 5}, {("views", 0): 5}),
    ],
    ids=["one fewer", "one more", "another one"],
)
def test_what_is_read_no_more_goes_and_what_is_new_begins_where_the_group_is(
    begins: Mapping[At, int], fitted: Mapping[At, int]
) -> None:
    head, watermark, offsets = fit(written(KEPT), begins).split("\n")
    assert [head, watermark] == written(KEPT).split("\n")[:2], "nothing else is touched"
    assert json.loads(offsets) == by_topic(fitted)
