"""What each job did minute by minute for a day, and hour by hour for two weeks: arrays of numbers.

A point is what the job's tasks had reported by the end of that minute. Unknown is never 0. A number
of tasks holds from the end of its minute on: it is not shown before what it follows from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from events.generated.records import TaskLoadReported
from turbine.read.state.buckets import HELD_MS, Column, Sums
from turbine.read.state.notes import FRESH_MS, Loads
from turbine.read.state.starts import Starts

MINUTE_MS = 60_000
HOUR = 60
FINE_HOURS = 24
COARSE_HOURS = 14 * 24
MEASURES = ("rate_in", "rate_out", "lag_seconds", "lag_records", "tasks", "cores")
TASKS = MEASURES.index("tasks")
_ROOM = 64  # jobs for which there is room at first

Block = NDArray[np.float32]
"""Of one hour: measures, jobs, minutes. Of one that is long past: one point for all minutes."""


def measured(reports: Iterable[TaskLoadReported]) -> tuple[float, ...]:
    """What tasks did together; a sum over what is not known is not known."""
    some = list(reports)

    def total(name: str) -> float:
        values = [getattr(one, name) for one in some]
        return float("nan") if None in values or not values else float(sum(values))

    lags = [one.lag_ms for one in some]
    known = [lag for lag in lags if lag is not None]
    return (
        total("records_in_per_s"),
        total("records_out_per_s"),
        max(known) / 1000 if known and len(known) == len(lags) else float("nan"),
        total("lag_records"),
        float(len(some)),
        total("cpu_cores"),
    )


class Series:
    """Of all jobs. Written by one thread, read by any."""

    def __init__(self, fine: int = FINE_HOURS, coarse: int = COARSE_HOURS) -> None:
        self._fine, self._coarse = fine, coarse
        self.jobs: dict[str, int] = {}
        self._blocks: dict[int, Block] = {}  # by the hour
        self._newest = -1
        self._pending: dict[str, int] = {}  # of jobs that reported: the minute of the last word
        self._latest: dict[str, int] = {}  # of each job: when it reported last
        self.starts = Starts()
        self._touched: set[str] = set()
        self._new: list[tuple[int, int, tuple[float, ...]]] = []  # points that are not kept yet
        self._named = 0

    def loaded(self, job: str, at_ms: int, before: Loads) -> None:
        """A task reports; if a minute is over with that, it was as was known before."""
        minute, pending = at_ms // MINUTE_MS, self._pending.get(job)
        if pending is not None and minute > pending:
            self._sample(job, pending, before)
        if pending is None or minute > pending:
            self._pending[job] = minute
        self._latest[job] = max(at_ms, self._latest.get(job, 0))
        self._touched.add(job)

    def started(self, at_ms: int) -> None:
        """A task runs again that has run before."""
        self.starts.add(at_ms // MINUTE_MS)

    def settle(self, loads: dict[str, Loads]) -> None:
        """The last minute of each job that reported, as far as it is known by now."""
        for job in self._touched:
            if job in loads:
                self._sample(job, self._pending[job], loads[job])
        self._touched.clear()

    def _sample(self, job: str, minute: int, loads: Loads) -> None:
        if not loads:
            return
        shape = max(rank[0] for rank, _, _ in loads.values())
        since_ms = (minute + 1) * MINUTE_MS - FRESH_MS
        point = measured(
            body for rank, body, at_ms in loads.values() if rank[0] == shape and at_ms >= since_ms
        )
        number = self.jobs.setdefault(job, len(self.jobs))
        self._new.append((number, minute, point))
        self._put(number, minute, point)

    def _put(self, number: int, minute: int, point: tuple[float, ...]) -> None:
        hour = minute // HOUR
        if hour <= self._newest - self._coarse:
            return
        self._advance(hour)
        block = self._room(hour, number)
        at = minute % HOUR if block.shape[2] > 1 else 0
        block[:, number, at] = point

    def _room(self, hour: int, number: int) -> Block:
        block = self._blocks.get(hour)
        points = HOUR if hour > self._newest - self._fine else 1
        if block is None:
            room = max(_ROOM, number + 1, len(self.jobs))
            block = np.full((len(MEASURES), room, points), np.nan, np.float32)
        elif number >= block.shape[1]:
            room = max(number + 1, block.shape[1] * 5 // 4)
            wider = np.full((len(MEASURES), room, block.shape[2]), np.nan, np.float32)
            wider[:, : block.shape[1]] = block
            block = wider
        self._blocks[hour] = block
        return block

    def _advance(self, hour: int) -> None:
        """A new hour: what is older than a day gets one point, what is older than all goes."""
        if hour <= self._newest:
            return
        self._newest = hour
        for old in sorted(self._blocks):
            if old <= hour - self._coarse:
                del self._blocks[old]
            elif old <= hour - self._fine and self._blocks[old].shape[2] > 1:
                self._blocks[old] = _mean(self._blocks[old])

    # --- asking

    def points(
        self, job: str, begin_ms: int, end_ms: int, buckets: int
    ) -> dict[str, list[float | None] | list[int]]:
        """Means over equal parts of a span of time, of tasks what held as the part began; None
        where nothing is known."""
        sums = Sums(begin_ms, end_ms, buckets, len(MEASURES))
        held: list[tuple[int, float]] = []
        for at_ms, step, column in self._columns(job, begin_ms - HELD_MS, end_ms):
            sums.add(at_ms, step, column)
            if not np.isnan(column[TASKS]):
                held.append((at_ms + (step if step == MINUTE_MS else 0), float(column[TASKS])))
        told: dict[str, list[float | None] | list[int]] = {"t_ms": sums.times}
        told |= dict(zip(MEASURES, sums.means(), strict=True))
        latest = self._latest.get(job)
        if held and latest is not None:
            held[-1] = min(held[-1][0], latest), held[-1][1]
        told["tasks"] = sums.held(held)
        return told

    def _columns(self, job: str, begin_ms: int, end_ms: int) -> Iterator[tuple[int, int, Column]]:
        """Each point of a job that lies in the span, with when it begins and how long it is."""
        number = self.jobs.get(job)
        for hour, block in sorted(dict(self._blocks).items()):
            if number is None or number >= block.shape[1]:
                continue
            step = HOUR * MINUTE_MS // block.shape[2]
            for at, column in enumerate(block[:, number].T):
                at_ms = hour * HOUR * MINUTE_MS + at * step
                if at_ms < end_ms and at_ms + step > begin_ms:
                    yield at_ms, step, column

    def together(self, begin_ms: int, end_ms: int) -> Iterator[tuple[int, int, Block]]:
        """All jobs at each minute of a span: when it begins, how long it is, and the measures of
        each. A job that skipped one minute is as it was in the one before: tasks report once a
        minute, and not all of them at its beginning."""
        before: Block | None = None
        for hour, block in sorted(dict(self._blocks).items()):
            step = HOUR * MINUTE_MS // block.shape[2]
            for at in range(block.shape[2]):
                now = block[:, :, at]
                at_ms = hour * HOUR * MINUTE_MS + at * step
                if at_ms < end_ms and at_ms + step > begin_ms:
                    if before is not None and step == MINUTE_MS:
                        yield at_ms, step, _filled(now, before)
                    else:
                        yield at_ms, step, now
                before = now

    def begins_ms(self, job: str | None, begin_ms: int, end_ms: int) -> int | None:
        """When the first is known in a span, of one job or of any."""
        for hour, block in sorted(dict(self._blocks).items()):
            if job is not None and self.jobs.get(job, block.shape[1]) >= block.shape[1]:
                continue
            step = HOUR * MINUTE_MS // block.shape[2]
            tasks = block[TASKS] if job is None else block[TASKS, [self.jobs[job]]]
            for at in np.flatnonzero(~np.isnan(tasks).all(axis=0)).tolist():
                at_ms = hour * HOUR * MINUTE_MS + at * step
                if at_ms + step > begin_ms:
                    return max(at_ms, begin_ms) if at_ms < end_ms else None
        return None

    @property
    def bytes(self) -> int:
        """The memory that all blocks take."""
        return sum(block.nbytes for block in self._blocks.values())

    # --- keeping

    def take_new(self) -> Any:
        """The points since it was asked last, with the names of new jobs."""
        names, self._named = list(self.jobs)[self._named :], len(self.jobs)
        heads = np.array([(number, minute) for number, minute, _ in self._new], np.uint32)
        values = np.array([point for _, _, point in self._new], np.float32)
        self._new = []
        return names, heads.tobytes(), values.tobytes(), self.starts.take_new()

    def put_back(self, kept: Iterable[Any]) -> None:
        """What `take_new` gave, one after the other."""
        for names, heads, values, starts in kept:
            self.starts.put_back(starts)
            for name in names:
                self.jobs.setdefault(name, len(self.jobs))
            known = list(self.jobs)
            points = np.frombuffer(values, np.float32).reshape(-1, len(MEASURES))
            spots = np.frombuffer(heads, np.uint32).reshape(-1, 2)
            for (number, minute), point in zip(spots.tolist(), points, strict=True):
                self._put(number, minute, point)  # type: ignore[arg-type]  # an array is a row of numbers
                self._latest[known[number]] = minute * MINUTE_MS
        self._named = len(self.jobs)


def _filled(now: Block, before: Block) -> Block:
    """Of each job what is known of it now, or else what was known of it before."""
    last = np.full_like(now, np.nan)
    jobs = min(now.shape[1], before.shape[1])
    last[:, :jobs] = before[:, :jobs]
    return np.where(np.isnan(now[TASKS]), last, now)


def _mean(block: Block) -> Block:
    """Of all that is known of an hour."""
    known = ~np.isnan(block)
    counts = known.sum(axis=2, keepdims=True)
    sums = np.where(known, block, 0).sum(axis=2, keepdims=True)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan).astype(np.float32)
