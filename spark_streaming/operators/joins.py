"""Joins two inputs: what has the same key in both, at about the same time."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_streaming.context import BadOperator, TaskContext, TopicSource
from spark_streaming.operators.arguments import (
    KEY,
    LATE,
    PARTITION,
    interval,
    key_or_field,
    span_ms,
    timed,
)


def joined(_: DataFrame, context: TaskContext) -> DataFrame:
    """Each pair of a record of the first input and one of the second that have the same `--on` (a
    field; by default the key) with at most `--within` between them: an object with the two values
    under the names of their topics.

    A pair is written as soon as both of it are there. Both are kept until the watermark, `--late`
    behind the input that is further behind, says that no partner can come: an input that stands
    still keeps the other in memory. State is kept by (partition, what stands in `--on`). So both
    topics need as many partitions, keys that are partitioned alike, and a number of tasks that
    divides it; then equal numbers meet in one task.
    """
    context.only("on", "within", "time", "ahead", "late")
    within = interval(span_ms(context, "within"))
    late_ms = span_ms(context, "late", LATE, zero=True)
    first, second = _two(context)
    left = _side(context, first, "left", late_ms)
    right = _side(context, second, "right", late_ms)
    close = f"right_at BETWEEN left_at - INTERVAL {within} AND left_at + INTERVAL {within}"
    pairs = left.join(
        right,
        (F.col("left_partition") == F.col("right_partition"))
        & (F.col("left_key") == F.col("right_key"))
        & F.expr(close),
    )
    both = F.struct(
        F.col("left_value").alias(first.topic), F.col("right_value").alias(second.topic)
    )
    return pairs.select(F.col("left_key").alias(KEY), F.to_json(both).alias("value"))


def _two(context: TaskContext) -> tuple[TopicSource, TopicSource]:
    if len(context.sources) != 2:
        raise BadOperator(f"a join has two inputs, and the job reads {len(context.sources)}")
    first, second = context.sources
    if set(first.partitions) != set(second.partitions):
        raise BadOperator(
            f"a join needs the same partitions of {first.topic} and {second.topic} in each task;"
            " give both topics as many partitions, and the job a number of tasks that divides it"
        )
    return first, second


def _side(context: TaskContext, source: TopicSource, name: str, late_ms: int) -> DataFrame:
    """One input, each of its columns with a name of its own."""
    rows = context.input(source.topic)
    known = rows.withColumn("on", key_or_field(rows, context, "on"))
    found = timed(known.where(F.col("on").isNotNull()), context, late_ms)
    return found.select(
        F.col(PARTITION).alias(f"{name}_partition"),
        F.col("on").alias(f"{name}_key"),
        F.col("at").alias(f"{name}_at"),
        F.col("value").alias(f"{name}_value"),
    )
