"""Bounds of the code under test, made small in some seeds, so that two hours meet them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from immutables import Map

from components.runtime.core import step
from projections import ingress
from projections.ingress import Ingress


@dataclass(frozen=True, slots=True)
class SeedBounds:
    """What one seed runs with."""

    at_once: int
    waiting: int
    whole_bytes: int
    known: int


USUAL = SeedBounds(step.AT_ONCE, ingress.WAITING, ingress.WHOLE_BYTES, ingress.KNOWN)
SMALL = SeedBounds(at_once=4, waiting=3, whole_bytes=700, known=5)
"""A burst of the authors is seven requests, and one request has about 250 bytes."""


@contextmanager
def bounded(bounds: SeedBounds) -> Iterator[None]:
    """The bounds hold within; the constants of the code under test stand as before afterwards."""
    _put(bounds)
    try:
        yield
    finally:
        _put(USUAL)


def _put(bounds: SeedBounds) -> None:
    step.AT_ONCE = bounds.at_once
    ingress.WAITING, ingress.KNOWN = bounds.waiting, bounds.known
    ingress.WHOLE_BYTES = bounds.whole_bytes


def overgrown(row: Any, bounds: SeedBounds) -> str:
    """Which bound the row of a job or of the small scaler is over; empty where it is within all."""
    if not hasattr(row, "ingress"):
        return ""
    for door in _doors(row.ingress):
        if len(door.live) > bounds.known:
            return f"{len(door.live)} requests are known by id"
        if door.live_bytes > bounds.whole_bytes:
            return f"requests of {door.live_bytes} bytes are kept whole"
    return ""


def _doors(known: Any) -> Iterable[Ingress]:
    """A row has one, one for each layer, or one for each key that is asked about."""
    if isinstance(known, Ingress):
        return (known,)
    return known.values() if isinstance(known, Map) else known
