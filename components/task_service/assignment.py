"""Which task reads which partitions: as the config says, and the rest evenly. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from events.records import InputPartitions

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
    perhaps) goes to the tasks with the fewest. Without it all is left out, so that over all topics
    no task has two partitions more than another. Topics follow one another round the tasks: were
    each begun at task 0, the first tasks would get the odd partition of every topic. Where the
    tasks divide the partitions of each topic, equal numbers of all topics meet in one task.
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
    left = [
        (topic, number)
        for topic, count in counts.items()
        for number in range(count)
        if (topic, number) not in owner
    ]
    for task, partition in zip(_fewest_first(shares), left, strict=False):
        shares[task].append(partition)
    return tuple(_by_topic(share) for share in shares)


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
