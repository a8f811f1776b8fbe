"""All engines of a container as one: the one that tasks share, and one more for each task that asks
for a process of its own.

What such a task does to memory, to a collector of garbage or to a native library ends its own
process, and what the others do does not end it. It costs half a gigabyte and a cold start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from components.task_manager.core.hosting import ENGINE_DIED
from components.task_manager.engine import Engine
from tasks.core.protocol import FAILED, Ended, Event, RunLoads, WorkOrder
from tasks.deadline import GROUPS_MOST

FULL = "no-process-left"


SHARED_RUN = 0
"""No run has this number: runs count from 1."""


class Engines:
    """Speaks for all of them. Orders are for the shared one, where the task has none of its own."""

    def __init__(self, make: Callable[[WorkOrder | None], Engine]) -> None:
        """`make` starts an engine: for one task, or the one that the others share."""
        self._make = make
        self._engines: dict[int, Engine] = {}  # by the run that is alone in it
        self._waiting: list[Event] = []  # to be heard
        self._silent: set[int] = set()  # who was asked for loads and has not answered
        self._told: list[RunLoads] = []  # what the others answered

    def begin(self) -> None:
        """Starts the engine that tasks share."""
        self._engines[SHARED_RUN] = self._make(None)

    @property
    def live(self) -> bool:
        """Is there a shared one?"""
        return SHARED_RUN in self._engines

    @property
    def ready(self) -> bool:
        """Whether the shared engine takes orders."""
        return self.live and self._engines[SHARED_RUN].ready

    @property
    def alone(self) -> set[int]:
        """The runs with an engine of their own."""
        return self._engines.keys() - {SHARED_RUN}

    def start(self, work: WorkOrder) -> None:
        """Begins a run, in a new engine if the task wants one for itself."""
        if not work.alone:
            self._engines[SHARED_RUN].start(work)
        elif len(self._engines) < GROUPS_MOST:
            engine = self._engines[work.run] = self._make(work)
            engine.start(work)
        else:
            said = (
                f"the container has {GROUPS_MOST - 1} tasks with a process of their own already;"
                " let tasks share theirs (isolation), or add containers"
            )
            self._waiting.append(Ended(work.run, FAILED, FULL, said))

    def stop(self, run: int) -> None:
        """Ends a run in order. One whose engine has ended is gone with it."""
        engine = self._of(run)
        if engine is not None:
            engine.stop(run)

    def kill(self, run: int) -> None:
        """Ends a run at once, with its engine if that is its own."""
        if run in self.alone:
            self._end(run)
            self._waiting.append(Ended(run, FAILED, "killed", "its process was killed"))
        elif self.live:
            self._engines[SHARED_RUN].kill(run)

    def ask_loads(self) -> None:
        """The answer is one event. Who has not answered the last time is not waited for."""
        if self._told:
            self._waiting.append(together(self._told))
        self._told, self._silent = [], set(self._engines)
        for engine in self._engines.values():
            engine.ask_loads()

    def hear(self) -> list[Event]:
        """What they have said since; an engine whose only task has ended is ended as well."""
        found = [*self._waiting, *self._heard()]
        self._waiting = []
        if self._told and not self._silent:
            found.append(together(self._told))
            self._told = []
        return found

    def _heard(self) -> Iterator[Event]:
        for run, engine in list(self._engines.items()):
            for event in engine.hear():
                if isinstance(event, RunLoads):
                    self._told.append(event)
                    self._silent.discard(run)
                    continue
                yield event
                if isinstance(event, Ended) and run == event.run:
                    self._end(run)
        for run in sorted(self.alone):
            how = self._engines[run].ended()
            if how is not None:
                self._end(run)
                yield Ended(run, FAILED, ENGINE_DIED, f"its engine: {how}")

    def ended(self) -> str | None:
        """How the shared one ended; None: it lives."""
        return self._engines[SHARED_RUN].ended()

    def end_shared(self) -> None:
        """Kills it; returns when nothing of it is left. The others go on."""
        self._end(SHARED_RUN)

    def end(self) -> None:
        """Kills all of them; returns when nothing is left."""
        for run in list(self._engines):
            self._end(run)

    def _of(self, run: int) -> Engine | None:
        return self._engines.get(run) or self._engines.get(SHARED_RUN)

    def _end(self, run: int) -> None:
        self._engines.pop(run).end()
        self._silent.discard(run)


def together(answers: Iterable[RunLoads]) -> RunLoads:
    """What all engines have told of their runs."""
    runs, partitions = dict[int, Any](), dict[int, Any]()
    for one in answers:
        runs.update(one.runs)
        partitions.update(one.partitions)
    return RunLoads(runs, partitions)
