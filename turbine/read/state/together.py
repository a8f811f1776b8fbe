"""What all jobs did together over time: what a fleet read, how far it was behind, what it used, how
often tasks began again. Pure.

A sum is over the jobs that reported, and says how many they were; a lag that a job does not know
takes no part in the greatest, and is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turbine.read.state.buckets import Column, Sums
from turbine.read.state.series import MEASURES, MINUTE_MS, Series

TOGETHER = ("rate_in", "lag_seconds", "tasks", "cores", "jobs", "lag_unknown")
_AT = {name: MEASURES.index(name) for name in ("rate_in", "lag_seconds", "tasks", "cores")}
_WORST = ("lag_seconds", "lag_unknown")
Counts = list[float | None]


def together(
    series: Series, begin_ms: int, end_ms: int, buckets: int
) -> dict[str, list[float | None] | list[int]]:
    """Means over equal parts of a span, of lag the worst; None where no job is known of."""
    sums = Sums(begin_ms, end_ms, buckets, len(TOGETHER))
    for at_ms, step, columns in series.together(begin_ms, end_ms):
        sums.add(at_ms, step, summed(columns))
    told: dict[str, list[float | None] | list[int]] = {"t_ms": sums.times}
    told |= dict(zip(TOGETHER, sums.means(), strict=True))
    told |= {name: sums.most(TOGETHER.index(name)) for name in _WORST}
    return told | {"restarts": restarts(series.starts.by_minute(), begin_ms, end_ms, buckets)}


def summed(columns: NDArray[np.float32]) -> Column:
    """Of all jobs at one moment, a column each."""
    reports = columns[_AT["tasks"]] > 0
    count = int(reports.sum())
    if not count:
        return np.full(len(TOGETHER), np.nan, np.float32)
    lags = columns[_AT["lag_seconds"], reports]
    known = lags[~np.isnan(lags)]
    found = {name: _sum(columns[_AT[name], reports]) for name in ("rate_in", "tasks", "cores")}
    found["lag_seconds"] = float(known.max()) if len(known) else np.nan
    found |= {"jobs": count, "lag_unknown": len(lags) - len(known)}
    return np.array([found[name] for name in TOGETHER], np.float32)


def _sum(values: NDArray[np.float32]) -> float:
    """Of what is known; where nothing is, that is not known either."""
    known = values[~np.isnan(values)]
    return float(known.sum()) if len(known) else float("nan")


def restarts(
    minutes: Iterable[tuple[int, int]], begin_ms: int, end_ms: int, buckets: int
) -> Counts:
    """How many there were in each part: a minute's are counted where it begins."""
    found: list[Any] = [0] * buckets
    width = max(1, end_ms - begin_ms)
    for minute, count in minutes:
        # What began in the minute in which the span begins belongs to it.
        at_ms = max(minute * MINUTE_MS, begin_ms)
        if (minute + 1) * MINUTE_MS > begin_ms and at_ms < end_ms:
            found[(at_ms - begin_ms) * buckets // width] += count
    return found
