"""Containers on a bad day, each with a clock of its own: they crash, sleep, and read late.

What they do is told by the pure fold of `projections.hold`; what happens to their instances, awake
or not, is written down here, so that one who lies cannot hide.
"""

from __future__ import annotations

import random  # noqa: TID251 - the type of a seeded stream; nothing is drawn from the module
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from components.runtime.component import Component
from components.runtime.step import ROOT, Owner
from components.shard_manager.decide import key_of
from events.codec import Record, encode
from events.records import (
    Body,
    ContainerHeartbeat,
    ContainerStarted,
    ContainerState,
    ResourceAmount,
    ShardAdded,
    ShardDropped,
    TierDefined,
)
from events.topics import CONTAINERS, TIERS, place
from projections.hold import FOLDED_KINDS, Hold, fold
from simulation.log import PARTITION

if TYPE_CHECKING:
    from simulation.world import World

TIER = "default"
SHARDS = 16
LIVES, SHARED = place(CONTAINERS, PARTITION), place(TIERS, PARTITION)
EFFECT_MS = 10_000
LATE = 0.05


@dataclass(slots=True)
class Instance:
    """One run of one shard: from its start to its end, and when it slept."""

    shard: int
    generation: int
    container: str
    epoch: int
    start_ms: int
    end_ms: int | None = None
    asleep: list[tuple[int, int | None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Accepted:
    """What the sink took, or refused as stale."""

    at_ms: int
    shard: int
    generation: int
    container: str
    epoch: int
    taken: bool


class Sink:
    """Where tasks write: it refuses who comes with less than the greatest generation it saw."""

    def __init__(self) -> None:
        self.floor: dict[int, int] = {}
        self.seen: list[Accepted] = []

    def take(self, at_ms: int, one: Instance) -> None:
        """A write arrives."""
        taken = one.generation >= self.floor.get(one.shard, 0)
        if taken:
            self.floor[one.shard] = one.generation
        self.seen.append(
            Accepted(at_ms, one.shard, one.generation, one.container, one.epoch, taken)
        )


class Container:
    """One container: its lives come one after the other."""

    def __init__(self, fleet: Containers, name: str, rate: float) -> None:
        self.fleet, self.name, self.rate = fleet, name, rate
        self.world = fleet.world
        self.rng: random.Random = self.world.streams.fork(f"container {name}")
        self.skew_ms = 0
        self.epoch = 0
        self.alive = self.asleep = self.frozen = False
        self.deaf_until_ms = self.mute_until_ms = 0
        self.running: dict[int, Instance] = {}
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
        self.running, self.number, self._at = {}, 0, {LIVES: 0, SHARED: 0}
        # A start that is still on its way is not in the log: the last one is kept at hand as well.
        self.epoch = 1 + max(self.epoch, self._greatest_epoch())
        self.dropped: dict[int, int] = {}
        self.moody: dict[tuple[int, int], bool] = {}
        view = view_of(Hold(self.name, self.epoch))
        self.owner: Owner[Hold] = Owner(view, [LIVES, SHARED], self.world.log.possible)
        capacity = (ResourceAmount("cpu_cores", 8.0),)
        self.say(ContainerStarted(self.name, self.epoch, TIER, "local", capacity))
        self._again("beat", self._beat, 1)
        self._again("read", self._read, self.fleet.read_ms)
        self._again("effect", self._effect, EFFECT_MS)

    def _greatest_epoch(self) -> int:
        """Read from the partition of its life, as a new process does."""
        said = (line.record.body for line in self.world.log.lines[LIVES])
        return max(
            (b.epoch for b in said if isinstance(b, ContainerStarted) and b.container == self.name),
            default=0,
        )

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
        record = Record(
            key=self.name,
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
            self.world.clock.after(wait_ms, partial(self._lands, record))
        else:
            self._lands(record)
        if not self.world.calm and self.rng.random() < 0.02:
            late_ms = self.rng.expovariate(1 / 60_000)
            self.world.clock.after(late_ms, partial(self._lands, record))

    def _lands(self, record: Record) -> None:
        self.world.log.append(CONTAINERS, record)

    # --- its turns

    def _beat(self) -> None:
        self.number += 1
        state: ContainerState = "frozen" if self.frozen else "serving"
        now_ms = self.own_ms()
        self.say(
            ContainerHeartbeat(
                self.name, self.epoch, self.number, now_ms, state, len(self.running), ""
            )
        )
        self.watch()

    def _read(self) -> None:
        """All that is there, or less where its reader is slow: one place may be read before the
        other, so that a lease is renewed by one who does not know what was decided meanwhile."""
        log = self.world.log
        both = [LIVES, SHARED]
        if self.world.clock.now_ms >= self.deaf_until_ms:
            for at in both if self.world.calm else self.rng.sample(both, self.rng.choice([1, 2])):
                end = log.end(at)
                for offset in range(self._at[at], end):
                    read = log.read(at, offset, FOLDED_KINDS, self.world.newest_build)
                    if at == SHARED or read.record.key == self.name:
                        self.owner.read(read)
                    else:
                        self.owner.pass_by(at, offset, read.at_ms)
                self._at[at] = end
            self.owner.settle()
        self.watch()
        if self.alive and not self.frozen:
            self._follow()

    def watch(self) -> None:
        """Its lease decides whether its tasks may go on; its end, whether it does."""
        row = self.row
        if row is not None and row.over:
            self.die("its life is over")
            return
        self._freeze(row is None or not row.holds(self.own_ms()))

    @property
    def row(self) -> Hold | None:
        """What it knows of itself."""
        held = self.owner.held.get(f"{TIER}/placement")
        return None if held is None else held.row

    def _follow(self) -> None:
        row = self.row
        if row is None:
            return
        for shard, wish in sorted(row.wishes.items()):
            one = self.running.get(shard)
            if one is not None and (not wish.wanted or one.generation != wish.generation):
                if wish.at_once or self._minds(shard, -wish.generation):
                    self._stop(shard, one)
                one = self.running.get(shard)
            if not wish.wanted and one is None and self.dropped.get(shard, 0) < wish.generation:
                self.dropped[shard] = wish.generation
                self._say_shard(ShardDropped, shard, wish.generation)
            if wish.wanted and one is None and self._minds(shard, wish.generation):
                self._start(shard, wish.generation)

    def _minds(self, shard: int, what: int) -> bool:
        """Most of what is asked is done soon, and some of it never."""
        if self.world.calm:
            return True
        if (shard, what) not in self.moody:
            self.moody[shard, what] = self.rng.random() < 0.02
            self.world.counts["container never answers"] += self.moody[shard, what]
        return not self.moody[shard, what] and self.rng.random() < 0.9

    def _start(self, shard: int, generation: int) -> None:
        now_ms = self.world.clock.now_ms
        one = Instance(shard, generation, self.name, self.epoch, now_ms)
        self.running[shard] = one
        self.fleet.instances.append(one)
        self.fleet.sink.take(now_ms, one)  # it claims its generation before it reads anything
        self._say_shard(ShardAdded, shard, generation)

    def _stop(self, shard: int, one: Instance) -> None:
        one.end_ms = self.world.clock.now_ms
        del self.running[shard]

    def _say_shard(
        self, kind: type[ShardAdded] | type[ShardDropped], shard: int, generation: int
    ) -> None:
        self.say(kind(self.name, self.epoch, TIER, shard, generation), evidence=True)

    def _effect(self) -> None:
        """Each task that may have effects has one; some are on their way for long."""
        self.watch()
        if not self.alive or self.frozen:
            return
        for one in self.running.values():
            if self.rng.random() < LATE:
                delay_ms = self.rng.expovariate(1 / 30_000)
                self.world.clock.after(delay_ms, partial(self._arrives, one))
            else:
                self._arrives(one)

    def _arrives(self, one: Instance) -> None:
        self.fleet.sink.take(self.world.clock.now_ms, one)

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


class Containers:
    """All of them, and what they had an effect on."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rng = world.streams.fork("containers")
        self.sink = Sink()
        self.instances: list[Instance] = []
        self.wild = self.rng.random() < 0.05  # clocks that no bound holds for
        spread = 0.4 if self.wild else 0.02
        self.all = [
            Container(self, f"c{n}", 1 + self.rng.uniform(-spread, spread))
            for n in range(self.rng.choice([3, 5, 8]))
        ]
        self.read_ms = self.rng.choice([300, 1_000, 3_000])

    def gap_ms(self, what: str) -> float:
        """Between two turns of a kind."""
        return {"beat": 5_000, "read": self.read_ms, "effect": EFFECT_MS}[what]

    def begin(self) -> None:
        """The tier is made, and all containers begin."""
        body = TierDefined(TIER, SHARDS, ("local",))
        record = Record(f"{TIER}/placement", "tier", "TierDefined", encode(body), body, parent=ROOT)
        self.world.log.append(TIERS, record)
        for one in self.all:
            self.world.clock.after(self.rng.uniform(1, 20_000), one.begin)

    def strike(self, kind: str) -> None:
        """One of the faults that containers have."""
        one, rng = self.rng.choice(self.all), self.rng
        now_ms = self.world.clock.now_ms
        ms = rng.choice([5_000, 20_000, 37_000, 45_000, 58_000, 64_000, 90_000, 400_000])
        match kind:
            case "container crash":
                one.die("crash")
            case "container asleep":
                one.sleep(ms)
            case "container deaf":
                one.deaf_until_ms = now_ms + ms
            case _:
                one.mute_until_ms = now_ms + ms


def view_of(row: Hold) -> Component[Hold]:
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
