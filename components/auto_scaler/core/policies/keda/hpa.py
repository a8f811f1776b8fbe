"""Kubernetes' horizontal pod autoscaler on one external metric: from lag to replicas. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Literal, NamedTuple

from events.job_config.policies.keda import Select

Stamped = tuple[int, int]
"""An instant in ms, and a number of replicas: recommended then, or added (below 0: removed)."""


class Rate(NamedTuple):
    """A scaling policy: so many replicas, or so many per cent of them, in a period."""

    kind: Literal["pods", "percent"]
    value: int
    period_s: int


class Behavior(NamedTuple):
    """The limits on changes in one direction, up or down."""

    window_s: int
    select: Select
    rates: tuple[Rate, ...]


UP = Behavior(0, "max", (Rate("pods", 4, 15), Rate("percent", 100, 15)))
DOWN = Behavior(300, "max", (Rate("percent", 100, 15),))
TOLERANCE = 0.1


def recommended(
    total: float,
    target: float,
    replicas: int,
    tolerance_up: float = TOLERANCE,
    tolerance_down: float = TOLERANCE,
) -> int:
    """What the metric alone asks for (AverageValue): as it is, where the ratio is near enough."""
    if replicas > 0 and 1 - tolerance_down <= total / (target * replicas) <= 1 + tolerance_up:
        return replicas
    return ceil(total / target)


def stabilized(
    desired: int,
    current: int,
    history: Iterable[Stamped],
    now_ms: int,
    *,
    up_s: int = UP.window_s,
    down_s: int = DOWN.window_s,
) -> int:
    """No more than the least of the up window, no fewer than the most of the down window."""
    up = down = desired
    up_after, down_after = now_ms - up_s * 1000, now_ms - down_s * 1000
    for at, replicas in history:
        if at > up_after and replicas < up:
            up = replicas
        if at > down_after and replicas > down:
            down = replicas
    return min(max(current, up), down)


def moved(changes: Sequence[Stamped], now_ms: int, period_s: int) -> tuple[int, int]:
    """Replicas that were added and that were removed in a period."""
    if not changes:
        return 0, 0
    after = now_ms - period_s * 1000
    young = [change for at, change in changes if at > after]
    return sum(one for one in young if one > 0), -sum(one for one in young if one < 0)


def up_limit(current: int, changes: Sequence[Stamped], now_ms: int, behavior: Behavior = UP) -> int:
    """The most replicas that the rates allow now; never below what runs."""
    if behavior.select == "disabled":
        return current
    limits = []
    for rate in behavior.rates:
        added, removed = moved(changes, now_ms, rate.period_s)
        start = current - added + removed
        more = start + rate.value if rate.kind == "pods" else _raised(start, rate.value)
        limits.append(more)
    return max(current, max(limits) if behavior.select == "max" else min(limits))


def down_limit(
    current: int, changes: Sequence[Stamped], now_ms: int, behavior: Behavior = DOWN
) -> int:
    """The fewest replicas that the rates allow now; never above what runs."""
    if behavior.select == "disabled":
        return current
    limits = []
    for rate in behavior.rates:
        added, removed = moved(changes, now_ms, rate.period_s)
        start = current - added + removed
        # The source cuts the fraction off: a percentage may take one replica more than it says.
        fewer = start - rate.value if rate.kind == "pods" else int(start * (1 - rate.value / 100))
        limits.append(fewer)
    return min(current, min(limits) if behavior.select == "max" else max(limits))


def plain_limit(current: int) -> int:
    """The limit on growth of an HPA whose object has no `behavior`."""
    return max(2 * current, 4)


def _raised(start: int, percent: int) -> int:
    return ceil(start * (1 + percent / 100))
