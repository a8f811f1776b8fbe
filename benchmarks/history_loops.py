"""The peers of the history: the same work in a loop, in one process, without any promise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # it brings no types
from confluent_kafka import Consumer, TopicPartition
from pyarrow import compute as pc
from pyarrow import parquet

from benchmarks.history_reports import MINUTES, Slots
from events.topics import BY_SHORT, LOADS
from spark_streaming.history.layout import DAY_MS, day_of
from spark_streaming.history.profile import MINUTE_MS
from spark_streaming.history.rows import COLUMNS, UNREADABLE, decoded, to_arrow
from turbine.ops.history import SLOT_MS

POLL, FILE_ROWS = 10_000, 500_000


def loop_writes(bootstrap: str, root: Path, partitions: int, messages: int) -> None:
    """Reads, decodes, and writes a file a day for each half million."""
    client = Consumer({"bootstrap.servers": bootstrap, "group.id": "loop"})
    name = BY_SHORT[LOADS].name
    client.assign([TopicPartition(name, number, 0) for number in range(partitions)])
    held, read, files = list[Any](), 0, 0
    while read < messages:
        found = client.consume(POLL, 5)
        read += len(found)
        held.append(to_arrow(decoded(map(_told, found), partitions)))
        if sum(one.num_rows for one in held) >= FILE_ROWS or read >= messages:
            _write_days(pa.Table.from_batches(held), root, files)
            held, files = [], files + 1
    client.close()


def _told(message: Any) -> tuple[Any, ...]:
    at_ms = message.timestamp()[1]
    where = (message.partition(), message.offset(), at_ms)
    return (*where, message.key(), message.value(), None, None)


def _write_days(rows: pa.Table, root: Path, number: int) -> None:
    rows = rows.filter(pc.is_null(rows[UNREADABLE])).drop_columns([UNREADABLE])
    day = pc.divide(rows["at_ms"], DAY_MS)
    for one in pc.unique(day).to_pylist():
        place = root / f"day={day_of(one * DAY_MS)}"
        place.mkdir(parents=True, exist_ok=True)
        some = rows.filter(pc.equal(day, one)).sort_by([("job", "ascending")])
        parquet.write_table(some, place / f"{number}.parquet")


def _small_files(root: Path) -> dict[str, list[Path]]:
    found = defaultdict[str, list[Path]](list)
    for file in sorted(root.glob("batches/*/*/day=*/*.parquet")):
        found[file.parent.name].append(file)
    return found


def loop_compacts(root: Path, target: Path) -> None:
    """A file of each day, sorted; what stands there twice would stay so."""
    target.mkdir()
    for day, files in _small_files(root).items():
        rows = pa.concat_tables(parquet.read_table(one, partitioning=None) for one in files)
        order = [("job", "ascending"), ("at_ms", "ascending"), ("task", "ascending")]
        parquet.write_table(rows.select(list(COLUMNS)).sort_by(order), target / f"{day}.parquet")


def loop_profiles(target: Path) -> Slots:
    """Means and peaks of records by slot, a day after the other."""
    days = defaultdict[tuple[str, int], list[tuple[float, float]]](list)
    for file in sorted(target.glob("*.parquet")):
        for at, mean, peak in _day_slots(file):
            days[at].append((mean, peak))
    return {
        at: (
            len(some),
            round(sum(mean for mean, _ in some) / len(some), 6),
            round(max(peak for _, peak in some), 6),
        )
        for at, some in days.items()
    }


def _day_slots(file: Path) -> Iterator[tuple[tuple[str, int], float, float]]:
    rows = parquet.read_table(file, columns=["job", "at_ms", "records_in_per_s"])
    whole = pc.cast(pc.round(pc.multiply(rows["records_in_per_s"], 1000.0)), pa.int64())
    minute = pc.divide(rows["at_ms"], MINUTE_MS)
    minutes = pa.table({"job": rows["job"], "minute": minute, "rate": whole})
    summed = minutes.group_by(["job", "minute"]).aggregate([("rate", "sum")])
    of_day = np.asarray(summed["minute"]) % MINUTES
    summed = summed.append_column("slot", pa.array(of_day // (SLOT_MS // MINUTE_MS)))
    slots = summed.group_by(["job", "slot"]).aggregate([("rate_sum", "mean"), ("rate_sum", "max")])
    for one in slots.to_pylist():
        mean, peak = one["rate_sum_mean"] / 1000, one["rate_sum_max"] / 1000
        yield (one["job"], one["slot"]), mean, peak
