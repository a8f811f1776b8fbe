"""Tiers, their containers and their shards as they stand. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated

from events.generated.records import CapacityReported, ResourceUse, TierDefined
from projections.capacity import CAPACITY, Capacity
from projections.fleet import ADD, ShardUsage, TierFleet
from projections.liveness import Life
from projections.loads import RESOURCES, UNITS, capacity_of
from turbine.read.plain import made, means
from turbine.read.state.shards import regions_of, stage_of, state_of
from turbine.read.state.view import View


@dataclass(frozen=True, slots=True)
class Loan:
    """Containers that one tier lends another."""

    loan_id: str
    lender: str
    borrower: str
    containers: tuple[str, ...]
    since_ms: int


@dataclass(frozen=True, slots=True)
class Use:
    """A resource of a tier. What jobs ask for is reserved, what their tasks were seen to take is
    used: neither is a word for the other."""

    capacity: float
    reserved: float
    reserved_share: float | None
    used: Annotated[float | None, means("Null where no container measures it.")]
    used_share: float | None
    left: float
    lent: float
    borrowed: float
    lacking: float


@dataclass(frozen=True, slots=True)
class Tier:
    """A tier: what it is, what is lent, and what it said of itself last."""

    tier: str
    key: str
    shards: int
    regions: tuple[str, ...]
    preempted: Annotated[tuple[str, ...], means("Jobs stopped for others.")]
    limits: Annotated[dict[str, int], means("The most tasks of a job.")]
    loans: tuple[Loan, ...]
    state: Annotated[str | None, means("Null where its manager never told.")]
    containers: int | None
    jobs: int | None
    jobs_waiting: int | None
    resources: dict[str, Use]
    reported_ms: int | None


@dataclass(frozen=True, slots=True)
class TierLine:
    """A tier in the fleet's summary."""

    tier: str
    state: str | None
    containers: Annotated[dict[str, int], means("By state.")]
    shards: Annotated[dict[str, int], means("By stage.")]
    resources: dict[str, Use]
    jobs: int | None
    jobs_waiting: int | None
    preempted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drain:
    """Who has a container emptied, and why."""

    author: str
    reason: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What a container's shards use of one resource that it has."""

    used: float | None
    capacity: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Container:
    """A container: how it stands, what it holds, how full it is."""

    container: str
    tier: str
    state: str
    drain: Drain | None
    region: str
    epoch: Annotated[int, means("Of its life; each start is a new one.")]
    shards: int
    moving: Annotated[int, means("Of these, about which something is to come.")]
    tasks: int | None
    load: dict[str, Usage]
    silence_ms: int | None
    since_ms: int | None


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard: who holds it, how far its move is, what it uses."""

    shard: int
    tier: str
    container: str | None
    to: Annotated[str | None, means("The container that gets it next.")]
    generation: int
    stage: str
    since_ms: int | None
    deadline_ms: int | None
    unplaced: Annotated[str | None, means("Why no container can have it.")]
    regions: Annotated[tuple[str, ...], means("Where it may be; empty: anywhere.")]
    tasks: int | None
    job: str | None
    load: dict[str, float] | None


# --- tiers


def tiers(view: View) -> list[Tier]:
    """All tiers that are defined, by name."""
    return [tier_of(view, name) for name in sorted(view.defined)]


def tier_of(view: View, name: str) -> Tier:
    """One tier of a view."""
    row = view.capacity.get(name) or Capacity(name)
    return tier(row, view.defined[name], *view.reported.get(name, (None, None)))


def tier(
    row: Capacity, defined: TierDefined, said: CapacityReported | None, at_ms: int | None
) -> Tier:
    """A tier with what it said of itself last; nothing is known of one that never did."""
    return Tier(
        tier=row.tier,
        key=f"{row.tier}/{CAPACITY}",
        shards=defined.shards,
        regions=tuple(defined.regions),
        preempted=tuple(sorted(row.preempted)),
        limits=dict(sorted(row.limits.items())),
        loans=tuple(
            Loan(loan_id, loan.lender, loan.borrower, tuple(loan.containers), loan.since_ms)
            for loan_id, loan in sorted(row.loans.items())
        ),
        state=None if said is None else said.state,
        containers=None if said is None else said.containers,
        jobs=None if said is None else said.jobs,
        jobs_waiting=None if said is None else said.jobs_waiting,
        resources={} if said is None else uses_of(said),
        reported_ms=at_ms,
    )


def uses_of(said: CapacityReported) -> dict[str, Use]:
    """What is reserved and used of each resource, as the tier said last."""
    measured = said.containers_measured > 0
    return {found.resource: _use(found, measured=measured) for found in said.resources}


def _use(found: ResourceUse, *, measured: bool) -> Use:
    taken, used = max(found.reserved, found.used), found.used if measured else None
    return made(
        Use,
        found,
        used=used,
        reserved_share=share_of(found.reserved, found.capacity),
        used_share=share_of(used, found.capacity),
        left=max(0.0, found.capacity - taken),
    )


def share_of(amount: float | None, capacity: float) -> float | None:
    """An amount's share, to four places; None where either is not known."""
    return round(amount / capacity, 4) if amount is not None and capacity > 0 else None


