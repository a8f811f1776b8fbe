"""What stands in the history of each report, and how reports are read from the log's bytes.

A row is as the report was, but for what it says by partition, which makes most of a report and
which no profile asks for; and `at_ms`, the log's own time of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]  # it brings no types
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from events.generated.records import TaskLoadReported
from events.topics import LOADS, place
from events.wire.codec import TICK_MS_MAX, read_message
from turbine_client.errors import Unreadable

IDENTITY = ("job", "task", "specs", "shard", "epoch", "count")
"""Which report it is: the same one may stand in the log twice."""
SCHEMA = (
    "at_ms long, job string, task int, specs long, shard long, epoch long, count long,"
    " window_ms long, records_in_per_s double, bytes_in_per_s double, records_out_per_s double,"
    " bytes_out_per_s double, lag_records long, lag_bytes long, lag_ms long, cpu_cores double,"
    " memory_bytes long, state_rows long, state_bytes long, oom boolean, container string,"
    " busy_share double, checkpoint_age_ms long, tasks int, threads int"
)
UNREADABLE = "unreadable"
"""The column that says of a message why it is no report; null where it is one."""
_ARROW = {
    "long": pa.int64(),
    "int": pa.int32(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
}
COLUMNS = {name: _ARROW[kind] for name, kind in (one.split() for one in SCHEMA.split(","))}
_ARROW_SCHEMA = pa.schema([*COLUMNS.items(), (UNREADABLE, pa.string())])
Batches = Iterator[pa.RecordBatch]


def values_of(load: TaskLoadReported, at_ms: int) -> tuple[Any, ...]:
    """A report's row, in the order of the columns."""
    generation = load.generation
    return (
        at_ms,
        load.job,
        load.task,
        generation.specs,
        generation.shard,
        load.epoch,
        load.count,
        load.window_ms,
        load.records_in_per_s,
        load.bytes_in_per_s,
        load.records_out_per_s,
        load.bytes_out_per_s,
        load.lag_records,
        load.lag_bytes,
        load.lag_ms,
        load.cpu_cores,
        load.memory_bytes,
        load.state_rows,
        load.state_bytes,
        load.oom,
        load.container,
        load.busy_share,
        load.checkpoint_age_ms,
        load.tasks,
        load.threads,
    )


def read_reports(messages: DataFrame, partitions: int) -> DataFrame:
    """The reports among Kafka's messages; of what is none, a row that says why and nothing else.
    `partitions` is how many the topic has."""
    found = messages.select(
        "partition",
        "offset",
        F.unix_millis("timestamp").alias("at_ms"),
        "key",
        "value",
        F.transform("headers", lambda one: one["key"]).alias("names"),
        F.transform("headers", lambda one: one["value"]).alias("texts"),
    )
    return found.mapInArrow(_decoder(partitions), f"{SCHEMA}, {UNREADABLE} string")


def _decoder(partitions: int) -> Callable[[Batches], Batches]:
    def decode(batches: Batches) -> Batches:
        for batch in batches:
            yield to_arrow(decoded(_messages(batch), partitions))

    return decode


def _messages(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    columns = [column.to_pylist() for column in batch.columns]
    return zip(*columns, strict=True)


def decoded(messages: Iterable[tuple[Any, ...]], partitions: int) -> Iterator[tuple[Any, ...]]:
    """A row for each message, by the one intake of all shells: an older writer's is readable, and
    what no shell folds is not in the history either."""
    none = (None,) * len(COLUMNS)
    for partition, offset, at_ms, key, value, names, texts in messages:
        headers = list(zip(names or (), texts or (), strict=True))
        try:
            _check_time(partition, offset, at_ms)
            read = read_message(LOADS, partition, offset, at_ms, key, value, headers, partitions)
        except Unreadable as bad:
            yield (*none, bad.sentence)
        else:
            body = read.record.body
            assert isinstance(body, TaskLoadReported), f"{LOADS} carries nothing else"
            yield (*values_of(body, at_ms), None)


def _check_time(partition: int, offset: int, at_ms: int) -> None:
    """Without a time that has a day of four digits nobody would find it again."""
    if not 0 <= at_ms <= TICK_MS_MAX:
        raise Unreadable(
            "no-time",
            f"{place(LOADS, partition)} at offset {offset}: its time is {at_ms} ms since 1970; let"
            " the topic have message.timestamp.type=LogAppendTime",
        )


def to_arrow(rows: Iterable[tuple[Any, ...]]) -> pa.RecordBatch:
    """The rows as a batch of Arrow's columns."""
    columns = list(zip(*rows, strict=True)) or [()] * len(_ARROW_SCHEMA)
    arrays = [
        pa.array(column, field.type) for column, field in zip(columns, _ARROW_SCHEMA, strict=True)
    ]
    return pa.record_batch(arrays, schema=_ARROW_SCHEMA)
