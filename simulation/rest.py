"""Liveness: what is not at rest although nothing goes wrong any more and the log is still."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
        else:
            yield from _scale(name, one.row)


def _job(name: str, row: Any, world: World) -> Iterator[str]:
    for layer in row.layers:
        if layer.expires_ms is not None and layer.expires_ms <= world.clock.now_ms - 6_000:
            yield f"{name} has an override that expired and still stands"
    if any(door.waiting for door in row.ingress):
        yield f"{name} has an unanswered request"


def _scale(name: str, row: Any) -> Iterator[str]:
    if row.open is not None or row.owed:
        yield f"{name} has {row.open} open and owes {row.owed}"
    if row.alive and row.tasks != 4:  # 35 records a second, ten a task
        yield f"{name} is alive and not scaled: {row}"
