"""Who is gone, and who does not do what is asked; and when so many are gone that it is doubted.

A container that is cut off from the log stops by itself, and goes on when it is back. To fail it
over costs a restart of all it holds. So where very many are silent at once it is more likely that
something between them and the log is broken, and a person is asked (the idea of a zone brake).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from components.shard_manager.core.planning import next_plan
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    ContainerFailOverRequested,
    PlacementPlanned,
    ShardForceKilled,
)
from projections.fleet import ADD, DROP, TierFleet
from projections.fleet_folds import MASS_FAILURE
from projections.liveness import Life

FEW = 2
"""So many may always be gone at once: in a tier of three, one is a third of it."""
GONE_MOST = 2_000
"""Names that a plan that is held has room for; the others are asked about next."""
RUNBOOK = "docs/runbooks/mass-failure.md"


def fail_over(row: TierFleet, _: int) -> Iterator[Body]:
    """Containers that were silent for too long."""
    if not row.silent:
        if row.brake is not None and not _gone(row):
            yield AlertCleared(row.tier, MASS_FAILURE, "its containers are heard again")
        return
    if (brake := _braked(row)) is not None:
        yield from brake
        return
    for name in sorted(row.silent):
        silence_s = row.silence_ms(row.lives[name]) // 1000
        yield from ask(row, row.lives[name], f"nothing was heard of it for {silence_s} s")


def ask(row: TierFleet, life: Life, explanation: str) -> Iterator[Body]:
    """Asked for once for one state of the container; what came of it is read back."""
    if any(one.container == life.name for one in row.requests.values()):
        return
    yield ContainerFailOverRequested(
        tier=row.tier,
        container=life.name,
        epoch=life.epoch,
        silence_ms=row.silence_ms(life),
        explanation=explanation,
        last_heartbeat_place=life.place if life.beat is not None else "",
        last_heartbeat_offset=life.beat,
    )


# --- the brake


def _gone(row: TierFleet) -> list[str]:
    """Containers that look dead: those that died together are not found silent at one tick."""
    half_ms = row.timing.silence_ms // 2
    return [
        life.name
        for life in row.members()
        if (life.lives and row.silence_ms(life) >= half_ms)
        or (not life.lives and row.holdings.get(life.name))
    ]


def _braked(row: TierFleet) -> list[Body] | None:
    """What the brake calls for; None where containers are failed over one by one."""
    gone = _gone(row)
    total = sum(life.lives for life in row.members())
    total += sum(not row.lives[name].lives for name in gone)
    if row.brake is not None and row.brake.released:  # a word holds for those it was said of
        gone = [name for name in gone if name not in row.brake.gone]
    braked = len(gone) > max(FEW, total * row.placing.brake // 1000)
    if row.brake is None or row.brake.released:
        return list(_brake(row, gone, total)) if braked else None
    if not braked:
        return [AlertCleared(row.tier, MASS_FAILURE, "most of its containers are heard again")]
    return []


def _brake(row: TierFleet, gone: list[str], total: int) -> Iterator[Body]:
    told = {"gone": gone[:GONE_MOST], "news": row.heeded}
    said = f"{len(gone)} of {total} containers look dead at once, so none of them is failed over"
    plan_id = next_plan(row)
    yield PlacementPlanned(
        tier=row.tier,
        plan_id=plan_id,
        trigger=MASS_FAILURE,
        moves=0,
        shards=row.shards,
        containers=total - len(gone),
        unplaced=0,
        digest="",
        explanation=f"{said}; confirm {plan_id} if they are gone",
        held=True,
        measures_json=json.dumps(told, separators=(",", ":")),
    )
    yield AlertRaised(
        subject=row.tier,
        alert=MASS_FAILURE,
        severity="critical",
        cause=f"{said}. If they are gone, `turbine placement apply {plan_id}`",
        runbook=RUNBOOK,
        details_json=json.dumps({"plan_id": plan_id}),
    )


# --- who does not do what is asked


def escalate(row: TierFleet, now_ms: int) -> Iterator[Body]:
    """A drop that takes too long becomes a kill; whatever else takes too long, a fail-over."""
    late: dict[str, str] = {}
    for shard in sorted(row.open):
        grant = row.grants.get(shard)
        if grant is None or grant.deadline_ms is None or now_ms <= grant.deadline_ms:
            continue
        life = row.lives.get(grant.container)
        if row.given_up(shard) or life is None or not life.lives or life.epoch != grant.epoch:
            continue
        if row.silence_ms(life) >= row.timing.silence_ms // 2:
            continue  # what it does is not heard; whether it is gone is told by its silence
        if grant.stage == DROP:
            yield ShardForceKilled(
                tier=row.tier,
                shard=shard,
                generation=grant.generation,
                container=grant.container,
                epoch=grant.epoch,
                explanation="it was not dropped in time",
            )
        else:
            what = "started" if grant.stage == ADD else "killed"
            late.setdefault(grant.container, f"shard {shard} was not {what} in time")
    for name, explanation in sorted(late.items()):
        yield from ask(row, row.lives[name], explanation)
