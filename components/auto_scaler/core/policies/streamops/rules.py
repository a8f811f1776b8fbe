"""StreamOps' diagnosis rules: balance, load, stragglers, skew, and nodes to leave (5). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil, sqrt
from statistics import fmean, median
from typing import NamedTuple

ROUNDING = 1e-9
"""By which a share of tasks may miss a whole number: 0.7 of 10 tasks is 7 of them, not 8."""


class TaskLoad(NamedTuple):
    """Of one task over the time that is looked at."""

    task: int
    useful: float  # share of the time
    rate: float  # records a second


class Uneven(NamedTuple):
    """Tasks with a higher load than the others, and whether they also read more."""

    tasks: tuple[int, ...]  # the highest load first
    faster: bool


def lag_rate(now: float, before: float, seconds: float) -> float:
    """Records a second by which lag grows."""
    return (now - before) / seconds


def input_rate(output: float, lag_now: float, lag_before: float, seconds: float) -> float:
    """What comes in: a source that is held up puts out less than that."""
    return output + lag_rate(lag_now, lag_before, seconds)


def useful_time(busy_ms: Sequence[float]) -> float:
    """Milliseconds of work, from busy milliseconds of each second."""
    return sum(busy_ms)


def tasks_of(share: float, tasks: int) -> int:
    """How many tasks a share of them is, rounded up; at least one."""
    return max(1, ceil(share * tasks - ROUNDING))


def balanced(values: Sequence[float], spread: float, most: float) -> bool:
    """Have most tasks a value near the middle one?"""
    if not values:
        return False
    middle = median(values)
    near = sum(abs(one - middle) <= spread + ROUNDING for one in values)
    return near >= tasks_of(most, len(values))


def overloaded(loads: Sequence[TaskLoad], limit: float) -> int:
    """Tasks that work for as long as that, or longer."""
    return sum(one.useful >= limit for one in loads)


def underloaded(loads: Sequence[TaskLoad], limit: float) -> int:
    """Tasks that work for no longer than that."""
    return sum(one.useful <= limit for one in loads)


def z_scores(values: Sequence[float]) -> list[float]:
    """How many standard deviations each lies above the mean; all 0 where none differ."""
    if not values:
        return []
    mean = fmean(values)
    deviation = sqrt(fmean((one - mean) ** 2 for one in values))
    return [(one - mean) / deviation if deviation else 0.0 for one in values]


def uneven(loads: Sequence[TaskLoad], z: float) -> Uneven | None:
    """Who has more to do than the others; None where nobody has, or everybody."""
    scores = z_scores([one.useful for one in loads])
    high = [one for one, score in zip(loads, scores, strict=True) if score >= z]
    normal = [one for one, score in zip(loads, scores, strict=True) if score < z]
    if not high or not normal:
        return None
    faster = fmean(one.rate for one in high) > fmean(one.rate for one in normal)
    high.sort(key=lambda one: (-one.useful, one.task))
    return Uneven(tuple(one.task for one in high), faster)


def blacklisted(nodes: Sequence[str], most: float, nodes_max: int = 1) -> tuple[str, ...]:
    """The nodes to leave, given each straggler's; none where they are scattered."""
    common = Counter(nodes).most_common(nodes_max)
    if not common or sum(count for _, count in common) < tasks_of(most, len(nodes)):
        return ()
    return tuple(sorted(node for node, _ in common))
