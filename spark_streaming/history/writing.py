"""Writes what the stream brings: each batch in a directory of its own, once, by day.

Spark numbers the batches of a checkpoint and writes down what each reads before it begins, so a
batch that it repeats brings the same. A batch is written beside its place and gets its name when it
is whole; one that has it is passed over, one that has not is written anew, and nobody has read it.
A checkpoint that is begun anew has another name, so that its batches come beside the others, and
what both brought is one report to whoever counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from spark_streaming.context import TopicSource
from spark_streaming.history.files import Files
from spark_streaming.history.layout import DAY_MS, DONE, Batch
from spark_streaming.history.rows import UNREADABLE, read_reports
from spark_streaming.source import read_kafka

BATCH_RECORDS = 500_000
"""Of one batch: a quarter of an hour of 30,000 tasks, and some hundred MiB while it is carried."""
_EARLIEST = -2


@dataclass(frozen=True, slots=True)
class Wrote:
    """The outcome of one batch: the reports it wrote, and those it could not read."""

    number: int
    reports: int
    unreadable: int
    why: str  # of one that is unreadable


@dataclass(slots=True)
class HistoryWriter:
    """One stream into one directory; Spark calls it with each batch."""

    files: Files
    topic: str  # of the reports
    partitions: int  # of it
    progress: Callable[[Wrote], None]
    attempt: str  # tells this run from all others
    _lineage: str = field(default="", init=False)

    def begin(
        self,
        spark: SparkSession,
        kafka: dict[str, str],
        *,
        every_ms: int | None,
        records: int = BATCH_RECORDS,
    ) -> StreamingQuery:
        """Starts it from where it has come to, or from the beginning of what the topic has. Without
        an interval it carries what is there now, and ends."""
        numbers = tuple(range(self.partitions))
        begin = {(self.topic, number): _EARLIEST for number in numbers}
        rows = read_kafka(spark, kafka, [TopicSource(self.topic, numbers)], begin, records)
        writer = (
            rows.writeStream.foreachBatch(self._take)
            .queryName("history")
            .option("checkpointLocation", self.files.place("checkpoint"))
        )
        if every_ms is None:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=f"{every_ms} milliseconds").start()

    def _take(self, messages: DataFrame, number: int) -> None:
        if not self._lineage:  # which Spark has named by now
            self._lineage = self.files.lineage()
            self.files.clear_drafts()
        batch = Batch(self._lineage, number)
        if self.files.exists(f"{batch.path}/{DONE}"):
            return
        draft = batch.draft(self.attempt)
        told = write_batch(read_reports(messages, self.partitions), self.files.place(draft))
        if self.files.adopt(draft, batch.path):
            self.progress(Wrote(number, *told))


def write_batch(reports: DataFrame, place: str) -> tuple[int, int, str]:
    """The readable ones, by day; how many they are, how many are not, and why one of those."""
    seen = Observation()
    bad = F.col(UNREADABLE)
    counted = reports.observe(
        seen,
        F.count(F.lit(1)).alias("all"),
        F.count(bad).alias("bad"),
        F.coalesce(F.min(bad), F.lit("")).alias("why"),
    )
    (
        counted.where(bad.isNull())
        .drop(UNREADABLE)
        .withColumn("day", day_column())
        # In one file a day: a file for each partition of the topic would be thousands a day.
        .repartition(1)
        .sortWithinPartitions("day", "job", "at_ms")
        .write.mode("overwrite")
        .partitionBy("day")
        .parquet(place)
    )
    found = seen.get
    return found["all"] - found["bad"], found["bad"], found["why"]


def day_column() -> Column:
    """The day of the log's time, UTC, as the directory is named."""
    day = F.floor(F.col("at_ms") / DAY_MS).cast("int")
    return F.date_format(F.date_from_unix_date(day), "yyyy-MM-dd")
