"""The history of loads with a Spark of its own: writes it, compacts it, and profiles jobs by it.

The same on this machine and on a cluster: what differs is the master in the [spark] settings, and a
directory that the cluster's workers see as well.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from components.runtime.kafka.clients import partitions_for
from components.runtime.kafka.emitter import Emitter
from components.runtime.process.loop import StopSignal
from events.generated.records import ProfileSlot, WorkloadProfiled
from events.topics import LOADS, PROFILES, partition_of
from events.wire.codec import Record, encode
from spark_streaming.context import TEXT_CHARS, BadOperator, spark_said
from spark_streaming.history.compaction import compact, day_writer
from spark_streaming.history.files import Files
from spark_streaming.history.layout import DAY_MS, BadHistory, check_root, day_of
from spark_streaming.history.reading import read_profile
from spark_streaming.history.writing import HistoryWriter, Wrote
from spark_streaming.jvm import JavaFailed
from spark_streaming.main import options_of
from spark_streaming.session import SparkOptions, start_session
from spark_streaming.source import java_options
from tasks.process_tree import die_with
from turbine.read.sources.log import Log
from turbine_client.clients import producer
from turbine_client.emitter import WriteRefused
from turbine_client.errors import Unavailable
from turbine_client.identity import decision_id
from turbine_client.settings import Settings

SLOT_MS = 15 * 60_000
DAYS = 14
LATE_MS = 3_600_000
"""After midnight until its day is compacted: what a writer that runs has not brought by then would
have the whole day compacted again."""
WAIT_S = 1
JAVA_S = 20.0
SOURCE = "history"
BATCH_WORK: Mapping[str, str] = {
    # Of batches of days, not of a task's state; Spark joins those that turn out small.
    "spark.sql.shuffle.partitions": "32",
}
_LOST = ("KAFKA_DATA_LOSS", "failOnDataLoss")
"""How Spark's sentences begin, or end, where what it is to read is gone."""


class HistoryFailed(Unavailable):
    """Spark or its files did not do as asked; the sentence says what, and the remedy."""


@dataclass(slots=True)
class Written:
    """What one run of the writer has brought."""

    batches: int = 0
    reports: int = 0
    unreadable: int = 0
    why: str = field(default="")  # of the last one that is unreadable

    def add(self, one: Wrote) -> None:
        """Adds what one batch more wrote."""
        self.batches += 1
        self.reports += one.reports
        self.unreadable += one.unreadable
        self.why = one.why or self.why


def place_of(settings: Settings, directory: str | None) -> str:
    """Where a history lies; by default beside the logs of the installation."""
    usual = str((settings.directory / "history").absolute())
    return check_root(usual if directory is None else directory)


@contextmanager
def spark_of(settings: Settings, master: str | None = None) -> Iterator[SparkSession]:
    """A session of this run alone; its Java ends with it, however that ends. From the main thread,
    and once in a process, as pyspark keeps its connection."""
    told = {**settings.spark, **({"master": master} if master else {})}
    # By default it sits on this machine alone, where engines have it sit.
    with TemporaryDirectory(prefix="turbine-history-") as name:
        try:
            options = options_of(told, Path(name))
            more = {**BATCH_WORK, **reachable(options), **options.more}
            spark, java = start_session(replace(options, more=more), partial(_tie, os.getpid()))
        except (BadOperator, JavaFailed, PySparkException, Py4JError) as failed:
            raise HistoryFailed(f"Spark does not start: {sentence_of(failed)}") from failed
        try:
            yield spark
            spark.stop()  # a cluster is told that its workers are free
        except (BadHistory, BadOperator, WriteRefused, PySparkException, Py4JError) as failed:
            raise HistoryFailed(sentence_of(failed)) from failed
        finally:
            java.kill()  # in order it would take seconds, and nothing of it is kept
            java.wait(JAVA_S)


def _tie(parent: int) -> None:
    """Ctrl-C is for Python, which then stops the stream between two steps of it."""
    os.setpgid(0, 0)
    die_with(parent)


def reachable(options: SparkOptions) -> dict[str, str]:
    """Workers on other machines have to find the driver."""
    if options.master.startswith("local"):
        return {}
    return {"spark.driver.bindAddress": "0.0.0.0", "spark.driver.host": socket.getfqdn()}  # noqa: S104 - on a cluster everyone who works for it calls back


