"""What the history of a job comes to: its load by the minute, and by the slot of a day.

A minute of a job is the sum over its tasks, each with the last report that it has in the minute;
of several generations of the job's specs in one minute only the newest counts, or a change of the
number of tasks would look like a peak. A task without a report in a minute is not in its sum. Of
cores and memory the sum is unknown where that of any task is. A slot of one day has the mean and
the most of its minutes, a slot of a profile the mean of its days' means and the most of all. What
is unknown is passed over there, and a peak is unknown where all of it is.

Amounts are whole thousandths before they are summed. So a sum is the same in whatever order Spark
adds it up, and the same history has the same profile to the last bit.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_streaming.history.layout import DAY_MS
from spark_streaming.history.rows import IDENTITY

MINUTE_MS = 60_000
PARTS = 1_000
"""Of one record, byte or core."""
AMOUNT_MOST = 2.0**43
"""In thousandths, of rates some 8 GB a second: what is beyond is a mistake in a report, and a
million tasks of it still add up in 64 bits, beyond which Spark would give up all jobs."""
LIFE = ("job", "task", "specs", "shard", "epoch")
"""Of a task, in which its reports are numbered from 1."""
RATES = ("records_in_per_s", "bytes_in_per_s", "records_out_per_s", "bytes_out_per_s")
_PARTED = (*RATES, "cpu_cores")
_SUMS = (*_PARTED, "memory_bytes")
_LAGS = ("lag_records", "lag_bytes", "lag_ms")
_PROFILED = ("records_in_per_s", "bytes_in_per_s")


def distinct(reports: DataFrame, parts: int = 0) -> DataFrame:
    """Each report once, at its first time; in so many parts, or as Spark likes."""
    others = [name for name in reports.columns if name not in (*IDENTITY, "at_ms")]
    # Whole, for those of one identity that do not say the same: never a mixture of both.
    whole = F.struct("at_ms", *others)
    once = _by_job(reports, parts).groupBy(*IDENTITY).agg(F.min(whole).alias("first"))
    return once.select(*IDENTITY, "first.*").select(*reports.columns)


def _by_job(rows: DataFrame, parts: int) -> DataFrame:
    """By job alone, so that all that follows, and is by job and something else, stays where it
    is."""
    return rows.repartition(parts, "job") if parts else rows.repartition("job")


def by_minute(reports: DataFrame, parts: int = 0) -> DataFrame:
    """The load of each job in each minute, of reports that are there once. In thousandths but for
    lags and memory; of lags the greatest that is known."""
    minute = F.floor(F.col("at_ms") / MINUTE_MS).alias("minute")
    told = reports.select(
        "job",
        minute,
        "specs",
        "task",
        "shard",
        "epoch",
        "count",
        *[_whole(name, PARTS if name in _PARTED else 1).alias(name) for name in _SUMS],
        *_LAGS,
    )
    newest = [F.desc(name) for name in ("shard", "epoch", "count")]
    of_task = Window.partitionBy("job", "minute", "specs", "task").orderBy(*newest)
    last = _by_job(told, parts).withColumn("nth", F.row_number().over(of_task)).where("nth = 1")
    summed = last.groupBy("job", "minute", "specs").agg(
        *[_sum(name).alias(name) for name in _SUMS],
        *[F.max(name).alias(name) for name in _LAGS],
    )
    return summed.groupBy("job", "minute").agg(
        *[F.max_by(name, "specs").alias(name) for name in (*_SUMS, *_LAGS)]
    )


def spans(reports: DataFrame) -> DataFrame:
    """The first and the last number of what each life of each task has reported."""
    return reports.groupBy(*LIFE).agg(F.min("count").alias("least"), F.max("count").alias("most"))


def told_twice(spans_by_day: DataFrame) -> DataFrame:
    """The jobs of which a report may stand in two days. A life's numbers rise, so those of its days
    are apart, unless a report was said again on another day; only then all days are looked through
    together, which costs ten times as much as to add up their minutes."""
    earlier = Window.partitionBy(*LIFE).orderBy("least").rowsBetween(Window.unboundedPreceding, -1)
    reached = F.max("most").over(earlier)
    seen = spans_by_day.withColumn("reached", reached)
    return seen.where("least <= reached").select("job").distinct()


def _whole(name: str, parts: int) -> Column:
    amount = F.greatest(F.col(name).cast("double") * parts, F.lit(0.0))
    whole = F.rint(F.least(amount, F.lit(AMOUNT_MOST))).cast("long")
    return F.when(F.col(name).isNotNull(), whole)


def _sum(name: str) -> Column:
    """Unknown where one of them is."""
    return F.when(F.count(name) == F.count(F.lit(1)), F.sum(name))


def by_slot(minutes: DataFrame, slot_ms: int) -> DataFrame:
    """A row for each job and slot of the day that has a minute, with a `ProfileSlot`'s fields."""
    of_day = DAY_MS // MINUTE_MS
    day = F.floor(F.col("minute") / of_day).alias("day")
    slot = F.floor(F.col("minute") % of_day / (slot_ms // MINUTE_MS)).cast("int").alias("slot")
    peaks = ("cpu_cores", "memory_bytes")
    daily = minutes.groupBy("job", day, slot).agg(
        *[_mean(name).alias(f"{name}_mean") for name in _PROFILED],
        *[F.max(name).alias(f"{name}_peak") for name in (*_PROFILED, *peaks)],
    )
    return daily.groupBy("job", "slot").agg(
        F.count(F.lit(1)).cast("int").alias("days"),
        *[_mean_of_days(f"{name}_mean").alias(f"{name}_mean") for name in _PROFILED],
        *[(F.max(f"{name}_peak") / PARTS).alias(f"{name}_peak") for name in _PROFILED],
        (F.max("cpu_cores_peak") / PARTS).alias("cpu_cores_peak"),
        F.max("memory_bytes_peak").alias("memory_bytes_peak"),
    )


def _mean(name: str) -> Column:
    """Of whole numbers, whose sum over a slot may take more than 64 bits."""
    return F.sum(F.col(name).cast("decimal(20,0)")).cast("double") / F.count(name)


def _mean_of_days(name: str) -> Column:
    """Of fractions the sum depends on the order, so it is that of the days."""
    daily = F.sort_array(F.collect_list(F.struct("day", name)))
    total = F.aggregate(daily, F.lit(0.0), lambda found, one: found + one[name])
    return total / F.count(F.lit(1)) / PARTS
