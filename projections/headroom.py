"""Which containers a tier has room in, and what is used of them: a part of its capacity's fold."""

from __future__ import annotations

from events.generated.records import (
    ContainerFailedOver,
    ContainerHeartbeat,
    ContainerReassigned,
    ContainerStarted,
    DrainRequested,
    ShardLoadsReported,
    UndrainRequested,
)
from events.wire.codec import Read
from projections.capacity import Capacity, ContainerUse, room_of
from projections.fleet import NO_TICKS
from projections.ingress import Ingress, admit, answer
from projections.liveness import Life, beat, fail_over, start
from projections.loads import load_of
from projections.resource_sums import NOTHING, Amounts, minus, plus, total


def lived(
    row: Capacity, body: ContainerStarted | ContainerHeartbeat | ContainerFailedOver, read: Read
) -> Capacity:
    """A life begins, goes on or is over."""
    name = body.container
    life = row.lives.get(name) or Life(name, read.place)
    match body:  # who is silent for too long is told by the shard manager: no ticks are needed
        case ContainerStarted():
            now = start(life, body, NO_TICKS)
        case ContainerHeartbeat():
            now = beat(life, body, read.offset, NO_TICKS)
        case _:
            now = fail_over(life, body)
    if now is life:
        return row
    row = row._replace(lives=row.lives.set(name, now))
    if (now.epoch, now.lives) != (life.epoch, life.lives):
        row = _measured(row, name, None)
        return counted(row, name)
    return row if now.state == life.state else counted(row, name)


def counted(row: Capacity, name: str) -> Capacity:
    """What the container adds to the tier, looked at again."""
    life, before = row.lives.get(name), row.rooms.get(name)
    now = room_of(life) if life is not None and row.counts(life) else None
    if now == before:
        return row
    rooms = row.rooms.delete(name) if now is None else row.rooms.set(name, now)
    capacity = plus(minus(row.capacity, before or NOTHING), now or NOTHING)
    return row._replace(rooms=rooms, capacity=capacity)


def weighed(row: Capacity, body: ShardLoadsReported, _: Read) -> Capacity:
    """What the tier's shards used. A newer report replaces an older one as its parts come in."""
    life, known = row.lives.get(body.container), row.uses.get(body.container)
    if life is None or body.epoch != life.epoch or not life.lives:
        return row
    ours = [one for one in body.loads if one.tier == row.tier]
    if known is not None and body.number < known.number:
        return row
    amounts = total(
        tuple(amount or 0 for amount in load_of(one, body.number).amounts) for one in ours
    )
    part = (min((one.shard for one in ours), default=-1), amounts)
    parts = known.parts if known is not None and known.number == body.number else ()
    if part[0] in dict(parts):
        return row
    use = ContainerUse(body.epoch, body.number, tuple(sorted((*parts, part))))
    return _measured(row, body.container, use)


def _measured(row: Capacity, name: str, use: ContainerUse | None) -> Capacity:
    before = row.uses.get(name)
    used = plus(minus(row.used, _sum(before)), _sum(use))
    uses = row.uses if use is None else row.uses.set(name, use)
    if use is None and name in uses:
        uses = uses.delete(name)
    return row._replace(uses=uses, used=used)


def _sum(use: ContainerUse | None) -> Amounts:
    return NOTHING if use is None else total(amounts for _, amounts in use.parts)


def reassigned(row: Capacity, body: ContainerReassigned, read: Read) -> Capacity:
    """What a container was to be told was said."""
    moving = row.moving.get(body.container)
    if moving is None or moving.id != read.record.id:
        return row
    return row._replace(moving=row.moving.delete(body.container))


def drained(row: Capacity, body: DrainRequested | UndrainRequested, read: Read) -> Capacity:
    """An operator wants a container to be empty, or not any more. A wish counts once."""
    name = read.record.key
    before = row.ingress.get(name, Ingress())
    known = {one.id for one in before.live}
    ingress, counts = admit(before, body.change_id, body, len(read.record.value), read.at_ms)
    row = row._replace(ingress=row.ingress.set(name, answer(ingress, body.change_id)))
    if not counts or body.change_id in known:
        return row
    drains = row.drains.delete(body.container) if body.container in row.drains else row.drains
    if isinstance(body, DrainRequested):
        drains = drains.set(body.container, None)
    return counted(row._replace(drains=drains), body.container)
