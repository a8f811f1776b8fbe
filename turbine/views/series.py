"""What each job did minute by minute for a day, and hour by hour for two weeks: arrays of numbers.

A point is what the job's tasks had reported by the end of that minute. Unknown is never 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from events.records import TaskLoadReported
from turbine.lag import FRESH_MS
from turbine.views.notes import Loads

MINUTE_MS = 60_000
HOUR = 60
FINE_HOURS = 24
COARSE_HOURS = 14 * 24
MEASURES = ("rate_in", "rate_out", "lag_seconds", "lag_records", "tasks", "cores")
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
        self._touched.add(job)

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
        """Means over equal parts of a span of time; None where nothing is known."""
        width = max(1, end_ms - begin_ms)
        sums = np.zeros((len(MEASURES), buckets))
        counts = np.zeros((len(MEASURES), buckets))
        number = self.jobs.get(job)
        for hour, block in sorted(dict(self._blocks).items()):
            if number is None or number >= block.shape[1]:
                continue
            step = HOUR * MINUTE_MS // block.shape[2]
            times = hour * HOUR * MINUTE_MS + step * np.arange(block.shape[2], dtype=np.int64)
            # A point of an hour stands for all of it.
            for at_ms, column in zip(times, block[:, number].T, strict=True):
                low = max(int(at_ms), begin_ms)
                high = min(int(at_ms) + step, end_ms)
                if low >= high:
                    continue
                first = (low - begin_ms) * buckets // width
                last = (high - 1 - begin_ms) * buckets // width
                known = ~np.isnan(column)
                sums[:, first : last + 1] += np.where(known, column, 0)[:, None]
                counts[:, first : last + 1] += known[:, None]
        told: dict[str, list[float | None] | list[int]] = {
            "t_ms": [begin_ms + width * i // buckets for i in range(buckets)]
        }
        for at, name in enumerate(MEASURES):
            told[name] = [
                round(float(total / count), 3) if count else None
                for total, count in zip(sums[at], counts[at], strict=True)
            ]
        return told

    @property
    def bytes(self) -> int:
        """Of all blocks."""
        return sum(block.nbytes for block in self._blocks.values())

    # --- keeping

    def take_new(self) -> Any:
        """The points since it was asked last, with the names of new jobs."""
        names, self._named = list(self.jobs)[self._named :], len(self.jobs)
        heads = np.array([(number, minute) for number, minute, _ in self._new], np.uint32)
        values = np.array([point for _, _, point in self._new], np.float32)
        self._new = []
        return names, heads.tobytes(), values.tobytes()

    def put_back(self, kept: Iterable[Any]) -> None:
        """What `take_new` gave, one after the other."""
        for names, heads, values in kept:
            for name in names:
                self.jobs.setdefault(name, len(self.jobs))
            points = np.frombuffer(values, np.float32).reshape(-1, len(MEASURES))
            spots = np.frombuffer(heads, np.uint32).reshape(-1, 2)
            for (number, minute), point in zip(spots.tolist(), points, strict=True):
                self._put(number, minute, point)  # type: ignore[arg-type]  # an array is a row of numbers
        self._named = len(self.jobs)


def _mean(block: Block) -> Block:
    """Of all that is known of an hour."""
    known = ~np.isnan(block)
    counts = known.sum(axis=2, keepdims=True)
    sums = np.where(known, block, 0).sum(axis=2, keepdims=True)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan).astype(np.float32)
