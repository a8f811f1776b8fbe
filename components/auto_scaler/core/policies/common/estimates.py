"""The quantities of Turbine V as it defines them: lag in time, imbalance, P, CPU, memory. Pure.

`X` is what comes in, `B` what is not read yet, `t` the time to read it in, `P` the most that one
thread can read, `k` the threads of a task and `n` the tasks. Rates and backlogs are in one unit of
the caller's choice, bytes or records. What is not known is None, and so is what follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, fsum, inf, isfinite, sqrt

from projections.scaling.seen import MINUTE_MS, Profile

SLACK = 1e-9
"""Share by which a quotient may miss a whole number and still be it: 3 tasks are not made 4 by what
rounding adds to 3.0000000000000004."""

COMPARED_MS = 30 * MINUTE_MS
"""The stretch whose mean is held against the same stretch of the days before (V-C)."""


def whole(value: float) -> float:
    """The least whole number that is enough; infinity stays."""
    return float(ceil(value * (1 - SLACK))) if isfinite(value) else value


def whole_below(value: float) -> float:
    """The greatest whole number that is not more."""
    return float(floor(value * (1 + SLACK))) if isfinite(value) else value


def mean(values: Sequence[float | None]) -> float | None:
    """Of those that are known."""
    known = [one for one in values if one is not None]
    return fsum(known) / len(known) if known else None


def time_lagged(lag: float | None, rate: float | None) -> float | None:
    """Seconds that the processing is behind (equation 1); without end where nothing is read."""
    if lag is None:
        return None
    if lag <= 0:
        return 0.0
    if rate is None:
        return None
    return lag / rate if rate > 0 else inf


def imbalance(rates: Sequence[float]) -> float | None:
    """The standard deviation of what the tasks of a job read (V-A); None for fewer than two."""
    if len(rates) < 2:
        return None
    middle = fsum(rates) / len(rates)
    return sqrt(fsum((one - middle) ** 2 for one in rates) / len(rates))


def spread(rates: Sequence[float]) -> float | None:
    """The imbalance in parts of the mean rate, so that one threshold fits jobs of all sizes."""
    deviation = imbalance(rates)
    if deviation is None:
        return None
    middle = fsum(rates) / len(rates)
    return deviation / middle if middle > 0 else None


def cpu_units(x: float, p: float, k: int, n: int) -> float:
    """How much of its CPU a job needs, 1 for all of it (equation 2)."""
    return x / (p * k * n) if p > 0 else inf


def cpu_units_to_recover(x: float, p: float, k: int, n: int, *, b: float, t: float) -> float:
    """The same where the backlog `b` is to be read within `t` seconds (equation 3)."""
    return cpu_units(x + b / t, p, k, n)


def threads_needed(x: float, p: float, b: float = 0.0, t: float = inf) -> float:
    """Threads of all tasks that carry the input and read the backlog in time; not rounded."""
    return cpu_units_to_recover(x, p, 1, 1, b=b, t=t)


def tasks_needed(x: float, p: float, k: int, b: float = 0.0, t: float = inf) -> float:
    """The least tasks for which equation 3 is at most 1: `ceil((X + B/t) / (P k))`."""
    return whole(threads_needed(x, p, b, t) / k)


def drain_s(x: float, b: float, capacity: float) -> float:
    """Seconds until the backlog is read; without end where the input takes all the capacity."""
    if b <= 0:
        return 0.0
    return b / (capacity - x) if capacity > x else inf


def raised(p: float | None, x: float, k: int, n: int) -> float:
    """P where a healthy job reads more than it allows: the mean throughput (V-C)."""
    seen = x / (k * n)
    return seen if p is None else max(p, seen)


def lowered(p: float, x: float, k: int, n: int, towards: float = 0.5) -> float:
    """P where a smaller size broke the SLO: a value between `X/n` and P (V-C).

    Traffic that outgrew even the estimate proves nothing about it: P stays.
    """
    seen = x / (k * n)
    return p - (p - seen) * towards if seen < p else p


def memory_of_task(used: float, base: float, n: int, after: float) -> float:
    """Of one task where `after` hold what `n` held; each needs the `base` whatever it holds.

    Key cardinality and join windows are divided among the tasks (V-B); the process itself is not:
    400 MB of every task of the paper (figure 5b).
    """
    held = max(0.0, used - base)
    return used - held + held * n / after


def tasks_for_memory(used: float, base: float, n: int, most: float) -> float:
    """The least tasks of which none holds more than `most`; infinity where none would do."""
    held = max(0.0, used - base)
    if not held:
        return 1.0
    return max(1.0, whole(held * n / (most - base))) if most > base else inf


def usual(profile: Profile, now_ms: int) -> float | None:
    """The mean of the last 30 minutes on the days before; None where nothing is known."""
    return mean(profile.between(profile.mean, now_ms - COMPARED_MS, now_ms))


def deviates(recent: float | None, before: float | None, share: float) -> bool | None:
    """Does the input differ significantly from that of the days before? None: nobody can say."""
    if recent is None or before is None:
        return None
    return abs(recent - before) > share * before * (1 + SLACK)
