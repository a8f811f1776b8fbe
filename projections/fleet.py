"""What is known of one tier: its containers, who holds each shard, what it uses (Turbine IV). Pure.

`projections.fleet_folds` says how it comes to be known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from immutables import Map

from projections.ingress import Ingress
from projections.liveness import Life, Ticks
from projections.plans import PlanCourse
from projections.settings import Placing
from projections.shards import mask_of_shard
from projections.timing import Timing

ADD, DROP, KILL = "add", "drop", "kill"
NO_TICKS = Ticks()
LEAVING = ("draining", "stopping")
"""States in which a container wants to be rid of its shards."""


class ShardGrant(NamedTuple):
    """What was decided last about one shard: who is to hold it, or to give it up."""

    generation: int
    container: str
    epoch: int
    stage: str  # add, drop or kill
    deadline_ms: int | None
    to: str = ""  # who is to get it once it is dropped
    since_ms: int = 0  # since when it is this container's


class ShardGenerations(NamedTuple):
    """What containers said of one shard: the greatest generations that were added and dropped."""

    added: int = 0
    dropped: int = 0


class ShardUsage(NamedTuple):
    """What one shard used, as its newest holder said last; what is not known is None."""

    generation: int
    number: int  # of the report
    tasks: int
    job: str
    amounts: tuple[int | None, ...]  # by `RESOURCES`


class FailOverRequest(NamedTuple):
    """A fail-over that was decided, until its effect is read back."""

    decision_id: str
    container: str
    epoch: int
    explanation: str
    place: str
    offset: int | None


class DrainWish(NamedTuple):
    """An operator's wish that a container be empty."""

    author: str
    reason: str


class Brake(NamedTuple):
    """So many containers are gone that a person has to say that they are."""

    plan_id: str
    gone: tuple[str, ...] = ()  # those of whom the question is
    released: bool = False


class TierFleet(NamedTuple):
    """The row of one tier: its containers, its shards and their moves."""

    tier: str
    defined: bool = False
    each: int = 0  # shards of every set of regions
    shards: int = 0  # in all
    regions: tuple[str, ...] = ()
    timing: Timing = Timing()
    placing: Placing = Placing()
    ticks: Map[str, Ticks] = Map()
    lives: Map[str, Life] = Map()
    silent: Map[str, None] = Map()  # containers that were silent for too long at the last tick
    bounds: Map[str, int] = Map()  # place to a tick before which none there was heard last
    grants: Map[int, ShardGrant] = Map()
    told: Map[int, ShardGenerations] = Map()
    holdings: Map[str, Map[int, None]] = Map()  # container to the shards that were given to it
    open: Map[int, None] = Map()  # shards about which something is still to come
    loads: Map[int, ShardUsage] = Map()
    requests: Map[str, FailOverRequest] = Map()  # by decision
    drains: Map[str, DrainWish] = Map()
    ingress: Map[str, Ingress] = Map()  # what operators ask for, by the key they ask under
    course: PlanCourse | None = None
    plans: int = 0
    planned_ms: int = 0  # when the tier was balanced last
    left: str = ""  # what was left undone then: "postponed" by the budget, or "out" of band
    news: int = 0  # counts what calls for another plan
    news_ms: int = 0
    heeded: int = 0  # of the news, those that the last plan knew
    balanced: int = 0  # those that the last plan that looked at all shards knew
    tried_ms: int = 0  # when places were looked for last
    unplaced: Map[int, str] = Map()  # shards that fit nowhere, and why
    more_unplaced: bool = False  # than are named
    brake: Brake | None = None
    alerts: Map[str, str] = Map()  # that stand, with what they say
    tenants: Map[str, tuple[int, str]] = Map()  # of lent containers: number, who has each now

    def clock_of(self, life: Life) -> Ticks:
        """The ticks by which the container's silence is measured."""
        return self.ticks.get(life.place, NO_TICKS)

    def silence_ms(self, life: Life) -> int:
        """How long nothing was heard of the container."""
        return life.silence_ms(self.clock_of(life), self.timing.gap_ms)

    def members(self) -> Iterator[Life]:
        """The tier's containers, by name."""
        for _, life in sorted(self.lives.items()):
            if life.tier == self.tier:
                yield life

    def closed(self, life: Life) -> bool:
        """Is the container to be emptied? One that is lent begins another life in the other tier
        once it holds nothing, and is a member there (Turbine V-F)."""
        lent = life.name in self.tenants and self.tenants[life.name][1] != life.tier
        return lent or life.name in self.drains or life.state in LEAVING

    def takes(self, name: str) -> bool:
        """May the container be given shards now? One that is silent has to be heard first."""
        life = self.lives.get(name)
        return (
            life is not None
            and life.lives
            and life.tier == self.tier
            and not self.closed(life)
            and not self.quiet(life)
        )

    def fits(self, shard: int, name: str) -> bool:
        """May the container be given this shard? Another life of it may be in another region."""
        mask = mask_of_shard(shard, self.each)
        return self.takes(name) and bool(mask & self.region_bit(self.lives[name]))

    def quiet(self, life: Life) -> bool:
        """So silent that it is given nothing more."""
        return self.silence_ms(life) >= self.timing.silence_ms // 3

    @property
    def long_read(self) -> bool:
        """Were all places read for so long that whoever lives has said so again? What is said of
        lives expires, and who has been silent since before that is not even known."""
        least_ms = 2 * self.timing.again_ms
        return bool(self.ticks) and all(one.sum_ms >= least_ms for one in self.ticks.values())

    def given_up(self, shard: int) -> bool:
        """Does nobody hold the shard any more, for certain? Its last holder said so, or cannot
        serve it: another life of it began, which nothing of the last one outlives, or it was failed
        over and its lease has passed as well, if it did not hear of that, or all that was ever said
        of it has expired."""
        grant = self.grants.get(shard)
        if grant is None or self.told.get(shard, ShardGenerations()).dropped >= grant.generation:
            return True
        life = self.lives.get(grant.container)
        if life is None:
            return self.long_read
        if life.epoch > grant.epoch:
            return True
        return life.over >= grant.epoch and self.silence_ms(life) >= self.timing.silence_ms

    def heir(self, shard: int) -> str:
        """Who gets the shard once it is given up, without another plan: whom it was promised to, or
        the container that had it, if another life of it began. "" for nobody."""
        grant = self.grants.get(shard)
        if grant is None:
            return ""
        if grant.to and self.fits(shard, grant.to):
            return grant.to
        life = self.lives.get(grant.container)
        again = life is not None and life.lives and life.epoch > grant.epoch
        return grant.container if again and self.fits(shard, grant.container) else ""

    def orphaned(self, shard: int) -> bool:
        """Has it to be given to somebody who is not known yet?"""
        grant = self.grants.get(shard)
        if grant is None:
            return True
        if self.heir(shard):
            return False
        life = self.lives.get(grant.container)
        return self.given_up(shard) or life is None or not life.lives

    def region_bit(self, life: Life) -> int:
        """The container's region as a bit of a mask; 0 for one that the tier does not have."""
        if not self.regions:
            return 1
        return 1 << self.regions.index(life.region) if life.region in self.regions else 0

    def held(self, shard: int) -> bool:
        """Is it the shard of a container that lives, and neither moves nor waits for a word?"""
        grant = self.grants.get(shard)
        if grant is None or grant.stage != ADD:
            return False
        life = self.lives.get(grant.container)
        return life is not None and life.lives and life.epoch == grant.epoch
