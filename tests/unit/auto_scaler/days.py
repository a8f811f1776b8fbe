"""Jobs, minutes and days for the tests of Turbine's own three policies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from components.auto_scaler.core.policy import ScalingPolicy
from components.auto_scaler.core.verdict import ScalingVerdict
from projections.scaling.seen import DAY_MS, MINUTE_MS, UNKNOWN, JobFacts, Minute, Part, Profile

HOUR = 60
DAY = 24 * HOUR
START_MS = 20_000 * DAY_MS


def job(tasks: int = 10, **more: Any) -> JobFacts:
    """One of ten tasks over a hundred partitions."""
    given = {"partitions": 100, "tasks_max": 64, **more}
    return JobFacts("clicks", tasks, **given)


def minute(at: int, rate: float | None = 100.0, lag: float | None = 0.0, **more: Any) -> Minute:
    """The minute of that number; what is read is what comes in, unless told otherwise."""
    given = {"tasks": 10, "arrived": rate, "lag_s": None, **more}
    return Minute(at_ms=START_MS + at * MINUTE_MS, rate=rate or 0.0, lag=lag, **given)


def parts(*rates: float, lags: Iterable[float] = ()) -> tuple[Part, ...]:
    """A task for each rate."""
    late = list(lags) or [None] * len(rates)
    return tuple(Part(at, rate, lag_s=late[at]) for at, rate in enumerate(rates))


def after(
    policy: ScalingPolicy[Any], of: JobFacts, minutes: Iterable[Minute], memory: Any = None
) -> Any:
    """What the policy knows after these minutes."""
    known = policy.begin(of) if memory is None else memory
    for one in minutes:
        known = policy.learn(known, of, one)
    return known


def quiet(count: int = DAY, rate: float = 100.0, **more: Any) -> list[Minute]:
    """Minutes in which all is well."""
    return [minute(at, rate, **more) for at in range(1, count + 1)]


def lagging(
    count: int = 5, rate: float = 100.0, lag: float = 20_000.0, **more: Any
) -> list[Minute]:
    """Minutes of a job that is 200 s behind."""
    return [minute(at, rate, lag, **more) for at in range(1, count + 1)]


def asked(
    policy: ScalingPolicy[Any], known: Any, of: JobFacts, at: int, profile: Profile = UNKNOWN
) -> tuple[Any, ScalingVerdict]:
    """The verdict at the end of that minute."""
    return policy.decide(known, of, profile, START_MS + at * MINUTE_MS)


def verdict_after(
    policy: ScalingPolicy[Any], of: JobFacts, minutes: list[Minute], profile: Profile = UNKNOWN
) -> ScalingVerdict:
    """The verdict after these minutes."""
    return asked(policy, after(policy, of, minutes), of, len(minutes), profile)[1]


def daily(mean: float, peaks: dict[int, float] | None = None) -> Profile:
    """Days of a rate that is the same in every hour, but for the peaks of some hours."""
    peak = [(peaks or {}).get(hour, mean) for hour in range(24)]
    return Profile(3_600_000, (mean,) * 24, tuple(peak), 14)
