"""Makes few files of the many of a day that is over: its reports, sorted by job and time, and what
they come to by the minute.

Killed at any point it leaves the history as it was before or as it is after: what it writes counts
for nobody until the manifest names it. The next run removes what is left lying.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from spark_streaming.history.files import Files
from spark_streaming.history.layout import (
    MINUTES,
    REPORTS,
    SPANS,
    BadHistory,
    DirectoryListing,
    Manifest,
    dead_paths,
    due_days,
    live_paths,
    next_manifest,
)
from spark_streaming.history.profile import by_minute, distinct, spans
from spark_streaming.history.reading import read_rows

FILE_ROWS = 500_000
"""Of one file of a day, some 15 MiB: large enough that to open it is nothing beside reading it, and
small enough that all cores have some of a day."""
WriteDay = Callable[[list[str], str], int]
"""Writes what these paths hold of one day to another path; how many reports those are."""


class Directory(Protocol):
    """What compaction needs of files; `Files` is one."""

    def look(self) -> tuple[Manifest, DirectoryListing]: ...
    def manifest(self, number: int) -> Manifest: ...
    def place(self, path: str) -> str: ...
    def make_once(self, path: str, text: str, attempt: str) -> bool: ...
    def remove(self, path: str) -> None: ...


def compact(
    files: Directory, write_day: WriteDay, today: str, attempt: str
) -> Iterator[tuple[str, int]]:
    """Each day that was compacted, with its rows; the manifest and the clearing come after the last
    one. `attempt` tells this run from all others."""
    manifest, found = files.look()
    made = dict[str, str]()
    for day in due_days(manifest, found, today):
        path = f"days/{day}/{manifest.number + 1:06d}-{attempt}"
        yield day, write_day(live_paths(manifest, found, [day]), path)
        made[day] = path
    if made:
        manifest = _publish(files, next_manifest(manifest, found, made), attempt)
        _, found = files.look()
    _clear(files, manifest, found)


def day_writer(spark: SparkSession, files: Files) -> WriteDay:
    """The function that writes a day's files by Spark."""
    return partial(_write_day, spark, files)


def _write_day(spark: SparkSession, files: Files, paths: list[str], path: str) -> int:
    """Its reports, each once; and what they come to, of what was written."""
    rows = read_rows(spark, files, paths)
    parts = -(-rows.count() // FILE_ROWS) or 1  # of the files' own heads: nothing is read
    reports = distinct(rows, parts)
    _write(reports.sortWithinPartitions("job", "at_ms", "task"), files, f"{path}/{REPORTS}")
    written = read_rows(spark, files, [f"{path}/{REPORTS}"])
    minutes = by_minute(written, parts)
    _write(minutes.sortWithinPartitions("job", "minute"), files, f"{path}/{MINUTES}")
    _write(spans(written).coalesce(1), files, f"{path}/{SPANS}")
    return written.count()


def _write(rows: DataFrame, files: Files, path: str) -> None:
    rows.write.mode("overwrite").parquet(files.place(path))


def _publish(files: Directory, manifest: Manifest, attempt: str) -> Manifest:
    if not files.make_once(manifest.path, manifest.to_text(), attempt):
        raise BadHistory(
            f"{files.place(manifest.path)} was made by another compaction meanwhile; nothing is"
            " lost, run one at a time"
        )
    return manifest


def _clear(files: Directory, manifest: Manifest, found: DirectoryListing) -> None:
    number = manifest.number - 1
    before = files.manifest(number) if number in found.manifests else Manifest()
    for path in dead_paths(manifest, before, found):
        files.remove(path)
