"""Where shards are sent: never where they may not be, not too many at once, and nobody is given up
in a mass without a person's word. Told from the log, and from none of the code that decides."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from events.generated.records import (
    AlertCleared,
    ClockTicked,
    ContainerFailedOver,
    ContainerFailOverRequested,
    ContainerHeartbeat,
    ContainerStarted,
    DrainRequested,
    PlacementPlanned,
    PlacementRejected,
    ShardAddRequested,
    ShardDropRequested,
    TierDefined,
    UndrainRequested,
)
from events.wire.codec import Read
from simulation.checkers.cas import counting
from simulation.checkers.history import History

ALWAYS, BRAKE, BUDGET = 2, 0.3, 0.1
SILENT_MS, GAP_MS = 60_000, 2_000
ALERT = "mass-failure"


def check_placement(history: History, known: int = 1024) -> Iterator[str]:
    """Every violation, as a sentence."""
    if not any(isinstance(read.record.body, TierDefined) for read in history.standing):
        return
    yield from check_regions(history)
    yield from check_drains(history)
    yield from check_budgets(history)
    yield from check_brake(history)
    yield from check_answers(history, known)


def check_regions(history: History) -> Iterator[str]:
    """A shard is given to containers of its regions alone."""
    regions: Sequence[str] = ()
    each, where = 0, dict[str, str]()
    for reads in history.log.values():
        for read in reads:
            if isinstance(body := read.record.body, ContainerStarted):
                where[body.container] = body.region
    for read in history.standing:
        body = read.record.body
        if isinstance(body, TierDefined):
            regions, each = body.regions, body.shards
        elif isinstance(body, ShardAddRequested) and regions:
            mask = body.shard // each + 1
            region = where.get(body.container, "")
            if region not in regions or not mask >> regions.index(region) & 1:
                yield f"shard {body.shard} is sent to region {region!r} at {read.offset}"


def check_drains(history: History) -> Iterator[str]:
    """Nothing is given to a container that an operator wants empty, as far as the author knew."""
    at = f"operator.v1/{history.journal.partition('/')[2]}"
    wishes = history.log.get(at, ())
    for read in history.standing:
        body = read.record.body
        if isinstance(body, ShardAddRequested):
            end, drained = read.record.evidence.get(at, 0), False
            for wish in wishes[:end]:
                said = wish.record.body
                if not isinstance(said, (DrainRequested, UndrainRequested)):
                    continue
                if said.container == body.container and _first(wishes, wish):
                    drained = isinstance(said, DrainRequested)
            if drained:
                yield f"shard {body.shard} is sent to {body.container}, which is to be empty"


def _first(wishes: Sequence[Read], wish: Read) -> bool:
    """Said again, it changes nothing."""
    return not any(
        other.offset < wish.offset and other.record.id == wish.record.id for other in wishes
    )


def check_budgets(history: History) -> Iterator[str]:
    """A plan that was not called for by a person moves a tenth of the shards, or one, at most."""
    total, triggers, moved = 0, dict[str, str](), Counter[str]()
    for read in history.standing:
        match read.record.body:
            case TierDefined() as body:
                total = body.shards * (2 ** max(1, len(body.regions)) - 1)
            case PlacementPlanned() as body:
                told = json.loads(body.measures_json)
                trigger = triggers.get(told.get("continues", ""), body.trigger)
                if body.part == 1:
                    triggers[body.plan_id] = trigger
            case ShardDropRequested() as body:
                moved[body.plan_id] += 1
    for plan_id, count in sorted(moved.items()):
        if plan_id not in triggers:
            yield f"shards move by plan {plan_id}, which does not stand"
        elif triggers[plan_id] != "operator" and count > max(1, total * BUDGET):
            yield f"plan {plan_id} ({triggers[plan_id]}) moves {count} of {total} shards"


def check_brake(history: History) -> Iterator[str]:
    """I25: of the containers that live, many are not given up at once without a person's word."""
    lives = f"containers.v1/{history.journal.partition('/')[2]}"
    asked, confirmed = frozenset[str](), frozenset[str]()
    for read in history.standing:
        match read.record.body:
            case PlacementPlanned(held=True) as body:
                asked, confirmed = frozenset(json.loads(body.measures_json)["gone"]), frozenset()
            case PlacementPlanned(trigger="operator") as body:
                if "confirms" in json.loads(body.measures_json):
                    confirmed = asked
            case AlertCleared(alert="mass-failure"):
                confirmed = frozenset()
            case ContainerFailOverRequested() as body if body.explanation.startswith("nothing"):
                end = read.record.evidence.get(lives, 0)
                silent, living = _silent(history.log[lives][:end])
                silent = [name for name in silent if name not in confirmed]
                if len(silent) > max(ALWAYS, living * BRAKE):
                    yield (
                        f"{body.container} is failed over at {read.offset} while {len(silent)} of"
                        f" {living} are silent"
                    )


def check_answers(history: History, known: int) -> Iterator[str]:
    """Each plan that is asked for is planned or refused, once."""
    others = frozenset({"DrainRequested", "UndrainRequested"})
    owed = {name for _, name, _ in counting(history, "operator.v1", known, others)}
    answered: Counter[str] = Counter()
    for read in history.standing:
        match read.record.body:
            case PlacementRejected() as body:
                answered[body.change_id] += 1
            case PlacementPlanned(trigger="operator", part=1) as body:
                answered[json.loads(body.measures_json)["change_id"]] += 1
    for name in sorted(owed | answered.keys()):
        if answered[name] != (name in owed):
            yield f"the plan asked for by {name} has {answered[name]} answers"


def _silent(reads: Sequence[Read]) -> tuple[list[str], int]:
    """Who of the living was silent for as long as a fail-over takes, by the clock between."""
    spoke: dict[str, int] = {}
    newest: dict[str, int] = {}
    beats: dict[str, int | None] = {}
    sum_ms = last_ms = 0
    for read in reads:
        match read.record.body:
            case ClockTicked():
                sum_ms += min(max(read.at_ms - last_ms, 0), GAP_MS) if last_ms else 0
                last_ms = max(last_ms, read.at_ms)
            case ContainerStarted() as body if body.epoch > newest.get(body.container, 0):
                newest[body.container], beats[body.container] = body.epoch, None
                spoke[body.container] = sum_ms
            case ContainerHeartbeat() as body if newest.get(body.container) == body.epoch:
                if body.container in spoke:
                    spoke[body.container], beats[body.container] = sum_ms, read.offset
            case ContainerFailedOver() as body if (
                newest.get(body.container) == body.epoch
                and beats.get(body.container) == body.last_heartbeat_offset
            ):
                spoke.pop(body.container, None)
    silent = [name for name, at in spoke.items() if sum_ms - at - GAP_MS >= SILENT_MS]
    return sorted(silent), len(spoke)
