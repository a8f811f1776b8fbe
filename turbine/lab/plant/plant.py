"""A job as a flow of records through its partitions, minute by minute: what policies are tried on.

Each partition is a queue; a task reads all of its own, in turn, as fast as it can. So skew, a slow
task, and more tasks than partitions show in the lag as they do in a real job. Chance comes from a
seeded stream: the same seed is the same job.
"""

from __future__ import annotations

import random  # noqa: TID251 - the type of a seeded stream; nothing is drawn from the module
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from math import ceil, inf
from typing import Any

import numpy as np

from projections.scaling.actions import JobSize
from projections.scaling.seen import MINUTE_MS, JobFacts, Minute, Part
from turbine.lab.plant.job_model import Fault, Nature

MINUTE_S = 60.0
LEAST_S = 1e-3
"""Of one thread's work, for each partition: less is what sums of floats leave, and nobody waits for
it. In records it would hide minutes of a trace that has few."""
ROUNDED = 1e-9
"""Of all that came: what sums of floats may be off by. Without it the last record before hours in
which nothing came would count as not read, and those hours as its age."""
Vector = Any
"""Of numbers, one for each partition or task."""


class Plant:
    """One job, from minute 0."""

    def __init__(self, nature: Nature, size: JobSize, rng: random.Random) -> None:
        self.nature, self.size = nature, size
        self.minute = 0
        self._rng = rng
        count = nature.partitions
        weights = np.array(nature.weights or (1.0,) * count)
        self._weights: Vector = weights / weights.sum()
        self._lag: Vector = np.zeros(count)
        self._read: Vector = np.zeros(count)  # since minute 0
        self._newest: Vector = np.zeros(count)  # in the last minute
        self._came: list[float] = [0.0]  # all records by the end of each minute, by usual shares
        self._extra: dict[int, list[float]] = {}  # of a partition that is or was hot, its own
        self._owner: Vector = np.arange(count) % size.tasks
        self._down_s = 0.0  # left of a restart
        self._moving: dict[int, float] = {}  # seconds that a task does not run
        self._cured: set[Fault] = set()  # stragglers whose tasks were moved
        self._oom = 0.0
        self._told: list[Minute] = []
        self.spent = [0.0, 0.0, 0.0]  # hours of tasks, of cores, and of GB
        self._least = LEAST_S * nature.per_thread  # records
        self._keeps = bool(nature.faults)  # what is told, and looks at faults at all

    # --- what is done to it

    def resize(self, size: JobSize) -> None:
        """Another size: no task runs until all have started again."""
        self.size = size
        self._owner = np.arange(self.nature.partitions) % size.tasks
        self._down_s = self.nature.restart_s
        self._moving.clear()

    def move(self, task: int) -> None:
        """One task starts again on another machine; one that turns slow later has to move again."""
        self._cured |= {fault for fault in self._now("straggler") if fault.at == task}
        self._moving[task] = self.nature.move_s

    def rebalance(self) -> None:
        """Partitions go to tasks by what they get: the largest first, each to the lightest."""
        loads, owner = np.zeros(self.size.tasks), np.zeros(self.nature.partitions, dtype=int)
        shares = self._shares()
        for at in np.argsort(-shares, kind="stable"):
            owner[at] = int(loads.argmin())
            loads[owner[at]] += shares[at]
        self._owner = owner
        self._down_s = self.nature.restart_s
        self._moving.clear()

    def assign(self, owner: Sequence[int]) -> None:
        """Which task reads which partition, where they are not dealt round."""
        self._owner = np.array([min(one, self.size.tasks - 1) for one in owner])

    def owe(self, records: float, age_s: float) -> None:
        """So much was not read when it begins; it came evenly, the oldest of it so long ago."""
        minutes = max(1, ceil(age_s / MINUTE_S))
        self._came = [records * at / minutes for at in range(minutes + 1)]
        self._lag = self._weights * records

    def down(self, seconds: float) -> None:
        """No task runs for so long."""
        self._down_s = seconds

    def stop(self) -> None:
        """No task runs until the size is set again."""
        self.down(inf)

    # --- a minute

    def step(self, rate: float) -> Minute | None:
        """What was reported of the next minute, in which so many records a second came in."""
        nature, size, tasks = self.nature, self.size, self.size.tasks
        before = float(self._lag.sum())
        self._come(rate)
        up_s = MINUTE_S - min(MINUTE_S, self._down_s)
        self._down_s -= MINUTE_S - up_s
        room = self._room(tasks, up_s)
        able = self._able()
        wanted = np.bincount(self._owner, able, tasks)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(wanted > 0, np.minimum(1.0, room / wanted), 0.0)
        read = able * share[self._owner]
        self._take(read)
        self._spend()
        by_task = np.bincount(self._owner, read, tasks)
        busy = self._busy(by_task, room, up_s)
        lag, total = float(self._lag.sum()), float(by_task.sum())
        memory_mb, oom = self._memory(by_task)
        told = Minute(
            at_ms=(self.minute + 1) * MINUTE_MS,
            tasks=tasks,
            arrived=max(0.0, total + lag - before) / MINUTE_S,
            rate=total / MINUTE_S,
            lag=lag,
            lag_s=self.lag_s,
            busy=float(busy.mean()),
            busy_most=float(busy.max()),
            memory_mb=memory_mb,
            oom=oom,
            down_s=MINUTE_S - up_s,
            bytes_per_record=nature.bytes_per_record,
            stuck=self._stuck(read),
            blocked_ms=self._blocked_ms(able, read),
            parts=tuple(self._parts(by_task, busy, memory_mb)) if size.tasks > 1 else (),
        )
        said = self._reported(told)
        self.minute += 1
        return said

    def _take(self, read: Vector) -> None:
        """Records of a minute are read."""
        self._lag = self._lag - read
        self._read = self._read + read
        self._newest = read

    def _come(self, rate: float) -> None:
        """Records of a minute come to their partitions."""
        records = rate * MINUTE_S
        for fault in self._now("hot"):
            if fault.at not in self._extra:
                weight = float(self._weights[fault.at])
                self._extra[fault.at] = [weight * so_far for so_far in self._came]
        came = records * self._shares()
        self._came.append(self._came[-1] + records)
        for at, own in self._extra.items():
            own.append(own[-1] + float(came[at]))
        self._lag = self._lag + came

    def _able(self) -> Vector:
        """What could be read of each partition."""
        able = self._lag
        for fault in self._now("poison"):
            able = able.copy()
            able[fault.at] = 0.0
        return able

    def _shares(self) -> Vector:
        """Of each partition; all together more than one while one of them is hot."""
        shares = self._weights
        for fault in self._now("hot"):
            shares = shares.copy()
            shares[fault.at] *= fault.amount
        return shares

    def _room(self, tasks: int, up_s: float) -> Vector:
        """Records that each task can read in this minute."""
        nature = self.nature
        each = nature.capacity(tasks, self.size.threads) / tasks
        each *= luck(nature, self._rng, self.minute)
        room = np.full(tasks, each * up_s)
        for task, left_s in list(self._moving.items()):
            lost_s = min(MINUTE_S, left_s)
            if task < tasks:
                room[task] *= 1.0 - lost_s / MINUTE_S
            self._moving[task] = left_s - lost_s
            if self._moving[task] <= 0:
                del self._moving[task]
        for fault in self._now("straggler"):
            if fault.at < tasks and fault not in self._cured:
                room[fault.at] *= fault.amount
        for fault in self._now("dependency"):
            room = room * min(1.0, fault.amount * up_s / max(1e-9, float(room.sum())))
        if self._oom:
            room = room * max(0.0, 1.0 - self._oom)
        return room

    def _busy(self, by_task: Vector, room: Vector, up_s: float) -> Vector:
        if up_s <= 0:
            return np.zeros(len(by_task))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(room > 0, np.minimum(1.0, by_task / room), 1.0)

    def _memory(self, by_task: Vector) -> tuple[float, bool]:
        """Of the task that uses most; one that is beyond its limit ends, and starts again."""
        nature, tasks = self.nature, self.size.tasks
        grown = sum(
            fault.amount * (min(self.minute + 1, fault.last) - fault.first)
            for fault in nature.faults
            if fault.kind == "keys" and self.minute >= fault.first
        )
        most = nature.base_mb + (nature.state_mb + grown) / tasks
        most += nature.mb_per_rate * float(by_task.max()) / MINUTE_S
        oom = most > self.size.memory_mb
        self._oom = min(1.0, nature.restart_s / MINUTE_S) if oom else 0.0
        return min(most, float(self.size.memory_mb)), oom

    def _stuck(self, read: Vector) -> int:
        if not self._keeps or not read.any():
            return 0
        return int(((self._lag >= self._least) & (read <= 0)).sum())

    def _blocked_ms(self, able: Vector, read: Vector) -> float:
        """Of a second, for which who fills bounded queues would be held up: the share of what could
        have been read that was not."""
        wanted, left = float(able.sum()), float((able - read).sum())
        return 1_000.0 * left / wanted if left >= self._least * len(able) else 0.0

    def _parts(self, by_task: Vector, busy: Vector, memory_mb: float) -> Iterator[Part]:
        lags = np.bincount(self._owner, self._lag, len(by_task)).tolist()
        rates, shares = (by_task / MINUTE_S).tolist(), busy.tolist()
        for task, (rate, share, lag) in enumerate(zip(rates, shares, lags, strict=True)):
            behind_s = lag / rate if rate > 0 else (0.0 if lag < self._least else None)
            yield Part(task, rate, share, lag, behind_s, memory_mb)

    def _spend(self) -> None:
        size, spent = self.size, self.spent
        spent[0] += size.tasks / 60
        spent[1] += size.tasks * size.cpu_cores / 60
        spent[2] += size.tasks * size.memory_mb / 1024 / 60

    # --- how it stands

    @property
    def lag(self) -> float:
        """Records that are not read yet."""
        return float(self._lag.sum())

    def shares(self) -> list[tuple[int, float, float]]:
        """Of each partition its task, the records that are left, and those a second that were read
        in the last minute."""
        owners, lags, reads = self._owner.tolist(), self._lag.tolist(), self._newest.tolist()
        return [
            (task, lag, read / MINUTE_S)
            for task, lag, read in zip(owners, lags, reads, strict=True)
        ]

    @property
    def lag_s(self) -> float:
        """Age of the oldest record that is not read, of all partitions."""
        if float(self._lag.max()) < self._least:
            return 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            progress = np.where(self._lag >= self._least, self._read / self._weights, np.inf)
        for at in self._extra:
            progress[at] = np.inf
        ages = [_age_s(self._came, float(progress.min()))]
        for at, own in self._extra.items():
            if self._lag[at] >= self._least:
                ages.append(_age_s(own, float(self._read[at])))
        return max(ages)

    def _now(self, kind: str) -> Iterator[Fault]:
        if self._keeps:
            for fault in self.nature.faults:
                if fault.kind == kind and fault.holds(self.minute):
                    yield fault

    # --- what is told of it

    def _reported(self, told: Minute) -> Minute | None:
        if not self._keeps:
            return told
        self._told.append(told)
        if any(self._now("vanished")):
            return None
        for fault in self._now("frozen"):
            return self._told[max(0, fault.first - 1)]._replace(at_ms=told.at_ms)
        for fault in self._now("late"):
            whence = self.minute - round(fault.amount)
            return self._told[whence] if whence >= fault.first else None  # nothing twice
        return told

    def job(self, name: str, job: JobFacts) -> JobFacts:
        """What stands about it, at its size of the moment."""
        size = self.size
        return job._replace(
            name=name,
            tasks=size.tasks,
            threads=size.threads,
            cpu_cores=size.cpu_cores,
            memory_mb=size.memory_mb,
        )


def luck(nature: Nature, rng: random.Random, minute: int) -> float:
    """What a thread reads in a minute, in parts of what it usually does: whatever the job's size,
    a draw a minute, so that who knows the seed knows them all. What was measured is not drawn."""
    if minute < len(nature.lucks):
        return nature.lucks[minute]
    return max(0.1, rng.gauss(1.0, nature.noise)) if nature.noise else 1.0


def _age_s(came: list[float], read: float) -> float:
    """How long before the end of the last minute so many records had come, in all."""
    read += ROUNDED * came[-1]
    if read >= came[-1]:
        return 0.0
    at = bisect_right(came, read)
    within = (read - came[at - 1]) / (came[at] - came[at - 1])
    return (len(came) - at - within) * MINUTE_S
