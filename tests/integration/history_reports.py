"""Reports for a history, and what brute force makes of them: one loop after the other, no Spark."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from events.generated.records import Generation, ProfileSlot, TaskLoadReported, WorkloadProfiled
from spark_streaming.history.layout import DAY_MS, day_of
from spark_streaming.history.rows import values_of

MINUTE_MS, SLOT_MS = 60_000, 15 * 60_000
TASKS = {"clicks": 4, "views": 2, "idle": 1}


class Said(NamedTuple):
    """One message: when the log has it, and what it says."""

    at_ms: int
    load: TaskLoadReported

    @property
    def row(self) -> tuple[Any, ...]:
        return values_of(self.load, self.at_ms)

    @property
    def identity(self) -> tuple[Any, ...]:
        one = self.load
        fences = (one.generation.specs, one.generation.shard, one.epoch, one.count)
        return (one.job, one.task, *fences)


def day_of_reports(day_ms: int, draw: random.Random, every_ms: int) -> Iterator[Said]:
    """What all jobs say in a day, with what makes it hard: unknown amounts, minutes with two
    reports or none, a change of shape, the same said twice in a day or again on the next one."""
    first = day_ms // every_ms
    for job, tasks in TASKS.items():
        for task in range(tasks):
            for nth in range(DAY_MS // every_ms):
                at_ms = day_ms + nth * every_ms + draw.randrange(every_ms)
                one = Said(at_ms, _load(job, task, first + nth, draw))
                yield one
                chance = draw.random()
                if chance < 0.03:
                    yield Said(min(at_ms + draw.randrange(90_000), day_ms + DAY_MS - 1), one.load)
                elif chance < 0.05:
                    yield Said(at_ms + DAY_MS // 2, one.load)
                elif chance < 0.1:  # the same minute, another shape or owner
                    shape = Generation(draw.choice((3, 4)), draw.choice((6, 7, 8)))
                    more = _load(job, task, first + nth, draw)
                    yield Said(at_ms, replace(more, generation=shape))


def _load(job: str, task: int, count: int, draw: random.Random) -> TaskLoadReported:
    def maybe(value: Any) -> Any:
        return value if draw.random() < 0.8 and job != "idle" else None

    return TaskLoadReported(
        job=job,
        task=task,
        generation=Generation(3, 7),
        epoch=2,
        count=count,
        window_ms=MINUTE_MS,
        records_in_per_s=0.0 if job == "idle" else draw.uniform(0, 2_000),
        bytes_in_per_s=draw.uniform(0, 1e6),
        records_out_per_s=draw.uniform(0, 10),
        bytes_out_per_s=draw.uniform(0, 10),
        lag_records=maybe(draw.randrange(1_000)),
        lag_ms=maybe(draw.randrange(1_000)),
        cpu_cores=maybe(draw.uniform(0, 4)),
        memory_bytes=maybe(draw.randrange(1 << 30)),
        oom=draw.random() < 0.01,
        container=f"c{task}",
        busy_share=maybe(draw.random()),
    )


def _in_order(one: Said) -> list[tuple[bool, Any]]:
    """By time; and where two that are one report do not say the same, by what they say."""
    return [(value is not None, value) for value in one.row]


def once_a_day(said: Iterable[Said]) -> set[tuple[Any, ...]]:
    """The rows of compacted days: each report at its first time of the day."""
    first: dict[tuple[Any, ...], Said] = {}
    for one in sorted(said, key=_in_order):
        first.setdefault((day_of(one.at_ms), one.identity), one)
    return {one.row for one in first.values()}


def profiled(said: Iterable[Said], from_ms: int, to_ms: int) -> dict[str, WorkloadProfiled]:
    """What the profile of each job has to be; `source` is left empty."""
    # A report counts at its first time in the days that the span touches.
    begin = from_ms // DAY_MS * DAY_MS
    end = -(-to_ms // DAY_MS) * DAY_MS
    first: dict[tuple[Any, ...], Said] = {}
    for one in sorted(said, key=_in_order):
        if begin <= one.at_ms < end:
            first.setdefault(one.identity, one)
    minutes = defaultdict[tuple[str, int], list[Said]](list)
    for one in first.values():
        minutes[one.load.job, one.at_ms // MINUTE_MS].append(one)
    slots = defaultdict[tuple[str, int, int], list[dict[str, int | None]]](list)
    for (job, minute), some in sorted(minutes.items()):
        at_ms = minute * MINUTE_MS
        if from_ms <= at_ms < to_ms:
            slots[job, at_ms % DAY_MS // SLOT_MS, at_ms // DAY_MS].append(_summed(some))
    days = defaultdict[tuple[str, int], list[list[dict[str, int | None]]]](list)
    for (job, slot, _), loads in sorted(slots.items()):
        days[job, slot].append(loads)
    found = defaultdict[str, list[ProfileSlot]](list)
    for (job, slot), each in sorted(days.items()):
        found[job].append(_slot(slot, each))
    return {
        job: WorkloadProfiled(job, from_ms, to_ms, SLOT_MS, tuple(some))
        for job, some in found.items()
    }


def _summed(some: list[Said]) -> dict[str, int | None]:
    newest = max(one.load.generation.specs for one in some)
    last: dict[int, TaskLoadReported] = {}
    for one in some:
        load, before = one.load, last.get(one.load.task)
        if load.generation.specs == newest and (before is None or _order(before) < _order(load)):
            last[load.task] = load
    found: dict[str, int | None] = {}
    for name, parts in (
        ("records_in_per_s", 1000),
        ("bytes_in_per_s", 1000),
        ("cpu_cores", 1000),
        ("memory_bytes", 1),
    ):
        amounts = [getattr(load, name) for load in last.values()]
        known = None not in amounts
        found[name] = sum(round(float(one) * parts) for one in amounts) if known else None
    return found


def _order(load: TaskLoadReported) -> tuple[int, int, int]:
    return (load.generation.shard, load.epoch, load.count)


def _slot(slot: int, days: list[list[dict[str, int | None]]]) -> ProfileSlot:
    def known(loads: Iterable[dict[str, int | None]], name: str) -> list[int]:
        return [amount for one in loads if (amount := one[name]) is not None]

    everything = [one for loads in days for one in loads]

    def mean(name: str) -> float:
        total = 0.0
        for loads in days:
            total += float(sum(known(loads, name))) / len(loads)
        return total / len(days) / 1000

    def peak(name: str) -> int | None:
        return max(known(everything, name), default=None)

    records, size, cores = peak("records_in_per_s"), peak("bytes_in_per_s"), peak("cpu_cores")
    assert records is not None
    assert size is not None
    return ProfileSlot(
        slot=slot,
        days=len(days),
        records_in_per_s_mean=mean("records_in_per_s"),
        records_in_per_s_peak=records / 1000,
        bytes_in_per_s_mean=mean("bytes_in_per_s"),
        bytes_in_per_s_peak=size / 1000,
        cpu_cores_peak=None if cores is None else cores / 1000,
        memory_bytes_peak=peak("memory_bytes"),
    )
