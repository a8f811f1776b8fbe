"""All containers of a fleet, the tier that they are in, and what happens to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.runtime.core.standing import Row
from components.runtime.core.step import ROOT
from components.runtime.core.store import Restored
from components.task_manager.core.catalogue import Catalogue, ShardCounts
from events.generated.records import LayerVersions, TaskSpec, TierDefined
from events.topics import TIERS
from events.wire.codec import Record, encode
from projections.lists import ListedSpecs, ListHead, TaskLists
from projections.shards import shard_of, shards_of, whole_mask
from simulation.container import EFFECT_MS, TIER, WEIGH_MS, SimulatedContainer
from simulation.operator import PersonOnCall
from simulation.sink import ShardRun, SimulatedSink
from simulation.standing import StandingPublishers

if TYPE_CHECKING:
    from simulation.world import SimulatedWorld

SHARDS = 16
BEHIND, DIES = 0.3, 0.2
REGIONS = (("local",), ("local",), ("north", "south"))


class SimulatedContainers:
    """All of them, and what they had an effect on."""

    def __init__(self, world: SimulatedWorld) -> None:
        self.world = world
        self.rng = world.streams.fork("containers")
        self.sink = SimulatedSink()
        self.lives: dict[str, tuple[int, int]] = {}  # of each the last number, and what was read
        self.standing = StandingPublishers(world.log, world.newest_build)
        self._publisher = world.streams.fork("publisher")
        self.instances: list[ShardRun] = []
        self.wild = self.rng.random() < 0.05  # clocks that no bound holds for
        spread = 0.4 if self.wild else 0.02
        self.regions = self.rng.choice(REGIONS)
        count = world.containers_most or self.rng.choice([3, 5, 10, 12])
        self.each = max(SHARDS, 2 * count)
        self.weights = [
            self.rng.lognormvariate(-1, 0.7) for _ in range(shards_of(self.each, self.regions))
        ]
        self.catalogue = one_task_a_shard(self.each, self.regions)
        self.all = [
            SimulatedContainer(self, f"c{n}", 1 + self.rng.uniform(-spread, spread))
            for n in range(count)
        ]
        self.read_ms = self.rng.choice([1_000, 2_000, 5_000])
        self.operator = PersonOnCall(world, [one.name for one in self.all])

    def gap_ms(self, what: str) -> float:
        """Between two turns of a kind."""
        known = {"beat": 5_000, "read": self.read_ms, "effect": EFFECT_MS, "weigh": WEIGH_MS}
        return known[what]

    def kept(self) -> Restored[Row]:
        """What a publisher, who is away or behind at times, has kept of the tier's chain by now."""
        chance = self._publisher
        if chance.random() < BEHIND:
            self.standing.read(chance.randint(1, 1_000))
        else:
            self.standing.read(self.world.log.appended)
        self.standing.transact(dies=chance.randrange if chance.random() < DIES else None)
        return self.standing.kept()

    def region_of(self, name: str) -> str:
        """Each region has a container or more."""
        return self.regions[int(name[1:]) % len(self.regions)]

    def begin(self) -> None:
        """The tier is made, and all containers begin."""
        body = TierDefined(TIER, self.each, self.regions)
        record = Record(f"{TIER}/placement", "tier", "TierDefined", encode(body), body, parent=ROOT)
        self.world.log.append(TIERS, record)
        for one in self.all:
            self.world.clock.after(self.rng.uniform(1, 20_000), one.begin)
        self.operator.begin()

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
            case "operator":
                self.operator.strike()
            case "container deaf":
                one.deaf_until_ms = now_ms + ms
            case _:
                one.mute_until_ms = now_ms + ms


def one_task_a_shard(each: int, regions: tuple[str, ...]) -> Catalogue:
    """A job with one task for every shard, so that what runs of a shard is one instance."""
    catalogue = Catalogue(ShardCounts(TIER, each, regions))
    for mask in range(1, whole_mask(regions) + 1):
        allowed = tuple(region for at, region in enumerate(regions) if mask >> at & 1)
        left, number = set(range((mask - 1) * each, mask * each)), 0
        while left:
            job = f"job-{mask}-{number}"
            number += 1
            shard = shard_of(f"{job}/0", mask, each)
            if shard in left:
                left.discard(shard)
                head, versions = (
                    ListHead("a.b:c", "exactly_once", "", "", "{}"),
                    LayerVersions(1, 0, 0, 0),
                )
                spec = TaskSpec(0, (), (), "")
                listed = ListedSpecs("p", 1, 1, versions, TIER, allowed, head, (spec,))
                catalogue.put(TaskLists(job, listed))
    return catalogue
