"""Liveness: what is not at rest although nothing goes wrong any more and the log is still."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from projections.syncs import Sync
from simulation.process import Process
from simulation.world import World


def at_rest(process: Process, world: World) -> Iterator[str]:
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
        elif said := list(process.component.decide(one.row, world.clock.now_ms)):
            yield f"{name} has more to say: {said}"


def _job(name: str, row: Any, world: World) -> Iterator[str]:
    for layer in row.layers:
        if layer.expires_ms is not None and layer.expires_ms <= world.clock.now_ms - 6_000:
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
