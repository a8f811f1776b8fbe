"""What is decided of tiers and said by containers, in one sentence each. Pure."""

from __future__ import annotations

from typing import assert_never

from events.generated.records import (
    CapacityBorrowed,
    CapacityLent,
    CapacityReported,
    CapacityShared,
    ContainerFailedOver,
    ContainerFailOverRequested,
    ContainerHeartbeat,
    ContainerReassigned,
    ContainerStarted,
    JobsPreempted,
    JobsRestored,
    PlacementPlanned,
    PlacementRejected,
    ResourceUse,
    ShardAdded,
    ShardAddRequested,
    ShardDropped,
    ShardDropRequested,
    ShardForceKilled,
    ShardLoadsReported,
    TierDefined,
)
from events.sentences.words import amounts, brief, counted, figure, joined, listed, span, why

Placed = (
    PlacementPlanned
    | PlacementRejected
    | ShardAddRequested
    | ShardDropRequested
    | ShardForceKilled
    | ContainerFailOverRequested
    | TierDefined
)
Room = (
    CapacityBorrowed
    | CapacityLent
    | CapacityReported
    | CapacityShared
    | JobsPreempted
    | JobsRestored
)
Heard = (
    ContainerFailedOver
    | ContainerHeartbeat
    | ContainerReassigned
    | ContainerStarted
    | ShardAdded
    | ShardDropped
    | ShardLoadsReported
)
Said = Placed | Room | Heard


def said(body: Said) -> str:
    """What moves and why, how much room there is, what containers say."""
    if isinstance(body, Placed):
        return _placed(body)
    if isinstance(body, Room):
        return _room(body)
    if isinstance(body, Heard):
        return _heard(body)
    assert_never(body)


# --- placement


def _placed(body: Placed) -> str:
    match body:
        case PlacementPlanned():
            return _planned(body)
        case PlacementRejected():
            reason = brief(body.reason, 40)
            return f"rejected plan {brief(body.plan_id)}, {reason}{why(body.explanation)}"
        case ShardAddRequested():
            origin = f" from {brief(body.from_container)}" if body.from_container else ""
            to = brief(body.container)
            return f"shard {body.shard} goes{origin} to {to}{why(body.reason)}"
        case ShardDropRequested():
            to = f" for {brief(body.to_container)}" if body.to_container else ""
            return f"shard {body.shard} leaves {brief(body.container)}{to}{why(body.reason)}"
        case ShardForceKilled():
            of = brief(body.container)
            return f"shard {body.shard} is taken from {of} by force{why(body.explanation)}"
        case ContainerFailOverRequested():
            return f"{brief(body.container)} is failed over{why(body.explanation)}"
        case TierDefined():
            regions = f", regions {listed(body.regions)}" if body.regions else ""
            return f"tier {brief(body.tier)} is made, of {counted(body.shards, 'shard')}{regions}"
        case _:
            assert_never(body)


def _planned(body: PlacementPlanned) -> str:
    part = f", part {body.part} of {body.parts}" if body.parts > 1 else ""
    held = f", held until plan {brief(body.plan_id)} is confirmed" if body.held else ""
    unplaced = f", {counted(body.unplaced, 'shard')} without a place" if body.unplaced else ""
    moves = counted(body.moves, "move")
    trigger = f" ({brief(body.trigger, 40)})" if body.trigger else ""
    return f"plans {moves}{trigger}{part}{held}{unplaced}{why(body.explanation)}"


# --- room


def _room(body: Room) -> str:
    match body:
        case CapacityReported():
            return _reported(body)
        case CapacityShared():
            jobs = listed([one.job for one in body.limits])
            more = ", and more to come" if body.more else ""
            return f"limits {jobs}{more}{why(body.explanation)}"
        case CapacityLent():
            count = counted(len(body.containers), "container")
            return f"lends {count} to {brief(body.borrower)}{why(body.explanation)}"
        case CapacityBorrowed() if not body.containers:
            return f"gives back what {brief(body.lender)} has lent{why(body.explanation)}"
        case CapacityBorrowed():
            count = counted(len(body.containers), "container")
            return f"borrows {count} of {brief(body.lender)}{why(body.explanation)}"
        case JobsPreempted():
            freed = amounts((one.resource, one.amount) for one in body.freed)
            room = f", which frees {freed}" if freed else ""
            return f"stops {listed(body.jobs)} for lack of room{room}{why(body.explanation)}"
        case JobsRestored():
            jobs = listed([one.job for one in body.limits])
            return f"lets {jobs} run again{why(body.explanation)}"
        case _:
            assert_never(body)


def _reported(body: CapacityReported) -> str:
    parts = [counted(body.containers, "container"), counted(body.jobs, "job")]
    if body.jobs_waiting:
        parts.append(f"{body.jobs_waiting} waiting")
    if body.jobs_preempted:
        parts.append(f"{body.jobs_preempted} stopped for the others")
    uses = joined([_use(one) for one in body.resources], 2)
    room = f"; {uses}" if uses else ""
    return f"room is {brief(body.state, 40)}: {', '.join(parts)}{room}"


def _use(one: ResourceUse) -> str:
    """What is promised and what is used are two things."""
    lacking = f", {figure(one.lacking)} lacking" if one.lacking else ""
    whole = figure(one.capacity)
    return (
        f"{brief(one.resource, 24)} {figure(one.reserved)} reserved of {whole},"
        f" {figure(one.used)} used{lacking}"
    )


# --- containers


def _heard(body: Heard) -> str:
    name = brief(body.container)
    match body:
        case ContainerStarted():
            room = amounts((one.resource, one.amount) for one in body.capacity) or "what it has"
            where = f", region {brief(body.region, 40)}" if body.region else ""
            return f"{name} lives, life {body.epoch}, in tier {brief(body.tier, 40)}{where}: {room}"
        case ContainerHeartbeat():
            held = f"{counted(body.shards, 'shard')}, {counted(body.tasks, 'task')}"
            return f"{name} is {body.state} with {held}"
        case ContainerFailedOver():
            return f"{name} is failed over, its life {body.epoch} is over{why(body.explanation)}"
        case ContainerReassigned():
            return f"{name} goes to tier {brief(body.tier)}{why(body.explanation)}"
        case ShardAdded():
            tasks = counted(body.tasks, "task")
            return f"{name} holds shard {body.shard} with {tasks}, generation {body.generation}"
        case ShardDropped():
            return f"{name} has given up shard {body.shard}, generation {body.generation}"
        case ShardLoadsReported():
            shards = counted(len(body.loads), "shard")
            return f"{name} tells the loads of {shards} over {span(body.window_ms)}"
        case _:
            assert_never(body)
