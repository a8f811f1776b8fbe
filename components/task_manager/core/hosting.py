"""What a container does with its tasks: starts, stops, kills, and what it owes the log. Pure.

Level-triggered: it looks at what is wanted and at what runs, never at "the event". Engines do what
they are told and say what became of it; nothing is taken for granted before they do.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

from components.task_manager.core.catalogue import Catalogue, Target
from components.task_manager.core.periods import Periods
from components.task_manager.core.runs import Act, Begin, Kill, RunStage, StopRun, TaskRun
from events.generated.records import (
    Body,
    Generation,
    InputOffset,
    ShardAdded,
    ShardDropped,
    TaskFailed,
    TaskStarted,
    TaskStopped,
)
from projections.hold import ContainerHold, DesiredShard
from tasks.core.protocol import REFUSED, STOPPED, Ended, InputSpot, Started

PLAN, DROPPED, ENGINE_DIED = "plan", "dropped", "engine-died"


class TaskSupervisor:
    """One life of one container. It has no clock: `now_ms` comes from the holder's own."""

    def __init__(self, container: str, epoch: int, periods: Periods) -> None:
        self.container, self.epoch, self.periods = container, epoch, periods
        self.runs: dict[str, TaskRun] = {}
        self.added: dict[int, int] = {}  # shard to the greatest generation that was told
        self.dropped: dict[int, int] = {}
        self._over: dict[str, tuple[int, int]] = {}  # task to the generation that was told over
        self._names: dict[int, str] = {}  # run to task
        self._last = 0
        self._hold = ContainerHold(container, epoch)
        self._catalogue: Catalogue | None = None

    # --- what is to be done now

    def settle(
        self, hold: ContainerHold, catalogue: Catalogue, now_ms: int, *, ready: bool
    ) -> Iterator[Act | Body]:
        """All that is to be done and said. `ready`: there is an engine that takes orders."""
        self._hold, self._catalogue = hold, catalogue
        targets = self._targets(hold, catalogue)
        for name, run in sorted(self.runs.items()):
            yield from self._reconcile(name, run, targets.get(name), now_ms)
        if ready:
            for name, target in sorted(targets.items()):
                yield from self._start(name, target, now_ms)
        for shard, wish in sorted(hold.wishes.items()):
            if wish.wanted:
                yield from self._end_retired(shard, wish, catalogue)
                yield from self._tell_added(shard, wish, catalogue)
            else:
                yield from self._tell_dropped(shard, wish)
        self._forget(hold, catalogue)

    def _targets(self, hold: ContainerHold, catalogue: Catalogue) -> dict[str, Target]:
        return {
            name: entry.at(shard, wish.generation)
            for shard, wish in hold.wishes.items()
            if wish.wanted
            for name, entry in catalogue.entries(shard).items()
        }

    def _reconcile(
        self, name: str, run: TaskRun, target: Target | None, now_ms: int
    ) -> Iterator[Act | Body]:
        same = target is not None and target.generation == run.target.generation
        if not run.alive:
            if not same:
                self._drop(name, run)
            elif target is not None and target.entry.program != run.target.entry.program:
                run.target, run.stage, run.next_ms = target, RunStage.RESTING, now_ms
            return
        if run.stage is RunStage.STOPPING:
            yield from self._kill_late(run, now_ms)
            return
        if same and target is not None and target.entry.program == run.target.entry.program:
            if target.entry.versions != run.target.entry.versions:
                run.target = target  # nothing that it executes has changed: it goes on
                if run.stage is RunStage.RUNNING:
                    yield self._started(run)
            if run.stage is RunStage.STARTING and not run.killed:
                yield from self._kill_slow(run, now_ms)
            return
        run.stage, run.kill_ms = RunStage.STOPPING, now_ms + self.periods.stop_ms
        if not self._at_once(run):
            yield StopRun(run.number)
        yield from self._kill_late(run, now_ms)

    def _kill_late(self, run: TaskRun, now_ms: int) -> Iterator[Act]:
        """Who does not stop in time, or has none, is killed."""
        late = run.kill_ms is not None and now_ms >= run.kill_ms
        if not run.killed and (late or self._at_once(run)):
            run.killed, run.kill_ms = True, now_ms + self.periods.stop_ms
            yield Kill(run.number)

    def _kill_slow(self, run: TaskRun, now_ms: int) -> Iterator[Act]:
        """Who does not start in time is killed, and started again like one who failed."""
        if now_ms >= run.since_ms + self.periods.start_ms:
            run.killed, run.kill_ms = True, now_ms + self.periods.stop_ms
            yield Kill(run.number)

    def _start(self, name: str, target: Target, now_ms: int) -> Iterator[Act]:
        run = self.runs.get(name)
        if run is None:
            run = self.runs[name] = TaskRun(0, target)
        elif run.stage is not RunStage.RESTING or now_ms < run.next_ms:
            return
        else:
            run.attempt += 1
        self._last += 1
        self._names.pop(run.number, None)
        run.number, run.target, run.stage = self._last, target, RunStage.STARTING
        run.kill_ms, run.killed, run.since_ms = None, False, now_ms
        self._names[run.number] = name
        yield Begin(run.number, target)

    def _at_once(self, run: TaskRun) -> bool:
        wish = self._hold.wishes.get(run.target.shard)
        return wish is not None and not wish.wanted and wish.at_once

    # --- what is owed to the log

    def _end_retired(self, shard: int, wish: DesiredShard, catalogue: Catalogue) -> Iterator[Body]:
        """Tasks of the list before are over once nothing of them lives, also where nobody had
        started them: nobody else will ever answer for them."""
        for name, ghost in sorted(catalogue.ghosts(shard).items()):
            run = self.runs.get(name)
            if run is not None and run.alive and run.target.generation.specs <= ghost.specs:
                continue
            generation = Generation(ghost.specs, wish.generation)
            if self._over.get(name, (0, 0)) < (ghost.specs, wish.generation):
                self._over[name] = (ghost.specs, wish.generation)
                yield TaskStopped(
                    ghost.job, ghost.task, generation, self.container, self.epoch, PLAN
                )

    def _tell_added(self, shard: int, wish: DesiredShard, catalogue: Catalogue) -> Iterator[Body]:
        """Once all of its tasks were handed to the engine."""
        if self.added.get(shard, 0) >= wish.generation:
            return
        entries = catalogue.entries(shard)
        for name, entry in entries.items():
            run = self.runs.get(name)
            if run is None or run.target.generation != entry.at(shard, wish.generation).generation:
                return
        self.added[shard] = wish.generation
        tier = catalogue.shape.tier
        yield ShardAdded(self.container, self.epoch, tier, shard, wish.generation, len(entries))

    def _tell_dropped(self, shard: int, wish: DesiredShard) -> Iterator[Body]:
        """Once nothing of it lives, and where nothing ever did, as well."""
        if self.dropped.get(shard, 0) >= wish.generation:
            return
        if any(run.alive and run.target.shard == shard for run in self.runs.values()):
            return
        self.dropped[shard] = wish.generation
        yield self._dropped(shard, wish)

    def _dropped(self, shard: int, wish: DesiredShard) -> ShardDropped:
        assert self._catalogue is not None
        tier = self._catalogue.shape.tier
        return ShardDropped(self.container, self.epoch, tier, shard, wish.generation)

    def again(self) -> Iterator[ShardDropped]:
        """What was said once and still counts: shards that it gave up, and that nobody has since.
        Of those that it has it tells what they use, again and again."""
        for shard, wish in sorted(self._hold.wishes.items()):
            told = self.dropped.get(shard, 0) >= wish.generation
            if self._catalogue is not None and told and not wish.wanted and not wish.passed:
                yield self._dropped(shard, wish)

    # --- what the engine says

    def heard(self, event: Started | Ended, now_ms: int) -> Iterator[Body]:
        """What that changes; of a run that is over already, nothing."""
        name, run = self._names.get(event.run, ""), self.run_of(event.run)
        if run is None or not run.alive:
            return
        if isinstance(event, Started):
            if run.stage is RunStage.STARTING:
                run.stage, run.since_ms = RunStage.RUNNING, now_ms
                run.keeps_state = event.keeps_state
                yield self._started(run, event.offsets)
        elif run.stage is RunStage.STOPPING:
            yield from self._stopped(name, run, event.offsets, now_ms)
        else:
            yield from self._failed(run, event, now_ms)

    def engine_died(
        self, now_ms: int, pause_ms: int, spared: Container[int] = ()
    ) -> Iterator[Body]:
        """All of its processes are gone; another engine comes after the pause. Some runs have
        another one."""
        for name, run in sorted(self.runs.items()):
            if run.number in spared:
                continue
            if run.stage is RunStage.STOPPING:
                yield from self._stopped(name, run, (), now_ms)
            elif run.alive:
                run.stage, run.next_ms = RunStage.RESTING, now_ms + pause_ms
                yield self._failure(run, ENGINE_DIED, "its engine ended", "", pause_ms)

    def _started(self, run: TaskRun, offsets: tuple[InputSpot, ...] = ()) -> TaskStarted:
        entry = run.target.entry
        return TaskStarted(
            job=entry.job,
            task=entry.task,
            generation=run.target.generation,
            container=self.container,
            epoch=self.epoch,
            versions=entry.versions,
            attempt=run.attempt,
            offsets=tuple(InputOffset(*one) for one in offsets),
            keeps_state=run.keeps_state,
        )

    def _stopped(
        self, name: str, run: TaskRun, offsets: tuple[InputSpot, ...], now_ms: int
    ) -> Iterator[Body]:
        """It was asked to: because its list or its shard is gone, or to run another program."""
        entry, generation = run.target.entry, run.target.generation
        wish, catalogue = self._hold.wishes.get(run.target.shard), self._catalogue
        assert catalogue is not None, "nothing was started without one"
        ours = wish is not None and wish.wanted and wish.generation == generation.shard
        listed = catalogue.lists(entry.job, entry.task, generation.specs)
        if ours and listed and name in catalogue.entries(run.target.shard):
            run.stage, run.next_ms = RunStage.RESTING, now_ms
            return
        self._drop(name, run)
        over = ours and not listed  # else another owner may start it any moment
        if over:
            self._over[name] = (generation.specs, generation.shard)
        yield TaskStopped(
            job=entry.job,
            task=entry.task,
            generation=generation,
            container=self.container,
            epoch=self.epoch,
            cause=PLAN if over else DROPPED,
            offsets=tuple(InputOffset(*one) for one in offsets),
        )

    def _failed(self, run: TaskRun, event: Ended, now_ms: int) -> Iterator[Body]:
        steady = run.stage is RunStage.RUNNING and now_ms - run.since_ms >= self.periods.steady_ms
        run.failures = 1 if steady else run.failures + 1
        cause, said = event.cause, event.explanation
        if run.stage is RunStage.STARTING and run.killed:
            cause = "start-timeout"
            said = f"it did not start within {self.periods.start_ms / 1000:g} s"
        elif event.how == STOPPED:
            cause, said = "ended", "it was told to stop by somebody else"
        if event.how == REFUSED:
            run.stage, pause_ms = RunStage.LOST, None
        else:
            pause_ms = self.periods.pause_after(run.failures)
            run.stage, run.next_ms = RunStage.RESTING, now_ms + pause_ms
        told = self._failure(run, cause, said, event.error_class, pause_ms)
        yield replace(told, traceback=event.traceback)

    def _failure(
        self, run: TaskRun, cause: str, said: str, error_class: str, pause_ms: int | None
    ) -> TaskFailed:
        entry = run.target.entry
        return TaskFailed(
            job=entry.job,
            task=entry.task,
            generation=run.target.generation,
            container=self.container,
            epoch=self.epoch,
            cause=cause,
            explanation=said,
            attempt=run.attempt,
            error_class=error_class,
            pause_ms=pause_ms,
        )

    def hangs(self, now_ms: int) -> bool:
        """Does the engine not even kill what it is told to?"""
        return any(
            run.alive and run.killed and now_ms >= (run.kill_ms or now_ms)
            for run in self.runs.values()
        )

    def thawed(self, now_ms: int) -> None:
        """Who stood still could not stop meanwhile, and gets its time anew."""
        for run in self.runs.values():
            if run.stage is RunStage.STOPPING:
                run.kill_ms = now_ms + self.periods.stop_ms
            elif run.stage is RunStage.STARTING:
                run.since_ms = now_ms

    # --- what it knows

    def wake_ms(self) -> int | None:
        """The next instant at which something is due although nothing happens."""
        due = [run.next_ms for run in self.runs.values() if run.stage is RunStage.RESTING]
        due += [
            run.kill_ms
            for run in self.runs.values()
            if run.stage is RunStage.STOPPING and run.kill_ms is not None and not run.killed
        ]
        due += [
            run.since_ms + self.periods.start_ms
            for run in self.runs.values()
            if run.stage is RunStage.STARTING and not run.killed
        ]
        return min(due, default=None)

    def held(self) -> list[tuple[int, int]]:
        """The shards that it runs, with their generations, in order."""
        return [
            (shard, wish.generation)
            for shard, wish in sorted(self._hold.wishes.items())
            if wish.wanted and self.added.get(shard, 0) >= wish.generation
        ]

    def running(self) -> int:
        """The number of tasks that run now."""
        return sum(run.stage is RunStage.RUNNING for run in self.runs.values())

    def run_of(self, number: int) -> TaskRun | None:
        """The run of that number, if it is the one of the moment."""
        return self.runs.get(self._names.get(number, ""))

    def _drop(self, name: str, run: TaskRun) -> None:
        del self.runs[name]
        del self._names[run.number]

    def _forget(self, hold: ContainerHold, catalogue: Catalogue) -> None:
        """What was told about tasks that are not ours any more: others tell it anew."""
        ours = {
            name
            for shard, wish in hold.wishes.items()
            if wish.wanted
            for name in catalogue.ghosts(shard)
        }
        for name in [one for one in self._over if one not in ours and one not in self.runs]:
            del self._over[name]
