"""Dhalion's detectors, diagnosers and its one resolver, as Heron has them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

DATA_SKEW, SLOW_INSTANCE = "data skew", "a slow instance"
UNDER_PROVISIONED = "under-provisioned"
BLOCKED_MS_MAX = 1000
"""Of a second. A component that is always blocked counts as blocked for one ms less."""
GROWTH_MAX = 4.0
"""Times what runs that are added at most."""
_POINTS_LEAST = 3


class HeronInstance(NamedTuple):
    """Means of one instance over the interval."""

    name: str
    rate: float | None = None  # executions
    queue: float | None = None  # waiting for it


class HeronComponent(NamedTuple):
    """What runs side by side, and for how many ms of a second all of it held up its senders."""

    name: str
    blocked_ms: float
    instances: tuple[HeronInstance, ...] = ()
    slope: float = 0.0  # a second, of the queue that grows fastest
    blocked: frozenset[str] | None = None  # instances that block; None: not told, so any may


class DetectorLimits(NamedTuple):
    """Of the detectors; the defaults are Heron's."""

    noise_ms: float = 20.0
    queue: float = 1000.0
    slope: float = 10.0
    rate_ratio: float = 1.5
    queue_ratio: float = 20.0


class Diagnosis(NamedTuple):
    """A cause, the component, and its instances that are at fault."""

    cause: str
    component: str
    instances: tuple[str, ...] = ()


def skewed(means: Sequence[float], ratio: float) -> bool:
    """Is the greatest more than `ratio` times the least? Nothing at all is not."""
    return bool(means) and max(0.0, *means) > ratio * min(means)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Of the least squares through (second, queue); 0 for fewer than three points."""
    if len(points) < _POINTS_LEAST:
        return 0.0
    count, start = len(points), points[0][0]
    across = up = squares = products = 0.0
    for at, queue in points:
        x = at - start  # since the first point: squares of instants would lose the seconds
        across += x
        up += queue
        squares += x * x
        products += x * queue
    spread = count * squares - across * across
    return (count * products - across * up) / spread if spread else 0.0


def blocked(components: Sequence[HeronComponent], limits: DetectorLimits) -> list[HeronComponent]:
    """Those that hold up their senders for longer than noise."""
    return [one for one in components if one.blocked_ms > limits.noise_ms]


def large_queue(component: HeronComponent, limits: DetectorLimits) -> bool:
    """Do its instances have much to do on average?"""
    queues = queues_of(component)
    return bool(queues) and sum(queues) / len(queues) > limits.queue


def growing_queue(component: HeronComponent, limits: DetectorLimits) -> bool:
    """Is one of them falling behind?"""
    return component.slope > limits.slope


def rate_skewed(component: HeronComponent, limits: DetectorLimits) -> bool:
    """Do its instances work at different rates?"""
    return skewed(rates_of(component), limits.rate_ratio)


def queue_skewed(component: HeronComponent, limits: DetectorLimits) -> bool:
    """Do its instances have different queues?"""
    return skewed(queues_of(component), limits.queue_ratio)


def rates_of(component: HeronComponent) -> list[float]:
    """Of the instances that told theirs."""
    return [one.rate for one in component.instances if one.rate is not None]


def queues_of(component: HeronComponent) -> list[float]:
    """Of the instances that told theirs."""
    return [one.queue for one in component.instances if one.queue is not None]


def diagnosed(components: Sequence[HeronComponent], limits: DetectorLimits) -> Diagnosis | None:
    """The cause of back-pressure; None where there is none or no diagnoser knows it.

    Two components that are back-pressured at once make Heron's diagnosers throw, and this as well.
    """
    found = blocked(components, limits)
    if not found:
        return None
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        raise ValueError(f"{names} are back-pressured at once, and Dhalion takes one: split them")
    component = found[0]
    by_rate, by_queue = rate_skewed(component, limits), queue_skewed(component, limits)
    if by_queue:
        return _uneven(component, by_rate=by_rate)
    if by_rate:
        return None  # every diagnoser wants the queues to differ, or the rates not to
    return Diagnosis(UNDER_PROVISIONED, component.name)


def _uneven(component: HeronComponent, *, by_rate: bool) -> Diagnosis | None:
    queue, rate = max(queues_of(component)), max(rates_of(component), default=0.0)
    long = [one for one in component.instances if one.queue is not None and one.queue * 2 > queue]
    if not by_rate:
        names = tuple(one.name for one in long)
        return Diagnosis(SLOW_INSTANCE, component.name, names) if names else None
    names = tuple(
        one.name
        for one in long
        if one.rate is not None
        and one.rate * 1.10 > rate
        and (component.blocked is None or one.name in component.blocked)
    )
    return Diagnosis(DATA_SKEW, component.name, names) if names else None


def counted_ms(blocked_ms: float) -> float:
    """Back-pressure as the resolver takes it: never all of a second."""
    return BLOCKED_MS_MAX - 1 if blocked_ms >= BLOCKED_MS_MAX else blocked_ms


def unused_capacity(blocked_ms: float) -> float:
    """How much more could be read, in times of what is: time blocked by time that is not."""
    counted = counted_ms(blocked_ms)
    return counted / (BLOCKED_MS_MAX - counted)


def parallelism(instances: int, unused: float) -> int:
    """Instances that take it up."""
    return ceil(instances * (1 + unused))


def scaled_up(instances: int, blocked_ms: float) -> int:
    """The whole of the resolver, its fence included."""
    return parallelism(instances, min(GROWTH_MAX, unused_capacity(blocked_ms)))
