"""Leaves out records that were there before, within a bounded time."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_streaming.context import TaskContext
from spark_streaming.operators.arguments import KEY, PARTITION, field, names_of, span_ms, timed


def deduplicated(rows: DataFrame, context: TaskContext) -> DataFrame:
    """The first of the records that have the same `--by` (fields with commas between; by default
    the key) within the span after `--within`; one that comes later than that behind the latest is
    left out as well.

    State is kept by (partition of the input, what stands in `--by`): doubles are found where a
    producer sends both to one partition, as it does for equal keys. A record that lacks one of the
    fields is no double of any. Values that are to come out byte for byte have the format bytes.
    """
    context.only("by", "within", "time", "ahead")
    within_ms = span_ms(context, "within")
    names = names_of("by", context.argument("by", KEY))
    said = {
        f"by_{at}": F.col(KEY) if one == KEY else field(rows, context, "by", one, "string")
        for at, one in enumerate(names)
    }
    place = F.concat_ws("/", "topic", PARTITION, "offset")
    lacks = F.greatest(F.lit(False), *[one.isNull() for one in said.values()])
    marked = rows.withColumns({**said, "alone": F.when(lacks, place)})
    return (
        timed(marked, context, within_ms)
        .dropDuplicatesWithinWatermark([PARTITION, *said, "alone"])
        .select(KEY, "value")
    )
