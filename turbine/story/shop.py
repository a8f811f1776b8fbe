"""An operator of the demo: each order asks a price service, which takes its time to answer."""

from __future__ import annotations

import time  # noqa: TID251 - the service is played, and its time is real

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_streaming.context import TaskContext

WAIT_MS = 5.0


def priced(rows: DataFrame, context: TaskContext) -> DataFrame:
    """Each order with a price; `--wait-ms` is how long the service takes for one.

    A thread waits for its own answers, so what a task reads grows with its threads.
    """
    context.only("wait-ms")
    wait_s = context.number("wait-ms", WAIT_MS) / 1000

    def ask(order: str | None) -> int:
        time.sleep(wait_s)
        return 100 * len(order or "")

    price = F.udf(ask, "long")(F.col("key").cast("string"))
    return rows.select("key", F.to_json(F.struct(price.alias("cents"))).alias("value"))
