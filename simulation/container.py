"""One container on a bad day, with a clock of its own: it crashes, sleeps, reads and writes late.

What it does is told by the pure parts of a real one (`projections.hold`, `task_manager.hosting`);
its engine is a script. What happens to its instances, awake or not, is written down here, so that
one who lies cannot hide.
"""

from __future__ import annotations

import random  # noqa: TID251 - the type of a seeded stream; nothing is drawn from the module
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from components.runtime.core.component import Component
from components.runtime.core.step import KeyState, Stepper
from components.shard_manager.decide import key_of
from components.task_manager.core.catalogue import Target
from components.task_manager.core.hosting import TaskSupervisor
from components.task_manager.core.periods import Periods
from components.task_manager.core.runs import Begin, Kill, StopRun
from events.generated.records import (
    Body,
    ContainerHeartbeat,
    ContainerStarted,
    ContainerState,
    ResourceAmount,
    ShardAdded,
    ShardDropped,
    ShardLoad,
    ShardLoadsReported,
    TaskFailed,
    TaskStarted,
    TaskStopped,
    TierDefined,
)
from events.topics import CONTAINERS, TASKS, TIERS, place
from events.wire.codec import Record, encode
from projections.hold import FOLDED_KINDS, ContainerHold, define, fold
from projections.timing import Timing
from simulation.log import PARTITION
from simulation.sink import ShardRun
from tasks.core.protocol import FAILED, STOPPED, Ended, Started

if TYPE_CHECKING:
    from simulation.containers import SimulatedContainers

TIER = "default"
LIVES, SHARED = place(CONTAINERS, PARTITION), place(TIERS, PARTITION)
EFFECT_MS, WEIGH_MS = 10_000, 600_000
AGAIN_MS, LATER_MS = Timing().again_ms, 60_000
LATE, CRASH, STUBBORN = 0.05, 0.002, 0.03


