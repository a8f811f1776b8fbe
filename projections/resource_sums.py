"""Sums of resources in whole units, by `RESOURCES`: the same in any order. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from events.generated.records import ResourceAmount
from projections.loads import RESOURCES

Amounts = tuple[int, ...]
NOTHING: Amounts = (0,) * len(RESOURCES)
_CPU = RESOURCES.index("cpu_cores")


def plus(one: Amounts, other: Amounts) -> Amounts:
    """The sum of both, resource by resource."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


def minus(one: Amounts, other: Amounts) -> Amounts:
    """What is left; below 0 where it is not enough."""
    return tuple(a - b for a, b in zip(one, other, strict=True))


def times(one: Amounts, count: int) -> Amounts:
    """As much, so many times."""
    return tuple(a * count for a in one)


def most(one: Amounts, other: Amounts) -> Amounts:
    """The greater of both, resource by resource."""
    return tuple(map(max, one, other))


def total(many: Iterable[Amounts]) -> Amounts:
    """The sum of all, resource by resource."""
    found = NOTHING
    for one in many:
        found = plus(found, one)
    return found


def share(one: Amounts, per_mille: int) -> Amounts:
    """So many thousandths of it, rounded down."""
    return tuple(a * per_mille // 1000 for a in one)


def spoken(units: int, resource: int) -> float:
    """An amount as records name it."""
    return units / 1000 if resource == _CPU else units * 1024.0


def told(one: Amounts) -> tuple[ResourceAmount, ...]:
    """The same of all resources of which there is anything."""
    return tuple(
        ResourceAmount(RESOURCES[at], spoken(units, at)) for at, units in enumerate(one) if units
    )
