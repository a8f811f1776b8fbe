"""The row of a tier's capacity as plain JSON, for keeping. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from immutables import Map

from projections.capacity import (
    Capacity,
    ContainerUse,
    Demand,
    Moving,
    Neighbour,
    OwedEffect,
    Stopped,
    TierLoan,
    TierReport,
)
from projections.ingress import dump_ingress, load_ingress
from projections.liveness import Life
from projections.settings import Placing, SharingSettings


def dump(row: Capacity) -> object:
    """Plain JSON of the row. Maps are lists of pairs, tuples are lists to JSON."""
    plain = {
        name: sorted(value.items()) if isinstance(value, Map) else value
        for name, value in row._asdict().items()
    }
    plain["ingress"] = {key: dump_ingress(one) for key, one in sorted(row.ingress.items())}
    return plain


def load(plain: Any) -> Capacity:
    """The row that `dump` made plain."""
    return Capacity(**{name: _LOADS.get(name, _same)(value) for name, value in plain.items()})


def _tuple(plain: Any) -> Any:
    """Lists as tuples, all the way down."""
    return tuple(_tuple(one) for one in plain) if isinstance(plain, list | tuple) else plain


def _of(kind: Callable[..., object]) -> Callable[[Any], object]:
    return lambda plain: None if plain is None else kind(*_tuple(plain))


def _each(one: Callable[[Any], object]) -> Callable[[Any], object]:
    return lambda plain: Map([(key, one(value)) for key, value in plain])


def _same(plain: Any) -> Any:
    return plain


_LOADS: dict[str, Callable[[Any], Any]] = {
    "sharing": _of(SharingSettings),
    "ingress": lambda plain: Map({key: load_ingress(one) for key, one in plain.items()}),
    "placing": _of(Placing),
    "lives": _each(_of(Life)),
    "uses": _each(_of(ContainerUse)),
    "jobs": _each(_of(Demand)),
    "owed": _each(_of(OwedEffect)),
    "preempted": _each(_of(Stopped)),
    "loans": _each(_of(TierLoan)),
    "moving": _each(_of(Moving)),
    "neighbours": _each(_of(Neighbour)),
    "said": _of(TierReport),
    **dict.fromkeys(("rooms", "regions"), _each(_tuple)),
    **dict.fromkeys(("capacity", "used", "reserved"), _tuple),
    **dict.fromkeys(
        ("wishes", "limits", "drains", "open", "words", "stray", "tenants", "alerts"), _each(_same)
    ),
}
