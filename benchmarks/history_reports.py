"""Reports of a made-up fleet, as messages and as the small files of a history's batches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # it brings no types
from confluent_kafka import Producer
from pyarrow import parquet

from events.generated.records import Generation, TaskLoadReported, WorkloadProfiled
from events.topics import BY_SHORT, LOADS, partition_of
from events.wire.codec import encode
from spark_streaming.history.layout import DAY_MS, DONE, Batch, DayBatch, day_of
from spark_streaming.history.profile import MINUTE_MS
from spark_streaming.history.rows import COLUMNS

DAYS, BATCHES = 14, 24
"""Batches of a day: files that are as small as those of a writer that runs once an hour."""
MINUTES = DAY_MS // MINUTE_MS
Slots = dict[tuple[str, int], tuple[int, float, float]]
"""Of a job's slot: days, mean and peak of records a second."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """So many jobs, up to an instant."""

    jobs: int
    tasks: int
    end_ms: int

    @property
    def rows(self) -> int:
        """Of all days."""
        return self.jobs * self.tasks * MINUTES * DAYS


def produce(client: Producer, fleet: Fleet, messages: int) -> None:
    """The last reports of the fleet, minute by minute."""
    count = client_partitions(client)
    tasks = fleet.jobs * fleet.tasks
    for number in range(messages):
        minute, task = divmod(number, tasks)
        job = f"job-{task // fleet.tasks}"
        load = TaskLoadReported(
            job=job,
            task=task % fleet.tasks,
            generation=Generation(1, 1),
            epoch=1,
            count=minute + 1,
            window_ms=MINUTE_MS,
            records_in_per_s=1000.0 + minute,
            bytes_in_per_s=100_000.0,
            records_out_per_s=10.0,
            bytes_out_per_s=1_000.0,
            lag_records=17,
            cpu_cores=0.25,
            memory_bytes=500_000_000,
            container="c-1",
        )
        at_ms = fleet.end_ms - 2 * DAY_MS + minute * MINUTE_MS
        while True:
            try:
                client.produce(
                    BY_SHORT[LOADS].name,
                    encode(load),
                    job,
                    partition=partition_of(job, count),
                    timestamp=at_ms,
                )
                break
            except BufferError:
                client.poll(0.05)
    client.flush(60)


def client_partitions(client: Producer) -> int:
    """Of the loads' topic."""
    name = BY_SHORT[LOADS].name
    return len(client.list_topics(name, timeout=10).topics[name].partitions)


def make_days(root: Path, fleet: Fleet) -> None:
    """Batches as the writer leaves them, each an hour of one day."""
    draw = np.random.default_rng(7)
    for day in range(DAYS):
        begin_ms = fleet.end_ms - (DAYS - day) * DAY_MS
        for hour in range(BATCHES):
            batch = Batch("bench", day * BATCHES + hour)
            place = root / DayBatch(batch, day_of(begin_ms)).path
            place.mkdir(parents=True)
            parquet.write_table(_hour(fleet, begin_ms, hour, draw), place / "part-0.parquet")
            (root / batch.path / DONE).touch()


def _hour(fleet: Fleet, begin_ms: int, hour: int, draw: np.random.Generator) -> pa.Table:
    minutes = MINUTES // BATCHES
    rows = fleet.jobs * fleet.tasks * minutes
    minute = np.tile(np.arange(minutes), fleet.jobs * fleet.tasks) + hour * minutes
    task = np.repeat(np.arange(fleet.jobs * fleet.tasks), minutes)
    at_ms = begin_ms + minute * MINUTE_MS + draw.integers(0, MINUTE_MS, rows)
    # Whole thousandths, so that a sum in another order is the same to the last bit.
    rate = draw.integers(0, 2_000_000, rows) / 1000
    names = pa.array([f"job-{one}" for one in range(fleet.jobs)])
    made = {
        "at_ms": at_ms,
        "job": names.take(pa.array(task // fleet.tasks)),
        "task": task % fleet.tasks,
        "count": begin_ms // MINUTE_MS + minute,
        "records_in_per_s": rate,
        "bytes_in_per_s": rate * 100,
        "cpu_cores": rate / 1000,
        "memory_bytes": draw.integers(0, 1 << 30, rows),
    }
    known = {"specs": 1, "shard": 1, "epoch": 1, "window_ms": MINUTE_MS, "oom": False}
    columns = [
        pa.array(made[name], kind) if name in made else pa.array([known.get(name)] * rows, kind)
        for name, kind in COLUMNS.items()
    ]
    return pa.table(columns, names=list(COLUMNS))


def slots_of(found: Iterable[WorkloadProfiled]) -> Slots:
    """What loops tell as well."""
    return {
        (one.job, slot.slot): (
            slot.days,
            round(slot.records_in_per_s_mean, 6),
            round(slot.records_in_per_s_peak, 6),
        )
        for one in found
        for slot in one.slots
    }
