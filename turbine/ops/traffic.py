"""What a load generator sends, and when: rates over time with their integral, keys and times. Pure.

Chance comes in as a stream that somebody else has seeded: the same seed makes the same records.
"""

from __future__ import annotations

import random  # noqa: TID251 - the type of a seeded stream; nothing is drawn from the module
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from math import inf, isfinite, sqrt

from events.job_config.strict_json import shorten
from turbine_client.errors import BadRequest

MINUTE_S = 60.0
ROUNDING = 1e-6
"""Of a record: sums of floats end this close below the whole number that they mean."""
TRACE_LINES_MAX = 5_270_400
"""Ten years of minutes: some hundred MB of numbers, and nobody's recording of a load is longer."""


class BadTrace(BadRequest):
    """A trace that cannot be played; the sentence says which line, and the remedy."""


# --- rates


@dataclass(frozen=True, slots=True)
class RateSchedule:
    """Records per second: straight lines between points, and the last rate from there to the end.

    All records of a run are due at an instant that follows from this alone, whatever became of
    those before: a broker that is slow makes a run late, and not smaller.
    """

    at_s: Sequence[float]
    per_s: Sequence[float]
    sums: Sequence[float]  # records that are due up to each point
    end_s: float = inf

    def rate_at(self, at_s: float) -> float:
        """Records per second at an instant; 0 before the beginning and from the end on."""
        if not 0 <= at_s < self.end_s:
            return 0.0
        at = bisect_right(self.at_s, at_s) - 1
        return self._rate(at, at_s - self.at_s[at])

    def due(self, at_s: float) -> float:
        """How many records are due by then: the integral of the rate."""
        within_s = min(max(at_s, 0.0), self.end_s)
        at = bisect_right(self.at_s, within_s) - 1
        past_s = within_s - self.at_s[at]
        if past_s == 0:
            return self.sums[at]
        return self.sums[at] + past_s * (self.per_s[at] + self._rate(at, past_s)) / 2

    def due_s(self, records: float) -> float:
        """When that many are due, which is the inverse of `due`; never where they are not all."""
        records = max(0.0, records - ROUNDING)  # as `whole` has it
        if self.end_s < inf and records > self.due(self.end_s):
            return inf
        at = max(0, bisect_left(self.sums, records) - 1)
        rest, rate, slope = records - self.sums[at], self.per_s[at], self._slope(at)
        # The root of rate * t + slope * t² / 2 = rest in the form that does not cancel out, and
        # that holds for a slope of 0 as well.
        below = rate + sqrt(max(0.0, rate * rate + 2 * slope * rest))
        past_s = 2 * rest / below if rest > 0 and below > 0 else 0.0
        return min(self.at_s[at] + past_s, self.end_s)

    def until(self, end_s: float) -> RateSchedule:
        """The same, but for no longer than that."""
        return replace(self, end_s=min(self.end_s, end_s))

    @property
    def total(self) -> int | None:
        """How many records are due in all; None where there is no end."""
        return None if self.end_s == inf else whole(self.due(self.end_s))

    def _slope(self, at: int) -> float:
        if at + 1 == len(self.at_s):
            return 0.0
        return (self.per_s[at + 1] - self.per_s[at]) / (self.at_s[at + 1] - self.at_s[at])

    def _rate(self, at: int, past_s: float) -> float:
        return max(0.0, self.per_s[at] + self._slope(at) * past_s)


def steady(per_s: float) -> RateSchedule:
    """A schedule of one rate for ever."""
    return RateSchedule((0.0,), (per_s,), (0.0,))


