"""A host on a stage: what it is told, what it does, and a clock that one turns by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from immutables import Map

from components.task_manager.core.catalogue import Catalogue, ShardCounts
from components.task_manager.core.hosting import TaskSupervisor
from components.task_manager.core.periods import Periods
from components.task_manager.core.runs import Begin
from events.generated.records import Body
from projections.hold import ContainerHold, DesiredShard
from projections.lists import TaskLists, apply
from projections.shards import shard_of
from tasks.core.protocol import Ended, Started
from tests.unit.task_manager.examples import JOB, published

EACH = 4
SHARDS = [shard_of(f"{JOB}/{task}", 1, EACH) for task in range(8)]
PERIODS = Periods()


@dataclass(slots=True)
class Scene:
    """A host with all that it sees; an engine that does nothing by itself."""

    host: TaskSupervisor = field(default_factory=lambda: TaskSupervisor("c1", 1, PERIODS))
    catalogue: Catalogue = field(
        default_factory=lambda: Catalogue(ShardCounts("default", EACH, ()))
    )
    wishes: Map[int, DesiredShard] = Map()
    row: TaskLists = field(default_factory=lambda: TaskLists(JOB))
    now_ms: int = 1_000
    ready: bool = True
    facts: list[Body] = field(default_factory=list)

    def tell(self, *bodies: Body) -> Scene:
        for body in bodies:
            self.row = apply(self.row, body)
        self.catalogue.put(self.row)
        return self

    def give(self, generation: int = 1, shards: Iterable[int] = range(EACH)) -> Scene:
        for shard in shards:
            self.wishes = self.wishes.set(shard, DesiredShard(generation, True))
        return self

    def take(self, shard: int, *, at_once: bool = False) -> Scene:
        generation = self.wishes[shard].generation
        self.wishes = self.wishes.set(shard, DesiredShard(generation, False, at_once))
        return self

    def settle(self) -> list[Any]:
        hold = ContainerHold("c1", 1, wishes=self.wishes)
        done = list(self.host.settle(hold, self.catalogue, self.now_ms, ready=self.ready))
        self.facts += [one for one in done if isinstance(one, Body)]
        return done

    def hear(self, event: Started | Ended) -> list[Body]:
        said = list(self.host.heard(event, self.now_ms))
        self.facts += said
        return said

    def run_all(self) -> Scene:
        """All that is to start has started."""
        for one in self.settle():
            if isinstance(one, Begin):
                self.hear(Started(one.run, ()))
        return self

    def number(self, task: int) -> int:
        return self.host.runs[f"{JOB}/{task}"].number


def of(kind: type, done: Iterable[Any]) -> list[Any]:
    return [one for one in done if isinstance(one, kind)]


def hosting(tasks: int = 3) -> Scene:
    return Scene().tell(published(2, tasks)).give().run_all()
