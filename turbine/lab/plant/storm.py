"""A storm: all jobs get more at once, as when another datacenter's traffic is moved. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import exp
from typing import NamedTuple

from projections.scaling.seen import JobFacts
from turbine.lab.kernel import Streams
from turbine.lab.plant.backtest import DAY_MINUTES, BacktestRun, Case
from turbine.lab.plant.cases import GIVEN_MB, PARTITIONS, PER_THREAD, TASKS_MAX, USED_MB
from turbine.lab.plant.job_model import Nature

JOBS = 1_000
MORE = 1.16
"""Times as much: what the tiers that took over got in the paper's storm drill (VI-B)."""
CALM_MINUTES, STORM_MINUTES = 360, 360
SPREAD = 1.0
"""Of jobs' sizes, on logarithms: most are small, and few are forty times as large."""
USUAL_THREADS = 3.0
JITTER, KEEPS = 0.04, 0.7
"""Of a job's rate from minute to minute, and how much of it stays for the next one."""
MARGIN = 1.5
"""Of what somebody gave a job, over what it usually needs."""


def storm_case(number: int, seed: int = 0) -> Case:
    """One of the jobs; some hours of calm, then the storm."""
    chance = Streams(seed).fork(f"storm/{number}")
    usual = USUAL_THREADS * PER_THREAD * exp(chance.gauss(0.0, SPREAD))
    usual = min(usual, 0.5 * TASKS_MAX * PER_THREAD)
    rates, off = list[float](), 0.0
    for minute in range(CALM_MINUTES + STORM_MINUTES):
        off = KEEPS * off + chance.gauss(0.0, JITTER * (1 - KEEPS**2) ** 0.5)
        more = MORE if minute >= CALM_MINUTES else 1.0
        rates.append(max(0.0, usual * more * (1 + off)))
    tasks = max(1, -(-int(MARGIN * usual) // int(PER_THREAD)))
    name = f"storm-{number:04d}"
    job = JobFacts(
        name,
        min(tasks, TASKS_MAX),
        memory_mb=GIVEN_MB,
        partitions=PARTITIONS,
        tasks_max=TASKS_MAX,
    )
    nature = Nature(PER_THREAD, PARTITIONS, noise=0.02, base_mb=USED_MB)
    return Case(tuple(rates), nature, job, (usual,) * (3 * DAY_MINUTES), seed=seed * JOBS + number)


class Weathered(NamedTuple):
    """How one job came through; minutes late of each hour of the storm."""

    before: tuple[float, float]  # tasks and cores, of the last calm hour
    after: tuple[float, float]  # of the storm's last one
    late: tuple[int, ...]  # minutes of the storm, beyond the limit


class Storm(NamedTuple):
    """How all jobs came through a storm."""

    tasks_percent: float  # more than before
    cpu_percent: float
    jobs_in_slo_percent: float  # of jobs, the mean of all minutes
    jobs_in_slo_percent_worst: float  # of jobs, in the worst minute


def weathered(run: BacktestRun) -> Weathered:
    """Of a run of one of the storm's cases."""
    calm, end = _held(run, CALM_MINUTES), _held(run, CALM_MINUTES + STORM_MINUTES)
    late = enumerate(run.lag_s[CALM_MINUTES:])
    return Weathered(calm, end, tuple(at for at, lag_s in late if lag_s > run.slo_s))


def _held(run: BacktestRun, before: int) -> tuple[float, float]:
    sizes = run.sizes[before - 60 : before]
    tasks = sum(one.tasks for one in sizes) / 60
    return tasks, sum(one.tasks * one.cpu_cores for one in sizes) / 60


def storm(all_jobs: Iterable[Weathered]) -> Storm:
    """Of all of them together."""
    jobs = list(all_jobs)
    tasks, cores = (
        100 * (sum(one.after[at] for one in jobs) / sum(one.before[at] for one in jobs) - 1)
        for at in (0, 1)
    )
    late = [0] * STORM_MINUTES
    for minute in _late(jobs):
        late[minute] += 1
    in_slo = [100 * (1 - count / len(jobs)) for count in late]
    return Storm(tasks, cores, sum(in_slo) / len(in_slo), min(in_slo))


def _late(jobs: Iterable[Weathered]) -> Iterator[int]:
    for one in jobs:
        yield from one.late
