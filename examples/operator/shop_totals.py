"""An operator with state: what each shop sold in each minute, from one record a sale."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_streaming.context import TaskContext


def totals(rows: DataFrame, context: TaskContext) -> DataFrame:
    """One result for each shop and minute, once `--late` has passed since the minute's end.

    Grouping by the input's partition lets the state follow its partitions when the number of tasks
    changes. A shop is a key, and Kafka keeps a key in one partition, so no result is divided.
    """
    context.only("late")
    minute = F.window("timestamp", "1 minute")
    return (
        rows.selectExpr("key", "partition", "timestamp", "value:amount::decimal(18, 2) AS amount")
        .withWatermark("timestamp", context.argument("late", "30 seconds"))
        .groupBy("partition", "key", minute.alias("minute"))
        .agg(F.count("amount").alias("sales"), F.sum("amount").alias("total"))
        .select("key", F.col("minute.start").alias("minute"), "sales", "total")
    )
