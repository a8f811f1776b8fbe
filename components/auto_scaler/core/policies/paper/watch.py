"""What the paper's three policies keep of a job's minutes, and the symptoms they see. Pure."""

from __future__ import annotations

from typing import NamedTuple

from components.auto_scaler.core.policies.common.estimates import mean, spread, time_lagged
from components.auto_scaler.core.policies.common.sizing import size_of
from events.job_config.policies.generations import KEPT_MINUTES, Basics
from projections.scaling.actions import (
    MOVE,
    REBALANCE,
    JobSize,
)
from projections.scaling.seen import MINUTE_MS, JobFacts, Minute

LAG, OOM, QUIET, SETTLING = "lag", "oom", "quiet", "settling"
IMBALANCE, LOAD, MEMORY, SPARE = "imbalance", "load", "memory", "spare"
UNESTIMATED, UNTRIAGED, HARDWARE = "load-unestimated", "untriaged", "hardware"

_MINUTE_S = MINUTE_MS / 1000


class RateWatch(NamedTuple):
    """The newest minute, the rates of some before it, and how long all was well."""

    size: JobSize
    changed_ms: int | None = None  # when it was changed, or a change was asked for
    lag: float | None = None
    lagged_s: float | None = None
    rate: float | None = None  # mean of some minutes, of the time in which tasks ran
    arrived: float | None = None  # mean of some minutes
    rates: tuple[float, ...] = ()
    arrivals: tuple[float | None, ...] = ()
    task_rates: tuple[float, ...] = ()
    task_lags: tuple[tuple[int, float | None], ...] = ()
    memory_mb: float | None = None
    memory_most: float | None = None  # since the size changed
    oom: bool = False  # since something was done about it
    tried: tuple[str, ...] = ()  # rebalances and moves, for as long as the lag lasts
    clean: int = 0  # minutes of this size that are known to be without lag and OOM


def begun(job: JobFacts) -> RateWatch:
    """Of a job that nothing is known of."""
    return RateWatch(size_of(job))


def running_rate(minute: Minute) -> float:
    """What is read while tasks run: what a job *can* process does not fall while it restarts."""
    ran_s = _MINUTE_S - minute.down_s
    return minute.rate * _MINUTE_S / ran_s if ran_s > 0 else 0.0


def seen(watch: RateWatch, job: JobFacts, minute: Minute, basics: Basics) -> RateWatch:
    """The watch with one more minute in it."""
    size = size_of(job)
    if size != watch.size:  # what was measured of the old size says nothing about the new one
        watch = RateWatch(size, minute.at_ms, arrivals=watch.arrivals)
    span = basics.rate_minutes
    rates = (
        (*watch.rates[1 - span :], running_rate(minute)) if span > 1 else (running_rate(minute),)
    )
    # Of tasks that nobody heard of nothing is known, and input that is told too low costs tasks.
    came = minute.arrived if minute.heard >= 1 else None
    arrivals = (*watch.arrivals[1 - KEPT_MINUTES :], came)
    rate = sum(rates) / len(rates)
    lagged_s = time_lagged(minute.lag, rate)
    used = minute.memory_mb
    oom = minute.oom or (used is not None and used > basics.memory_soft * job.memory_mb)
    known = lagged_s is not None and minute.heard >= 1
    well = known and not oom and (lagged_s or 0.0) <= job.slo_s
    bad = oom or (lagged_s is not None and lagged_s > job.slo_s)
    return RateWatch(
        size,
        watch.changed_ms,
        minute.lag,
        lagged_s,
        rate,
        mean(arrivals[-span:]),
        rates,
        arrivals,
        tuple([part.rate for part in minute.parts]),
        tuple([(part.task, part.lag_s) for part in minute.parts]),
        used,
        max((one for one in (watch.memory_most, used) if one is not None), default=None),
        watch.oom or oom,
        () if well else watch.tried,
        0 if bad else watch.clean + well,  # an unknown minute neither counts nor starts anew
    )


def acted(watch: RateWatch, now_ms: int, action: str) -> RateWatch:
    """Something was asked for; its effect is waited for."""
    tried = (*watch.tried, action) if action in {REBALANCE, MOVE} else watch.tried
    return watch._replace(changed_ms=now_ms, oom=False, tried=tried)


def settled_ms(watch: RateWatch, basics: Basics) -> int:
    """The instant from which the last change no longer disturbs what is measured."""
    if watch.changed_ms is None:
        return 0
    return watch.changed_ms + basics.settle_minutes * MINUTE_MS


def symptom(watch: RateWatch, job: JobFacts, basics: Basics, now_ms: int) -> str:
    """In the order of Algorithm 2: lag, then OOM, then a day without either."""
    if now_ms < settled_ms(watch, basics):
        return SETTLING
    if watch.lagged_s is not None and watch.lagged_s > job.slo_s:
        return LAG
    if watch.oom:
        return OOM
    return QUIET if watch.clean >= basics.quiet_hours * 60 else ""


def imbalanced(watch: RateWatch, basics: Basics) -> bool:
    """Does the standard deviation of the tasks' rates say so?"""
    parts = spread(watch.task_rates)
    return parts is not None and parts > basics.spread_most


def late_task(watch: RateWatch, job: JobFacts) -> int | None:
    """The one task that breaks the SLO, where all others are known to keep it."""
    if len(watch.task_lags) < 2 or any(lag_s is None for _, lag_s in watch.task_lags):
        return None
    late = [task for task, lag_s in watch.task_lags if lag_s is not None and lag_s > job.slo_s]
    return late[0] if len(late) == 1 else None


def rebalanceable(watch: RateWatch, job: JobFacts) -> bool:
    """Is there a partition to give away? Not where each task has one, nor where nobody knows.

    Partitions are whole: what a rebalance left of the imbalance and the lag, no other one mends.
    """
    spare = job.tasks > 1 and job.partitions is not None and job.partitions > job.tasks
    return spare and REBALANCE not in watch.tried
