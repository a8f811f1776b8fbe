"""What goes wrong in one seed: a random subset of faults with random strength (swarm testing)."""

from __future__ import annotations

import random  # noqa: TID251 - the type of a seeded stream; nothing is drawn from the module
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from components.runtime.core.step import ROOT
from events.generated.records import ConfigChangeProposed, JobConfigChanged
from events.topics import CHANGES, JOURNAL, place
from events.wire.codec import Record, encode
from simulation.bounds import SMALL, USUAL, SeedBounds
from simulation.log import PARTITION, TICKS
from turbine_client.identity import change_id

if TYPE_CHECKING:
    from simulation.world import SimulatedWorld

KINDS = (
    "crash",
    "crash amid acts",
    "pause",
    "place stalled",
    "rival",
    "store lost",
    "compaction",
    "clock stopped",
    "forged cycle",
    "forged evidence",
    "forged tick",
    "forged parent",
    "delivered again",
    "upgrade",
)
OF_CONTAINERS = (
    "container crash",
    "container asleep",
    "container deaf",
    "container mute",
    "operator",
)
LEAST_FAULTS, MOST_FAULTS = 50, 110
MOST_PROCESSES = 6
CIRCLE = 2


@dataclass(frozen=True, slots=True)
class Swarm:
    """How hostile this seed is, and in which ways."""

    kinds: tuple[str, ...]
    faults: int
    lost: float
    late: float
    poll_ms: int
    over_the_wire: bool
    bounds: SeedBounds
    told: float  # how often who is replaced hears of it, and stops

    @classmethod
    def draw(cls, rng: random.Random) -> Swarm:
        """Each kind is on in about two seeds of three; crashes always are."""
        kinds = tuple(kind for kind in KINDS if kind == "crash" or rng.random() < 0.66)
        return cls(
            kinds=kinds,
            faults=rng.randint(LEAST_FAULTS, MOST_FAULTS),
            lost=rng.choice([0.0, 0.02, 0.06]),
            late=rng.choice([0.0, 0.05, 0.15]),
            poll_ms=rng.choice([300, 1_000, 4_000]),
            over_the_wire=rng.random() < 0.04,
            bounds=rng.choice([USUAL, SMALL]),
            told=rng.choice([0.0, 0.5, 1.0, 1.0]),
        )


