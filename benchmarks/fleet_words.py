"""What containers that run nothing say, as real ones say it: of many at once, and cheaply. Pure.

A container says what follows from the tier's chain and the standing lists of tasks: which shards it
holds, which tasks it started in them. A task starts in no time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from components.runtime.core.step import ROOT
from events.generated.records import (
    Body,
    ContainerHeartbeat,
    ContainerStarted,
    Generation,
    LayerVersions,
    Position,
    ResourceAmount,
    ShardAdded,
    ShardAddRequested,
    ShardDropped,
    ShardDropRequested,
    ShardForceKilled,
    ShardLoad,
    ShardLoadsReported,
    TaskSpecsPublished,
    TaskStarted,
    TaskStopped,
    TierDefined,
)
from projections.shards import mask_of, shard_of

EPOCH = 1
CAPACITY = (ResourceAmount("cpu_cores", 16.0), ResourceAmount("memory_bytes", 64e9))
HEARD = frozenset(
    one.__name__
    for one in (
        ShardAddRequested,
        ShardDropRequested,
        ShardForceKilled,
        TaskSpecsPublished,
        TierDefined,
    )
)
"""The kinds of decisions that a container follows; no other is decoded."""
_CPU_LEAST, _CPU_SPREAD = 0.2, 0.6
_MEMORY = 512 * 2**20
_NETWORK = 100_000.0


class Chains:
    """Which decisions stand, by their headers: nobody forges anything in a benchmark, so the first
    child of the last one is the one that stands."""

    def __init__(self) -> None:
        self._last: dict[bytes, bytes] = {}

    def stands(self, key: bytes | None, said: Mapping[str, bytes | None]) -> bool:
        """Does the decision about the key stand? It is the last one from then on."""
        name = key or b""
        if said.get("ce_parent") != self._last.get(name, ROOT.encode()):
            return False
        self._last[name] = said.get("ce_id") or b""
        return True


class Listed(NamedTuple):
    """The list of a job's tasks that stands, and the shard of each."""

    generation: int
    tasks: int
    versions: LayerVersions
    tier: str
    regions: tuple[str, ...]
    shards: tuple[int, ...] = ()


