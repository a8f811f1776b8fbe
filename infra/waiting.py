"""Deadlines of tests and benchmarks: each waits for a condition, as long as this machine needs.

A deadline is named as it is on an idle machine. TURBINE_TEST_PATIENCE multiplies all of them; where
it is not set, what the machine had to do when the process began does.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from functools import cache

PATIENCE = "TURBINE_TEST_PATIENCE"
MOST = 6.0
"""A machine that is busier than this is not waited for."""
WAIT_S, PAUSE_S = 60.0, 0.02


def patience_of(environment: Mapping[str, str], load: float, cores: int) -> float:
    """How many times longer than on an idle machine things may take."""
    told = environment.get(PATIENCE)
    if told is None:
        return min(MOST, max(1.0, load / cores))
    try:
        found = float(told)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise ValueError(f"{PATIENCE} is {told!r}: set a number above 0, such as 2")
    return found


@cache
def patience() -> float:
    """That of this process; it does not change while it runs."""
    return patience_of(os.environ, os.getloadavg()[0], os.cpu_count() or 1)


def within(seconds: float) -> float:
    """That deadline, on this machine."""
    return seconds * patience()


def until(
    holds: Callable[[], object],
    what: str | Callable[[], str],
    within_s: float = WAIT_S,
    pause_s: float = PAUSE_S,
    failure: type[Exception] = AssertionError,
) -> float:
    """Waits until it holds, and returns how long that took; the failure at the deadline."""
    began, limit_s = time.monotonic(), within(within_s)
    while not holds():
        if time.monotonic() - began > limit_s:
            raise failure(f"not within {limit_s:g} s: {what if isinstance(what, str) else what()}")
        time.sleep(pause_s)
    return time.monotonic() - began
