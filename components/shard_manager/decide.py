"""Who holds each shard of a tier: fail-over of silent containers, moves, placement (Turbine IV)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from components.runtime.core.component import Component, Effect
from components.shard_manager.core.failover import escalate, fail_over
from components.shard_manager.core.moving import carry_out, hand_over
from components.shard_manager.core.planning import (
    again_ms,
    balance_due,
    balance_ms,
    orphans,
    plan_all,
    plan_orphans,
)
from components.shard_manager.core.requests import answer_requests
from components.shard_manager.core.row_json import dump, load
from events.generated.records import AlertCleared, AlertRaised, Body, ContainerFailedOver
from events.topics import CONTAINERS, OPERATOR, TIERS
from events.wire.codec import Read
from projections.fleet import TierFleet
from projections.fleet_folds import FOLDED_KINDS, apply, fold
from turbine_client.identity import effect_id

PLACEMENT = "placement"
UNPLACED = "shards-unplaced"
RUNBOOK = "docs/runbooks/shards-unplaced.md"
LOGIC = "shard-manager/3"
SAYS = frozenset(
    {
        "AlertCleared",
        "AlertRaised",
        "ContainerFailOverRequested",
        "PlacementPlanned",
        "PlacementRejected",
        "ShardAddRequested",
        "ShardDropRequested",
        "ShardForceKilled",
    }
)


def decide(row: TierFleet, now_ms: int) -> Iterator[Body]:
    """The urgent first: who is gone, who does not answer, then shards that nobody holds."""
    if not row.defined:
        return
    for turn in (
        fail_over,
        escalate,
        hand_over,
        _place,
        answer_requests,
        _balance,
        carry_out,
        _tell,
    ):
        for body in turn(row, now_ms):
            yield body
            row = apply(row, body, now_ms)


def effects(row: TierFleet) -> Iterator[Effect]:
    """A fail-over counts where the container's life lies, in its own partition."""
    for _, one in sorted(row.requests.items()):
        body = ContainerFailedOver(
            container=one.container,
            epoch=one.epoch,
            decision_id=one.decision_id,
            explanation=one.explanation,
            last_heartbeat_place=one.place,
            last_heartbeat_offset=one.offset,
        )
        name, decided = effect_id(one.decision_id, "failed-over"), one.decision_id
        yield Effect(CONTAINERS, name, body, one.container, decided)


def wake_ms(row: TierFleet, now_ms: int) -> int | None:
    """The next deadline; silence is counted by ticks that are read anyway."""
    if not row.defined:
        return None
    due = [
        grant.deadline_ms + 1
        for shard in row.open
        if (grant := row.grants.get(shard)) is not None and grant.deadline_ms is not None
    ]
    due.append(balance_ms(row))
    if row.unplaced:
        due.append(again_ms(row))
    return min((at_ms for at_ms in due if at_ms > now_ms), default=None)


def _place(row: TierFleet, now_ms: int) -> Iterator[Body]:
    lost = orphans(row, now_ms)
    if lost:
        yield from plan_orphans(row, now_ms, len(lost))


def _balance(row: TierFleet, now_ms: int) -> Iterator[Body]:
    trigger = balance_due(row, now_ms)
    if trigger and next(carry_out(row, now_ms), None) is None:
        yield from plan_all(row, now_ms, trigger)


def _tell(row: TierFleet, _: int) -> Iterator[Body]:
    """One alert for all that fits nowhere, while there is any."""
    if row.unplaced and UNPLACED not in row.alerts:
        shard, why = min(row.unplaced.items())
        more = "at least " if row.more_unplaced else ""
        yield AlertRaised(
            subject=row.tier,
            alert=UNPLACED,
            severity="critical",
            cause=f"{more}{len(row.unplaced)} shards have no container; shard {shard}: {why}",
            runbook=RUNBOOK,
        )
    elif not row.unplaced and UNPLACED in row.alerts:
        yield AlertCleared(row.tier, UNPLACED, "every shard has a container")


def key_of(read: Read, tier: str = "default") -> str | None:
    """One row for the tier: what is said of containers and of the tier's shards moves it."""
    key = f"{tier}/{PLACEMENT}"
    return key if read.topic != TIERS or read.record.key == key else None


def component_of(tier: str) -> Component[TierFleet]:
    """The shard manager of one tier."""
    return Component(
        name="shard-manager",
        # What is kept of another tier must not be taken for this one's.
        logic=LOGIC if tier == "default" else f"{LOGIC}@{tier}",
        output=TIERS,
        inputs=frozenset({TIERS, CONTAINERS, OPERATOR}),
        folds=FOLDED_KINDS,
        says=SAYS,
        fold=partial(fold, tier=tier),
        decide=decide,
        effects=effects,
        wake_ms=wake_ms,
        dump=dump,
        load=load,
        key_of=partial(key_of, tier=tier),
    )


component = component_of("default")
