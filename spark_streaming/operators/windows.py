"""Counts and sums by key over windows of time, and over sessions.

A result is written once, when the watermark has passed its end: `--late` behind the latest instant
that was read. What comes later than that is left out. Without new records the watermark stands
still, and so do the results that wait for it.

State is kept by (partition of the input, key), so that it can be given to the tasks that read those
partitions when the number of tasks changes. Kafka keeps a key in one partition, so this changes no
result by key. By another field, a value that occurs in several partitions has a result for each of
them, whatever the number of tasks; `input_partition` tells them apart, and their sum is the whole.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_streaming.context import BadOperator, TaskContext
from spark_streaming.operators.arguments import (
    AT,
    KEY,
    LATE,
    PARTITION,
    field,
    interval,
    key_or_field,
    span_ms,
    timed,
)

EXACT = "decimal(38,9)"
"""Sums of it are the same in whatever order a batch that is run again adds them."""
_COMMON = ("time", "ahead", "late", "by", "sum")


def counted(rows: DataFrame, context: TaskContext) -> DataFrame:
    """How many records each key has in each window of `--window`, which begin every `--slide`; with
    `--sum FIELD` also what the field adds up to."""
    context.only("window", "slide", *_COMMON)
    window_ms = span_ms(context, "window")
    slide_ms = span_ms(context, "slide", interval(window_ms))
    if slide_ms > window_ms:
        raise BadOperator("--slide is at most --window: what lies between windows would be lost")
    window = F.window(AT, interval(window_ms), interval(slide_ms))
    return _added_up(rows, context, window, "window")


def sessionised(rows: DataFrame, context: TaskContext) -> DataFrame:
    """The same for sessions: records of one key with less than `--gap` between them."""
    context.only("gap", *_COMMON)
    session = F.session_window(AT, interval(span_ms(context, "gap")))
    return _added_up(rows, context, session, "session")


def _added_up(rows: DataFrame, context: TaskContext, span: Column, name: str) -> DataFrame:
    late_ms = span_ms(context, "late", LATE, zero=True)
    by_key = context.argument("by", KEY) == KEY
    summed = context.argument("sum", "")
    found = timed(rows.withColumn(KEY, key_or_field(rows, context, "by")), context, late_ms)
    results = [F.count(F.lit(1)).alias("count")]
    if summed:
        amount = field(rows, context, "sum", summed, EXACT)
        results.append(F.try_sum(amount).cast("double").alias("sum"))
    grouped = found.groupBy(PARTITION, KEY, span.alias(name)).agg(*results)
    return grouped.select(
        KEY,
        *([] if by_key else [F.col(PARTITION).alias("input_partition")]),
        F.col(f"{name}.start").alias(f"{name}_start"),
        F.col(f"{name}.end").alias(f"{name}_end"),
        *[one for one in grouped.columns if one in {"count", "sum"}],
    )
