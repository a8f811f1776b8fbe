"""What the tier-wide components keep of a large fleet, packed as they keep it: bytes of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.fleet_words import EPOCH, Crew
from benchmarks.volume_play import Written, written_as
from benchmarks.volume_words import CHAIN, NOW_MS, TIER, fact_of
from components.capacity_manager.decide import component as capacity_manager
from components.runtime.core.component import Component
from components.runtime.core.snapshots import take
from components.runtime.core.step import ROOT, Stepper
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from events.generated.records import (
    Body,
    LayerVersions,
    ShardAddRequested,
    TaskSpecsPublished,
    TierDefined,
)
from events.topics import JOURNAL, TIERS, place
from events.wire.codec import Record, encode
from turbine_client.identity import decision_id

REGION = "local"


class Size(NamedTuple):
    """Of a fleet."""

    containers: int
    shards: int
    jobs: int
    tasks: int


def snapshot_bytes(component: Component[Any], size: Size, journal: Sequence[Written]) -> int:
    """Of one snapshot of a component, of a fleet and of what the journal tells of other jobs."""
    inputs = sorted(component.inputs)
    owner: Stepper[Any] = Stepper(component, [place(one, 0) for one in inputs], lambda *_: True)
    ends = dict.fromkeys(inputs, 0)
    for one in (*_placed(size), *journal):
        if one.topic in ends:
            at = ends[one.topic]
            message = Message(one.topic, 0, at, NOW_MS + at, one.key, one.value, one.headers)
            found = take_in(message, 1, component.folds)
            assert not isinstance(found, DeadLetter), found
            owner.read(found)
            ends[one.topic] += 1
    owner.now_ms = NOW_MS + max(ends.values())
    owner.settle()
    assert not owner.blocked, "nothing is held back"
    return len(take(owner, "build").packed)


def capacity_bytes(size: Size, journal: Sequence[Written], times: float) -> float:
    """Of the capacity manager, whose rows grow with jobs: of `times` as many as the journal has."""
    alone = snapshot_bytes(capacity_manager, size, [])
    more = snapshot_bytes(capacity_manager, size, [one for one in journal if one.topic == JOURNAL])
    return alone + (more - alone) * times


def _placed(size: Size) -> Iterator[Written]:
    """All that has to be said until each shard runs in its container, and has told its load."""
    names = [f"container-{number:05d}" for number in range(size.containers)]
    crew, chain = Crew(frozenset(names)), _Chain()
    tier = TierDefined(TIER, size.shards, (REGION,))
    list(crew.hear(tier))
    for key in (CHAIN, f"{TIER}/capacity"):
        yield chain.say(key, tier)
    for name in names:
        yield fact_of(name, crew.begin(name, TIER, REGION))
    for number in range(size.jobs):
        job, tasks = f"job-{number:05d}", size.tasks // size.jobs
        versions = LayerVersions(1, 0, 0, 0)
        list(crew.hear(TaskSpecsPublished(job, "p", 1, tasks, 1, 1, versions, TIER, "", "", ())))
    for shard in range(size.shards):
        name = names[shard % size.containers]
        asked = ShardAddRequested(TIER, shard, 1, name, EPOCH, "plan", "new")
        yield chain.say(CHAIN, asked)
        yield from _facts(name, crew.hear(asked))
    for name in names:
        yield fact_of(name, crew.beat(name, 1, NOW_MS, ()))
        yield fact_of(name, crew.loads(name, 2, 600_000))


class _Chain:
    """Decisions of one author, each on the one before it."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def say(self, key: str, body: Body) -> Written:
        kind, value = type(body).__name__, encode(body)
        parent = self._last.get(key, ROOT)
        name = self._last[key] = decision_id(parent, key, kind, value)
        return written_as(
            TIERS, Record(key, name, kind, value, body, parent=parent, source="benchmark")
        )


def _facts(name: str, bodies: Iterable[Body]) -> Iterator[Written]:
    """Those that are about the container; tasks tell theirs elsewhere."""
    yield from (fact_of(name, body) for body in bodies if type(body).__name__.startswith("Shard"))
