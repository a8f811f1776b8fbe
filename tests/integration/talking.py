"""An operator that talks, on the driver and in its workers, and cannot divide by zero."""

from __future__ import annotations

import logging
import warnings

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_streaming.context import TaskContext

say = print
"""As users' functions do."""


def run(rows: DataFrame, context: TaskContext) -> DataFrame:
    """Hundredths of the numbers that are read."""
    me = f"{context.job}/{context.task}"
    say("building", me)
    logging.getLogger("talking").info("thinking for %s", me)
    warnings.warn(f"old ways of {me}", stacklevel=1)

    @F.udf("string")
    def divide(value: bytes) -> str:
        say(me, "divides by", value.decode())
        logging.getLogger("talking.worker").info("in a worker of %s", me)
        return str(100 // int(value))

    return rows.select("key", divide("value").alias("value"))
