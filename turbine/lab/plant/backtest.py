"""Drives one job through a trace under a policy, and keeps the score. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from components.auto_scaler.core.policy import ScalingPolicy
from components.auto_scaler.core.verdict import ScalingVerdict
from projections.scaling.actions import (
    MOVE,
    REBALANCE,
    JobSize,
)
from projections.scaling.seen import DAY_MS, GB_OF_A_CORE, MINUTE_MS, UNKNOWN, JobFacts, Profile
from turbine.lab.kernel import Streams
from turbine.lab.plant.job_model import Nature
from turbine.lab.plant.plant import MINUTE_S, Plant

SLOT_MS = 900_000
SLOT_MINUTES = SLOT_MS // MINUTE_MS
DAY_MINUTES = DAY_MS // MINUTE_MS
HISTORY_DAYS = 14
ACT_MINUTES = 1
"""A decision falls at the end of a minute, and is carried out with the next: what passes until then
is part of the restart."""
REGRET_MINUTES = 60


def cost(core_hours: float, gb_hours: float) -> float:
    """The cost of cores and memory, in core-hours."""
    return core_hours + gb_hours / GB_OF_A_CORE


class Action(NamedTuple):
    """One action that a policy took."""

    minute: int
    before: int  # tasks
    after: int
    verdict: ScalingVerdict


@dataclass(slots=True)
class BacktestRun:
    """A trace under a policy, minute by minute."""

    slo_s: float
    rates: Sequence[float]
    lag_s: list[float] = field(default_factory=list)
    tasks: list[int] = field(default_factory=list)
    sizes: list[JobSize] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    begin: int = 0  # the first minute that counts
    spent: tuple[float, float, float] = (0.0, 0.0, 0.0)  # in all, as the plant has it


class Score(NamedTuple):
    """Of a run, or of some minutes of it; less is better in all of them but the last."""

    violation_s: float
    lag_seconds: float  # mean age of the oldest record, times seconds
    lag_s_p99: float
    task_hours: float
    cpu_hours: float
    gb_hours: float
    rescales: int
    wrong_ways: int
    converge_minutes: float
    explained: float

    @property
    def cost(self) -> float:
        """The cost of the run, in core-hours."""
        return cost(self.cpu_hours, self.gb_hours)


@dataclass(frozen=True, slots=True)
class Case:
    """What is played: a trace, and the job that reads it."""

    rates: Sequence[float]  # records a second of each minute
    nature: Nature
    job: JobFacts
    history: Sequence[float] = ()  # the minutes before, oldest first
    seed: int = 0
    begin: int = 0  # the first minute that the policy sees: before it, the job stands as it is

    @property
    def split(self) -> int:
        """The first minute of the last third of those that are scored."""
        return self.begin + 2 * (len(self.rates) - self.begin) // 3


def back_test(case: Case, policy: ScalingPolicy[Any]) -> BacktestRun:
    """The whole trace; the policy sees it from the case's first minute on."""
    job = case.job
    size = JobSize(job.tasks, job.threads, job.cpu_cores, job.memory_mb)
    plant = Plant(case.nature, size, Streams(case.seed).fork("plant"))
    run = BacktestRun(job.slo_s, case.rates, begin=case.begin)
    memory = policy.begin(job)
    past = PastDays(case.history)
    due: tuple[int, ScalingVerdict] | None = None
    every = max(1, policy.every_ms // MINUTE_MS)
    for minute, rate in enumerate(case.rates):
        if due is not None and minute >= due[0]:
            _carry_out(plant, due[1])
            due = None
        told = plant.step(rate)
        run.lag_s.append(plant.lag_s)
        run.tasks.append(plant.size.tasks)
        run.sizes.append(plant.size)
        past.add(rate)
        if minute < case.begin:
            continue
        job = plant.job(job.name, job)
        if told is not None:
            memory = policy.learn(memory, job, told)
        if minute % every or due is not None:  # nobody decides while a change is on its way
            continue
        memory, verdict = policy.decide(memory, job, past.profile, plant.minute * MINUTE_MS)
        if _changes(plant.size, verdict):
            due = (minute + ACT_MINUTES, verdict)
            after = verdict.size.tasks if verdict.size is not None else job.tasks
            run.actions.append(Action(minute, job.tasks, after, verdict))
    run.spent = (plant.spent[0], plant.spent[1], plant.spent[2])
    return run


def _changes(size: JobSize, verdict: ScalingVerdict) -> bool:
    """Who asks for what a job has already changes nothing: no version of a config comes of it."""
    if verdict.size is None:
        return verdict.action in {MOVE, REBALANCE}
    return verdict.size != size


def _carry_out(plant: Plant, verdict: ScalingVerdict) -> None:
    if verdict.size is not None:
        plant.resize(verdict.size)
    elif verdict.action == MOVE:
        plant.move(verdict.task or 0)
    else:
        plant.rebalance()


class PastDays:
    """What came in on the days before, as profiles have it."""

    def __init__(self, history: Sequence[float]) -> None:
        self._minutes: list[float] = list(history[-HISTORY_DAYS * DAY_MINUTES :])
        self._offset = -len(self._minutes)  # of the first one, to minute 0
        self.profile = UNKNOWN
        self._renew()

    def add(self, rate: float) -> None:
        """One more minute; profiles are made anew each day."""
        self._minutes.append(rate)
        if (len(self._minutes) + self._offset) % DAY_MINUTES == 0:
            self._renew()

    def _renew(self) -> None:
        whole = len(self._minutes) // DAY_MINUTES
        if whole == 0:
            return
        days = min(whole, HISTORY_DAYS)
        recent = np.array(self._minutes[-days * DAY_MINUTES :])
        slots = recent.reshape(days, DAY_MINUTES // SLOT_MINUTES, SLOT_MINUTES)
        self.profile = Profile(
            SLOT_MS,
            tuple(slots.mean(axis=(0, 2)).tolist()),
            tuple(slots.max(axis=(0, 2)).tolist()),
            days,
        )


def score(run: BacktestRun, first: int | None = None, last: int | None = None) -> Score:
    """Of the minutes from `first` to `last`; by default of all that count."""
    first = run.begin if first is None else first
    last = len(run.lag_s) if last is None else last
    lags = np.array(run.lag_s[first:last])
    sizes = run.sizes[first:last]
    actions = [one for one in run.actions if first <= one.minute < last]
    return Score(
        violation_s=float((lags > run.slo_s).sum()) * MINUTE_S,
        lag_seconds=float(lags.sum()) * MINUTE_S,
        lag_s_p99=float(np.percentile(lags, 99)) if len(lags) else 0.0,
        task_hours=sum(run.tasks[first:last]) / 60,
        cpu_hours=sum(one.tasks * one.cpu_cores for one in sizes) / 60,
        gb_hours=sum(one.tasks * one.memory_mb for one in sizes) / 1024 / 60,
        rescales=sum(1 for one in actions if one.verdict.size is not None),
        wrong_ways=sum(1 for _ in _wrong(run, actions)),
        converge_minutes=_converge(run, first, last),
        explained=_share(actions),
    )


def _wrong(run: BacktestRun, actions: Sequence[Action]) -> Iterator[Action]:
    """Actions that the next one takes back within an hour, by threads: fewer tasks that are larger
    may well be more."""
    grown = [(one, growth) for one in actions if (growth := _growth(run, one)) != 0]
    for (one, growth), (following, other) in pairwise(grown):
        if following.minute - one.minute <= REGRET_MINUTES and (growth > 0) != (other > 0):
            yield one


def _growth(run: BacktestRun, one: Action) -> int:
    """Threads that an action adds."""
    before, after = run.sizes[one.minute], one.verdict.size
    return 0 if after is None else after.tasks * after.threads - before.tasks * before.threads


def _converge(run: BacktestRun, first: int, last: int) -> float:
    """The longest time from the first minute beyond the limit to one within it."""
    longest = since = 0
    for lag_s in run.lag_s[first:last]:
        since = since + 1 if lag_s > run.slo_s else 0
        longest = max(longest, since)
    return float(longest)


def _share(actions: Sequence[Action]) -> float:
    told = sum(1 for one in actions if one.verdict.explanation and one.verdict.symptom)
    return told / len(actions) if actions else 1.0
