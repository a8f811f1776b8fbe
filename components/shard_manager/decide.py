"""Who holds each shard of a tier: fail-over of silent containers, moves, placement (Turbine IV)."""

from __future__ import annotations

from collections.abc import Iterator

from components.runtime.component import Component, Effect
from components.shard_manager.keeping import dump, load
from events.codec import Read
from events.identity import effect_id
from events.records import (
    Body,
    ContainerFailedOver,
    ContainerFailOverRequested,
    PlacementPlanned,
    ShardAddRequested,
    ShardDropRequested,
    ShardForceKilled,
)
from events.topics import CONTAINERS, TIERS
from projections.fleet import ADD, DROP, FOLDED_KINDS, KILL, Fleet, Grant, apply, fold
from projections.lives import Life

PLACEMENT = "placement"


def decide(row: Fleet, now_ms: int) -> Iterator[Body]:
    """The urgent first: who is gone, who does not answer, then shards that nobody holds."""
    if not row.defined:
        return
    for turn in (_fail_over, _escalate, _place, _even_out):
        for body in turn(row, now_ms):
            yield body
            row = apply(row, body)


def effects(row: Fleet) -> Iterator[Effect]:
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
        yield Effect(CONTAINERS, effect_id(one.decision_id, "failed-over"), body, one.container)


def wake_ms(row: Fleet, now_ms: int) -> int | None:
    """The next deadline; silence is counted by ticks that are read anyway."""
    due = (
        grant.deadline_ms + 1
        for shard in row.open
        if (grant := row.grants.get(shard)) is not None and grant.deadline_ms is not None
    )
    return min((at_ms for at_ms in due if at_ms > now_ms), default=None)


# --- who is gone


def _fail_over(row: Fleet, _: int) -> Iterator[Body]:
    for life in row.members():
        silence_ms = row.silence_ms(life)
        if life.lives and silence_ms >= row.timing.silence_ms:
            yield from _gone(row, life, f"nothing was heard of it for {silence_ms // 1000} s")


def _gone(row: Fleet, life: Life, explanation: str) -> Iterator[Body]:
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


# --- who does not answer


def _escalate(row: Fleet, now_ms: int) -> Iterator[Body]:
    """A drop that takes too long becomes a kill; whatever else takes too long, a fail-over."""
    late: dict[str, str] = {}
    for shard in sorted(row.open):
        grant = row.grants.get(shard)
        if grant is None or grant.deadline_ms is None or now_ms <= grant.deadline_ms:
            continue
        life = row.lives.get(grant.container)
        if row.given_up(shard) or life is None or not life.lives or life.epoch != grant.epoch:
            continue
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
        yield from _gone(row, row.lives[name], explanation)


# --- who gets what nobody holds


def _place(row: Fleet, now_ms: int) -> Iterator[Body]:
    homes = {life.name: life for life in row.members() if _takes_more(row, life)}
    free = [shard for shard in sorted(row.open) if row.given_up(shard)]
    if not homes or not free:
        return
    plan_id = _next_plan(row)
    said = f"{len(free)} shards have no container"
    yield _planned(row, "orphans", moves=len(free), containers=len(homes), explanation=said)
    counts = {name: len(row.holdings.get(name, ())) for name in homes}
    for shard in free:
        grant = row.grants.get(shard)
        name = _home(homes, counts, grant)
        counts[name] += 1
        yield ShardAddRequested(
            tier=row.tier,
            shard=shard,
            generation=1 + (grant.generation if grant is not None else 0),
            container=name,
            epoch=homes[name].epoch,
            plan_id=plan_id,
            reason="nobody holds it",
            deadline_ms=now_ms + row.timing.add_ms,
            from_container=grant.container if grant is not None else "",
        )


def _even_out(row: Fleet, now_ms: int) -> Iterator[Body]:
    """One at a time, and only while nothing else is under way."""
    homes = [life for life in row.members() if _takes_more(row, life)]
    if row.open or len(homes) < 2:
        return
    counts = {life.name: len(row.holdings.get(life.name, ())) for life in homes}
    fullest = max(counts, key=lambda name: (counts[name], name))
    emptiest = min(counts, key=lambda name: (counts[name], name))
    if counts[fullest] - counts[emptiest] < 2:
        return
    shard = min(row.holdings[fullest])
    grant = row.grants[shard]
    plan_id = _next_plan(row)
    said = f"{fullest} holds more than {emptiest}"
    yield _planned(row, "uneven", moves=1, containers=len(homes), explanation=said)
    yield ShardDropRequested(
        tier=row.tier,
        shard=shard,
        generation=grant.generation,
        container=fullest,
        epoch=grant.epoch,
        plan_id=plan_id,
        reason=f"{fullest} has {counts[fullest]} shards and {emptiest} {counts[emptiest]}",
        deadline_ms=now_ms + row.timing.drop_ms,
        to_container=emptiest,
    )


def _planned(
    row: Fleet, trigger: str, *, moves: int, containers: int, explanation: str
) -> PlacementPlanned:
    return PlacementPlanned(
        tier=row.tier,
        plan_id=_next_plan(row),
        trigger=trigger,
        moves=moves,
        shards=row.shards,
        containers=containers,
        unplaced=0,
        digest="",
        explanation=explanation,
    )


def _next_plan(row: Fleet) -> str:
    return f"{row.tier}#{row.plans + 1}"


def _home(homes: dict[str, Life], counts: dict[str, int], grant: Grant | None) -> str:
    """A container that began another life gets back what it had; else the emptiest one."""
    if grant is not None and grant.stage == ADD and grant.container in homes:
        return grant.container
    if grant is not None and grant.stage in (DROP, KILL) and grant.to in homes:
        return grant.to
    return min(homes, key=lambda name: (counts[name], name))


def _takes_more(row: Fleet, life: Life) -> bool:
    """A container that is silent is given nothing before it is heard again."""
    quiet = row.silence_ms(life) >= row.timing.silence_ms // 3
    return life.lives and life.state in ("serving", "unknown") and not quiet


def key_of(read: Read, tier: str = "default") -> str | None:
    """One row for the tier: what is said of containers and of the tier's shards moves it."""
    key = f"{tier}/{PLACEMENT}"
    return key if read.topic != TIERS or read.record.key == key else None


component: Component[Fleet] = Component(
    name="shard-manager",
    logic="shard-manager/1",
    output=TIERS,
    inputs=frozenset({TIERS, CONTAINERS}),
    folds=FOLDED_KINDS,
    says=frozenset(
        {
            "ContainerFailOverRequested",
            "PlacementPlanned",
            "ShardAddRequested",
            "ShardDropRequested",
            "ShardForceKilled",
        }
    ),
    fold=fold,
    decide=decide,
    effects=effects,
    wake_ms=wake_ms,
    dump=dump,
    load=load,
    key_of=key_of,
)