@dataclass(slots=True)
class Crew:
    """Containers of one process: what they hold, and which tasks there are."""

    names: frozenset[str]
    tier: TierDefined | None = None
    held: dict[str, dict[int, int]] = field(default_factory=dict)  # shard to generation
    holder: dict[int, str] = field(default_factory=dict)  # which of ours has the shard
    lists: dict[str, Listed] = field(default_factory=dict)
    tasks: dict[int, dict[tuple[str, int], None]] = field(default_factory=dict)  # of each shard
    digests: dict[str, str] = field(default_factory=dict)  # of those that hold the same as before

    def hear(self, body: Body) -> Iterator[Body]:
        """What has to be said after a decision that stands."""
        match body:
            case TierDefined():
                self.tier = body
                for job, listed in list(self.lists.items()):
                    self._put(job, listed)
            case ShardAddRequested():
                yield from self._given(body)
            case ShardDropRequested() | ShardForceKilled():
                yield from self._taken(body)
            case TaskSpecsPublished() if body.part == body.parts:
                yield from self._listed(body)
            case _:
                return

    # --- shards

    def _given(self, body: ShardAddRequested) -> Iterator[Body]:
        shard, name = body.shard, body.container
        # Another's from now on: that life of ours is over, and what it says is void.
        self._lose(shard)
        if name not in self.names:
            return
        self.holder[shard] = name
        self.held.setdefault(name, {})[shard] = body.generation
        self.digests.pop(name, None)
        tasks = self.tasks.get(shard, {})
        for job, task in tasks:
            yield self._started(job, task, name, body.generation)
        yield ShardAdded(name, EPOCH, body.tier, shard, body.generation, len(tasks))

    def _taken(self, body: ShardDropRequested | ShardForceKilled) -> Iterator[Body]:
        shard, name = body.shard, body.container
        if self.held.get(name, {}).get(shard) != body.generation:
            return
        self._lose(shard)
        for job, task in self.tasks.get(shard, {}):
            both = Generation(self.lists[job].generation, body.generation)
            yield TaskStopped(job, task, both, name, EPOCH, "dropped")
        yield ShardDropped(name, EPOCH, body.tier, shard, body.generation)

    def _lose(self, shard: int) -> None:
        name = self.holder.pop(shard, None)
        if name is not None:
            del self.held[name][shard]
            self.digests.pop(name, None)

    # --- tasks

    def _listed(self, body: TaskSpecsPublished) -> Iterator[Body]:
        job, before = body.job, self.lists.get(body.job)
        if before is not None and before.generation != body.generation:
            for task, shard in enumerate(before.shards):
                if (name := self.holder.get(shard)) is not None:
                    both = Generation(before.generation, self.held[name][shard])
                    yield TaskStopped(job, task, both, name, EPOCH, "plan")
        now = Listed(body.generation, body.tasks, body.versions, body.tier, body.regions)
        for task, shard in enumerate(self._put(job, now).shards):
            if (name := self.holder.get(shard)) is not None:
                yield self._started(job, task, name, self.held[name][shard])

    def _put(self, job: str, listed: Listed) -> Listed:
        """The list in place of the one before; most often its tasks are in the same shards."""
        before = self.lists.get(job)
        if before is not None and (before.tasks, before.regions) == (listed.tasks, listed.regions):
            shards = before.shards
        else:
            shards = ()
        shards = shards or self._shards(job, listed)
        if before is None or before.shards != shards:
            for task, shard in enumerate(before.shards if before is not None else ()):
                del self.tasks[shard][job, task]
            for task, shard in enumerate(shards):
                self.tasks.setdefault(shard, {})[job, task] = None
        self.lists[job] = listed._replace(shards=shards)
        return self.lists[job]

    def _shards(self, job: str, listed: Listed) -> tuple[int, ...]:
        tier = self.tier
        if tier is None or listed.tier != tier.tier:
            return ()
        mask = mask_of(tier.regions, listed.regions)
        return tuple(shard_of(f"{job}/{task}", mask, tier.shards) for task in range(listed.tasks))

    def _started(self, job: str, task: int, name: str, generation: int) -> TaskStarted:
        listed = self.lists[job]
        both = Generation(listed.generation, generation)
        return TaskStarted(job, task, both, name, EPOCH, versions=listed.versions)

    # --- what is due

    def begin(self, name: str, tier: str, region: str) -> ContainerStarted:
        """A life begins."""
        return ContainerStarted(name, EPOCH, tier, region, CAPACITY, "benchmark")

    def beat(
        self, name: str, number: int, sent_ms: int, read_to: tuple[Position, ...]
    ) -> ContainerHeartbeat:
        """A heartbeat with all that a real one has."""
        held = self.held.get(name, {})
        digest = self.digests.get(name)
        if digest is None:
            digest = self.digests[name] = digest_of(held.items())
        tasks = sum(len(self.tasks.get(shard, ())) for shard in held)
        return ContainerHeartbeat(
            name, EPOCH, number, sent_ms, "serving", len(held), digest, tasks, read_to
        )

    def loads(self, name: str, number: int, window_ms: int) -> ShardLoadsReported:
        """What the shards used; those without tasks nothing."""
        tier = self.tier.tier if self.tier is not None else ""
        loads = tuple(
            load_of(tier, shard, generation, tuple(self.tasks.get(shard, ())))
            for shard, generation in sorted(self.held.get(name, {}).items())
        )
        return ShardLoadsReported(name, EPOCH, number, window_ms, loads)


def digest_of(held: Iterable[tuple[int, int]]) -> str:
    """As containers make it, which shards and generations are held."""
    text = ",".join(f"{shard}:{generation}" for shard, generation in sorted(held))
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""


def load_of(
    tier: str, shard: int, generation: int, tasks: tuple[tuple[str, int], ...]
) -> ShardLoad:
    """Not all tasks are alike: what one uses is told by its shard's number."""
    cpu = _CPU_LEAST + _CPU_SPREAD * (shard * 2_654_435_761 % 1_000) / 1_000
    count = len(tasks)
    return ShardLoad(
        tier=tier,
        shard=shard,
        generation=generation,
        tasks=count,
        cpu_cores=cpu * count,
        memory_bytes=_MEMORY * count,
        disk_bytes=None if tasks else 0,
        network_bytes_per_s=_NETWORK * count,
        job=tasks[0][0] if tasks else "",
    )
