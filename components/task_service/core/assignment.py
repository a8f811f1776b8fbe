"""Which task reads which partitions: as the config says, and the rest evenly. Pure."""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from events.generated.records import InputPartitions

Partition = tuple[str, int]

KNOWN_MOST = 1_024
"""Partitions of an assignment that is remembered, so that all of them have a bound in memory."""
_NUMBER = re.compile("0|[1-9][0-9]{0,5}")
"""Of a partition, as the config has it."""


def assign(
    inputs: Sequence[tuple[str, int]],
    tasks: int,
    explicit: Sequence[Sequence[str]] | None = None,
) -> tuple[tuple[InputPartitions, ...], ...]:
    """For each task its partitions, by topic; every partition that there is has one task.

    `inputs` are topics with the number of their partitions, in any order. What `explicit` names
    stays where it is put, except for partitions that do not exist; what it leaves out (added since,
    perhaps) goes to the task that has the same number of another topic, or to the one with the
    fewest.

    Equal numbers of all topics meet in one task, whatever the number of tasks: records of one key
    lie there, and so does what a job keeps of them. Only where there are more tasks than the widest
    topic has partitions would some get nothing: then partitions are given out one by one, and over
    all topics no task has two more than another.
    """
    counts, named = tuple(dict(sorted(inputs)).items()), tuple(map(tuple, explicit or ()))
    if sum(count for _, count in counts) > KNOWN_MOST:
        return _assigned(counts, tasks, named)
    return _known(counts, tasks, named)


def _assigned(
    inputs: tuple[tuple[str, int], ...], tasks: int, explicit: tuple[tuple[str, ...], ...]
) -> tuple[tuple[InputPartitions, ...], ...]:
    counts = dict(inputs)
    owner = _owners(counts, tasks, explicit)
    shares: list[list[Partition]] = [[] for _ in range(tasks)]
    for partition, task in owner.items():
        shares[task].append(partition)
    widest = max(counts.values(), default=0)
    if 0 < tasks <= widest:
        _share_numbers(shares, counts, owner)
        return tuple(_by_topic(share) for share in shares)
    left = [
        (topic, number)
        for topic, count in counts.items()
        for number in range(count)
        if (topic, number) not in owner
    ]
    for task, partition in zip(_fewest_first(shares), left, strict=False):
        shares[task].append(partition)
    return tuple(_by_topic(share) for share in shares)


def _share_numbers(
    shares: Sequence[list[Partition]], counts: Mapping[str, int], owner: Mapping[Partition, int]
) -> None:
    """What is left of each number goes to one task. Small numbers first: most topics have them."""
    homes: dict[int, int] = {}
    for (_, number), task in owner.items():
        homes.setdefault(number, task)
    fewest = [(len(share), task) for task, share in enumerate(shares)]
    heapq.heapify(fewest)
    for number in range(max(counts.values())):
        left = [
            (topic, number)
            for topic, count in counts.items()
            if number < count and (topic, number) not in owner
        ]
        home = homes.get(number)
        if home is None:
            while fewest[0][0] != len(shares[fewest[0][1]]):  # it was given some as their home
                heapq.heapreplace(fewest, (len(shares[fewest[0][1]]), fewest[0][1]))
            home = fewest[0][1]
        shares[home] += left


_known = lru_cache(maxsize=2_048)(_assigned)
"""A job is listed again with each of its versions, and its shape is mostly the one before."""


def _owners(
    counts: Mapping[str, int], tasks: int, explicit: Sequence[Sequence[str]]
) -> dict[Partition, int]:
    """The task of each partition that is named and exists; the first that names it has it."""
    owner: dict[Partition, int] = {}
    for task, named in zip(range(tasks), explicit, strict=False):
        for place in named:
            topic, _, number = place.rpartition("/")
            if _NUMBER.fullmatch(number) and int(number) < counts.get(topic, 0):
                owner.setdefault((topic, int(number)), task)
    return owner


def _fewest_first(shares: Sequence[Sequence[Partition]]) -> Iterator[int]:
    """The task that is to get the next partition, for ever; of equals the lowest.

    By levels rather than by a heap: each level is passed once, so it is linear.
    """
    if not shares:
        return
    levels: defaultdict[int, list[int]] = defaultdict(list)
    for task, share in enumerate(shares):
        levels[len(share)].append(task)
    level = min(levels)
    while True:
        # Those who had so many from the start, and those who have so many by now.
        ready = sorted(levels.pop(level, ()))
        yield from ready
        level += 1
        levels[level] += ready


def _by_topic(share: Sequence[Partition]) -> tuple[InputPartitions, ...]:
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for topic, number in sorted(share):
        numbers[topic].append(number)
    return tuple(InputPartitions(topic, tuple(found)) for topic, found in numbers.items())
