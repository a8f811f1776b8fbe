"""Brings a checkpoint that is kept to the inputs of today, so that its state goes on with them.

Spark's log of offsets holds the partitions that the query read when it was written. It takes one
that is missing there for lost, and one that is new it reads from its beginning, whatever the group
has committed of it. So both are mended before the query starts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from spark_streaming.source import At, by_topic, read_offsets

_SOURCE = 2
"""The line of a file of offsets that holds those of the first source, which is the only one; before
it are the format's version and what Spark remembers of the batch."""
_LAST = 2
"""A batch that was planned and not done is done again, from where the one before it ended."""


def fit_offsets(spark: SparkSession, checkpoint: str, begins: Mapping[At, int]) -> None:
    """What is read no more is left out, and what is new begins where the group is."""
    files = _Files(spark, f"{checkpoint}/offsets")
    for name in files.last(_LAST):
        text = files.read(name)
        fitted = fit(text, begins)
        if fitted != text:
            files.write(name, fitted)


def fit(text: str, begins: Mapping[At, int]) -> str:
    """One file of offsets with these partitions, and no others."""
    lines = text.split("\n")
    known = read_offsets(lines[_SOURCE])
    if known.keys() == begins.keys():
        return text
    lines[_SOURCE] = json.dumps(
        by_topic({at: known.get(at, begin) for at, begin in begins.items()}), separators=(",", ":")
    )
    return "\n".join(lines)


class _Files:
    """Of one directory, wherever Spark keeps checkpoints. A file is replaced as a whole, or not."""

    def __init__(self, spark: SparkSession, directory: str) -> None:
        jvm: Any = spark._jvm  # Hadoop's files have no other way from Python
        self._jvm, self._conf = jvm, spark._jsparkSession.sessionState().newHadoopConf()
        self._path = jvm.org.apache.hadoop.fs.Path
        self._directory = self._path(directory)
        self._managers = jvm.org.apache.spark.sql.execution.streaming.checkpointing
        companion = getattr(self._managers, "CheckpointFileManager$")
        self._manager = getattr(companion, "MODULE$").create(self._directory, self._conf)

    def last(self, count: int) -> list[str]:
        """The newest ones, the older first; none where there is no directory."""
        if not self._manager.exists(self._directory):
            return []
        # All names in one call: a call for each takes longer than all the rest of a start.
        paths = self._jvm.org.apache.hadoop.fs.FileUtil.stat2Paths(
            self._manager.list(self._directory)
        )
        text: str = self._jvm.scala.Predef.genericWrapArray(paths).mkString("\n")
        names = [one.rpartition("/")[2] for one in text.split("\n")]
        return [str(n) for n in sorted(int(one) for one in names if one.isdigit())[-count:]]

    def read(self, name: str) -> str:
        stream = self._manager.open(self._path(self._directory, name))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        # The one that is set up for speed puts no file in the place of another, and says nothing.
        manager = self._managers.FileContextBasedCheckpointFileManager(self._directory, self._conf)
        stream = manager.createAtomic(self._path(self._directory, name), True)
        try:
            stream.write(bytearray(text.encode()))
        except BaseException:
            stream.cancel()
            raise
        stream.close()
