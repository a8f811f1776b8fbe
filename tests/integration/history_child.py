"""Runs command lines with one Spark, and dies at a chosen point: `history_child POINT ROOT`.

They come by standard input, once Spark is there: JSON, a list of lists of arguments. For each that
comes to its end a line of JSON goes to standard output: code, output, words for people.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import turbine.ops.history
from spark_streaming.history.files import Files
from spark_streaming.history.writing import HistoryWriter
from spark_streaming.main import options_of
from spark_streaming.session import SparkOptions
from tests.unit.turbine.lines import run_all
from turbine_client.settings import load_settings

BATCH_RECORDS = 500
"""So that what a test produces takes several batches."""
C1 = "-XX:TieredStopAtLevel=1"


def die() -> None:
    """As a machine does."""
    os.kill(os.getpid(), signal.SIGKILL)


def when(seen: Callable[[], bool], number: signal.Signals) -> None:
    """Sends itself a signal, amid whatever is done then."""

    def watch() -> None:
        while not seen():
            time.sleep(0.001)
        os.kill(os.getpid(), number)

    threading.Thread(target=watch, daemon=True).start()


def end_once_written(root: Path) -> None:
    """As Ctrl-C does, after one batch more: one that has its number, which drafts have not."""

    def batches() -> int:
        return len(list(root.glob("batches/*/[0-9]*/_SUCCESS")))

    before = batches()
    when(lambda: batches() > before, signal.SIGTERM)


def arm(point: str, root: Path) -> None:
    """Dies at the point: `files`, amid the files of the second batch; `named`, when the second
    batch has its name, before Spark knows; `days`, when a compaction has written its days, before
    its manifest; `clear`, amid what it removes."""
    adopt, remove = Files.adopt, Files.remove
    removed: list[str] = []

    def adopt_and_die(files: Files, draft: str, path: str) -> bool:
        done = adopt(files, draft, path)
        if path.endswith("1"):
            die()
        return done

    def remove_and_die(files: Files, path: str) -> None:
        if path.startswith("batches/"):
            removed.append(path)
        if len(removed) == 2:
            die()
        remove(files, path)

    replaced: dict[str, tuple[str, Any]] = {
        "named": ("adopt", adopt_and_die),
        "days": ("make_once", lambda *_: die()),
        "clear": ("remove", remove_and_die),
    }
    if point in replaced:
        setattr(Files, *replaced[point])
    elif point == "files":
        drafts = "batches/*/_000000001-*/_temporary/**/*.parquet"
        when(lambda: any(root.glob(drafts)), signal.SIGKILL)


def quick(settings: Mapping[str, str], scratch: Path) -> SparkOptions:
    """As it is told, with a Java that compiles less: it does not live long enough to gain by it."""
    found = options_of(settings, scratch)
    more = {"spark.executor.extraJavaOptions": C1, **found.more}
    return replace(found, flags=(*found.flags, C1), more=more)


def main(point: str, root: str) -> int:
    """0 where it has come to the end."""
    assert HistoryWriter.begin.__kwdefaults__ is not None
    HistoryWriter.begin.__kwdefaults__["records"] = BATCH_RECORDS
    turbine.ops.history.options_of = quick
    with turbine.ops.history.spark_of(load_settings()) as spark:

        @contextmanager
        def same(*_: object) -> Iterator[SparkSession]:
            yield spark

        turbine.ops.history.spark_of = same
        arm(point, Path(root))
        for command in json.load(sys.stdin):
            if "--every" in command:
                end_once_written(Path(root))
            ended = run_all(command)
            sys.stdout.write(json.dumps([ended.code, ended.out, ended.err]) + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
