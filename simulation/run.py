"""One seed from beginning to end: two hours with faults, healing, a total loss, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from components.runtime.step import Held, Owner
from components.runtime.store import dump_held
from events.codec import Read
from events.identity import effect_id
from events.records import ScalingDecided, ScalingDeclined
from events.topics import ALERTS, JOURNAL, place
from simulation.checkers.cas import check_cas
from simulation.checkers.conservation import check_conservation
from simulation.checkers.evidence import check_evidence
from simulation.checkers.folds import check_agreement, check_folds
from simulation.checkers.history import History, Rows, Tally
from simulation.checkers.precedence import check_precedence
from simulation.log import PARTITION
from simulation.process import TICKS, Process, reader
from simulation.small_scaler import ASKS
from simulation.world import COMPONENTS, HORIZON_MS, NEWEST_BUILD, World


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one seed came to."""

    seed: int
    digest: str
    faults: int
    violations: tuple[str, ...]
    counts: Counter[str]


def run_seed(seed: int, horizon_ms: int = HORIZON_MS) -> Outcome:
    """Runs the seed and judges it. A crash of our own code is a violation as well."""
    world = World(seed, horizon_ms)
    try:
        violations = tuple(_violations(world))
    except Exception as error:  # noqa: BLE001 - a fold that is not total is what we are looking for
        violations = (f"{type(error).__name__}: {str(error)[:200]}",)
    counts = world.counts
    counts["records"] = world.log.appended
    counts["decisions"] = world.log.end(place(JOURNAL, PARTITION))
    faults = sum(count for name, count in counts.items() if name.startswith("fault: "))
    return Outcome(seed, world.digest(), faults, violations, counts)


def _violations(world: World) -> Iterator[str]:
    world.run()
    # At the vector where the faults end, what is about to come may still be missing.
    yield from check_agreement([*_readers(world)])
    healed = world.heal()
    waiting = [sentence for process in healed for sentence in _waits(process, world)]
    before = world.said()
    fresh = world.lose_everything()
    if world.said() != before:
        yield f"{world.said() - before} records were said again after a total loss"
    rows = [
        *(_rows(f"healed {p.component.name}", p.component.name, p.owner) for p in healed),
        *(_rows(f"fresh {p.component.name}", p.component.name, p.owner) for p in fresh),
        *_readers(world),
    ]
    history = _history(world, [*healed, *fresh], rows, waiting)
    yield from waiting
    yield from check_cas(history)
    yield from check_conservation(history, _owes)
    yield from check_folds(history)
    yield from check_precedence(history)
    for component in COMPONENTS.values():
        said = frozenset(s.record.id for s in world.sent if s.component == component.name)
        yield from check_evidence(history, component, said)


def _readers(world: World) -> Iterator[Rows]:
    """Readers that read topic after topic, the journal first or last: the same rows."""
    for name, component in COMPONENTS.items():
        for first in (True, False):
            journal = place(JOURNAL, PARTITION)
            places = sorted(place(topic, PARTITION) for topic in component.inputs)
            order = [TICKS, *sorted(places, key=lambda at: ((at == journal) != first, at))]
            owner = reader(component, world.log, order)
            yield _rows(f"reader {'journal' if first else 'others'} first", name, owner)


def _rows(name: str, component: str, owner: Owner[Any]) -> Rows:
    text = {
        key: dump_held(owner.component, one).decode()
        for key, one in owner.held.items()
        if one.vector
    }
    return Rows(name, component, text)


def _history(
    world: World, processes: Iterable[Process], rows: Iterable[Rows], waiting: Iterable[str] = ()
) -> History:
    return History(
        log={at: _reads(world, at) for at in world.log.lines},
        journal=place(JOURNAL, PARTITION),
        sent=frozenset((sent.topic, sent.record.id) for sent in world.sent),
        tallies=tuple(_tally(process) for process in processes),
        rows=tuple(rows),
        forged=frozenset(world.forged),
        waiting=tuple(waiting),
    )


def _reads(world: World, at: str) -> list[Read]:
    return [world.log.read(at, offset, None, NEWEST_BUILD) for offset in range(world.log.end(at))]


def _tally(process: Process) -> Tally:
    counts = process.owner.counts
    held = sum(len(queue) for one in process.owner.held.values() for queue in one.early.values())
    return Tally(
        f"{process.component.name} {process.number}",
        process.ledger.read + process.restored_early,
        counts.folded,
        counts.void,
        counts.repeated,
        process.ledger.passed,
        held,
    )


def _owes(read: Read) -> list[tuple[str, str]]:
    """What the small scaler's decisions owe, told from its rules and not from its code."""
    match read.record.body:
        case ScalingDecided() as body:
            return [(ASKS, body.change_id)]
        case ScalingDeclined():
            return [(ALERTS, effect_id(read.record.id, "alert"))]
        case _:
            return []


def _waits(process: Process, world: World) -> Iterator[str]:
    """What is not at rest although nothing goes wrong any more."""
    for key, one in process.owner.held.items():
        name = f"{process.component.name} {key}"
        if one.early or one.unread or one.frozen:
            yield f"{name} waits for ever: {one.early} {one.unread} frozen={one.frozen}"
        yield from (_job_waits if process.component.name == "job-service" else _scale_waits)(
            name, one, world
        )


def _job_waits(name: str, one: Held[Any], world: World) -> Iterator[str]:
    if one.row is None:
        return
    for layer in one.row.layers:
        if layer.expires_ms is not None and layer.expires_ms <= world.clock.now_ms - 6_000:
            yield f"{name} has an override that expired and still stands"
    for ingress in one.row.ingress:
        if any(not ask.answered for ask in ingress.asks):
            yield f"{name} has an unanswered request"
        whole = [ask for ask in ingress.asks if ask.body is not None]
        if len(ingress.asks) > world.known or len(whole) > world.whole:
            yield f"{name} has a row that grows"


def _scale_waits(name: str, one: Held[Any], _: World) -> Iterator[str]:
    row = one.row
    if row is None:
        return
    if row.open is not None or row.owed:
        yield f"{name} has {row.open} open and owes {row.owed}"
    if row.alive and row.tasks != 4:  # 35 records a second, ten a task
        yield f"{name} is alive and not scaled: {row}"
