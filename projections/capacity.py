"""What is known of a tier's capacity: what it holds, what is asked of it, and lent (Turbine V-F).

Pure. `projections.capacity_folds` says how it comes to be known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from immutables import Map

from projections.fleet import LEAVING
from projections.ingress import Ingress
from projections.liveness import Life
from projections.loads import capacity_of
from projections.resource_sums import NOTHING, Amounts, plus, times, total
from projections.settings import Placing, SharingSettings

CAPACITY, PLACEMENT = "capacity", "placement"
"""What the two chains of a tier are about."""
PLENTY, TIGHT, SHORT, UNKNOWN = "plenty", "tight", "short", "unknown"
GRANT, STOP = "grant", "stop"


class Demand(NamedTuple):
    """What one job asks of its tier, by its expected config."""

    tasks: int
    each: Amounts  # of one task
    most: int  # tasks that its limits allow
    priority: int
    privileged: bool
    paused: bool

    @property
    def whole(self) -> Amounts:
        """All of its tasks, as if it ran."""
        return times(self.each, self.tasks)

    @property
    def asked(self) -> Amounts:
        """What has to be there for it now."""
        return NOTHING if self.paused else self.whole


class ContainerUse(NamedTuple):
    """What the tier's shards in one container used, as it said last."""

    epoch: int
    number: int  # of the report
    parts: tuple[tuple[int, Amounts], ...]  # each with its first shard: a part counts once


class OwedEffect(NamedTuple):
    """What a decision owes a job, until it is read back."""

    id: str
    kind: str  # grant or stop
    priority: int
    explanation: str
    tasks_max: int | None = None
    resources: tuple[tuple[str, float], ...] = ()
    decision_id: str = ""


class Stopped(NamedTuple):
    """A job that was told to stop: when, and by which words."""

    at_ms: int
    id: str
    explanation: str
    decision_id: str = ""


class TierLoan(NamedTuple):
    """Containers that one tier has given another. The lender's word begins and ends it."""

    lender: str
    borrower: str
    containers: tuple[str, ...]
    since_ms: int
    taken: bool = False  # the borrower has said so
    offered: bool = False  # back, by the borrower


class Moving(NamedTuple):
    """What a container is told, until it is read back."""

    id: str
    tier: str
    number: int
    decision_id: str
    explanation: str


class Neighbour(NamedTuple):
    """What another tier said of itself last."""

    state: str
    at_ms: int
    lacking: Amounts


class TierReport(NamedTuple):
    """The tier's own last report."""

    at_ms: int
    state: str
    containers: int
    waiting: int
    numbers: tuple[Amounts, ...]  # capacity, reserved, used, lent, borrowed


class Capacity(NamedTuple):
    """The row of one tier: its containers, its jobs and what they may have."""

    tier: str
    defined: bool = False
    sharing: SharingSettings = SharingSettings()
    placing: Placing = Placing()
    lives: Map[str, Life] = Map()
    rooms: Map[str, Amounts] = Map()  # of the containers that count: what each holds
    capacity: Amounts = NOTHING  # of all of these
    drains: Map[str, None] = Map()  # containers that an operator wants to be empty
    ingress: Map[str, Ingress] = Map()  # what operators ask of containers
    uses: Map[str, ContainerUse] = Map()
    used: Amounts = NOTHING  # by all containers that have told
    jobs: Map[str, Demand] = Map()  # that name this tier
    reserved: Amounts = NOTHING  # for all of these
    wishes: Map[str, int] = Map()  # job to the tasks that it would have
    limits: Map[str, int] = Map()  # job to the tasks that it may have
    open: Map[str, None] = Map()  # jobs whose limit may have to change while the tier is tight
    preempted: Map[str, Stopped] = Map()
    owed: Map[str, OwedEffect] = Map()  # by job: a later word replaces one that nobody has read yet
    words: Map[str, str] = Map()  # job to the id of the last word to it
    stray: Map[str, None] = Map()  # jobs that read another word after it, and are to be told again
    loans: Map[str, TierLoan] = Map()  # that this tier gives or has
    tenants: Map[str, str] = Map()  # container to the tier that has it, by the last loan
    made: int = 0  # changes of its loans by this tier, ever
    moving: Map[str, Moving] = Map()  # containers that are to be told whose they are
    neighbours: Map[str, Neighbour] = Map()
    regions: Map[str, tuple[str, ...]] = Map()  # of each tier; none named is one for all
    said: TierReport | None = None
    short_ms: int | None = None  # since when more is reserved than there is
    shared_ms: int = 0  # when limits were told last
    more: bool = False  # and there were more of them than one record holds
    stepped_ms: int = 0  # when jobs were stopped or brought back last
    lent_ms: int = 0
    alerts: Map[str, None] = Map()

    def counts(self, life: Life) -> bool:
        """May the tier's shards be in the container? One that is on its way to another tier, or
        back, is nobody's until its next life begins there."""
        return (
            life.lives
            and life.tier == self.tier
            and life.state not in LEAVING
            and life.name not in self.drains
            and self.tenants.get(life.name, self.tier) == self.tier
        )

    @property
    def usable(self) -> Amounts:
        """The capacity less the head-room that placement keeps free."""
        kept = 1000 - self.placing.headroom
        return tuple(amount * kept // 1000 for amount in self.capacity)

    def waiting(self) -> Iterator[tuple[str, Demand, int]]:
        """Jobs that would have more tasks than they have, with how many."""
        for job, wish in sorted(self.wishes.items()):
            demand = self.jobs.get(job)
            if demand is None or demand.paused or job in self.preempted:
                continue
            wanted = min(wish, demand.most)
            if wanted > demand.tasks:
                yield job, demand, wanted

    def stopping(self, now_ms: int) -> Amounts:
        """What jobs that were told to stop still ask for, and will not in a moment."""
        return total(
            demand.asked
            for job, stopped in self.preempted.items()
            if (demand := self.jobs.get(job)) is not None
            and now_ms < stopped.at_ms + self.sharing.step_ms
        )

    def away(self, *, lent: bool) -> Amounts:
        """What is lent to others, or borrowed from them."""
        found = NOTHING
        for loan in self.loans.values():
            if (loan.lender if lent else loan.borrower) == self.tier:
                for name in loan.containers:
                    life = self.lives.get(name)
                    if life is not None and life.lives:
                        found = plus(found, room_of(life))
        return found


def room_of(life: Life) -> Amounts:
    """What a container holds; nothing of what it does not name."""
    return tuple(amount or 0 for amount in capacity_of(life.capacity))
