"""Records as Kafka has them, in files that Spark reads as a stream, a file a batch."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession

from spark_streaming.context import COLUMNS, TaskContext, TopicSource
from spark_streaming.operator import SQL, apply_operator

PARTITIONS = 3
LIBRARY = "spark_streaming.operators."
START_MS = 1_767_225_600_000
SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
    ]
)
_OFFSETS = count()


@dataclass(frozen=True, slots=True)
class Sent:
    """One record; its partition follows from its key, as at a producer's."""

    key: str | None
    value: bytes | None
    at_ms: int
    topic: str = "clicks"

    @property
    def partition(self) -> int:
        return crc32((self.key or "").encode()) % PARTITIONS

    @property
    def body(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.value or b"{}")
        return found


def source(topic: str = "clicks", form: str = "json") -> TopicSource:
    return TopicSource(topic, tuple(range(PARTITIONS)), form)


@dataclass(slots=True)
class Streams:
    """Runs operators over batches, each in a directory of its own."""

    spark: SparkSession
    root: Path
    sources_read: int = 0
    made: int = 0
    values: list[bytes | None] = field(default_factory=list)  # written last, as they are

    def stream(self, batches: Sequence[Sequence[Sent]]) -> DataFrame:
        self.made += 1
        folder = self.root / f"input-{self.made}"
        folder.mkdir()
        for at, batch in enumerate(batches):
            columns = [
                [None if one.key is None else one.key.encode() for one in batch],
                [one.value for one in batch],
                [one.topic for one in batch],
                [one.partition for one in batch],
                [next(_OFFSETS) for _ in batch],
                [one.at_ms * 1000 for one in batch],
            ]
            file = folder / f"{at}.parquet"
            arrays = [pa.array(*pair) for pair in zip(columns, SCHEMA.types, strict=True)]
            parquet.write_table(pa.table(arrays, schema=SCHEMA), file)
            os.utime(file, (1_000_000 + at, 1_000_000 + at))  # Spark reads the oldest first
        reader = self.spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(folder))

    def context(
        self, raw: DataFrame, arguments: Sequence[str], sources: Sequence[TopicSource]
    ) -> TaskContext:
        return TaskContext("clicks", 0, tuple(arguments), tuple(sources), raw)

    def run(
        self,
        batches: Sequence[Sequence[Sent]],
        operator: str,
        *arguments: str,
        sources: Sequence[TopicSource] = (source(),),
        query: str = "",
    ) -> list[tuple[str | None, Any]]:
        """What was written, in its order: keys as text, values as JSON."""
        context = self.context(self.stream(batches), arguments, sources)
        name = operator if operator == SQL or ":" not in operator else f"{LIBRARY}{operator}"
        rows = apply_operator(name, query, context)
        written: list[tuple[str | None, Any]] = []
        self.values = []

        def keep(batch: DataFrame, _: int) -> None:
            assert batch.dtypes == [("key", "binary"), ("value", "binary")]
            for row in batch.collect():
                key = None if row.key is None else bytes(row.key).decode()
                self.values.append(None if row.value is None else bytes(row.value))
                written.append((key, json.loads(self.values[-1] or b"null")))

        started = (
            rows.writeStream.foreachBatch(keep)
            .option("checkpointLocation", str(self.root / f"checkpoint-{self.made}"))
            .trigger(availableNow=True)
            .start()
        )
        started.awaitTermination()
        self.sources_read = len(started.recentProgress[-1].sources)
        return written
