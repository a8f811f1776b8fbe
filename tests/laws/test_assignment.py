"""Laws of the assignment: one task for each partition, evenly, and like its dumb twin."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from components.task_service.core.assignment import assign
from events.generated.records import InputPartitions

Shares = tuple[tuple[InputPartitions, ...], ...]

TOPICS = ["a", "b", "c", "c/1", "views"]
topics = st.dictionaries(st.sampled_from(TOPICS), st.integers(0, 9), max_size=5)
places = st.builds(
    "{}/{}".format, st.sampled_from([*TOPICS, "gone"]), st.integers(0, 12)
) | st.text(max_size=4)
named = st.none() | st.lists(st.lists(places, max_size=8), max_size=8)
tasks = st.integers(0, 12)


def flat(shares: Shares) -> list[list[tuple[str, int]]]:
    return [[(one.topic, number) for one in share for number in one.partitions] for share in shares]


def assign_dumbly(
    inputs: dict[str, int], tasks: int, explicit: list[list[str]]
) -> list[list[tuple[str, int]]]:
    """Each partition by itself: to who is named first, else to who has its number, else to who has
    the fewest; where tasks are more than numbers, at once to who has the fewest."""
    everything = [(topic, number) for topic in sorted(inputs) for number in range(inputs[topic])]
    found: list[list[tuple[str, int]]] = [[] for _ in range(tasks)]
    for topic, number in everything:
        for task, wanted in list(enumerate(explicit))[:tasks]:
            if f"{topic}/{number}" in wanted:
                found[task].append((topic, number))
                break
    together = tasks <= max(inputs.values(), default=0)
    if together:
        everything.sort(key=lambda one: one[::-1])
    homes = dict[int, int]()
    for at, wanted in list(enumerate(explicit))[:tasks]:  # of several that name it, the first
        for named_place in wanted:
            for topic, number in found[at]:
                if named_place == f"{topic}/{number}":
                    homes.setdefault(number, at)
    for one in everything:
        if found and not any(one in share for share in found):
            home = found.index(min(found, key=len))
            if together:
                home = homes.setdefault(one[1], home)
            found[home].append(one)
    return [sorted(share) for share in found]


@given(topics, tasks, named)
def test_it_equals_the_dumb_twin(
    inputs: dict[str, int], tasks: int, explicit: list[list[str]] | None
) -> None:
    assert flat(assign([*inputs.items()], tasks, explicit)) == assign_dumbly(
        inputs, tasks, explicit or []
    )


@given(topics, tasks.filter(bool), named)
def test_every_partition_has_one_task(
    inputs: dict[str, int], tasks: int, explicit: list[list[str]] | None
) -> None:
    shares = assign([*inputs.items()], tasks, explicit)
    assert len(shares) == tasks
    counted = Counter(one for share in flat(shares) for one in share)
    assert counted == {(topic, n): 1 for topic, count in inputs.items() for n in range(count)}


@given(topics, tasks.filter(bool))
def test_no_task_has_two_more_than_another(inputs: dict[str, int], tasks: int) -> None:
    shares = flat(assign([*inputs.items()], tasks))
    sizes, most = [len(share) for share in shares], max(inputs.values(), default=0)
    if tasks > most:
        assert max(sizes) - min(sizes) <= 1
        for topic in inputs:
            of_topic = [sum(one == topic for one, _ in share) for share in shares]
            assert max(of_topic) - min(of_topic) <= 1
    else:  # what is given out at once is a number of all topics
        assert max(sizes) - min(sizes) <= max(1, len(inputs))


@given(topics, tasks.filter(bool))
def test_equal_numbers_of_all_topics_meet_in_one_task(inputs: dict[str, int], tasks: int) -> None:
    if tasks <= max(inputs.values(), default=0):
        shares = flat(assign([*inputs.items()], tasks))
        for number in range(max(inputs.values())):
            assert sum(any(n == number for _, n in share) for share in shares) == 1


@given(topics, tasks, named)
def test_what_is_left_out_evens_out(
    inputs: dict[str, int], tasks: int, explicit: list[list[str]] | None
) -> None:
    """Whoever got one that nobody named has at most one more than who has the fewest; of what is
    given out by number, as many more as there are topics."""
    shares = flat(assign([*inputs.items()], tasks, explicit))
    wanted = {place for some in (explicit or [])[:tasks] for place in some}
    named_numbers = {place.rpartition("/")[2] for place in wanted}
    fewest = min(map(len, shares), default=0)
    together = tasks <= max(inputs.values(), default=0)
    for share in shares:
        left = [(t, n) for t, n in share if f"{t}/{n}" not in wanted]
        if together:
            left = [(t, n) for t, n in left if str(n) not in named_numbers]
        if left:
            others = sum(str(n) in named_numbers for _, n in share) if together else 0
            assert len(share) <= fewest + (max(1, len(inputs)) + others if together else 1)


@given(topics, tasks, named, st.randoms(use_true_random=False))
def test_neither_the_order_of_inputs_nor_of_names_matters(
    inputs: dict[str, int], tasks: int, explicit: list[list[str]] | None, random: Random
) -> None:
    shuffled = [*inputs.items()]
    random.shuffle(shuffled)
    mixed = None if explicit is None else [random.sample(some, len(some)) for some in explicit]
    assert assign(shuffled, tasks, mixed) == assign([*inputs.items()], tasks, explicit)


@given(topics, tasks, named)
def test_shares_are_sorted_and_hold_no_empty_topics(
    inputs: dict[str, int], tasks: int, explicit: list[list[str]] | None
) -> None:
    for share in assign([*inputs.items()], tasks, explicit):
        assert [one.topic for one in share] == sorted({one.topic for one in share})
        for one in share:
            assert one.partitions
            assert list(one.partitions) == sorted(set(one.partitions))


@given(topics, tasks, named)
def test_an_assignment_said_explicitly_is_itself(
    inputs: dict[str, int], tasks: int, explicit: list[list[str]] | None
) -> None:
    once = assign([*inputs.items()], tasks, explicit)
    said = [[f"{topic}/{number}" for topic, number in share] for share in flat(once)]
    assert assign([*inputs.items()], tasks, said) == once
