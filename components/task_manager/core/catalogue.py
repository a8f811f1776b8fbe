"""Which tasks there are in each shard of a tier, by the lists that stand for all jobs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from events.generated.records import Generation, LayerVersions, TaskSpec
from projections.lists import ListHead, PreviousList, TaskLists
from projections.shards import mask_of, shard_of


class ShardCounts(NamedTuple):
    """How a tier numbers its shards."""

    tier: str
    each: int  # for every set of allowed regions
    regions: tuple[str, ...]

    def shards(self, allowed: tuple[str, ...]) -> Callable[[str], int] | None:
        """In which shard a task, job/index, belongs; None: the tier has none of its regions."""
        mask = mask_of(self.regions, allowed)
        return (lambda name: shard_of(name, mask, self.each)) if mask else None


class Program(NamedTuple):
    """What a task executes: a run of another one has to be started anew."""

    spec: TaskSpec
    head: ListHead


class ListedTask(NamedTuple):
    """One task of the list that stands."""

    name: str  # job/index
    job: str
    task: int
    specs: int
    program: Program
    versions: LayerVersions
    tasks: int  # of the whole list

    def at(self, shard: int, generation: int) -> Target:
        """The task as it is to run under a generation of its shard."""
        return Target(self, shard, Generation(self.specs, generation))


class Target(NamedTuple):
    """A task that is to run here."""

    entry: ListedTask
    shard: int
    generation: Generation


class RetiredTask(NamedTuple):
    """A task of the list before: whoever holds its shard answers for it that it is over."""

    name: str
    job: str
    task: int
    specs: int


_NO_ENTRIES: Mapping[str, ListedTask] = MappingProxyType({})
_NO_GHOSTS: Mapping[str, RetiredTask] = MappingProxyType({})


class Catalogue:
    """All jobs of one tier, by shard. A list costs as much as it is long, when it changes."""

    def __init__(self, shape: ShardCounts) -> None:
        self.shape = shape
        self.rows: dict[str, TaskLists] = {}
        self._entries: dict[int, dict[str, ListedTask]] = {}
        self._ghosts: dict[int, dict[str, RetiredTask]] = {}
        self._homes: dict[str, tuple[dict[str, int], dict[str, int]]] = {}  # names to their shards

    def put(self, row: TaskLists) -> None:
        """The job as it stands now, in place of what was known of it."""
        self._remove(row.job)
        self.rows[row.job] = row
        homes: dict[str, int] = {}
        for home, entry in self._entries_of(row):
            self._entries.setdefault(home, {})[entry.name] = entry
            homes[entry.name] = home
        haunts: dict[str, int] = {}
        for home, ghost in self._ghosts_of(row):
            self._ghosts.setdefault(home, {})[ghost.name] = ghost
            haunts[ghost.name] = home
        self._homes[row.job] = (homes, haunts)

    def entries(self, shard: int) -> Mapping[str, ListedTask]:
        """The tasks that are to run in the shard, by name."""
        return self._entries.get(shard, _NO_ENTRIES)

    def ghosts(self, shard: int) -> Mapping[str, RetiredTask]:
        """The tasks of earlier lists that were in the shard, by name."""
        return self._ghosts.get(shard, _NO_GHOSTS)

    def lists(self, job: str, task: int, specs: int) -> bool:
        """Is the task to run under that generation, wherever? Its tier or its regions may have
        changed, and with them its shard."""
        row = self.rows.get(job)
        listed = row.listed if row is not None else None
        return listed is not None and listed.generation == specs and task < listed.tasks

    def _remove(self, job: str) -> None:
        entries, ghosts = self._homes.pop(job, ({}, {}))
        for name, home in entries.items():
            del self._entries[home][name]
        for name, home in ghosts.items():
            del self._ghosts[home][name]

    def _entries_of(self, row: TaskLists) -> Iterator[tuple[int, ListedTask]]:
        listed = row.listed
        if listed is None or listed.tier != self.shape.tier:
            return
        shard_of_task = self.shape.shards(listed.regions)
        if shard_of_task is None:
            return
        for spec in listed.specs:
            name = f"{row.job}/{spec.task}"
            program = Program(spec, listed.head)
            yield (
                shard_of_task(name),
                ListedTask(
                    name=name,
                    job=row.job,
                    task=spec.task,
                    specs=listed.generation,
                    program=program,
                    versions=listed.versions,
                    tasks=listed.tasks,
                ),
            )

    def _ghosts_of(self, row: TaskLists) -> Iterator[tuple[int, RetiredTask]]:
        former: PreviousList | None = row.former
        if former is None or former.tier != self.shape.tier:
            return
        shard_of_task = self.shape.shards(former.regions)
        if shard_of_task is None:
            return
        for task in range(former.tasks):
            name = f"{row.job}/{task}"
            yield shard_of_task(name), RetiredTask(name, row.job, task, former.generation)
