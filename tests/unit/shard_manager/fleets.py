"""A tier told step by step in tests: its log, its row, and containers that do as they are asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from components.runtime.core.step import AT_ONCE
from components.shard_manager.decide import decide, effects
from events.generated.records import (
    Body,
    ClockTicked,
    ContainerFailedOver,
    ContainerHeartbeat,
    ContainerStarted,
    DrainRequested,
    PlacementApplyRequested,
    ResourceAmount,
    ShardAdded,
    ShardAddRequested,
    ShardDropped,
    ShardDropRequested,
    ShardForceKilled,
    ShardLoad,
    ShardLoadsReported,
    TierDefined,
    UndrainRequested,
)
from events.wire.codec import Read, Record, encode
from projections.fleet import TierFleet
from projections.fleet_folds import fold
from turbine_client.identity import change_id

CHAIN, LIVES, WISHES = "tiers.v1/0", "containers.v1/0", "operator.v1/0"
CORES = {"cpu_cores": 10.0}
ROUNDS = 80
"""So many rounds of saying and reading back come to an end of any story here."""
B = TypeVar("B", bound=Body)


def of(kind: type[B], bodies: Iterable[Body]) -> list[B]:
    """Those of one kind."""
    return [body for body in bodies if isinstance(body, kind)]


def placed(containers: int = 3, shards: int = 6, settings: str = "{}") -> Tale:
    """A tier in which every shard runs, evenly by count."""
    tale = Tale(shards, settings=settings)
    tale.start(*(f"c{one}" for one in range(containers)))
    tale.settle()
    assert not tale.fleet.open
    return tale


def calm(containers: int = 3, shards: int = 6, settings: str = "{}") -> Tale:
    """A tier that was balanced, in which no shard rests any more; the story so far is forgotten."""
    tale = placed(containers, shards, settings)
    tale.jump(tale.fleet.timing.rest_ms)
    assert tale.would_emit() == []
    tale.said.clear()
    return tale


class Tale:
    """The log of one tier and its row. Containers beat and answer, but for those told not to."""

    def __init__(
        self,
        shards: int = 4,
        regions: Sequence[str] = ("local",),
        settings: str = "{}",
        now_ms: int = 10_000_000,
        homes: Mapping[str, str] | None = None,
    ) -> None:
        self.row: TierFleet | None = None
        self.homes = dict(homes or {})  # where a container's life lies, if not in the usual place
        self.now_ms, self.log = now_ms, list[Read]()
        self.said: list[Body] = []  # all that was decided, in order
        self.epochs: dict[str, int] = {}
        self.mute: set[str] = set()  # these do not beat
        self.idle: set[str] = set()  # these do not do what they are asked
        self._asked, self._ends = 0, Counter[str]()
        self.tick()
        self.told(TierDefined("default", shards, tuple(regions), settings))

    @property
    def fleet(self) -> TierFleet:
        assert self.row is not None
        return self.row

    # --- what the log says

    def read(self, at: str, key: str, body: Body) -> Read:
        offset = self._ends[at]
        self._ends[at] += 1
        record = Record(
            key, f"{at}@{offset}", type(body).__name__, encode(body), body, tick_ms=self.now_ms
        )
        read = Read(at, at.partition("/")[0], offset, self.now_ms, record)
        self.log.append(read)
        self.row = fold(self.row, read)
        return read

    def told(self, body: Body) -> None:
        """A decision stands."""
        self.read(CHAIN, "default/placement", body)

    def life(self, body: Body) -> Read:
        name = getattr(body, "container", "")
        return self.read(self.homes.get(name, LIVES), name, body)

    def tick(self) -> None:
        for at in sorted({LIVES, *self.homes.values()}):
            self.read(at, "", ClockTicked(self.now_ms))

    def start(
        self,
        *names: str,
        region: str = "local",
        capacity: Mapping[str, float] = CORES,
        tier: str = "default",
    ) -> None:
        """Another life of each begins, and is heard."""
        for name in names:
            self.epochs[name] = epoch = self.epochs.get(name, 0) + 1
            amounts = tuple(ResourceAmount(one, much) for one, much in capacity.items())
            self.life(ContainerStarted(name, epoch, tier, region, amounts))
            self.beat(name)

    def beat(self, name: str, state: str = "serving") -> None:
        epoch = self.epochs[name]
        self.life(ContainerHeartbeat(name, epoch, 1, self.now_ms, state, 0, ""))  # type: ignore[arg-type]  # one of its words

    def added(self, name: str, shard: int) -> None:
        generation = self.fleet.grants[shard].generation
        self.life(ShardAdded(name, self.epochs[name], "default", shard, generation))

    def dropped(self, name: str, shard: int) -> None:
        generation = self.fleet.grants[shard].generation
        self.life(ShardDropped(name, self.epochs[name], "default", shard, generation))

    def weigh(self, name: str, cores: Mapping[int, float], number: int = 1, job: str = "") -> None:
        """A report of what some shards use."""
        grants = self.fleet.grants
        loads = tuple(
            ShardLoad("default", shard, grants[shard].generation, 1, cpu_cores=much, job=job)
            for shard, much in cores.items()
        )
        self.life(ShardLoadsReported(name, self.epochs[name], number, 600_000, loads))

    def weigh_all(self, cores: float, number: int = 1) -> None:
        """The same of every shard, by whoever holds it."""
        for shard, grant in sorted(self.fleet.grants.items()):
            self.weigh(grant.container, {shard: cores}, number)

    def drain(self, name: str) -> None:
        self.read(WISHES, name, DrainRequested(self.next_id(), name, "ops", "rest"))

    def undrain(self, name: str) -> None:
        self.read(WISHES, name, UndrainRequested(self.next_id(), name, "ops", "done"))

    def ask(self, plan_id: str, moves_json: str = "{}", tier: str = "default") -> str:
        """An operator asks for a plan; the id of the request."""
        name = self.next_id()
        body = PlacementApplyRequested(name, tier, plan_id, "ops", "why", moves_json=moves_json)
        self.read(WISHES, tier, body)
        return name

    def next_id(self) -> str:
        self._asked += 1
        return change_id(self.now_ms + 300_000, f"r{self._asked}")

    # --- what is decided

    def would_emit(self) -> list[Body]:
        """All of it, and not only as much as is said at once."""
        return list(decide(self.fleet, self.now_ms))

    def speak(self) -> list[Body]:
        """One round: as much as is said at once, read back, with what it owes to containers."""
        bodies = list(islice(decide(self.fleet, self.now_ms), AT_ONCE))
        for body in bodies:
            self.told(body)
        for effect in effects(self.fleet):
            assert isinstance(effect.body, ContainerFailedOver)
            self.life(effect.body)
        self.said += bodies
        return bodies

    def settle(self, *, answers: bool = True) -> list[Body]:
        """Rounds until nothing is said any more; containers do what they are asked."""
        out: list[Body] = []
        for _ in range(ROUNDS):
            bodies = self.speak()
            if not bodies:
                return out
            out += bodies
            for body in bodies if answers else ():
                self._answer(body)
        raise AssertionError(f"no end of it: {out[-3:]}")

    def _answer(self, body: Body) -> None:
        match body:
            case ShardAddRequested(container=name) if self._does(name, body.epoch):
                self.life(ShardAdded(name, body.epoch, "default", body.shard, body.generation))
            case ShardDropRequested(container=name) | ShardForceKilled(container=name):
                if self._does(name, body.epoch):
                    said = ShardDropped(name, body.epoch, "default", body.shard, body.generation)
                    self.life(said)
            case _:
                pass

    def _does(self, name: str, epoch: int) -> bool:
        return name not in self.idle | self.mute and self.epochs[name] == epoch

    def wait(self, seconds: int, *, decides: bool = True) -> list[Body]:
        """Ticks pass, a second each; who is not mute beats every five, and what is due is said."""
        out: list[Body] = []
        for second in range(seconds):
            self.now_ms += 1_000
            self.tick()
            for name in sorted(self.epochs) if second % 5 == 4 else ():
                life = self.fleet.lives[name]
                if name not in self.mute and life.lives:
                    self.beat(name, life.state if life.state != "unknown" else "serving")
            if decides:
                out += self.settle()
        return out

    def jump(self, ms: int) -> list[Body]:
        """The clock stands still and then is so much later: nobody is silent by that."""
        self.now_ms += ms
        self.tick()
        return self.settle()

    # --- what is known

    def other(self, *names: str) -> str:
        """A container that is none of these."""
        return next(name for name in sorted(self.epochs) if name not in names)

    def holders(self) -> dict[int, str]:
        """Where each shard is, by the last word about it."""
        return {shard: grant.container for shard, grant in sorted(self.fleet.grants.items())}

    def counts(self) -> dict[str, int]:
        """How many shards each container has."""
        held = list(self.holders().values())
        return {name: held.count(name) for name in sorted(self.epochs)}
