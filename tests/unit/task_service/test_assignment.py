"""Which task gets which partitions, by example."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from components.task_service.core.assignment import assign

Shares = list[dict[str, tuple[int, ...]]]


def shares(
    inputs: Sequence[tuple[str, int]],
    tasks: int,
    explicit: Sequence[Sequence[str]] | None = None,
) -> Shares:
    found = assign(inputs, tasks, explicit)
    for share in found:
        topics = [one.topic for one in share]
        assert topics == sorted(set(topics))
    return [{one.topic: one.partitions for one in share} for share in found]


def test_partitions_go_round() -> None:
    assert shares([("clicks", 5)], 2) == [{"clicks": (0, 2, 4)}, {"clicks": (1, 3)}]


@pytest.mark.parametrize("tasks", [1, 2, 3, 4])
def test_equal_numbers_of_all_topics_meet_whatever_the_number_of_tasks(tasks: int) -> None:
    """What is kept of them lies in one place."""
    found = shares([("a", 4), ("b", 4), ("c", 1)], tasks)
    for number in range(4):
        homes = {at for at, one in enumerate(found) for ns in one.values() if number in ns}
        assert len(homes) == 1


def test_the_first_task_does_not_get_the_odd_one_of_every_topic() -> None:
    assert shares([("a", 3), ("b", 3), ("c", 1)], 2) == [
        {"a": (0,), "b": (0,), "c": (0,)},
        {"a": (1, 2), "b": (1, 2)},
    ]


def test_a_topic_that_is_new_goes_where_its_numbers_are() -> None:
    said = [["a/1"], ["a/0"]]
    assert shares([("a", 2), ("b", 2)], 2, said) == [
        {"a": (1,), "b": (1,)},
        {"a": (0,), "b": (0,)},
    ]


def test_topics_that_divide_evenly_meet_by_number() -> None:
    found = shares([("views", 4), ("clicks", 8)], 4)
    assert found[1] == {"clicks": (1, 5), "views": (1,)}
    assert all(set(one["views"]) < set(one["clicks"]) for one in found)


def test_the_order_of_the_inputs_does_not_matter() -> None:
    assert assign([("a", 3), ("b", 2)], 2) == assign([("b", 2), ("a", 3)], 2)


def test_a_task_may_have_none() -> None:
    assert shares([("a", 1), ("b", 1)], 4) == [{"a": (0,)}, {"b": (0,)}, {}, {}]


def test_nothing_is_nothing() -> None:
    assert assign([], 2) == ((), ())
    assert assign([("a", 3)], 0) == ()
    assert assign([("a", 0)], 1) == ((),)


# --- explicit assignments


def test_what_is_explicit_stays() -> None:
    named = [["a/2", "b/0"], ["a/0", "a/1"]]
    assert shares([("a", 3), ("b", 1)], 2, named) == [{"a": (2,), "b": (0,)}, {"a": (0, 1)}]


def test_what_was_added_goes_to_those_with_the_fewest() -> None:
    named = [["a/0", "a/1", "a/2"], ["a/3"], ["a/4", "a/5"]]
    assert shares([("a", 10)], 3, named) == [
        {"a": (0, 1, 2, 9)},
        {"a": (3, 6, 7)},
        {"a": (4, 5, 8)},
    ]


def test_what_does_not_exist_is_left_away() -> None:
    named = [["a/0", "a/7", "gone/0"], ["a/1"]]
    assert shares([("a", 2)], 2, named) == [{"a": (0,)}, {"a": (1,)}]


@pytest.mark.parametrize(
    "place", ["a", "", "/", "a/", "a/x", "a/-1", "a/00", "a/²", "a/" + "9" * 5000]
)
def test_what_is_no_partition_is_left_away(place: str) -> None:
    assert shares([("a", 1)], 1, [[place]]) == [{"a": (0,)}]


def test_the_first_to_name_a_partition_has_it() -> None:
    assert shares([("a", 2)], 2, [["a/1"], ["a/1", "a/0", "a/0"]]) == [{"a": (1,)}, {"a": (0,)}]


def test_an_assignment_for_another_number_of_tasks_is_followed_as_far_as_it_goes() -> None:
    assert shares([("a", 2)], 1, [["a/1"], ["a/0"]]) == [{"a": (0, 1)}]
    assert shares([("a", 2)], 2, [["a/1"]]) == [{"a": (1,)}, {"a": (0,)}]