class Faults:
    """Strikes at random moments of the horizon, and counts what it did."""

    def __init__(self, world: SimulatedWorld) -> None:
        self.world = world
        self.rng = world.streams.fork("faults")
        self.no_ticks_until_ms = 0

    def begin(self) -> None:
        """Draws all moments at once."""
        for _ in range(self.world.swarm.faults):
            kind = self.rng.choice(self.world.swarm.kinds)
            at_ms = self.rng.uniform(0, self.world.horizon_ms)
            strike = self._strike_fleet if "shard-manager" in self.world.cast else self._strike
            self.world.clock.after(at_ms, partial(strike, kind))

    def _strike_fleet(self, kind: str) -> None:
        """Nobody forges anything here; containers have faults of their own."""
        if kind.startswith("forged") or self.rng.random() < 0.5:
            kind = self.rng.choice(OF_CONTAINERS)
            self.world.counts[f"fault: {kind}"] += 1
            self.world.containers.strike(kind)
        else:
            self._strike(kind)

    def _strike(self, kind: str) -> None:
        world, rng = self.world, self.rng
        world.counts[f"fault: {kind}"] += 1
        name = rng.choice(sorted(world.keeps))
        build = self._build()
        match kind:
            case "crash" | "delivered again":
                self._crash(rewind=kind == "delivered again")
            case "pause":
                process = rng.choice(world.processes) if world.processes else None
                if process is not None:
                    process.frozen_until_ms = world.clock.now_ms + rng.choice(
                        [2_000, 35_000, 65_000, 400_000]
                    )
                    if rng.random() < 0.6 and len(world.processes) < MOST_PROCESSES:
                        world.spawn(process.component.name, build)
            case "place stalled" | "crash amid acts":
                self._stall(amid_acts=kind == "crash amid acts")
            case "rival" | "upgrade":
                if len(world.processes) < MOST_PROCESSES:
                    world.spawn(name, 2 if kind == "upgrade" else build)
            case "store lost":
                world.keeps[name].lose()
            case "compaction":
                world.keeps[name].compact()
            case "clock stopped":
                stopped_ms = rng.choice([60_000, 200_000, 300_000, 600_000])
                self.no_ticks_until_ms = world.clock.now_ms + stopped_ms
            case "forged cycle":
                self._forge_circle()
            case _:
                self._forge(kind)

    def _stall(self, *, amid_acts: bool) -> None:
        """One place is slow for one reader: what others knew of it is held back meanwhile. Perhaps
        the reader dies then, between two of the entries that keep a row and what waits for it."""
        world, rng = self.world, self.rng
        if world.processes:
            process = rng.choice(world.processes)
            at = rng.choice(sorted(process.owner.places - {TICKS}))
            process.stalled.add(at)
            if amid_acts:
                delay_ms = rng.choice([5_000, 40_000])
                world.clock.after(delay_ms, partial(world.doom, process, rng.randint(1, 9)))
            world.clock.after(rng.choice([20_000, 90_000, 300_000]), partial(world.flow, process))

    def _build(self) -> int:
        """After an upgrade old builds come back as well: that is what a rollback is."""
        upgraded = self.world.counts["fault: upgrade"] > 0
        return 1 + (upgraded and self.rng.random() < 0.5)

    def _crash(self, *, rewind: bool) -> None:
        world, rng = self.world, self.rng
        if not world.processes:
            return
        process = rng.choice(world.processes)
        world.kill(process)
        self.begin_again(process.component.name, rewind=rewind)

    def begin_again(self, name: str, *, rewind: bool = False) -> None:
        """A supervisor starts another instance where none is left."""
        world = self.world
        if any(process.component.name == name for process in world.processes):
            return
        build = self._build()

        def spawn() -> None:
            if not world.calm:
                world.spawn(name, build, rewind=rewind)

        world.clock.after(self.rng.expovariate(1 / 20_000), spawn)

    def _forge(self, kind: str) -> None:
        """Says that it knew what is not there, or a tick to come, or a parent of its own."""
        world, rng = self.world, self.rng
        key = rng.choice(world.authors.keys)
        job = world.job(key)
        changed = JobConfigChanged(
            job=key,
            layer="base",
            change_id=change_id(world.clock.now_ms + 1_000, "forged"),
            version=job.layers[0].version + 1,
            versions=job.versions,
            layer_json='{"forged":true}',
            expected_json='{"forged":true}',
            author="forger",
            reason="",
        )
        name = f"forged-{world.clock.now_ms}-{world.log.appended}"
        world.forged.add(name)
        record = Record(
            key=key,
            id=name,
            kind="JobConfigChanged",
            value=encode(changed),
            body=changed,
            parent=world.last(key) or ROOT,
            source="job-service",
        )
        if kind == "forged parent":
            record = replace(record, parent=f"no-{name}")
        elif kind == "forged tick":
            record = replace(record, tick_ms=world.clock.now_ms + 1_000_000)
        elif rng.random() < 0.5:
            # A little beyond the end: it will be there soon, but it was not when this was said.
            at = place(rng.choice([JOURNAL, CHANGES["base"]]), PARTITION)
            record = replace(record, evidence={at: world.log.end(at) + rng.choice([10, 30, 10**9])})
        else:
            at = place(CHANGES["oncall"], PARTITION)
            self._forge_proposal(key, CHANGES["base"], {at: world.log.end(at) + 10**6})
            return
        world.log.append(JOURNAL, record)

    def _forge_circle(self) -> None:
        """Requests at some doors, each of which says that its author had read all the others."""
        world = self.world
        doors = self.rng.sample(
            [CHANGES["base"], CHANGES["provisioner"], CHANGES["oncall"]], CIRCLE
        )
        ends = {at: world.log.end(at) + 1 for at in (place(door, PARTITION) for door in doors)}
        key = self.rng.choice(world.authors.keys)
        for door in doors:
            others = {at: end for at, end in ends.items() if at != place(door, PARTITION)}
            self._forge_proposal(key, door, others)

    def _forge_proposal(self, key: str, door: str, evidence: dict[str, int]) -> None:
        world = self.world
        name = change_id(world.clock.now_ms + 9_000, f"forged{world.log.appended}")
        world.forged.add(name)
        body = ConfigChangeProposed(change_id=name, job=key, author="forger", set_json="{}")
        record = Record(
            key=key,
            id=name,
            kind="ConfigChangeProposed",
            value=encode(body),
            body=body,
            evidence=evidence,
        )
        world.log.append(door, record)
