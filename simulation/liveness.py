"""Liveness: what is not at rest although nothing goes wrong any more and the log is still."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from components.auto_scaler.core.closing import due_ms
from events.generated.records import AlertCleared, AlertRaised
from projections.scaling.facts import Facts
from projections.scaling.row import ScalingRow
from projections.syncs import RUNNING, Sync
from simulation.process import SimulatedProcess
from simulation.traffic import PARTITIONS
from simulation.world import SimulatedWorld

CORES_MOST = 1.6
"""Of one task: a fifth of a container, so that it can be moved (Turbine V-E)."""


def at_rest(process: SimulatedProcess, world: SimulatedWorld) -> Iterator[str]:
    """Every violation, as a sentence."""
    for key, one in process.owner.held.items():
        name = f"{process.component.name} {key}"
        if one.early or one.unread or one.frozen:
            yield f"{name} waits for ever: {one.early} {one.unread} frozen={one.frozen}"
        if one.row is None:
            continue
        if process.component.name == "job-service":
            yield from _job(name, one.row, world)
        elif process.component.name == "small-scaler":
            yield from _scale(name, one.row)
        elif process.component.name == "state-syncer":
            yield from _sync(name, one.row)
            said = process.component.decide(one.row, world.clock.now_ms)
            if owed := [body for body in said if isinstance(body, AlertRaised | AlertCleared)]:
                yield f"{name} owes an alert, or an end of one: {owed}"
        elif process.component.name == "auto-scaler":
            yield from _sized(name, key, one.row, world)
            if said := list(process.component.decide(one.row, world.clock.now_ms)):
                yield f"{name} has more to say: {said}"
        elif said := list(process.component.decide(one.row, world.clock.now_ms)):
            yield f"{name} has more to say: {said}"


def _job(name: str, row: Any, world: SimulatedWorld) -> Iterator[str]:
    for layer in row.layers:
        if any(one.expires_ms <= world.clock.now_ms - 6_000 for one in layer.ends):
            yield f"{name} has an override that expired and still stands"
    if any(door.waiting for door in row.ingress):
        yield f"{name} has an unanswered request"


def _sync(name: str, row: Sync) -> Iterator[str]:
    if row.plan is not None:
        yield f"{name} has a plan that does not end: {row.plan}"
    if row.ingress.waiting:
        yield f"{name} has an unanswered request"
    running = row.running
    if row.quarantine is not None:
        return  # left alone until a person has looked
    if not row.alive:
        if running is not None and running.state != "deleted":
            yield f"{name} is deleted and still runs: {running}"
    elif running is None or running.versions != row.versions:
        yield f"{name} has not come to its expected config: {running}, expected {row.versions}"


def _scale(name: str, row: Any) -> Iterator[str]:
    if row.open is not None or row.owed:
        yield f"{name} has {row.open} open and owes {row.owed}"
    if row.alive and row.tasks != 4:  # 35 records a second, ten a task
        yield f"{name} is alive and not scaled: {row}"


def _sized(name: str, key: str, row: ScalingRow, world: SimulatedWorld) -> Iterator[str]:
    """An hour and a half after the last fault a job that may be sized keeps its promise."""
    facts, flow = row.config.facts, world.traffic.flows.get(key)
    # Who is quarantined waits for a person.
    runs = row.running.state == RUNNING and not row.running.quarantined
    # A change that is in effect has its time to show what it brought.
    waits = row.change is not None and runs and world.clock.now_ms >= (due_ms(row) or 0)
    if row.owed or waits:
        yield f"{name} has {row.change} open and owes {row.owed}"
    if facts is None or flow is None or flow.plant is None or not runs:
        return
    lag_s, scaled = flow.plant.lag_s, facts.mode == "act" and not row.config.oncall
    if row.alerts and not lag_s:
        yield f"{name} has alerts, and nothing is wrong: {sorted(row.alerts)}"
    if scaled and lag_s > facts.slo_s and not _largest(facts):
        yield f"{name} still lags {lag_s:.0f} s: {row.told}"


def _largest(facts: Facts) -> bool:
    """Has it all that it may have? Its backlog takes as long as it takes, then."""
    size = facts.size
    each = size.cpu_cores / size.threads
    return size.tasks >= min(PARTITIONS, facts.tasks_max) and size.cpu_cores + each > CORES_MOST
