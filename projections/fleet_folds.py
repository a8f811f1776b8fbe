"""How a tier's row follows the log (Turbine IV-A, IV-C). Pure.

Decisions about shards come in the order of the tier's chain. What containers say of shards is kept
beside them, under its generation, so that neither waits for the other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from immutables import Map

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    ClockTicked,
    ContainerFailedOver,
    ContainerFailOverRequested,
    ContainerHeartbeat,
    ContainerReassigned,
    ContainerStarted,
    DrainRequested,
    PlacementApplyRequested,
    PlacementPlanned,
    PlacementRejected,
    ShardAdded,
    ShardAddRequested,
    ShardDropped,
    ShardDropRequested,
    ShardForceKilled,
    ShardLoadsReported,
    TierDefined,
    UndrainRequested,
)
from events.wire.codec import Read
from projections.fleet import (
    ADD,
    DROP,
    KILL,
    NO_TICKS,
    Brake,
    DrainWish,
    FailOverRequest,
    ShardGenerations,
    ShardGrant,
    TierFleet,
)
from projections.ingress import FIRST_ROOM, Ingress, admit, answer
from projections.liveness import Life, beat, fail_over, start
from projections.loads import load_of
from projections.plans import PlanCourse, read_moves
from projections.settings import placing_of
from projections.shards import shards_of
from projections.timing import timing_of

MASS_FAILURE = "mass-failure"
"""The alert that holds fail-overs until an operator says that so many containers are gone."""
NO_SHARDS: Map[int, None] = Map()
NO_WORD = ShardGenerations()


def fold(row: TierFleet | None, read: Read, tier: str = "default") -> TierFleet:
    """The row after the record. What is read first may be about a container of any tier, so that
    the tier's name is the reader's to know."""
    row = row or TierFleet(tier)
    body = read.record.body
    turn = _FACTS.get(type(body))
    if turn is not None:
        return turn(row, body, read)
    return row if body is None else apply(row, body, read.record.tick_ms, read.record.id)


def apply(row: TierFleet, body: Body, now_ms: int, decision_id: str = "") -> TierFleet:
    """After a decision of that instant; deciders look ahead of their own words with it."""
    match body:
        case TierDefined():
            return _defined(row, body)
        case PlacementPlanned():
            return _planned(row, body, now_ms)
        case PlacementRejected():
            return _answered(row, body.change_id)
        case ShardAddRequested():
            return _granted(row, body, now_ms)
        case ShardDropRequested():
            return _taken(_begun(row, body), body.shard, DROP, body.deadline_ms, body.to_container)
        case ShardForceKilled():
            return _taken(row, body.shard, KILL, now_ms + row.timing.kill_ms)
        case ContainerFailOverRequested():
            return _asked(row, body, decision_id)
        case AlertRaised():
            return row._replace(alerts=row.alerts.set(body.alert, body.details_json))
        case AlertCleared():
            brake = None if body.alert == MASS_FAILURE else row.brake
            return row._replace(alerts=_without(row.alerts, body.alert), brake=brake)
        case _:
            return row


# --- facts


def _ticked(row: TierFleet, _: ClockTicked, read: Read) -> TierFleet:
    at = read.place
    ticks = row.ticks.get(at, NO_TICKS).moved(read.at_ms, row.timing.gap_ms)
    row = row._replace(ticks=row.ticks.set(at, ticks))
    heard_ms = ticks.sum_ms - row.timing.gap_ms - row.timing.silence_ms
    # Thousands of containers are not looked at with every tick: the bound says when one may be due.
    return row if row.bounds.get(at, 0) > heard_ms else _listened(row, at)


def _listened(row: TierFleet, at: str) -> TierFleet:
    """Which of the containers of a place are silent, and how long that holds at least."""
    silent, bound = row.silent, row.ticks.get(at, NO_TICKS).sum_ms
    for name, life in row.lives.items():
        if life.place != at or not life.lives or life.tier != row.tier:
            continue
        if row.silence_ms(life) >= row.timing.silence_ms:
            silent = silent.set(name, None)
        else:
            bound = min(bound, life.sum_ms)
    return row._replace(silent=silent, bounds=row.bounds.set(at, bound))


def _lived(
    row: TierFleet, body: ContainerStarted | ContainerHeartbeat | ContainerFailedOver, read: Read
) -> TierFleet:
    name = body.container
    life = row.lives.get(name) or Life(name, read.place)
    ticks = row.clock_of(life)
    match body:
        case ContainerStarted():
            now = start(life, body, ticks)
        case ContainerHeartbeat():
            now = beat(life, body, read.offset, ticks)
        case _:
            now = fail_over(life, body)
            row = row._replace(requests=_without(row.requests, body.decision_id))
    if now is life:
        return row
    if (now.epoch, now.over) != (life.epoch, life.over):
        # What it held has to be looked at: it holds it no longer, or will not once it is silent.
        row = _heard(row, read)._replace(open=row.open.update(row.holdings.get(name, NO_SHARDS)))
    elif now.state != life.state:
        row = _heard(row, read)
    return row._replace(lives=row.lives.set(name, now), silent=_without(row.silent, name))


def _heard(row: TierFleet, read: Read) -> TierFleet:
    """There is news: another plan may be wanted. A plan tells how much its author had heard: more
    than we did, where some of it has expired since, and what comes now is news all the same."""
    news = max(row.news, row.heeded) + 1
    return row._replace(news=news, news_ms=max(row.news_ms, read.at_ms))


def _reassigned(row: TierFleet, body: ContainerReassigned, read: Read) -> TierFleet:
    """It is lent to another tier, or is back: the greatest number counts, whichever comes last."""
    known = row.tenants.get(body.container)
    if known is not None and body.number <= known[0]:
        return row
    tenants = row.tenants.set(body.container, (body.number, body.tier))
    return _heard(row, read)._replace(tenants=tenants)


def _said(row: TierFleet, body: ShardAdded | ShardDropped, _: Read) -> TierFleet:
    """A fact counts under its generation, if the life that says it is not over."""
    life = row.lives.get(body.container)
    if body.tier != row.tier or (life is not None and body.epoch <= life.over):
        return row
    if isinstance(body, ShardAdded):
        return _added(row, body.shard, body.generation)
    told = row.told.get(body.shard, NO_WORD)
    told = told._replace(dropped=max(told.dropped, body.generation))
    row = row._replace(told=row.told.set(body.shard, told))
    return _settled(row, body.shard)


def _added(row: TierFleet, shard: int, generation: int) -> TierFleet:
    told = row.told.get(shard, NO_WORD)
    told = told._replace(added=max(told.added, generation))
    return _settled(row._replace(told=row.told.set(shard, told)), shard)


def _weighed(row: TierFleet, body: ShardLoadsReported, _: Read) -> TierFleet:
    """What its shards use, and that it has them: whether they were added is said once, and that
    expires."""
    life = row.lives.get(body.container)
    if life is None or body.epoch != life.epoch or not life.lives:
        return row
    loads = row.loads.mutate()
    for one in body.loads:
        known = loads.get(one.shard)
        if one.tier != row.tier:
            continue
        if known is None or (known.generation, known.number) < (one.generation, body.number):
            loads[one.shard] = load_of(one, body.number)
    row = row._replace(loads=loads.finish())
    for one in body.loads:
        new = row.told.get(one.shard, NO_WORD).added < one.generation
        if one.tier == row.tier and (new or one.shard in row.open):
            row = _added(row, one.shard, one.generation)
    return row


def _wished(
    row: TierFleet, body: DrainRequested | UndrainRequested | PlacementApplyRequested, read: Read
) -> TierFleet:
    """A request that counts, once. What operators want of a container holds from then on; a plan
    that they ask for waits for an answer."""
    if isinstance(body, PlacementApplyRequested) and body.tier != row.tier:
        return row
    key = read.record.key
    before = row.ingress.get(key, Ingress())
    known = {one.id for one in before.live} | {one.id for one in before.waiting}
    size = len(read.record.value)
    ingress, counts = admit(before, body.change_id, body, size, read.at_ms, room=FIRST_ROOM)
    if isinstance(body, PlacementApplyRequested):
        return row._replace(ingress=row.ingress.set(key, ingress))
    row = row._replace(ingress=row.ingress.set(key, answer(ingress, body.change_id)))
    if not counts or body.change_id in known:
        return row
    drains = _without(row.drains, body.container)
    if isinstance(body, DrainRequested):
        drains = drains.set(body.container, DrainWish(body.author, body.reason))
    return _heard(row, read)._replace(drains=drains)


_FACTS: Mapping[type[Any], Callable[[TierFleet, Any, Read], TierFleet]] = {
    ClockTicked: _ticked,
    ContainerStarted: _lived,
    ContainerHeartbeat: _lived,
    ContainerFailedOver: _lived,
    ContainerReassigned: _reassigned,
    ShardAdded: _said,
    ShardDropped: _said,
    ShardLoadsReported: _weighed,
    DrainRequested: _wished,
    UndrainRequested: _wished,
    PlacementApplyRequested: _wished,
}
_DECISIONS = (
    AlertCleared,
    AlertRaised,
    ContainerFailOverRequested,
    PlacementPlanned,
    PlacementRejected,
    ShardAddRequested,
    ShardDropRequested,
    ShardForceKilled,
    TierDefined,
)
FOLDED_KINDS = frozenset(one.__name__ for one in (*_FACTS, *_DECISIONS))


# --- decisions


def _defined(row: TierFleet, body: TierDefined) -> TierFleet:
    if row.defined:  # neither the numbers of its shards nor what leases rest on ever change
        return row._replace(placing=placing_of(body.settings_json))
    total = shards_of(body.shards, body.regions)
    row = row._replace(
        tier=body.tier,
        defined=True,
        each=body.shards,
        shards=total,
        regions=body.regions,
        timing=timing_of(body.settings_json),
        placing=placing_of(body.settings_json),
        open=Map(dict.fromkeys(range(total))),
        silent=Map(),
    )
    for at in row.ticks:  # silence may be told by other limits than so far
        row = _listened(row, at)
    return row


def _left(told: Mapping[str, Any], moves: int) -> str:
    """What a plan left undone, by its measures. One that moved nothing would do no more with the
    next budget: what it may move is too large for it."""
    out = told.get("out", ())
    if told.get("postponed") or (moves and any(cause == "budget" for _, cause, *_ in out)):
        return "postponed"
    return "out" if out else ""


def _planned(row: TierFleet, body: PlacementPlanned, now_ms: int) -> TierFleet:
    told = json.loads(body.measures_json)
    if body.part == 1:
        row = row._replace(
            plans=row.plans + 1,
            course=None if told.get("solved") or body.moves else row.course,
            heeded=told.get("news", row.heeded),
        )
        if told.get("all"):
            row = row._replace(balanced=row.heeded, planned_ms=now_ms, left=_left(told, body.moves))
        if "unplaced" in told:
            row = row._replace(
                tried_ms=now_ms,
                unplaced=Map({int(shard): why for shard, why in told["unplaced"]}),
                more_unplaced=told.get("more_unplaced", False),
            )
        if change_id := told.get("change_id"):
            row = _answered(row, change_id)
        if body.held:
            gone = tuple(told.get("gone", ()))
            return row._replace(brake=Brake(body.plan_id, gone))
        if row.brake is not None and told.get("confirms") == row.brake.plan_id:
            row = row._replace(brake=row.brake._replace(released=True))
        if not body.moves and not told.get("solved"):
            return row
    course = row.course or PlanCourse(body.plan_id, body.parts)
    if (course.plan_id, course.read) != (body.plan_id, body.part - 1):
        return row
    moves = (*course.moves, *read_moves(body.moves_json))
    return row._replace(course=course._replace(moves=moves, read=body.part))


def _answered(row: TierFleet, change_id: str) -> TierFleet:
    for key, one in row.ingress.items():
        if any(ask.id == change_id for ask in one.waiting):
            return row._replace(ingress=row.ingress.set(key, answer(one, change_id)))
    return row


def _begun(row: TierFleet, body: ShardAddRequested | ShardDropRequested) -> TierFleet:
    course = row.course
    if course is None or course.plan_id != body.plan_id:
        return row
    return row._replace(course=course.begun(body.shard))


def _granted(row: TierFleet, body: ShardAddRequested, now_ms: int) -> TierFleet:
    row, shard, to = _begun(row, body), body.shard, body.container
    grant = ShardGrant(body.generation, to, body.epoch, ADD, body.deadline_ms, since_ms=now_ms)
    before, holdings = row.grants.get(shard), row.holdings
    if before is not None and before.container != to:
        rest = _without(holdings.get(before.container, NO_SHARDS), shard)
        holdings = holdings.set(before.container, rest)
    holdings = holdings.set(to, holdings.get(to, NO_SHARDS).set(shard, None))
    row = row._replace(
        grants=row.grants.set(shard, grant),
        holdings=holdings,
        unplaced=_without(row.unplaced, shard),
    )
    return _settled(row, shard)


def _taken(
    row: TierFleet, shard: int, stage: str, deadline_ms: int | None, to: str = ""
) -> TierFleet:
    grant = row.grants.get(shard)
    if grant is None:
        return row
    grant = grant._replace(stage=stage, deadline_ms=deadline_ms, to=to or grant.to)
    return _settled(row._replace(grants=row.grants.set(shard, grant)), shard)


def _settled(row: TierFleet, shard: int) -> TierFleet:
    """A shard that is held as was decided needs no more looking at."""
    grant = row.grants.get(shard)
    told = row.told.get(shard, NO_WORD)
    if grant is not None and grant.stage == ADD and told.dropped < grant.generation <= told.added:
        life = row.lives.get(grant.container)
        if life is not None and life.lives and life.epoch == grant.epoch:
            return row._replace(open=_without(row.open, shard))
    return row._replace(open=row.open.set(shard, None))


def _asked(row: TierFleet, body: ContainerFailOverRequested, decision_id: str) -> TierFleet:
    request = FailOverRequest(
        decision_id,
        body.container,
        body.epoch,
        body.explanation,
        body.last_heartbeat_place,
        body.last_heartbeat_offset,
    )
    # Of one that is not said yet the id is not known.
    return row._replace(requests=row.requests.set(decision_id or f"?{body.container}", request))


def _without(known: Map, key: object) -> Map:  # type: ignore[type-arg]  # of any keys and values
    return known.delete(key) if key in known else known
