"""What the log tells of a fleet: who holds what since when, and which tasks run which version.

All times are the broker's, of appending. Pure, but for `Watch`, which reads on when it is asked to:
between two looks it costs nothing, so that nobody pays for being watched while they are measured.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.children import ChildFailed
from benchmarks.fleet_words import Chains
from components.runtime.kafka.intake import Message
from events.generated.records import (
    Body,
    ContainerFailedOver,
    ContainerFailOverRequested,
    PlacementPlanned,
    ShardAdded,
    ShardAddRequested,
    TaskStarted,
    TierDefined,
)
from events.topics import CONTAINERS, TASKS, TIERS, place
from events.wire.codec import TYPE_PREFIX, decode
from infra import waiting
from turbine_client.reading import ends_now, read_span
from turbine_client.settings import Settings

LOOK_S = 0.5
_DECODED = frozenset(
    one.__name__
    for one in (
        ContainerFailedOver,
        ContainerFailOverRequested,
        PlacementPlanned,
        ShardAdded,
        ShardAddRequested,
        TaskStarted,
        TierDefined,
    )
)


class Given(NamedTuple):
    """To whom a shard was given, and when; or who said that it holds it."""

    generation: int
    container: str
    at_ms: int


@dataclass(slots=True)
class Told:
    """What the log told so far."""

    chains: Chains = field(default_factory=Chains)
    void: int = 0
    defined_ms: int = 0
    plans: int = 0
    started: int = 0  # containers
    beats: array[int] = field(default_factory=lambda: array("q"))  # when, of each heartbeat
    loads: array[int] = field(default_factory=lambda: array("q"))
    weighed: set[bytes | None] = field(default_factory=set)  # containers that told their loads
    given: dict[int, Given] = field(default_factory=dict)
    added: dict[int, Given] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)  # container to when its fail-over was
    over: dict[str, int] = field(default_factory=dict)  # container to when it counted
    tasks: dict[tuple[str, int], dict[int, int]] = field(default_factory=dict)  # version to when

    def hear(self, message: Message) -> None:
        """One record of the tier's chain, of containers or of tasks."""
        said = dict(message.headers or ())
        if message.topic == TIERS and not self.chains.stands(message.key, said):
            self.void += 1
            return
        kind = (said.get("ce_type") or b"").decode().removeprefix(TYPE_PREFIX)
        if kind == "ContainerHeartbeat":
            self.beats.append(message.at_ms)
        elif kind == "ShardLoadsReported":
            self.loads.append(message.at_ms)
            self.weighed.add(message.key)
        elif kind == "ContainerStarted":
            self.started += 1
        elif kind in _DECODED:
            self._note(decode(message.value or b""), message.at_ms)

    def _note(self, body: Body, at_ms: int) -> None:
        match body:
            case TierDefined():
                self.defined_ms = at_ms
            case PlacementPlanned():
                self.plans += body.part == 1
            case ShardAddRequested():
                self.given[body.shard] = Given(body.generation, body.container, at_ms)
            case ShardAdded():
                self.added[body.shard] = Given(body.generation, body.container, at_ms)
            case ContainerFailOverRequested():
                self.asked.setdefault(body.container, at_ms)
            case ContainerFailedOver():
                self.over.setdefault(body.container, at_ms)
            case TaskStarted() if body.versions is not None:
                times = self.tasks.setdefault((body.job, body.task), {})
                times.setdefault(body.versions.base, at_ms)
            case _:
                return

    def holds(self, shard: int) -> bool:
        """Did the container say so to which the shard was given last?"""
        given, added = self.given.get(shard), self.added.get(shard)
        return given is not None and added is not None and added[:2] == given[:2]

    def placed(self, shards: int) -> bool:
        """Is every shard held?"""
        return len(self.given) == shards and all(map(self.holds, self.given))

    def at_version(self, version: int) -> dict[tuple[str, int], int]:
        """Tasks that were started at that version of their base layer, and when first."""
        return {task: at[version] for task, at in self.tasks.items() if version in at}


