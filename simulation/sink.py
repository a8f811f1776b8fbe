"""What instances of shards did: when each ran, awake or not, and what a sink took from it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class ShardRun:
    """One run of one shard: from its start to its end, and when it slept."""

    shard: int
    generation: int
    container: str
    epoch: int
    start_ms: int
    end_ms: int | None = None
    asleep: list[tuple[int, int | None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SinkAnswer:
    """What the sink took, or refused as stale."""

    at_ms: int
    shard: int
    generation: int
    container: str
    epoch: int
    taken: bool


class SimulatedSink:
    """Where tasks write: it refuses who comes with less than the greatest generation it saw."""

    def __init__(self) -> None:
        self.floor: dict[int, int] = {}
        self.seen: list[SinkAnswer] = []

    def take(self, at_ms: int, one: ShardRun) -> None:
        """A write arrives."""
        taken = one.generation >= self.floor.get(one.shard, 0)
        if taken:
            self.floor[one.shard] = one.generation
        self.seen.append(
            SinkAnswer(at_ms, one.shard, one.generation, one.container, one.epoch, taken)
        )
