"""From where inputs are read anew, as operators write it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from events.job_config.reset import BadGoal, Goal, Reset, goal_of, reset_of, stranger


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("earliest", "earliest"),
        (" latest ", "latest"),
        ("1767225600000", 1_767_225_600_000),
        ('{"orders":{"0":42,"7":0}}', {("orders", 0): 42, ("orders", 7): 0}),
    ],
)
def test_what_an_operator_writes_is_understood(text: str, goal: Goal) -> None:
    assert goal_of(text) == goal


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", '"" is no place to read from: write earliest, latest, an instant, or offsets'),
        ("Earliest", '"Earliest" is no place to read from'),
        ("-1", '"-1" is no place'),
        ("9" * 15, "is no instant: write milliseconds since 1970"),
        ("9" * 99, "is no instant"),
        ("{", "the offsets is not JSON|the offsets"),
        ("{}", "it names 0 offsets; write from 1 to 2000"),
        ('{"a":{"0":1},"a":{"0":2}}', "the offsets"),
        ('{"orders":42}', r'"orders": write its partitions and offsets, as in {"0":42}'),
        ('{"orders":{"x":1}}', '"orders": "x" is no number of a partition'),
        ('{"orders":{"0":-1}}', '"orders"/0: an offset is a whole number from 0'),
        ('{"orders":{"0":true}}', "an offset is a whole number"),
        ('{"orders":{"0":1.5}}', "an offset is a whole number"),
    ],
)
def test_what_cannot_be_understood_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadGoal, match=sentence):
        goal_of(text)


@pytest.mark.parametrize(
    ("goal", "sentence"),
    [
        ("earliest", ""),
        (12, ""),
        ({("orders", 3): 1}, ""),
        ({("orders", 4): 1}, "orders has partitions 0 to 3, and no 4"),
        ({("users", 99): 1}, ""),
        ({("odd", 0): 1}, 'the job reads no "odd"; it reads orders, users'),
    ],
)
def test_what_the_job_does_not_read_is_told(
    goal: Mapping[tuple[str, int], int], sentence: str
) -> None:
    assert stranger(goal, [("orders", 4), ("users", None)]) == sentence


def test_a_reset_is_kept_as_a_text() -> None:
    one = Reset("99.a", '{"orders":{"0":42}}', 12)
    assert reset_of(one.text()) == one
    assert reset_of("") is None
