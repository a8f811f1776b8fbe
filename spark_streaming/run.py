"""One start of one task: its seat, its query, what it counts, and how it ended."""

from __future__ import annotations

import json
import shutil
import sys
import threading
import time  # noqa: TID251 - the age of a commit is of real time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from events.job_config.spelling import plain_sql
from spark_streaming.batch_stream import BatchStream, Inputs, StreamSpec, by_partition, check_state
from spark_streaming.context import TaskContext, sources_of
from spark_streaming.failure import trace_of
from spark_streaming.kept import fit_offsets
from spark_streaming.operator import SQL, apply_operator, check_installed, is_stateful, renew
from spark_streaming.progress import QueryProgress
from spark_streaming.sink import Closed, OutputSession, Sink, files_in, kafka_of_spark
from spark_streaming.source import READ, At, read_kafka

LOOK_S = 0.5
STARTS_AT_ONCE = threading.Semaphore(2)
"""Each plans a query, which keeps a core busy: more at once only make the first ones later."""


class TaskWork(Protocol):
    """What a task is to do, as its supervisor says it."""

    @property
    def run(self) -> int: ...
    @property
    def job(self) -> str: ...
    @property
    def task(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def specs(self) -> int: ...
    @property
    def operator(self) -> str: ...
    @property
    def guarantee(self) -> str: ...
    @property
    def argv(self) -> tuple[str, ...]: ...
    @property
    def inputs(self) -> tuple[tuple[str, tuple[int, ...]], ...]: ...
    @property
    def checkpoint(self) -> str: ...
    @property
    def package(self) -> str: ...
    @property
    def package_version(self) -> str: ...
    @property
    def config_json(self) -> str: ...
    @property
    def threads(self) -> int: ...


Voice = Callable[[TaskWork], AbstractContextManager[None]]
"""Within it, what this thread prints and logs is that task's."""


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Where a run does what it does."""

    spark: SparkSession
    kafka: Mapping[str, str]  # options of Spark's source and sink
    scratch: Path  # for checkpoints that nobody needs later
    voice: Voice = lambda _: nullcontext()


Started = Callable[["SparkRun", Mapping[At, int]], None]
Ended = Callable[["SparkRun", BaseException | None], None]


class SparkRun:
    """Lives in a thread of its own; told to stop from others."""

    def __init__(
        self,
        work: TaskWork,
        place: RunPlace,
        make_seat: Callable[[TaskWork, Callable[[], bool]], OutputSession],
    ) -> None:
        self.work, self.place = work, place
        self._make_seat = make_seat
        self.config: Mapping[str, Any] = json.loads(work.config_json or "{}")
        self._seat: OutputSession | None = None
        self._last: Mapping[At, int] = {}  # once the seat is left
        self._claimed_s: float | None = None  # where that was a commit of offsets
        self._lines: list[BatchStream] = []
        self.keeps_state: bool | None = None  # from one batch to the next; None: nobody knows yet
        self._stopping = threading.Event()
        self._lock = threading.Lock()  # of the lines
        self._turn = threading.Lock()  # of the seat: one transaction at a time

    @property
    def stopping(self) -> bool:
        """Whether the run was told to stop."""
        return self._stopping.is_set()

    @property
    def position(self) -> Mapping[At, int]:
        """The offsets that were committed last."""
        seat = self._seat
        return self._last if seat is None else seat.position

    def live(self, started: Started, ended: Ended) -> None:
        """From its start to its end, whatever that is."""
        with self.place.voice(self.work):
            failure = self._live(started)
            if self.stopping or isinstance(failure, Closed):
                failure = None
            if failure is not None:
                sys.stderr.write(trace_of(failure))
        ended(self, failure)

    def _live(self, started: Started) -> BaseException | None:
        failure: BaseException | None = None
        try:
            self._begin(started)
        except StreamingQueryException as error:
            failures = [one.sink.failure for one in self._lines if one.sink is not None]
            failure = next((one for one in failures if one is not None), error)
        except Exception as error:  # noqa: BLE001 - judged by who called
            failure = error
        try:
            self._release()
        except Exception as error:  # noqa: BLE001 - whatever it is, the end has to be told
            failure = failure or error
        return failure

    def stop(self) -> None:
        """No effect is begun any more, and the queries end; returns when that is so."""
        self._stopping.set()
        for line in self._known():
            line.close()
        for line in self._known():
            line.stop()

    # --- its life

    def _begin(self, started: Started) -> None:
        seat = self._seat = self._make_seat(self.work, lambda: self.stopping)
        seat.take()
        begins = dict(seat.position)
        if not begins:
            # More tasks than partitions: it holds its name, and has nothing to read.
            started(self, {})
            self._stopping.wait()
            return
        self._claimed_s = time.monotonic()
        with self._turn_to_start():
            for line in self._cut(begins, seat):
                self._start(line, seat)
        if not self.stopping:
            started(self, begins)
        self._await_end()

    @contextmanager
    def _turn_to_start(self) -> Iterator[None]:
        """Its turn, unless it is told to stop before that comes."""
        while not STARTS_AT_ONCE.acquire(timeout=LOOK_S):
            if self.stopping:
                raise Closed
        try:
            if self.stopping:
                raise Closed
            yield
        finally:
            STARTS_AT_ONCE.release()

    def _cut(self, begins: Mapping[At, int], seat: OutputSession) -> Iterator[BatchStream]:
        """The task's lines. Batches of one that is kept go on where it ended; others begin where
        the group is."""
        work = self.work
        whole = self._plan(work.inputs, begins, 1)
        self.keeps_state = is_stateful(whole)
        if not self.keeps_state:
            cut = StreamSpec(work.inputs, "", "")
            if work.guarantee == "files":
                cut = StreamSpec(work.inputs, str(work.specs), f"{work.checkpoint}/{work.specs}")
            yield BatchStream(cut, whole)
            return
        counts = {one["topic"]: one.get("partitions") for one in self.config.get("inputs", ())}
        what = f"{work.operator}\n{plain_sql(str(self.config.get('sql', '')))}"
        cuts = by_partition(work.inputs, counts, work.checkpoint, what, seat.resets)
        for cut in cuts:
            check_state(seat.lines(at for at in begins if at[1] == _number(cut)), cut.lineage)
        for cut in cuts:
            some = {(topic, n): begins[topic, n] for topic, numbers in cut.inputs for n in numbers}
            fit_offsets(self.place.spark, cut.checkpoint, some)
            yield BatchStream(cut, self._plan(cut.inputs, begins, len(cuts)))

    def _plan(self, inputs: Inputs, begins: Mapping[At, int], lines: int) -> DataFrame:
        """What a query computes, which is one of so many. Queries in SQL have a session each: views
        of two tasks may have one name."""
        work, place = self.work, self.place
        spark = place.spark.newSession() if work.operator == SQL else place.spark
        sources = sources_of(inputs, self.config)
        some = {(one.topic, n): begins[one.topic, n] for one in sources for n in one.partitions}
        threads = threads_of(work.threads, lines, spark.sparkContext.defaultParallelism)
        raw = read_kafka(spark, place.kafka, sources, some, self._batch_records(), threads=threads)
        context = TaskContext(work.job, work.task, work.argv, sources, raw)
        check_installed(work.operator, work.package, work.package_version)
        renew(work.operator, f"{work.package} {work.package_version}")
        return apply_operator(work.operator, str(self.config.get("sql", "")), context)

    def _start(self, line: BatchStream, seat: OutputSession) -> None:
        if self.stopping:
            raise Closed
        cut = line.cut
        voice = partial(self.place.voice, self.work)
        output = self._output(cut.lineage)
        sink = Sink(seat, cut.lineage, line.offsets, *output, turn=self._turn, voice=voice)
        with self._lock:
            self._lines.append(line)
        line.begin(
            self.work.name, cut.checkpoint or str(self._scratch()), self._interval_ms(), sink
        )
        if self.stopping:  # told so meanwhile, by somebody who saw no query yet
            line.stop()

    def _await_end(self) -> None:
        """Returns when a query has ended in order, and raises what it ended by."""
        queries = [one.query for one in self._known() if one.query is not None]
        while len(queries) > 1 and all(one.isActive for one in queries):
            self._stopping.wait(LOOK_S)
        for one in queries:
            if len(queries) == 1 or not one.isActive:
                one.awaitTermination()

    def _output(self, lineage: str) -> tuple[str | None, Any]:
        """A topic that the transaction writes to, or what is done beside it."""
        output = self.config.get("output") or {}
        topic, path = output.get("topic"), output.get("path")
        match self.work.guarantee:
            case "files":
                return None, files_in(str(path), self.work.name, lineage)
            case "at_least_once" if topic is not None:
                return None, kafka_of_spark(topic, self.place.kafka)
            case _:
                return topic, None

    def _batch_records(self) -> int:
        """What a batch has read counts when it ends, so who is slow is known by short ones."""
        return int(self._schedule().get("batch_records", 100_000))

    def _schedule(self) -> Mapping[str, Any]:
        return self.config.get("schedule") or {}

    def _interval_ms(self) -> int:
        """As its config says, and a little more, the same for a task at each of its starts: those
        that begin together would else take turns for ever."""
        least = int(self._schedule().get("batch_interval_ms", 1_000))
        return least + zlib.crc32(self.work.name.encode()) % max(1, least // 2)

    # --- its end

    def _known(self) -> list[BatchStream]:
        with self._lock:
            return list(self._lines)

    def _scratch(self) -> Path:
        return self.place.scratch / f"run-{self.work.run}"

    def _release(self) -> None:
        """Leaves nothing behind: between Python and Java there are circles that no collector of
        either sees, and in them a client that would go on asking the broker."""
        for line in self._known():
            line.stop()
            line.release()
        seat, self._seat = self._seat, None
        if seat is not None:
            self._last = seat.position
            seat.close()
        shutil.rmtree(self._scratch(), ignore_errors=True)

    # --- what it counts

    def counts(self) -> dict[str, int | None]:
        """Since its start; what is unknown is None."""
        lines = self._known()
        for line in lines:
            if line.query is not None:
                line.progress.take(line.query, READ)
        sinks = [line.sink for line in lines if line.sink is not None]
        return {
            **summed([line.progress.counts() for line in lines] or [QueryProgress().counts()]),
            "records_out": total([sink.records for sink in sinks]),
            "bytes_out": total([sink.bytes for sink in sinks]),
        }

    def reads(self) -> dict[At, int]:
        """How many records of each partition, when `counts` was called last: all together those
        that it told."""
        found = Counter({(topic, n): 0 for topic, numbers in self.work.inputs for n in numbers})
        for line in self._known():
            found.update(line.progress.reads)
        return found

    def checkpoint_age_ms(self) -> int | None:
        """How long ago offsets were committed last, by whichever of its lines; its claim, with
        which it begins, is a commit as well. So it grows while there is nothing to read: what is
        idle is told by its lag. None: nothing was committed."""
        sinks = [line.sink for line in self._known() if line.sink is not None]
        times_s = [self._claimed_s, *(sink.committed_s for sink in sinks)]
        known = [one for one in times_s if one is not None]
        return round(1000 * (time.monotonic() - max(known))) if known else None


def _number(cut: StreamSpec) -> int:
    """The partition number of a line by partition."""
    return cut.inputs[0][1][0]


def threads_of(asked: int, lines: int, cores: int) -> int:
    """In how many pieces each line reads: what a task may have is shared by its lines, of which
    each has one at least; and more than Spark has cores would take turns."""
    return max(1, min(cores, asked // lines))


def summed(counts: Sequence[Mapping[str, int | None]]) -> dict[str, int | None]:
    """Of several lines: times of batches are those of the slowest, and all else adds up."""
    found: dict[str, int | None] = {}
    for name in counts[0]:
        some = [one[name] for one in counts]
        known = [one for one in some if one is not None]
        slowest = name.startswith("batch_ms")
        found[name] = max(known, default=None) if slowest else total(some)
    return found


def total(counts: Sequence[int | None]) -> int | None:
    """Of what is known; None where nothing is."""
    known = [one for one in counts if one is not None]
    return sum(known) if known else None
