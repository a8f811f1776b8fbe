"""Plans as the log has them: written and read back, in parts, and how far they have come."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.generated.records import PlacementPlanned
from events.job_config.strict_json import Malformed
from events.wire.codec import VALUE_BYTES_MAX, encode
from projections.plans import (
    NAME_MOST,
    PlanCourse,
    Planned,
    in_parts,
    read_moves,
    read_request,
    write_moves,
)

names = st.text("abcé-0.9", min_size=1, max_size=8)
moves = st.builds(
    Planned,
    st.integers(0, 2**20),
    st.integers(0, 2**40),
    names,
    st.sampled_from(["", "drain", "over"]),
    st.sampled_from(["cpu_cores", "memory_bytes"]),
    st.integers(0, 5_000),
    st.one_of(st.just(""), names),
).map(lambda move: move if move.reason else Planned(*move[:3]))


@given(st.lists(moves, max_size=12))
def test_moves_are_read_as_they_were_written(some: list[Planned]) -> None:
    assert read_moves(write_moves(some)) == tuple(some)
    assert read_request(write_moves(some)) == tuple(some)


def test_what_is_not_said_is_not_written() -> None:
    text = write_moves([Planned(7, 0, "c1"), Planned(8, 2, "c0", "drain", "", 0, "c1")])
    assert text == '{"to":["c0","c1"],"moves":[[7,0,1],[8,2,0,"drain","",0,1]]}'
    assert read_moves("{}") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing", "moves_json is not JSON from line 1, column 1 on; correct it there"),
        ("[]", 'moves_json has to hold the lists "to" and "moves"'),
        ('{"to":["c"],"moves":7}', 'moves_json has to hold the lists "to" and "moves"'),
        ('{"to":[""]}', '"to" has to hold names of containers'),
        ('{"to":["c"],"moves":[[1,1,0],[1,1]]}', "move 1 of moves_json is not [shard,"),
        ('{"to":["c"],"moves":[[1,1,1]]}', "move 0 of moves_json is not [shard,"),
        ('{"to":["c"],"moves":[[true,1,0]]}', "move 0 of moves_json is not [shard,"),
        ('{"to":["\\ud800"],"moves":[]}', "moves_json "),
        ('{"a":1,"a":1}', "moves_json "),
        (f'{{"to":["{"c" * (NAME_MOST + 1)}"]}}', '"to" has to hold names of containers'),
    ],
)
def test_moves_that_cannot_be_are_told_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_request(text)
    assert str(caught.value).startswith(said)


def test_a_name_may_be_so_long() -> None:
    (move,) = read_request(f'{{"to":["{"c" * NAME_MOST}"],"moves":[[1,1,0]]}}')
    assert len(move.to) == NAME_MOST


# --- parts


@pytest.mark.parametrize("length", [4, 63, NAME_MOST])
@pytest.mark.parametrize("letter", ["x", "é", "\N{OLD ITALIC LETTER A}"])
def test_a_part_is_less_than_an_event_may_be(length: int, letter: str) -> None:
    """Every move to another container, with another next best: as long as can be."""
    some = [
        Planned(
            2**24 - 1,
            2**53 - 1,
            f"{at:04}".ljust(length, letter),
            "under",
            "network_bytes_per_s",
            999_999,
            f"{at + 1:04}".ljust(length, letter),
        )
        for at in range(7_000)
    ]
    parts = in_parts(some)
    assert [move for part in parts for move in part] == some
    for number, part in enumerate(parts, 1):
        body = PlacementPlanned(
            "default",
            "default#1000000",
            "orphans",
            7_000,
            10**6,
            3_000,
            0,
            "0" * 16,
            "x" * 3_000,
            measures_json="u" * 60_000,
            moves_json=write_moves(part),
            part=number,
            parts=len(parts),
        )
        assert len(encode(body)) <= VALUE_BYTES_MAX
        assert read_moves(body.moves_json) == tuple(part)


def test_a_plan_of_nothing_has_one_part() -> None:
    assert [list(part) for part in in_parts([])] == [[]]
    assert len(in_parts([Planned(one, 0, "c0") for one in range(10)])) == 1


# --- how far


def test_moves_that_were_begun_are_not_left_in_whatever_order() -> None:
    course = PlanCourse("p", 1, tuple(Planned(one, 0, "c0") for one in (5, 3, 9)), 1)
    assert [move.shard for move in course.left()] == [5, 3, 9]
    course = course.begun(3)
    assert (course.first, [move.shard for move in course.left()]) == (0, [5, 9])
    course = course.begun(5)
    assert (course.first, [move.shard for move in course.left()]) == (2, [9])
    course = course.begun(9).begun(9).begun(77)
    assert (course.first, list(course.left())) == (3, [])


@given(st.permutations(range(8)), st.integers(0, 8))
def test_what_is_left_is_what_was_not_begun(order: list[int], count: int) -> None:
    course = PlanCourse("p", 1, tuple(Planned(one, 0, "c0") for one in range(8)), 1)
    for shard in order[:count]:
        course = course.begun(shard)
    assert [move.shard for move in course.left()] == sorted(order[count:])


def test_a_plan_that_is_not_whole_has_nothing_to_begin() -> None:
    course = PlanCourse("p", 2, (Planned(1, 0, "c0"),), 1)
    assert not course.whole
    assert list(course.left()) == []
    assert len(list(course._replace(read=2).left())) == 1


def test_what_is_written_is_plain_ascii_json() -> None:
    text = write_moves([Planned(1, 1, "ñ", "over", "cpu_cores", 1, "c")])
    assert text.isascii()
    assert set(json.loads(text)) == {"to", "moves"}
