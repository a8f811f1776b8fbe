"""How far a plant is off: its decisions and its lag beside those of the job that it plays. Pure.

The plant is driven by what came in alone. So the same policy, on the same input, has to come to the
same decisions; where it does not, its answers about another policy are worth as little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil
from statistics import median
from typing import Any

import numpy as np

from projections.scaling.seen import MINUTE_MS
from turbine.lab.plant.backtest import cost
from turbine.lab.plant.played_job import PlayedMinute, SizeChange

MATCH_INTERVALS = 15
"""Of the job's policy, a minute each by default: two decisions within so many are the same one. A
smaller size is held against stretches of minutes, and one minute that is read a little sooner
moves its end by as much."""
SIZE_SHARE = 0.15
"""Of threads: as much more or less is the same size; one thread always is."""
COST_OFF, SAME_SIZE, AGREED, LATE_OFF = 0.10, 0.80, 0.70, 0.05
"""The tolerance: cost within a tenth, the same size four minutes of five, seven decisions of ten
found again, in time and direction, and late at the same time but for one minute of twenty."""


@dataclass(frozen=True, slots=True)
class Honesty:
    """The plant under the policy that ran, beside what really happened."""

    match_minutes: float  # within which two decisions are the same one
    real: int  # decisions
    played: int
    matched: int
    direction: float | None  # share of the matched ones that go the same way
    size: float | None  # and that come to the same size
    agreement: float | None  # those that match in time and direction, of all on either side
    timing_minutes_median: float | None  # of those
    timing_minutes_max: float | None
    same_size: float  # share of the time
    threads_off: float  # mean difference, in parts of the mean
    cost_off: float  # of all cores and memory, with its sign
    lag_off_s_median: float  # absolute, interval by interval
    lag_off_s_p95: float
    late_off: float  # share of intervals that are late, by the SLO, on one side alone

    @property
    def within(self) -> bool:
        """Is all of it within the tolerance?"""
        agreed = self.agreement is None or self.agreement >= AGREED
        alike = self.same_size >= SAME_SIZE and abs(self.cost_off) <= COST_OFF
        return agreed and alike and self.late_off <= LATE_OFF

    def to_plain(self) -> dict[str, Any]:
        """As JSON, with the tolerance."""
        found = {
            name: round(value, 4) if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }
        match_minutes = found.pop("match_minutes")
        return found | {
            "within_tolerance": self.within,
            "tolerance": {
                "match_minutes": match_minutes,
                "size_share": SIZE_SHARE,
                "cost_off": COST_OFF,
                "same_size": SAME_SIZE,
                "agreement": AGREED,
                "late_off": LATE_OFF,
            },
        }


def hold(
    real: Sequence[PlayedMinute],
    real_deeds: Sequence[SizeChange],
    played: Sequence[PlayedMinute],
    played_deeds: Sequence[SizeChange],
    slo_s: float,
) -> Honesty:
    """The one against the other."""
    match_ms = MATCH_INTERVALS * (real[1].at_ms - real[0].at_ms)
    pairs = matched(real_deeds, played_deeds, match_ms)
    alike = [(one, other) for one, other in pairs if way(one) == way(other)]
    offs = [abs(one.at_ms - other.at_ms) / MINUTE_MS for one, other in alike]
    most = max(len(real_deeds), len(played_deeds))
    ours, theirs = (np.array([one.lag_s for one in side]) for side in (played, real))
    lags = np.abs(ours - theirs)
    threads = [(_threads(one), _threads(other)) for one, other in zip(real, played, strict=True)]
    mean = sum(one for one, _ in threads) / len(threads)
    costs = [sum(_price(one) for one in side) for side in (real, played)]
    return Honesty(
        match_ms / MINUTE_MS,
        len(real_deeds),
        len(played_deeds),
        len(pairs),
        len(alike) / len(pairs) if pairs else None,
        sum(same(one, other) for one, other in pairs) / len(pairs) if pairs else None,
        len(alike) / most if most else None,
        median(offs) if offs else None,
        max(offs, default=None),
        sum(near(one, other) for one, other in threads) / len(threads),
        sum(abs(one - other) for one, other in threads) / len(threads) / mean if mean else 0.0,
        costs[1] / costs[0] - 1 if costs[0] else 0.0,
        float(np.median(lags)),
        float(np.percentile(lags, 95)),
        float(((ours > slo_s) != (theirs > slo_s)).mean()),
    )


def matched(
    real: Sequence[SizeChange], played: Sequence[SizeChange], within_ms: int
) -> list[tuple[SizeChange, SizeChange]]:
    """Pairs that lie near each other in time, each decision in one at most; those that go the same
    way come first, then the nearest."""
    near_by = sorted(
        (way(one) != way(other), abs(one.at_ms - other.at_ms), at, to)
        for at, one in enumerate(real)
        for to, other in enumerate(played)
        if abs(one.at_ms - other.at_ms) <= within_ms
    )
    used: tuple[set[int], set[int]] = (set(), set())
    found = list[tuple[SizeChange, SizeChange]]()
    for _, _, at, to in near_by:
        if at not in used[0] and to not in used[1]:
            used[0].add(at)
            used[1].add(to)
            found.append((real[at], played[to]))
    return sorted(found, key=lambda pair: pair[0].at_ms)


def way(deed: SizeChange) -> str:
    """Up, down, or what else it is."""
    grown = deed.after.tasks * deed.after.threads - deed.before.tasks * deed.before.threads
    if grown:
        return "up" if grown > 0 else "down"
    return deed.action


def same(one: SizeChange, other: SizeChange) -> bool:
    """Do they come to the same size?"""
    return near(one.after.tasks * one.after.threads, other.after.tasks * other.after.threads)


def near(one: int, other: int) -> bool:
    """Are two numbers of threads next to each other?"""
    return abs(one - other) <= max(1, ceil(SIZE_SHARE * max(one, other)) - 1)


def _threads(one: PlayedMinute) -> int:
    return one.size.tasks * one.size.threads


def _price(one: PlayedMinute) -> float:
    size = one.size
    return cost(size.tasks * size.cpu_cores, size.tasks * size.memory_mb / 1024)
