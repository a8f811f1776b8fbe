"""What a job will have to read: by what came in lately, and by its usual days. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import inf, sqrt
from operator import sub
from typing import NamedTuple

from projections.scaling.seen import MINUTE_MS, Profile

STRETCHES = (1, 2, 3, 5, 8, 13, 21, 34, 55)
"""Minutes of the stretches that are looked at: all of them would find a per cent more."""
COMPARED = 30
"""Minutes that are held against the same ones of the days before (Turbine V-C)."""


def carries(arrived: Sequence[float], wait_s: float, enough: float = inf) -> float:
    """The least rate at which no record of these minutes would have waited longer than that.

    What came in any stretch of minutes has to be read within the stretch and the wait; so peaks
    that are shorter than the wait cost less than what they reach. Whoever asks only whether it is
    more than enough is told a rate that is, as soon as one is found.
    """
    sums = [0.0, *accumulate(arrived)]
    most, count, wait = 0.0, len(arrived), wait_s / 60
    for length in reversed(STRETCHES):  # a long one asks for most, more often than not
        if length <= count:
            came = max(map(sub, sums[length:], sums))
            most = max(most, came / (length + wait))
            if most > enough:
                break
    return most


def trend(arrived: Sequence[float], minutes: float) -> float:
    """What comes in, in so many minutes, if the newest ten go on as they went: by a line through
    them, where it rises by more than their noise."""
    some = arrived[-10:]
    count = len(some)
    if count < 4:
        return some[-1] if some else 0.0
    middle = (count - 1) / 2
    mean = sum(some) / count
    spread = sum([(at - middle) ** 2 for at in range(count)])
    slope = sum([(at - middle) * one for at, one in enumerate(some)]) / spread
    left = sum([(one - mean - slope * (at - middle)) ** 2 for at, one in enumerate(some)])
    doubt = sqrt(left / (count - 2) / spread)
    sure = max(0.0, abs(slope) - 2 * doubt) * (1 if slope > 0 else -1)
    return max(0.0, mean + sure * (middle + minutes))


class Usual(NamedTuple):
    """The days before, as far as today goes like them."""

    profile: Profile
    ratio: float | None  # today over those days, of the last half hour; None: it differs too much

    def most(self, from_ms: int, to_ms: int) -> float | None:
        """The greatest slot of these hours, at today's level; None: nobody knows."""
        if self.ratio is None:
            return None
        known = self.profile.between(self.profile.mean, from_ms, to_ms)
        return self.ratio * max(known) if known else None


def usual(
    profile: Profile,
    arrived: Sequence[float],
    now_ms: int,
    differs: float,
    minute_ms: int = MINUTE_MS,
) -> Usual:
    """Whether today goes like the days before it: by no more than that factor either way."""
    some = arrived[-COMPARED:]
    if not profile.days or len(some) < COMPARED // 2:
        return Usual(profile, None)
    known = profile.between(profile.mean, now_ms - len(some) * minute_ms, now_ms)
    before = sum(known) / len(known) if known else 0.0
    if before <= 0:
        return Usual(profile, None)
    ratio = sum(some) / len(some) / before
    return Usual(profile, ratio if 1 / differs <= ratio <= differs else None)