def sentence_of(error: Exception) -> str:
    """What went wrong with a session, and what to do where that can be told."""
    match error:
        case PySparkException() if any(sign in str(error) for sign in _LOST):
            return (
                "reports have expired before they were written, or the topic was made anew; remove"
                " the directory checkpoint of the history, and it goes on with what there is"
                " (reports that it has already count once)"
            )
        case PySparkException():
            return f"Spark failed: {spark_said(error)}"
        case Py4JJavaError():
            said = str(error.java_exception.toString()).partition("\n")[0][:TEXT_CHARS]
            return f"the files of the history cannot be used: {said}"
        case Py4JError():
            return (
                "Spark's Java process is gone; the lines above this one say why (if it was memory,"
                ' give it more by "heap.mb" of the [spark] settings)'
            )
    return str(error)


# --- writing


def partitions_of_loads(settings: Settings) -> int:
    """How many the topic has; BadSettings where there is none, which is known without Spark."""
    return partitions_for(settings, [LOADS])


def write(
    spark: SparkSession,
    settings: Settings,
    root: str,
    *,
    partitions: int,
    every_ms: int | None,
    stop: StopSignal,
    progress: Callable[[Wrote], None],
) -> Written:
    """Carries reports into the history: what there is now, or until it is told to stop."""
    total = Written()

    def took(one: Wrote) -> None:
        total.add(one)
        progress(one)

    writing = HistoryWriter(Files(spark, root), settings.topic(LOADS), partitions, took, _attempt())
    kafka = java_options(settings.bootstrap, settings.kafka)
    query = writing.begin(spark, kafka, every_ms=every_ms)
    while not stop.wanted and not query.awaitTermination(WAIT_S):
        continue
    query.stop()
    return total


# --- compaction


def compact_days(spark: SparkSession, root: str, now_ms: int) -> Iterator[tuple[str, int]]:
    """Each day that is over and was compacted, with its reports."""
    files = Files(spark, root)
    yield from compact(files, day_writer(spark, files), day_of(now_ms - LATE_MS), _attempt())


def _attempt() -> str:
    return uuid.uuid4().hex[:12]  # noqa: TID251 - tells runs apart, and nothing is decided by it


# --- profiles


@dataclass(frozen=True, slots=True)
class ProfileSpan:
    """What is profiled: its ends, and the length of a slot. All are whole slots."""

    from_ms: int
    to_ms: int
    slot_ms: int = SLOT_MS


def span_of(to_ms: int, days: int, slot_ms: int = SLOT_MS) -> ProfileSpan:
    """So many days up to the slot that the instant is in, so that each slot has all of them."""
    end_ms = to_ms - to_ms % slot_ms
    return ProfileSpan(max(0, end_ms - days * DAY_MS), end_ms, slot_ms)


def profiles(
    spark: SparkSession, root: str, span: ProfileSpan, jobs: Iterable[str] = ()
) -> Iterator[WorkloadProfiled]:
    """The profile of each job that has reports in the span, or of those that are named, by name."""
    files = Files(spark, root)
    found = read_profile(
        spark, files, span.from_ms, span.to_ms, slot_ms=span.slot_ms, jobs=tuple(jobs)
    )
    for row in found.toLocalIterator():
        yield to_profile(row, span, files.root)


def to_profile(row: Row | Mapping[str, Any], span: ProfileSpan, source: str) -> WorkloadProfiled:
    """What is said of one job."""
    slots = tuple(
        ProfileSlot(**{name: one[name] for name in ProfileSlot.__slots__}) for one in row["slots"]
    )
    return WorkloadProfiled(
        job=row["job"],
        from_ms=span.from_ms,
        to_ms=span.to_ms,
        slot_ms=span.slot_ms,
        slots=slots,
        source=source,
    )


def to_record(profile: WorkloadProfiled) -> Record:
    """Its id is of its content: the same profile is known as the same, whoever says it again."""
    value, kind = encode(profile), type(profile).__name__
    name = decision_id("", profile.job, kind, value)
    return Record(profile.job, name, kind, value, profile, source=SOURCE)


def publish(
    settings: Settings, found: Iterable[WorkloadProfiled], span: ProfileSpan
) -> Iterator[tuple[WorkloadProfiled, Record, bool]]:
    """Says each profile, and whether it was new: what the topic has already is not said again."""
    log = Log(settings)
    partitions = len(log.places([PROFILES]))
    # None of this span was said before its end by the broker's clock, unless somebody profiles what
    # is still to come; and then the id tells readers that it is the same.
    since = log.at(span.to_ms, [PROFILES])
    known = {read.record.id for read in log.read([PROFILES], kinds=frozenset(), start=since)}
    emitter = Emitter(producer(settings), settings.prefix)
    for profile in found:
        record = to_record(profile)
        new = record.id not in known
        if new:
            emitter.say(PROFILES, partition_of(profile.job, partitions), record)
        yield profile, record, new
    emitter.settle()
