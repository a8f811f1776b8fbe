"""What containers and tiers say at a large fleet, some of each kind, for what one costs. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.fleet_words import EPOCH, Crew
from benchmarks.volume_play import Written, written_as
from components.task_manager.fact_writer import fact
from events.generated.records import (
    Body,
    LayerVersions,
    Position,
    ShardAdded,
    ShardAddRequested,
    ShardDropped,
    ShardDropRequested,
    TaskSpecsPublished,
    TierDefined,
)
from events.topics import CONTAINERS, TIERS, place
from events.wire.codec import Record, encode
from turbine_client.identity import decision_id

TIER = "default"
CHAIN = f"{TIER}/placement"
LATE = 4_000_000
"""An offset of a log that is some days old: numbers are as long as they will be."""
NOW_MS = 1_800_000_000_000


def words(containers: int, shards: int, tasks: int) -> Iterator[Written]:
    """One heartbeat of each container, its shards' loads, and one move of a shard."""
    names = [f"container-{number:05d}" for number in range(containers)]
    crew = Crew(frozenset(names))
    list(crew.hear(TierDefined(TIER, shards * containers, ("local",))))
    for shard in range(shards * containers):
        name = names[shard % containers]
        list(crew.hear(ShardAddRequested(TIER, shard, 1, name, EPOCH, "plan", "new")))
    for job in range(tasks * containers):
        one, versions = f"job-{job:05d}", LayerVersions(1, 0, 0, 0)
        specs = TaskSpecsPublished(one, "plan", 1, 1, 1, 1, versions, TIER, "", "", ())
        list(crew.hear(specs))
    read_to = (Position(place(CONTAINERS, 11), LATE), Position(place(TIERS, 0), LATE))
    for number, name in enumerate(names):
        yield fact_of(name, crew.beat(name, LATE, NOW_MS + number, read_to))
        yield fact_of(name, crew.loads(name, LATE, 600_000))
        yield from _move(name, names[number - 1], number)


def _move(to: str, was: str, shard: int) -> Iterator[Written]:
    plan, reason = f"{NOW_MS}-{shard}", "balance: memory_bytes of the container is over the band"
    asked: tuple[Body, ...] = (
        ShardDropRequested(TIER, shard, 7, was, EPOCH, plan, reason, NOW_MS, to),
        ShardAddRequested(TIER, shard, 8, to, EPOCH, plan, reason, NOW_MS, was),
    )
    for body in asked:
        yield _decision(body)
    yield fact_of(was, ShardDropped(was, EPOCH, TIER, shard, 7, 1), {place(TIERS, 0): LATE})
    yield fact_of(to, ShardAdded(to, EPOCH, TIER, shard, 8, 1), {place(TIERS, 0): LATE})


def fact_of(key: str, body: Body, evidence: dict[str, int] | None = None) -> Written:
    """As a container says it of itself."""
    return written_as(CONTAINERS, fact(key, body, evidence or {}))


def _decision(body: Body) -> Written:
    kind, value = type(body).__name__, encode(body)
    parent = decision_id("root", CHAIN, kind, value)
    name = decision_id(parent, CHAIN, kind, value)
    evidence = {place(CONTAINERS, number): LATE for number in range(16)} | {place(TIERS, 0): LATE}
    record = Record(
        CHAIN,
        name,
        kind,
        value,
        body,
        parent=parent,
        evidence=evidence,
        tick_ms=NOW_MS,
        logic="shard-manager/1",
        source="shard-manager",
    )
    return written_as(TIERS, record)