def tier_line(view: View, name: str) -> TierLine:
    """A tier in few words."""
    fleet = view.tiers[name]
    said, _ = view.reported.get(name, (None, None))
    found = Counter(state_of(fleet, life) for life in _there(fleet, gone=False))
    stages = Counter(stage_of(fleet, shard) for shard in range(fleet.shards))
    row = view.capacity.get(name) or Capacity(name)
    return TierLine(
        tier=name,
        state=None if said is None else said.state,
        containers=dict(sorted(found.items())),
        shards=dict(sorted(stages.items())),
        resources={} if said is None else uses_of(said),
        jobs=None if said is None else said.jobs,
        jobs_waiting=None if said is None else said.jobs_waiting,
        preempted=tuple(sorted(row.preempted)),
    )


# --- containers


def containers(row: TierFleet, *, gone: bool) -> list[Container]:
    """The tier's containers by name; of those that are gone, by default those that hold shards."""
    return [container(row, life) for life in _there(row, gone=gone)]


def _there(row: TierFleet, *, gone: bool) -> Iterator[Life]:
    return (one for one in row.members() if one.lives or gone or row.holdings.get(one.name))


def container(row: TierFleet, life: Life) -> Container:
    """One container of a tier."""
    drain = row.drains.get(life.name)
    held = sorted(row.holdings.get(life.name, ()))
    known = [load for shard in held if (load := row.loads.get(shard)) is not None]
    return Container(
        container=life.name,
        tier=life.tier,
        state=state_of(row, life),
        drain=None if drain is None else Drain(drain.author, drain.reason),
        region=life.region,
        epoch=life.epoch,
        shards=len(held),
        moving=sum(shard in row.open for shard in held),
        tasks=sum(load.tasks for load in known) if known else None,
        load=_usage(life, known),
        silence_ms=row.silence_ms(life) if life.lives else None,
        since_ms=since_of(row, life),
    )


def since_of(row: TierFleet, life: Life) -> int | None:
    """When a container that lives began, by the ticks of its partition: a start has no instant of
    its own in the row."""
    if not life.lives:
        return None
    clock = row.clock_of(life)
    return clock.last_ms - max(0, clock.sum_ms - life.since_ms)


def _usage(life: Life, known: list[ShardUsage]) -> dict[str, Usage]:
    """What the container's shards use of what it has; unknown is None, never 0."""
    room = capacity_of(life.capacity)
    found: dict[str, Usage] = {}
    for at, resource in enumerate(RESOURCES):
        amounts = [amount for load in known if (amount := load.amounts[at]) is not None]
        used, size = sum(amounts) if amounts else None, room[at]
        if used is not None or size is not None:
            found[resource] = Usage(
                None if used is None else used * UNITS[at],
                None if size is None else size * UNITS[at],
                round(used / size, 4) if used is not None and size else None,
            )
    return found


# --- shards


def shards(row: TierFleet, *, container: str | None = None, moving: bool = False) -> list[Shard]:
    """The tier's shards by number; those of one container, those that move, or all."""
    wanted: Iterable[int] = range(row.shards)
    if container is not None:
        coming = {number for number, grant in row.grants.items() if grant.to == container}
        wanted = sorted(coming.union(row.holdings.get(container, ())))
    return [shard(row, number) for number in wanted if not moving or number in row.open]


def shard(row: TierFleet, number: int) -> Shard:
    """One shard of a tier."""
    grant, load = row.grants.get(number), row.loads.get(number)
    return Shard(
        shard=number,
        tier=row.tier,
        container=None if grant is None else grant.container,
        to=None if grant is None or grant.stage == ADD else grant.to or None,
        generation=0 if grant is None else grant.generation,
        stage=stage_of(row, number),
        since_ms=None if grant is None or not grant.since_ms else grant.since_ms,
        deadline_ms=grant.deadline_ms if grant is not None and number in row.open else None,
        unplaced=row.unplaced.get(number),
        regions=tuple(regions_of(row, number)),
        tasks=None if load is None else load.tasks,
        job=None if load is None else load.job or None,
        load=None if load is None else _amounts(load),
    )


def _amounts(load: ShardUsage) -> dict[str, float]:
    return {
        resource: amount * UNITS[at]
        for at, resource in enumerate(RESOURCES)
        if (amount := load.amounts[at]) is not None
    }
