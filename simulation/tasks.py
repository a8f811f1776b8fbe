"""Task managers on a bad day: they start and stop tasks as lists tell, late, twice, or never.

Scripted from outside: they read the journal as anyone may, and say what tasks would say. No two
instances of a task run at a time, as one task manager at a time owns it. All are of one tier and
one region: what is listed for another place they drop, and begin anew once it is listed here.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from components.runtime.core.step import Stepper
from events.generated.records import (
    Body,
    Generation,
    TaskFailed,
    TaskStarted,
    TaskStopped,
)
from events.topics import JOURNAL, TASKS, place
from events.wire.codec import Read, Record, encode
from projections import lists
from projections.lists import ListedSpecs, PreviousList, TaskLists
from projections.syncs import Sync
from simulation.casts import lists_view
from simulation.container import TIER
from simulation.log import PARTITION, TICKS

if TYPE_CHECKING:
    from simulation.world import SimulatedWorld

LOOK_MS = 2_000
SHARD = 1
REGION = "local"


def keeps_state(key: str) -> bool:
    """Of every second job tasks keep something from one batch to the next."""
    return zlib.crc32(key.encode()) % 2 == 0


@dataclass(slots=True)
class HeldTask:
    """One task as its manager holds it."""

    generation: int
    attempt: int = 1


@dataclass(slots=True)
class Site:
    """The tasks of one job that run, and what is under way or done."""

    running: dict[int, HeldTask] = field(default_factory=dict)
    begun: set[tuple[str, int, int]] = field(default_factory=set)  # what, task, generation
    over: set[tuple[int, int]] = field(default_factory=set)  # task and generation


class SimulatedTasks:
    """All of them in one; what they say lies on the facts' topic."""

    def __init__(self, world: SimulatedWorld) -> None:
        self.world = world
        self.rng = world.streams.fork("tasks")
        self.tier = TIER
        self.sites: dict[str, Site] = {}
        self._read_at = 0
        self._view: Stepper[Sync] = Stepper(
            lists_view, [place(JOURNAL, PARTITION)], world.log.possible, observer=self._observe
        )
        self._lists: dict[str, TaskLists] = {}
        self._said = 0

    def begin(self) -> None:
        """They look at the lists from time to time."""
        if "task-service" in self.world.cast:
            self.world.clock.after(LOOK_MS, self._look)

    def _look(self) -> None:
        if self.world.calm:
            return
        for key in self.world.authors.keys:
            self._follow(key)
        self.world.clock.after(self.rng.expovariate(1 / LOOK_MS), self._look)

    def settle(self) -> None:
        """After the faults: all that is still to be done is done at once, and well."""
        if "task-service" in self.world.cast:
            for key in self.world.authors.keys:
                self.sites.setdefault(key, Site()).begun.clear()
                self._follow(key)

    def row(self, key: str) -> Sync:
        """The job as the journal tells it at this moment."""
        at, log = place(JOURNAL, PARTITION), self.world.log
        for offset in range(self._read_at, log.end(at)):
            self._view.read(log.read(at, offset, lists_view.folds, self.world.newest_build))
        self._read_at = log.end(at)
        if ticks := log.lines[TICKS]:
            self._view.tick(TICKS, ticks[-1].offset, ticks[-1].at_ms)
        self._view.flush()
        held = self._view.held.get(key)
        return held.row if held is not None and held.row is not None else Sync(key)

    def _listed(self, key: str) -> TaskLists:
        """Its lists, with the place that each is for."""
        self.row(key)
        return self._lists.get(key, TaskLists(key))

    def _observe(self, read: Read, stands: bool) -> None:
        if stands and read.record.kind in lists.FOLDED_KINDS:
            key = read.record.key
            self._lists[key] = lists.fold(self._lists.get(key), read)

    # --- what the lists call for

    def _follow(self, key: str) -> None:
        row, site = self._listed(key), self.sites.setdefault(key, Site())
        listed = row.listed
        if listed is None:
            return
        for task, one in sorted(site.running.items()):
            if task >= self._here(listed) or one.generation != listed.generation:
                self._begin("stop", key, task, one.generation)
        for task in range(self._here(listed)):
            if task not in site.running:
                self._begin("start", key, task, listed.generation)
        if listed.tasks == 0 and row.live is not None:
            for task in range(self._here(row.live)):  # those nobody had started are over as well
                if task not in site.running and (task, row.live.generation) not in site.over:
                    self._begin("stop", key, task, row.live.generation)

    def _here(self, listed: ListedSpecs | PreviousList) -> int:
        """How many tasks of the list are for this place: all or none."""
        here = listed.tier == self.tier and (not listed.regions or REGION in listed.regions)
        return listed.tasks if here else 0

    def _begin(self, what: str, key: str, task: int, generation: int) -> None:
        """Once each; most do it soon, some late, and some never."""
        site = self.sites[key]
        if (what, task, generation) in site.begun:
            return
        site.begun.add((what, task, generation))
        act = partial(self._act, what, key, task, generation)
        if self.world.calm:
            act()
            return
        chance = self.rng.random()
        if chance < 0.01:
            self.world.counts["task manager never answers"] += 1
            return
        late = chance < 0.04
        self.world.counts["task manager late"] += late
        self.world.clock.after(
            self.rng.uniform(60_000, 350_000) if late else self.rng.expovariate(1 / 4_000), act
        )

    def _act(self, what: str, key: str, task: int, generation: int) -> None:
        site, row = self.sites[key], self._listed(key)
        if what == "stop":
            running = site.running.get(task)
            if running is not None and running.generation > generation:
                return  # a newer one runs meanwhile; the older is over since
            listed, stopped = row.listed, Generation(generation, SHARD)
            if listed and listed.generation == generation and task < listed.tasks:
                # It is to run elsewhere, and may come back under the same generations.
                site.begun -= {("start", task, generation), ("stop", task, generation)}
                if task >= self._here(listed) and task in site.running:
                    del site.running[task]
                    self._say(key, TaskStopped(key, task, stopped, "c1", 1, "dropped"))
                return
            site.running.pop(task, None)
            site.over.add((task, generation))
            self._say(key, TaskStopped(key, task, stopped, "c1", 1, "plan"))
        elif what == "start":
            listed = row.listed
            if listed is None or listed.generation != generation or task >= self._here(listed):
                return  # overtaken by another list
            if task not in site.running:
                self._start(key, task, generation)

    def _start(self, key: str, task: int, generation: int) -> None:
        one, both = HeldTask(generation), Generation(generation, SHARD)
        chance = 1.0 if self.world.calm else self.rng.random()
        if chance < 0.06:
            final = chance < 0.02
            self.world.counts["task failed"] += 1
            pause_ms = None if final else 1_000
            self._say(
                key,
                TaskFailed(
                    key, task, both, "c1", 1, "operator-error", "it broke", pause_ms=pause_ms
                ),
            )
            if final:
                return
            one.attempt = 2
        self.sites[key].running[task] = one
        keeps = keeps_state(key)
        started = TaskStarted(key, task, both, "c1", 1, attempt=one.attempt, keeps_state=keeps)
        self._say(key, started)
        if generation > 2 and chance > 0.97 and not self.world.calm:  # of an older generation
            self.world.counts["task of an older generation speaks"] += 1
            older = Generation(generation - 2, SHARD)
            self._say(key, TaskStarted(key, task, older, "c0", 1))

    def _say(self, key: str, body: Body) -> None:
        self._said += 1
        held = self._view.held.get(key)
        record = Record(
            key=key,
            id=f"task-{self._said}",
            kind=type(body).__name__,
            value=encode(body),
            body=body,
            evidence=dict(held.vector) if held is not None else {},
        )
        self.world.log.append(TASKS, record)
        if not self.world.calm and self.rng.random() < 0.05:  # a producer that was not sure
            self.world.counts["report said again"] += 1
            self.world.clock.after(
                self.rng.expovariate(1 / 60_000),
                partial(self._again, record),
            )

    def _again(self, record: Record) -> None:
        self.world.log.append(TASKS, record)
