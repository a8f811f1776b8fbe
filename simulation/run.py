"""One seed from beginning to end: two hours with faults, healing, a total loss, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from components.runtime.core.step import Stepper
from components.runtime.core.store import dump_held
from events.generated.records import (
    ContainerFailOverRequested,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
)
from events.topics import ALERTS, CONTAINERS, place
from events.wire.codec import Read
from simulation.bounds import bounded
from simulation.casts import Cast, journal_of
from simulation.checkers.beginnings import check_beginnings
from simulation.checkers.cas import check_cas
from simulation.checkers.causes import check_causes
from simulation.checkers.commits import check_commits
from simulation.checkers.conservation import check_conservation
from simulation.checkers.evidence import check_evidence
from simulation.checkers.fleet import check_fleet
from simulation.checkers.folds import check_agreement, check_folds
from simulation.checkers.history import FinalRows, History, ReaderTally
from simulation.checkers.placement import check_placement
from simulation.checkers.precedence import check_precedence
from simulation.checkers.resets import check_resets
from simulation.checkers.returns import check_returns
from simulation.checkers.scaling import check_scaling
from simulation.checkers.syncs import check_syncs
from simulation.coverage import note_reached
from simulation.liveness import at_rest
from simulation.log import PARTITION, TICKS
from simulation.process import SimulatedProcess, read_on, reader
from simulation.small_scaler import ASKS
from simulation.world import HORIZON_MS, NEWEST_BUILD, SimulatedWorld
from turbine_client.identity import effect_id


@dataclass(frozen=True, slots=True)
class SeedOutcome:
    """What one seed came to."""

    seed: int
    digest: str
    faults: int
    violations: tuple[str, ...]
    counts: Counter[str]


def run_seed(
    seed: int, horizon_ms: int = HORIZON_MS, *, containers: int | None = None
) -> SeedOutcome:
    """Runs the seed and judges it. A crash of our own code is a violation as well."""
    world = SimulatedWorld(seed, horizon_ms, containers=containers)
    violations: list[str] = []
    with bounded(world.swarm.bounds):
        try:
            history = live_through(world, violations)
            violations.extend(judge(history, world.cast, world.swarm.bounds.known))
            note_reached(world, history)
        except Exception as error:  # noqa: BLE001 - a fold that is not total is what we look for
            violations.append(f"{type(error).__name__}: {str(error)[:200]}")
    faults = sum(count for name, count in world.counts.items() if name.startswith("fault: "))
    return SeedOutcome(seed, world.digest(), faults, tuple(violations), world.counts)


def live_through(world: SimulatedWorld, violations: list[str]) -> History:
    """The seed's two hours and what came after; what it left behind, for the checkers."""
    world.run()
    readers = {name: _read_all(world, way) for name, way in _WAYS.items()}
    # At the vector where the faults end, what is about to come may still be missing.
    violations.extend(check_agreement([*_rows_of(readers)]))
    healed = world.heal()
    violations.extend(sentence for process in healed for sentence in at_rest(process, world))
    before = world.said()
    fresh = world.lose_everything()
    if world.said() != before:
        violations.append(f"{world.said() - before} records were said again after a total loss")
    chance = world.streams.fork("beginnings")
    violations.extend(check_beginnings(world.log, NEWEST_BUILD, chance))
    for way, owners in readers.items():  # each goes on from where it stood
        for owner in owners:
            read_on(owner, world.log, _order(owner, _WAYS[way]))
    rows = [
        *(_rows(f"healed {p.component.name}", p.owner) for p in healed),
        *(_rows(f"fresh {p.component.name}", p.owner) for p in fresh),
        *_rows_of(readers),
    ]
    return _history(world, rows)


def judge(history: History, cast: Cast, known: int) -> Iterator[str]:
    """Every violation that the checkers find."""
    yield from check_cas(history, known)
    yield from check_causes(history)
    yield from check_conservation(history, _owes)
    yield from check_folds(history)
    yield from check_precedence(history)
    yield from check_syncs(history)
    yield from check_commits(history)
    yield from check_resets(history)
    yield from check_returns(history)
    yield from check_scaling(history)
    yield from check_fleet(history)
    yield from check_placement(history, known)
    for component in cast.values():
        yield from check_evidence(history, component)


# Whether the journal is read before all else, or after.
_WAYS = {"reader journal first": True, "reader others first": False}


def _read_all(world: SimulatedWorld, first: bool) -> list[Stepper[Any]]:
    """Readers that read topic after topic; whatever the order, they must hold the same rows."""
    owners: list[Stepper[Any]] = [reader(one, world.log) for one in world.cast.values()]
    for owner in owners:
        read_on(owner, world.log, _order(owner, first))
    return owners


def _order(owner: Stepper[Any], first: bool) -> list[str]:
    journal = place(owner.component.output, PARTITION)
    rest = sorted(owner.places - {TICKS}, key=lambda at: ((at == journal) != first, at))
    return [TICKS, *rest]


def _rows_of(readers: dict[str, list[Stepper[Any]]]) -> Iterator[FinalRows]:
    for name, owners in readers.items():
        for owner in owners:
            yield _rows(name, owner)


def _rows(name: str, owner: Stepper[Any]) -> FinalRows:
    text = {
        key: dump_held(owner.component, one).decode()
        for key, one in owner.held.items()
        if one.vector
    }
    return FinalRows(name, owner.component.name, text)


def _history(world: SimulatedWorld, rows: list[FinalRows]) -> History:
    log, folds = world.log, None
    return History(
        log={
            at: [log.read(at, offset, folds, NEWEST_BUILD) for offset in range(log.end(at))]
            for at in log.lines
        },
        journal=place(journal_of(world.cast), PARTITION),
        instances=tuple(world.containers.instances),
        accepted=tuple(world.containers.sink.seen),
        wild=world.containers.wild,
        sent=frozenset((s.component, s.topic, s.record.id) for s in world.sent),
        tallies=tuple(_tally(process) for process in world.everyone),
        rows=tuple(rows),
        forged=frozenset(world.forged),
    )


def _tally(process: SimulatedProcess) -> ReaderTally:
    counts = process.owner.counts
    held = sum(len(queue) for one in process.owner.held.values() for queue in one.early.values())
    return ReaderTally(
        f"{process.component.name} {process.number}",
        process.ledger.read + process.restored_early,
        counts.folded,
        counts.void,
        counts.repeated,
        process.ledger.passed,
        held,
    )


def _owes(read: Read) -> list[tuple[str, str]]:
    """What decisions owe, told from its rules and not from its code."""
    match read.record.body:
        case ScalingDecided(mode="act") as body:
            return [(ASKS, body.change_id)]
        case ScalingReverted(revert_change_id=str() as back):
            return [(ASKS, back)]
        case ScalingDeclined(policy=""):  # the small scaler's
            return [(ALERTS, effect_id(read.record.id, "alert"))]
        case ContainerFailOverRequested():
            return [(CONTAINERS, effect_id(read.record.id, "failed-over"))]
        case _:
            return []
