"""Reads a history: its rows as they count, and the profile of a span of it.

A day that is compacted and to which nothing was added since has its minutes ready. Of other days
they are made here, and so they are, over all days together, of jobs that said a report twice.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_streaming.history.files import Files
from spark_streaming.history.layout import (
    MINUTES,
    SPANS,
    DirectoryListing,
    Manifest,
    days_between,
    live_paths,
)
from spark_streaming.history.profile import (
    MINUTE_MS,
    by_minute,
    by_slot,
    distinct,
    spans,
    told_twice,
)
from spark_streaming.history.rows import SCHEMA


def read_rows(spark: SparkSession, files: Files, paths: list[str]) -> DataFrame:
    """The rows of these paths; a column that older files lack is null in theirs."""
    if not paths:
        return spark.createDataFrame([], SCHEMA)
    return spark.read.schema(SCHEMA).parquet(*[files.place(path) for path in paths])


def read_minutes(spark: SparkSession, files: Files, from_ms: int, to_ms: int) -> DataFrame:
    """The load of each job in each minute of a span, each report counted once, at its first time in
    the days that the span touches."""
    manifest, found = files.look()
    days = days_between(from_ms, to_ms)
    ready, rest = _ready(manifest, found, days)
    raw = [read_rows(spark, files, live_paths(manifest, found, [day])) for day in rest]
    once = [distinct(rows) for rows in raw]
    numbers = [*_read(spark, files, ready, SPANS), *map(spans, once)]
    minutes = [*_read(spark, files, ready, MINUTES), *map(by_minute, once)]
    if not minutes:
        return _within(by_minute(read_rows(spark, files, [])), from_ms, to_ms)
    twice = [one["job"] for one in told_twice(_union(numbers)).collect()]
    if not twice:
        return _within(_union(minutes), from_ms, to_ms)
    names = spark.createDataFrame([(one,) for one in twice], "job string")
    apart = [rows.join(F.broadcast(names), "job", "left_anti") for rows in minutes]
    whole = read_rows(spark, files, live_paths(manifest, found, days))
    whole = whole.join(F.broadcast(names), "job", "left_semi")
    return _within(_union([*apart, by_minute(distinct(whole))]), from_ms, to_ms)


def read_profile(
    spark: SparkSession,
    files: Files,
    from_ms: int,
    to_ms: int,
    *,
    slot_ms: int,
    jobs: tuple[str, ...] = (),
) -> DataFrame:
    """A row for each job, or each of those that are named, by name: its slots over a span,
    ascending. The ends of the span and the slot are whole minutes."""
    minutes = read_minutes(spark, files, from_ms, to_ms)
    if jobs:
        minutes = minutes.where(F.col("job").isin(list(jobs)))
    slots = by_slot(minutes, slot_ms)
    one = F.struct(*[name for name in slots.columns if name != "job"])  # the slot's number first
    return slots.groupBy("job").agg(F.sort_array(F.collect_list(one)).alias("slots")).orderBy("job")


def _ready(
    manifest: Manifest, found: DirectoryListing, days: list[str]
) -> tuple[list[str], list[str]]:
    """Where the days lie that are compacted whole; and the others that there are."""
    added = found.counting(manifest)
    ready = [manifest.days[day].path for day in days if day in manifest.days and day not in added]
    return ready, [day for day in days if day in added]


def _read(spark: SparkSession, files: Files, paths: list[str], what: str) -> list[DataFrame]:
    return [spark.read.parquet(*[files.place(f"{path}/{what}") for path in paths])] if paths else []


def _union(some: list[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, some)


def _within(minutes: DataFrame, from_ms: int, to_ms: int) -> DataFrame:
    minute = F.col("minute")
    return minutes.where((minute >= from_ms // MINUTE_MS) & (minute < to_ms // MINUTE_MS))