def played(
    minutes: Sequence[tuple[int, float]], *, speed: float = 1.0, scale: float = 1.0
) -> RateSchedule:
    """A trace of records per minute. Its first minute is the beginning, and its last one the end.

    A greater speed passes through the same rates in less time, so fewer records are due; the scale
    alone makes the rates another.
    """
    minute_s = MINUTE_S / speed
    first = minutes[0][0]
    at_s = array("d", ((index - first) * minute_s for index, _ in minutes))
    per_s = array("d", (rate * scale / MINUTE_S for _, rate in minutes))
    gains = (
        (later - sooner) * (low + high) / 2
        for (sooner, later), (low, high) in zip(pairwise(at_s), pairwise(per_s), strict=True)
    )
    sums = array("d", accumulate(gains, initial=0.0))
    return RateSchedule(at_s, per_s, sums, at_s[-1] + minute_s)


def whole(records: float) -> int:
    """Whole records: a record is sent when all of it is due."""
    return int(records + ROUNDING)


# --- traces


def read_trace(
    lines: Iterable[str], name: str = "the trace", most: int = TRACE_LINES_MAX
) -> list[tuple[int, float]]:
    """Minutes and their rates from lines of `minute_index,rate`, with a head or without."""
    found: list[tuple[int, float]] = []
    for number, minute, rate in _numbered(lines, name):
        if found and minute <= found[-1][0]:
            raise BadTrace(
                f"{name}, line {number}: minute {minute} does not come after minute {found[-1][0]};"
                " put the lines in the order of their minutes"
            )
        if len(found) == most:
            raise BadTrace(
                f"{name}, line {number}: a trace has at most {most} minutes; play a part of it"
            )
        found.append((minute, rate))
    if not found:
        raise BadTrace(f"{name} holds no rates; write lines such as 0,120.5")
    return found


def _numbered(lines: Iterable[str], name: str) -> Iterator[tuple[int, int, float]]:
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or (number == 1 and text.replace(" ", "") == "minute_index,rate"):
            continue
        index, _, said = text.partition(",")
        try:
            minute, rate = int(index), float(said)
        except ValueError:
            minute, rate = 0, inf
        if not isfinite(rate):
            raise BadTrace(
                f"{name}, line {number}: {shorten(text)} is no minute and its rate; write a whole"
                " number, a comma and a number, such as 0,120.5"
            )
        if rate < 0:
            raise BadTrace(f"{name}, line {number}: the rate {said.strip()} is below 0; correct it")
        yield number, minute, rate


# --- records


@dataclass(frozen=True, slots=True)
class RecordShape:
    """What the records of generated traffic look like."""

    keys: int = 1000
    skew: float = 0.0  # of Zipf's law: the key of rank r is drawn r ** -skew as often as the first
    size_bytes: int = 100  # of a value
    late_share: float = 0.0  # of the records
    late_ms_max: int = 0


@dataclass(slots=True)
class Draws:
    """Makes records, each from its number, the instant it is due at, and a stream of chance."""

    stream: random.Random
    shape: RecordShape
    _sums: array[float] = field(init=False)
    _pad: str = field(init=False)

    def __post_init__(self) -> None:
        skew, ranks = self.shape.skew, range(1, self.shape.keys + 1)
        self._sums = array("d", accumulate(rank**-skew for rank in ranks) if skew else ())
        self._pad = "x" * self.shape.size_bytes

    def record(self, number: int, due_ms: int) -> tuple[str, str]:
        """A key and a value. Neither holds what JSON would escape, so that it can be put together
        by hand, which takes a tenth of the time."""
        key, at_ms = f"k{self._key()}", due_ms - self._lateness_ms()
        text = f'{{"n": {number}, "key": "{key}", "at_ms": {at_ms}, "pad": "'
        return key, f'{text}{self._pad[: max(0, self.shape.size_bytes - len(text) - 2)]}"}}'

    def _key(self) -> int:
        draw = self.stream.random()
        if not self._sums:
            return int(draw * self.shape.keys)
        return min(bisect_right(self._sums, draw * self._sums[-1]), self.shape.keys - 1)

    def _lateness_ms(self) -> int:
        shape = self.shape
        if not shape.late_share or self.stream.random() >= shape.late_share:
            return 0
        return 1 + int(self.stream.random() * shape.late_ms_max)
