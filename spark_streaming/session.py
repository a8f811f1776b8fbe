"""The Spark of one container: one Java process, one session, settings that were measured."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession

from spark_streaming.jvm import java_command, start_java

_STREAMING = "org.apache.spark.sql.execution.streaming"
SETTINGS: Mapping[str, str] = {
    # One heavy task must not make all others wait: a pool each.
    "spark.scheduler.mode": "FAIR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    # Of state: as many pieces as a task has partitions of it, pinned by the first batch.
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.streaming.stopTimeout": "30s",
    # A minute of the shortest triggers: what falls out before it is asked for is not counted.
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
    # A container may stand still for ten minutes, and then goes on as it was.
    "spark.network.timeout": "3600s",
    "spark.sql.streaming.noDataProgressEventInterval": "5s",
    "spark.sql.streaming.stateStore.providerClass": (
        f"{_STREAMING}.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # The usual one asks the system about links with a program of its own, several times a file.
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"{_STREAMING}.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # Kafka's consumers are pooled by query and partition; fifty tasks have more than the usual 64.
    "spark.kafka.consumer.cache.capacity": "512",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
}


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """What differs from one container to another."""

    jars: tuple[Path, ...]
    scratch: Path
    master: str = "local[2]"
    heap_mb: int = 1024
    flags: tuple[str, ...] = ()
    more: Mapping[str, str] = field(default_factory=dict)


def start_session(
    options: SparkOptions, tie: Callable[[], None], keep_fds: Sequence[int] = ()
) -> tuple[SparkSession, subprocess.Popen[bytes]]:
    """The session and its Java process. `tie` is called in the child before it is Java."""
    settings = {
        **SETTINGS,
        "spark.master": options.master,
        "spark.jars": ",".join(map(str, options.jars)),
        "spark.local.dir": str(options.scratch / "local"),
        "spark.sql.warehouse.dir": str(options.scratch / "warehouse"),
        **options.more,
    }
    flags = (f"-Xmx{options.heap_mb}m", f"-Djava.io.tmpdir={options.scratch}", *options.flags)
    child = start_java(java_command(options.jars, settings, flags), tie, keep_fds)
    return SparkSession.builder.appName("turbine").getOrCreate(), child
