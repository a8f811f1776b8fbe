"""What a planner who knows the future would have spent: a bound from below, by dynamic programming.

Over minutes, sizes and backlog. Whatever is not followed makes the plan cheaper than a real one,
never dearer: backlog is rounded down after each minute and forgotten beyond the last step, whoever
has time reads for whoever has not, the first size is free, and of what goes wrong only a dependency
that does not answer is known. A violation that can be avoided is avoided at any cost. So no plan
with as few seconds of violation, of tasks with the memory that they use, costs less.
"""

from __future__ import annotations

from math import ceil, log2
from typing import Any, NamedTuple

import numpy as np

from turbine.lab.kernel import Streams
from turbine.lab.plant.backtest import Case, cost
from turbine.lab.plant.job_model import Nature
from turbine.lab.plant.plant import LEAST_S, MINUTE_S, luck

STEPS = 800
"""Of backlog, up to twice what may be left at the limit."""
VERTICAL = 0.2
"""Of a container: a task is never larger (Turbine V-E)."""
Vector = Any
"""Of numbers."""


class Optimum(NamedTuple):
    """The least that the job would have cost."""

    cost: float
    violation_s: float


class Choice(NamedTuple):
    """A size that a planner would think of: none that reads as much costs less."""

    cost: float  # of a minute
    room: float  # records that it reads in a minute


def choices(case: Case) -> list[Choice]:
    """The sizes that a job may have, the cheapest first."""
    job, nature = case.job, case.nature
    each = job.cpu_cores / job.threads
    most = max(job.threads, int(job.container_cores * VERTICAL / each + 1e-9))
    found = list[Choice]()
    for tasks in range(1, max(job.tasks, job.tasks_max) + 1):
        used_gb = (tasks * nature.base_mb + nature.state_mb) / 1024
        for threads in range(1, most + 1):
            hours = cost(tasks * threads * each, used_gb) / 60
            found.append(Choice(hours, nature.capacity(tasks, threads) * MINUTE_S))
    found.sort(key=lambda one: (one.cost, -one.room))
    best, kept = 0.0, list[Choice]()
    for one in found:
        if one.room > best * (1 + 1e-9):
            kept.append(one)
            best = one.room
    return kept


def optimum(case: Case, steps: int = STEPS) -> Optimum:
    """Of the minutes from the case's first on, with nothing left of those before. Fewer steps are
    faster, and a bound that is further below."""
    came = np.concatenate(([0.0], np.cumsum(np.array(case.rates) * MINUTE_S)))
    unseen = LEAST_S * case.nature.per_thread * case.nature.partitions
    allowed = _allowed(came, case.job.slo_s)[case.begin + 1 :] + unseen
    records = np.diff(came)[case.begin :]
    if not len(records):
        return Optimum(0.0, 0.0)
    step = max(1e-9, 2.0 * float(allowed.max()) / steps)
    known = _known(case)[case.begin :]
    # A size that reads up all that may be there in any minute is as good as a larger one.
    most = (float(records.max()) + step * (steps + 1)) / float(known[:, 0].min())
    sizes = choices(case)
    sizes = [one for at, one in enumerate(sizes) if at == 0 or sizes[at - 1].room < most]
    # Of a minute of violation, in core-hours: more than any plan costs, so no saving is worth one.
    violation = 2.0 ** ceil(log2(1.0 + sizes[-1].cost * len(records)))
    stays = max(0.0, 1.0 - case.nature.restart_s / MINUTE_S)
    plans = _Plans(sizes, steps + 1, stays, violation)
    for came_in, limit, (share, cap) in zip(records / step, allowed / step, known, strict=True):
        plans.pass_minute(came_in, int(limit + 1e-6), share / step, cap / step)
    late = plans.least // violation
    return Optimum(plans.least - late * violation, late * MINUTE_S)


class _Plans:
    """The least that each size and backlog has cost: that much backlog, or less.

    Less is never worse, so costs fall along a row. On even steps to round down is to shift a row by
    whole steps, and all rows at once are windows on rows with room at both sides: before the first
    step nothing is, beyond the last one all cost the same.
    """

    def __init__(self, sizes: list[Choice], width: int, stays: float, violation: float) -> None:
        count = len(sizes)
        self._width = width
        self._room = np.array([one.room for one in sizes])
        self._costs = np.array([one.cost for one in sizes])[:, None]
        self._stays = stays  # of a minute after a restart
        self._violation = violation  # of a minute
        self._rows = np.arange(count)
        self._wide = np.full((count, 3 * width), np.inf)
        self._wide[:, width:] = 0.0
        self._one = np.full((1, 3 * width), np.inf)  # of whatever size was cheapest
        self._all = np.lib.stride_tricks.sliding_window_view(self._wide, width, axis=1)
        self._best = np.lib.stride_tricks.sliding_window_view(self._one, width, axis=1)

    @property
    def least(self) -> float:
        """The least cost of all plans."""
        return float(self._wide[:, -1].min())

    def pass_minute(self, came: float, limit: int, share: float, cap: float) -> None:
        """So many steps come in; each size reads a share of its room, and not beyond the cap."""
        width = self._width
        self._one[0, width:] = self._wide[:, width:].min(axis=0)
        kept = self._all[self._rows, self._shift(np.minimum(self._room * share, cap) - came)]
        kept[:, -1] = self._wide[:, -1]
        if self._stays:
            up = np.minimum(self._room * share, cap) * self._stays
            moved = self._best[0, self._shift(up - came)]
        else:
            moved = self._best[0, self._shift(np.array([-came]))]
        moved[:, -1] = self._one[0, -1]
        np.minimum(kept, moved, out=kept)
        kept += self._costs
        if limit + 1 < width:
            late = kept[:, limit + 1 :]
            late += self._violation
            np.minimum(late, kept[:, limit : limit + 1], out=late)
        self._wide[:, width : 2 * width] = kept
        self._wide[:, 2 * width :] = kept[:, -1:]

    def _shift(self, more: Vector) -> Vector:
        """Where the window of a row begins that reads so many steps more than came in."""
        width = self._width
        return np.clip(np.ceil(more - 1e-9), -width, width).astype(np.int64) + width


def _known(case: Case) -> Vector:
    """Of each minute: what threads read, in parts of what they usually do, and what can be read in
    all. Chance is drawn as the plant draws it."""
    rng = Streams(case.seed).fork("plant")
    shares = [luck(case.nature, rng, at) for at, _ in enumerate(case.rates)]
    return np.array([(one, _cap(case.nature, at)) for at, one in enumerate(shares)])


def _cap(nature: Nature, minute: int) -> float:
    limits = [one for one in nature.faults if one.kind == "dependency" and one.holds(minute)]
    return min((one.amount * MINUTE_S for one in limits), default=np.inf)


def _allowed(came: Vector, slo_s: float) -> Vector:
    """Records that may be left at the end of each minute: those that came within the limit."""
    at = np.arange(len(came)) - slo_s / MINUTE_S
    return came - np.interp(at, np.arange(len(came)), came, left=0.0)
