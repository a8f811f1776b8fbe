"""Which task should read which partitions, where one of them gets more than the others. Pure.

The busiest partition first, each to the task with least so far: what is hot ends up alone if that
is what it takes. Partitions are whole; what no other sharing mends is told, not tried.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

from projections.scaling.facts import Facts
from projections.scaling.rounds import Rounds
from projections.scaling.splits import PartitionShare, shares

BETTER = 0.9
"""Of the load of the busiest task that it must come down to: less is not worth a restart."""
PLACES_MOST = 1_000
"""Partitions of an explicit assignment: with topics' names it has to fit into a layer."""
PLACES_CHARS = 48 * 1024


class Reassignment(NamedTuple):
    """A better assignment, or the reason why there is none."""

    assignment: tuple[tuple[str, ...], ...] = ()
    before: float = 0.0  # records a second of the busiest task
    after: float = 0.0
    reason: str = ""  # a code
    explanation: str = ""


def shared(rounds: Rounds, facts: Facts) -> Reassignment:
    """For the tasks that there are, by what came to each partition of late."""
    loads = _loads(rounds)
    tasks = facts.size.tasks
    if loads is None or len(loads) != rounds.tasks or rounds.tasks != tasks:
        said = "nobody knows how much comes to each partition"
        return Reassignment(reason="rates-unknown", explanation=said)
    ones = [(rate, place) for load in loads.values() for place, rate in load.items()]
    whole = sum(count or 0 for _, count in facts.inputs)
    if facts.partitions is not None and len(ones) != whole:
        said = f"of {whole} partitions {len(ones)} are known"
        return Reassignment(reason="rates-unknown", explanation=said)
    groups = _by_number(ones)
    if len(groups) <= tasks:
        said = f"each of the {tasks} tasks has a partition of its own: none can be given away"
        return Reassignment(reason="partition-alone", explanation=said)
    if len(ones) > PLACES_MOST or sum(len(place) for _, place in ones) > PLACES_CHARS:
        said = f"an assignment of {len(ones)} partitions is more than a config holds"
        return Reassignment(reason="too-many-partitions", explanation=said)
    return _judged(_spread(groups, tasks), loads)


def _by_number(ones: list[tuple[float, str]]) -> list[tuple[float, tuple[str, ...]]]:
    """Equal numbers of all topics stay together, as what a job keeps of them does."""
    found: dict[str, list[tuple[float, str]]] = {}
    for rate, place in ones:
        found.setdefault(place.rpartition("/")[2], []).append((rate, place))
    return [
        (sum(rate for rate, _ in some), tuple(sorted(place for _, place in some)))
        for some in found.values()
    ]


def _loads(rounds: Rounds) -> dict[int, dict[str, float]] | None:
    """By task, records a second that come to each of its partitions."""
    loads: dict[int, dict[str, float]] = {}
    for task, heard in sorted(rounds.heard.items()):
        own = loads.setdefault(task, {})
        for one in shares(heard.split, rounds.topics):
            came = one.rate if one.came is None else one.came
            if came is None:
                return None
            own[place_of(one)] = came
        if not own:
            return None
    return loads


def place_of(one: PartitionShare) -> str:
    """As a config names it."""
    return f"{one.topic}/{one.partition}"


def _spread(ones: list[tuple[float, tuple[str, ...]]], tasks: int) -> list[tuple[float, list[str]]]:
    """The busiest first, each to the task with least; of equals to the one with fewest."""
    heap = [(0.0, 0, task) for task in range(tasks)]
    given: list[tuple[float, list[str]]] = [(0.0, []) for _ in range(tasks)]
    for rate, places in sorted(ones, key=lambda one: (-one[0], one[1])):
        load, count, task = heapq.heappop(heap)
        given[task] = (load + rate, [*given[task][1], *places])
        heapq.heappush(heap, (load + rate, count + len(places), task))
    return given


def _judged(
    given: list[tuple[float, list[str]]], loads: dict[int, dict[str, float]]
) -> Reassignment:
    before = max(sum(own.values()) for own in loads.values())
    after = max(load for load, _ in given)
    if after > BETTER * before:
        said = (
            f"the busiest task gets {before:.0f} records/s, and no other sharing of whole"
            f" partitions brings that below {after:.0f}"
        )
        return Reassignment((), before, after, "no-better-sharing", said)
    return Reassignment(tuple(tuple(sorted(places)) for _, places in given), before, after)
