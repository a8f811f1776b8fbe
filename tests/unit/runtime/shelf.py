"""A topic that keeps rows, and owners of one log that come and go."""

from __future__ import annotations

from components.runtime.core.component import Component
from components.runtime.core.store import Keeper, Restored, RowEntry, restore
from simulation.log import Keep
from tests.unit.runtime.bench import Bench, Toy, toy

BUILD = "build 1"


class Shelf:
    """A topic that keeps rows, and owners of one log that come and go."""

    def __init__(self) -> None:
        self.keep = Keep()
        self.bench = Bench()
        self.bench.tick()
        self.number = 0

    def begin(
        self, component: Component[Toy] = toy, build: str = BUILD
    ) -> tuple[Restored[Toy], Keeper[Toy]]:
        """Another instance: it claims, restores, and owns the key from now on."""
        self.number += 1
        claim = self.keep.claim(self.number)
        restored = restore(component, self.keep.entries, build)
        owner = self.bench.assign(held=restored.held, seen=restored.seen, component=component)
        return restored, Keeper(owner, claim, build, restored)

    def put(self, keeper: Keeper[Toy], most: int = 10**9) -> list[RowEntry]:
        """Writes what is to be kept; an owner that dies amid it has written the first `most`."""
        entries = list(keeper.entries())
        for entry in entries[:most]:
            self.keep.append(entry)
        return entries

    def names(self, mark: str) -> set[str]:
        return {entry.key for entry in self.keep.entries if entry.key.startswith(mark)}