def within(times_ms: array[int], begin_ms: float, end_ms: float) -> int:
    """How many of the times lie there. They come from several partitions: not in order."""
    ordered = sorted(times_ms)
    return bisect_left(ordered, end_ms) - bisect_left(ordered, begin_ms)


def held_by(given: Mapping[int, Given], dead: frozenset[str]) -> dict[int, Given]:
    """The shards that these containers had."""
    return {shard: one for shard, one in given.items() if one.container in dead}


def rescued(told: Told, lost: Mapping[int, Given]) -> bool:
    """Are all of the shards others', and did those say so?"""
    return all(
        told.given[shard].generation > one.generation and told.holds(shard)
        for shard, one in lost.items()
    )


def fail_over_figures(told: Told, lost: Mapping[int, Given], killed_ms: float) -> dict[str, float]:
    """Times of a fail-over, from three beginnings; the shards of each container count from the
    record that asked for its own."""
    asked = {one.container: told.asked[one.container] for one in lost.values()}
    first, last = min(asked.values()), max(asked.values())
    placed = max(told.given[shard].at_ms for shard in lost)
    added = max(told.added[shard].at_ms for shard in lost)
    worst, worst_added = 0, 0
    for shard, one in lost.items():
        worst = max(worst, told.given[shard].at_ms - asked[one.container])
        worst_added = max(worst_added, told.added[shard].at_ms - asked[one.container])
    return {
        "failover_place_s": worst / 1000,
        "failover_added_s": worst_added / 1000,
        "failover_place_from_last_s": (placed - last) / 1000,
        "failover_added_from_last_s": (added - last) / 1000,
        "failover_place_from_first_s": (placed - first) / 1000,
        "failover_added_from_first_s": (added - first) / 1000,
        "failover_detected_first_s": (first - killed_ms) / 1000,
        "failover_detected_last_s": (last - killed_ms) / 1000,
        "failover_containers": len(asked),
        "failover_shards": len(lost),
    }


def upgrade_figures(
    begun_ms: Mapping[str, int], started_ms: Mapping[tuple[str, int], int]
) -> tuple[float, list[float]]:
    """Seconds from the first proposal to the last start; and of each job from its own proposal."""
    last: dict[str, int] = {}
    for (job, _), at_ms in started_ms.items():
        last[job] = max(last.get(job, 0), at_ms)
    each = [(at_ms - begun_ms[job]) / 1000 for job, at_ms in last.items()]
    return (max(last.values()) - min(begun_ms.values())) / 1000, each


class Watch:
    """Reads what has come since the last look."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self.told = settings, Told()
        per_job = [
            place(short, p) for short in (CONTAINERS, TASKS) for p in range(settings.partitions)
        ]
        self._next = dict.fromkeys([place(TIERS, 0), *per_job], 0)

    def look(self) -> Told:
        """All that there is now."""
        ends = ends_now(self._settings, self._next)
        spans: dict[str, tuple[int, int | None]] = {
            at: (offset, ends[at]) for at, offset in self._next.items() if offset < ends[at]
        }
        for message in self._read(spans):
            self.told.hear(message)
        self._next = ends
        return self.told

    def _read(self, spans: Mapping[str, tuple[int, int | None]]) -> Iterator[Message]:
        if spans:
            for poll in read_span(self._settings, spans):
                yield from poll

    def until(self, done: Callable[[Told], bool], what: str, limit_s: float) -> Told:
        """Looks until it is so; ChildFailed where it is not so in time."""

        def seen() -> str:
            told = self.told
            return (
                f"{what}; {len(told.given)} shards were given, {len(told.added)} added,"
                f" {len(told.tasks)} tasks started"
            )

        waiting.until(lambda: done(self.look()), seen, limit_s, LOOK_S, ChildFailed)
        return self.told
