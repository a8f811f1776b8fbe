"""Tiers told step by step in tests: one log, a row for each tier, jobs that heed what is asked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from components.capacity_manager.decide import decide, effects
from components.runtime.core.step import AT_ONCE
from events.generated.records import (
    Body,
    CapacityGranted,
    Constraint,
    ContainerFailedOver,
    ContainerHeartbeat,
    ContainerStarted,
    DrainRequested,
    JobConfigChanged,
    JobDeleted,
    LayerVersions,
    PreemptionRequested,
    ResourceAmount,
    ScalingDecided,
    ScalingDeclined,
    ShardLoad,
    ShardLoadsReported,
    TierDefined,
    UndrainRequested,
)
from events.topics import CONTAINERS, GRANTS
from events.wire.codec import Read, Record, encode
from projections.capacity import Capacity
from projections.capacity_folds import fold
from turbine_client.identity import change_id

CHAIN, LIVES, JOBS, TOLD = "tiers.v1/0", "containers.v1/0", "journal.v1/0", "grants.v1/0"
WISHES = "operator.v1/0"
CORES = {"cpu_cores": 10.0}
NO_HEADROOM = '{"headroom":0}'
VERSIONS = LayerVersions(1, 0, 0, 0)
MINUTE_MS, STEP_MS = 60_000, 300_000
ROUNDS = 80
"""So many rounds of saying and reading back come to an end of any story here."""
B = TypeVar("B", bound=Body)


def of(kind: type[B], bodies: Iterable[Body]) -> list[B]:
    """Those of one kind."""
    return [body for body in bodies if isinstance(body, kind)]


class Tale:
    """One log, and what each tier's capacity manager knows of it."""

    def __init__(self, *tiers: str, settings: str = NO_HEADROOM, now_ms: int = 10_000_000) -> None:
        self.tiers = tiers or ("default",)
        self.rows: dict[str, Capacity] = {one: Capacity(one) for one in self.tiers}
        self.now_ms, self.log = now_ms, list[Read]()
        self.said: list[Body] = []  # all that was decided, in order
        self.epochs: dict[str, int] = {}
        self._ends = Counter[str]()
        for one in self.tiers:
            self.define(one, settings)

    @property
    def row(self) -> Capacity:
        """That of the first tier."""
        return self.rows[self.tiers[0]]

    # --- what the log says

    def read(self, at: str, key: str, body: Body, name: str = "") -> Read:
        """The next record of a place."""
        offset = self._ends[at]
        self._ends[at] += 1
        kind = type(body).__name__
        record = Record(
            key, name or f"{at}@{offset}", kind, encode(body), body, tick_ms=self.now_ms
        )
        read = Read(at, at.partition("/")[0], offset, self.now_ms, record)
        self.log.append(read)
        for tier in self.tiers:
            self.rows[tier] = fold(self.rows[tier], read, tier)
        return read

    def define(self, tier: str, settings: str = NO_HEADROOM, regions: Sequence[str] = ()) -> None:
        self.read(CHAIN, f"{tier}/placement", TierDefined(tier, 4, tuple(regions), settings))

    def told(self, tier: str, body: Body) -> None:
        """A decision stands."""
        self.read(CHAIN, f"{tier}/capacity", body)

    def start(
        self,
        *names: str,
        tier: str = "default",
        capacity: Mapping[str, float] = CORES,
        region: str = "local",
    ) -> None:
        """Another life of each begins."""
        for name in names:
            self.epochs[name] = epoch = self.epochs.get(name, 0) + 1
            amounts = tuple(ResourceAmount(*one) for one in capacity.items())
            self.read(LIVES, name, ContainerStarted(name, epoch, tier, region, amounts))
            self.beat(name)

    def beat(self, name: str, state: str = "serving") -> None:
        body = ContainerHeartbeat(name, self.epochs[name], 1, self.now_ms, state, 0, "")  # type: ignore[arg-type]  # one of its words
        self.read(LIVES, name, body)

    def end(self, *names: str) -> None:
        """They are failed over."""
        for name in names:
            beat = self.row.lives[name].beat
            body = ContainerFailedOver(name, self.epochs[name], "d1", "silent", LIVES, beat)
            self.read(LIVES, name, body)

    def drain(self, name: str, body: type[DrainRequested | UndrainRequested]) -> Read:
        """An operator asks for it."""
        asked = change_id(self.now_ms + 300_000, f"r{len(self.log)}")
        return self.read(WISHES, name, body(asked, name, "ops", "rest"))

    def use(self, name: str, cores: float, number: int = 1, tier: str = "default") -> None:
        loads = (ShardLoad(tier, 0, 1, 1, cpu_cores=cores),)
        body = ShardLoadsReported(name, self.epochs[name], number, 600_000, loads)
        self.read(LIVES, name, body)

    def job(self, name: str, tasks: int = 1, cores: float = 1.0, **more: object) -> None:
        """Its expected config is this now."""
        limits = {"tasks": more.pop("most", 100), "privileged": more.pop("privileged", False)}
        each = {"cpu_cores": cores, "memory_mb": more.pop("memory_mb", 1)}
        each["disk_mb"] = more.pop("disk_mb", 0)
        plain = {"tasks": tasks, "resources": each, "limits": limits, **more}
        text = json.dumps(plain)
        body = JobConfigChanged(name, "base", "1.a", 1, VERSIONS, text, text, "ops")
        self.read(JOBS, name, body)

    def delete(self, name: str) -> None:
        self.read(JOBS, name, JobDeleted(name, "1.b", VERSIONS, "ops"))

    def wish(self, name: str, before: float, after: float, mode: str = "act") -> None:
        """Its scaler would give it more, and the tier's grant is in the way."""
        held = (Constraint("grant", before, after),)
        self.read(
            JOBS, name, ScalingDeclined(name, "grant", "no room", constraints=held, mode=mode)
        )

    def decided(self, name: str, tasks: int, before: float | None = None) -> None:
        held = () if before is None else (Constraint("grant", before, float(tasks)),)
        body = ScalingDecided(name, "1.c", 1, "{}", "lag", "load", tasks, tasks, held)
        self.read(JOBS, name, body)

    def content(self, name: str) -> None:
        self.read(JOBS, name, ScalingDeclined(name, "healthy", "all is well"))

    # --- what is decided

    def would_emit(self, tier: str = "") -> list[Body]:
        row = self.rows[tier or self.tiers[0]]
        return list(decide(row, self.now_ms))

    def speak(self, tier: str) -> list[Body]:
        """One round of one tier: as much as is said at once, read back."""
        row = self.rows[tier]
        owed = list(islice(effects(row), AT_ONCE))
        bodies = list(islice(decide(row, self.now_ms), AT_ONCE - len(owed)))
        for one in owed:
            self.read({GRANTS: TOLD, CONTAINERS: LIVES}[one.topic], one.key, one.body, one.id)
        for body in bodies:
            self.told(tier, body)
        self.said += bodies
        return [*(one.body for one in owed), *bodies]

    def settle(self) -> list[Body]:
        """Rounds of all tiers until none says anything any more."""
        out: list[Body] = []
        for _ in range(ROUNDS):
            said = [body for tier in self.tiers for body in self.speak(tier)]
            if not said:
                return out
            out += said
        raise AssertionError(f"no end of it: {out[-3:]}")

    def later(self, ms: int = MINUTE_MS) -> list[Body]:
        """The clock goes on, and what is due is said."""
        self.now_ms += ms
        return self.settle()

    def wait(self, minutes: int, *, heeds: bool = False) -> list[Body]:
        """A minute after the other; scalers do what they are asked if they heed it."""
        out: list[Body] = []
        for _ in range(minutes):
            out += self.later()
            if heeds:
                self.heed()
        return out

    def heed(self) -> None:
        """The scalers make changes of what they were asked to do."""
        for job, told in self.grants().items():
            demand = self.row.jobs.get(job)
            if demand is not None and demand.paused != (told == "stop"):
                self.job(
                    job,
                    demand.tasks,
                    priority=demand.priority,
                    paused=told == "stop",
                    privileged=demand.privileged,
                )

    # --- what jobs were told

    def grants(self) -> dict[str, int | str | None]:
        """The last word to each job: its limit, or stop."""
        found: dict[str, int | str | None] = {}
        for read in self.log:
            match read.record.body:
                case CapacityGranted(job=job, tasks_max=most):
                    found[job] = most
                case PreemptionRequested(job=job, action=action):
                    found[job] = action
                case _:
                    pass
        return found