class SimulatedContainer:
    """One container: its lives come one after the other."""

    def __init__(self, fleet: SimulatedContainers, name: str, rate: float) -> None:
        self.fleet, self.name, self.rate = fleet, name, rate
        self.world = fleet.world
        self.rng: random.Random = self.world.streams.fork(f"container {name}")
        self.region = fleet.region_of(name)
        self.cores = self.rng.choice([8.0, 8.0, 16.0])
        self.skew_ms = 0
        self.epoch = 0
        self.alive = self.asleep = self.frozen = False
        self.deaf_until_ms = self.mute_until_ms = 0
        self.running: dict[int, ShardRun] = {}  # by the number of the run
        self._life = 0  # counts lives here, so that what an older one had planned finds it gone

    # --- its clock and its voice

    def own_ms(self) -> int:
        """The time by its own clock, which runs at its own rate."""
        return int(self.skew_ms + self.world.clock.now_ms * self.rate)

    def begin(self) -> None:
        """A new life, after all of the last one is gone."""
        if self.alive:
            return
        self._life += 1
        self.alive, self.asleep, self.frozen = True, False, False
        # A clock that runs while its host sleeps begins anew with the host.
        self.skew_ms = self.rng.randint(-3_600_000, 3_600_000)
        self.running, self.number = {}, 0
        self.reports = 0
        # A start that is still on its way is not in the log: each is kept before it is said.
        self.epoch = 1 + self._greatest_epoch()
        self.fleet.lives[self.name] = self.epoch, self.world.log.end(LIVES)
        self.host = TaskSupervisor(self.name, self.epoch, Periods())
        # The engine is there soon, and at times much later.
        slow = not self.world.calm and self.rng.random() < STUBBORN
        self.world.counts["engine slow"] += slow
        self.ready_ms = self.world.clock.now_ms + self.rng.expovariate(1 / 2_000)
        self.ready_ms += 300_000 if slow else 0
        self.owner, self._at = self._begun()
        capacity = (
            ResourceAmount("cpu_cores", self.cores),
            ResourceAmount("memory_bytes", self.cores * 4e9),
        )
        self.began = ContainerStarted(self.name, self.epoch, TIER, self.region, capacity)
        self.say(self.began)
        self.world.clock.after(AGAIN_MS, partial(self._live_on, self._life))
        self._again("beat", self._beat, 1)
        self._again("read", self._read, self.fleet.read_ms)
        self._again("effect", self._effect, EFFECT_MS)
        self._again("weigh", self._weigh, WEIGH_MS)

    def _greatest_epoch(self) -> int:
        """From what was kept on, as a new process reads it; its directory may be lost."""
        epoch, begin = self.fleet.lives.get(self.name, (0, 0))
        said = (line.record.body for line in self.world.log.lines[LIVES][begin:])
        return max(
            (b.epoch for b in said if isinstance(b, ContainerStarted) and b.container == self.name),
            default=epoch,
        )

    def _begun(self) -> tuple[Stepper[ContainerHold], dict[str, int]]:
        """Its life from here on, and the tier from where the publisher's rows stand."""
        kept, row = self.fleet.kept(), ContainerHold(self.name, self.epoch)
        at = {LIVES: self.world.log.end(LIVES), SHARED: kept.seen.get(SHARED, 0)}
        held = dict[str, KeyState[ContainerHold]]()
        if (one := kept.held.get(f"{TIER}/placement")) is not None:
            begun = define(row, one.row) if isinstance(one.row, TierDefined) else row
            held[f"{TIER}/placement"] = KeyState(begun, one.vector, one.last, tick_ms=one.tick_ms)
        possible = self.world.log.possible
        return Stepper(view_of(row), [LIVES, SHARED], possible, seen=at, held=held), at

    def _again(self, what: str, call: object, ms: float) -> None:
        life = self._life

        def turn() -> None:
            if self._life != life or not self.alive:
                return
            if not self.asleep:
                assert callable(call)
                call()
            gap_ms = self.fleet.gap_ms(what)
            self.world.clock.after(self.rng.uniform(0.5, 1.5) * gap_ms, turn)

        self.world.clock.after(ms, turn)

    def say(self, body: Body, *, evidence: bool = False) -> None:
        """Writes arrive late, or twice; those of a mute container later."""
        held = self.owner.held.get(f"{TIER}/placement")
        topic, key = CONTAINERS, self.name
        if isinstance(body, TaskStarted | TaskStopped | TaskFailed):
            topic, key = TASKS, body.job
        record = Record(
            key=key,
            id=f"{self.name}.{self.epoch}.{self.world.log.appended}",
            kind=type(body).__name__,
            value=encode(body),
            body=body,
            evidence=dict(held.vector) if evidence and held is not None else {},
        )
        wait_ms = max(0, self.mute_until_ms - self.world.clock.now_ms)
        if not self.world.calm:
            wait_ms += self.rng.choice([0, 0, 0, 20, 300, 3_000])
        if wait_ms:
            self.world.clock.after(wait_ms, partial(self._lands, topic, record))
        else:
            self._lands(topic, record)
        if not self.world.calm and self.rng.random() < 0.02:
            late_ms = self.rng.expovariate(1 / 60_000)
            self.world.clock.after(late_ms, partial(self._lands, topic, record))

    def _lands(self, topic: str, record: Record) -> None:
        self.world.log.append(topic, record)

    # --- its turns

    def _live_on(self, life: int) -> None:
        """Each hour it says again what it rests on. Nothing is drawn for it: what happens otherwise
        to a seed stays as it was."""
        if self._life != life or not self.alive:
            return
        late = self.asleep or self.world.clock.now_ms < self.mute_until_ms
        self.world.clock.after(LATER_MS if late else AGAIN_MS, partial(self._live_on, life))
        if late:
            return
        for body in (self.began, *self.host.again()):
            name = f"{self.name}.{self.epoch}.{self.world.log.appended}"
            record = Record(self.name, name, type(body).__name__, encode(body), body)
            self._lands(CONTAINERS, record)

    def _beat(self) -> None:
        self.number += 1
        state: ContainerState = "frozen" if self.frozen else "serving"
        now_ms = self.own_ms()
        self.say(
            ContainerHeartbeat(
                self.name, self.epoch, self.number, now_ms, state, len(self.host.held()), ""
            )
        )
        self.watch()

    def _read(self) -> None:
        """All that is there, or less where its reader is slow: one place may be read before the
        other, so that a lease is renewed by one who does not know what was decided meanwhile."""
        both = [LIVES, SHARED]
        if self.world.clock.now_ms >= self.deaf_until_ms:
            for at in both if self.world.calm else self.rng.sample(both, self.rng.choice([1, 2])):
                self._read_on(at)
            self.owner.settle()
        self.watch()
        if self.alive and not self.frozen:
            self._follow()

    def _read_on(self, at: str) -> None:
        log, begin = self.world.log, self._at[at]
        self._at[at] = end = log.end(at)
        lines = log.lines[at] if begin < end else []
        for offset in range(begin, end):
            if at == SHARED or lines[offset].record.key == self.name:
                self.owner.read(log.read(at, offset, FOLDED_KINDS, self.world.newest_build))
        if begin < end:  # what is said of others moves the position only
            self.owner.pass_by(at, end - 1, lines[end - 1].at_ms)

    def watch(self) -> None:
        """Its lease decides whether its tasks may go on; its end, whether it does."""
        row = self.row
        if row is not None and row.over:
            self.die("its life is over")
            return
        self._freeze(row is None or not row.holds(self.own_ms()))

    @property
    def row(self) -> ContainerHold | None:
        """What it knows of itself."""
        held = self.owner.held.get(f"{TIER}/placement")
        return None if held is None else held.row

    def _follow(self) -> None:
        """What is wanted against what runs: acts for the engine, and words for the log."""
        row = self.row
        if row is None or not row.defined:
            return
        ready = self.world.clock.now_ms >= self.ready_ms
        for one in self.host.settle(row, self.fleet.catalogue, self.own_ms(), ready=ready):
            match one:
                case Begin(run, target):
                    self._start(run, target)
                case StopRun(run):
                    self._soon(self._stop, run, stubborn=True)
                case Kill(run):
                    self._stop(run)
                case _:
                    self.say(one, evidence=isinstance(one, ShardAdded | ShardDropped))

    # --- its engine

    def _start(self, run: int, target: Target) -> None:
        shard, now_ms = target.shard, self.world.clock.now_ms
        one = ShardRun(shard, target.generation.shard, self.name, self.epoch, now_ms)
        self.running[run] = one
        self.fleet.instances.append(one)
        self.fleet.sink.take(now_ms, one)  # it claims its generation before it reads anything
        self._soon(self._began, run)

    def _began(self, run: int) -> None:
        if run in self.running:
            self._hear(Started(run, ()))

    def _stop(self, run: int, how: str = STOPPED) -> None:
        one = self.running.pop(run, None)
        if one is not None:
            one.end_ms = self.world.clock.now_ms
            self._hear(Ended(run, how, "" if how == STOPPED else "operator-error"))

    def _hear(self, event: Started | Ended) -> None:
        for body in self.host.heard(event, self.own_ms()):
            self.say(body)

    def _soon(self, act: Callable[[int], None], run: int, *, stubborn: bool = False) -> None:
        """Engines and tasks take their time, and some tasks do not heed a signal."""
        if stubborn and not self.world.calm and self.rng.random() < STUBBORN:
            self.world.counts["task does not heed"] += 1
            return
        life = self._life

        def turn() -> None:
            if self._life != life or not self.alive:
                return
            if self.asleep or self.frozen:  # it gets no turn before all goes on
                self.world.clock.after(1_000, turn)
            else:
                act(run)

        self.world.clock.after(self.rng.expovariate(1 / 1_500), turn)

    def _effect(self) -> None:
        """Each task that may have effects has one; some are on their way for long."""
        self.watch()
        if not self.alive or self.frozen:
            return
        for run, one in list(self.running.items()):
            if self.rng.random() < LATE:
                delay_ms = self.rng.expovariate(1 / 30_000)
                self.world.clock.after(delay_ms, partial(self._arrives, one))
            else:
                self._arrives(one)
            if not self.world.calm and self.rng.random() < CRASH:
                self.world.counts["task crashed"] += 1
                self._stop(run, FAILED)

    def _arrives(self, one: ShardRun) -> None:
        self.fleet.sink.take(self.world.clock.now_ms, one)

    def _weigh(self) -> None:
        """What each of its shards uses: some much more than others, and never twice the same."""
        self.reports += 1
        loads = tuple(
            ShardLoad(
                TIER,
                shard,
                generation,
                1,
                cpu_cores=self.fleet.weights[shard] * self.rng.uniform(0.8, 1.25),
                memory_bytes=int(self.fleet.weights[shard] * 2e9),
            )
            for shard, generation in self.host.held()
        )
        said = ShardLoadsReported(self.name, self.epoch, self.reports, WEIGH_MS, loads)
        self.say(said, evidence=True)

    # --- what happens to it

    def _freeze(self, frozen: bool) -> None:
        if frozen != self.frozen:
            self.frozen = frozen
            self._mark(frozen or self.asleep)

    def sleep(self, ms: float) -> None:
        """Nothing of it moves: neither its watch nor its tasks."""
        if not self.alive or self.asleep:
            return
        self.asleep = True
        self._mark(True)
        life = self._life

        def wake() -> None:
            if self._life == life and self.alive:
                self.asleep = False
                self.watch()  # before any task gets a turn: the deadline is theirs to see, too
                if self.alive:
                    self._mark(self.frozen)

        self.world.clock.after(ms, wake)

    def _mark(self, asleep: bool) -> None:
        now_ms = self.world.clock.now_ms
        for one in self.running.values():
            open_ = bool(one.asleep) and one.asleep[-1][1] is None
            if asleep and not open_:
                one.asleep.append((now_ms, None))
            elif not asleep and open_:
                one.asleep[-1] = (one.asleep[-1][0], now_ms)

    def die(self, why: str) -> None:
        """All of its processes end; a supervisor starts it again after a while."""
        if not self.alive:
            return
        self.world.counts[f"container died: {why}"] += 1
        self.alive = False
        for one in self.running.values():
            one.end_ms = self.world.clock.now_ms
        self.running = {}
        self.world.clock.after(self.rng.choice([1_000, 10_000, 50_000, 120_000]), self.begin)


def view_of(row: ContainerHold) -> Component[ContainerHold]:
    """What one life of a container reads; it decides nothing."""
    return Component(
        name="hold",
        logic="hold/1",
        output=TIERS,
        inputs=frozenset({TIERS, CONTAINERS}),
        folds=FOLDED_KINDS,
        says=frozenset(),
        fold=lambda was, read: fold(was or row, read),
        decide=lambda *_: (),
        effects=lambda _: (),
        wake_ms=lambda *_: None,
        dump=lambda _: None,
        load=lambda _: row,
        key_of=key_of,
    )
