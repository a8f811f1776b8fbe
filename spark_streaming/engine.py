"""Runs a container's tasks in one Spark: starts and stops queries as it is told, and says how they
end and what they use.

What it is told and says is for its caller to read and to write; nothing here waits for a query.
"""

from __future__ import annotations

import os
import threading
import time  # noqa: TID251 - CPU is shared out by real time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from spark_streaming.context import BadOperator, OperatorFailed
from spark_streaming.failure import deepest, trace_of
from spark_streaming.lag import CAUGHT_UP, UNKNOWN, InputLag, Lags, together
from spark_streaming.run import RunPlace, SparkRun, TaskWork
from spark_streaming.sink import LostCheckpoint, OutputSession
from spark_streaming.source import At
from turbine_client.errors import Unavailable

TEXT_CHARS = 2_000
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_GONE = ("KAFKA_DATA_LOSS", "UnknownTopicOrPartition", "OffsetOutOfRange")
"""What Spark's source says of offsets that are no more; the last two are Java's exceptions."""


class RunEnd(NamedTuple):
    """How a run ended; the words are those of the supervisor."""

    how: str
    cause: str = ""
    explanation: str = ""
    error_class: str = ""
    traceback: str = ""


Counts = Mapping[str, int | None]
Lag = Mapping[At, InputLag]
Reads = Mapping[At, int]
"""Of one run, by partition: how far behind it is, and how many records it has read since its
start."""
Judge = Callable[[BaseException], RunEnd | None]
"""What the seat knows of an error; None: it is none of the broker's."""


class Hearer(Protocol):
    """Who is told what becomes of runs; called from many threads."""

    def started(self, run: int, offsets: Mapping[At, int], *, keeps_state: bool | None) -> None: ...
    def ended(self, run: int, verdict: RunEnd, offsets: Mapping[At, int]) -> None: ...
    def loads(
        self, runs: Mapping[int, Counts], lags: Mapping[int, Lag], reads: Mapping[int, Reads]
    ) -> None: ...


MakeSeat = Callable[[TaskWork, Callable[[], bool]], OutputSession]
"""A seat for the work; the second argument says whether it was told to stop."""


class SparkEngine:
    """All tasks of one container."""

    def __init__(  # noqa: PLR0917 - each is another's, and none has a usual value
        self,
        place: RunPlace,
        java_pid: int,
        make_seat: MakeSeat,
        judge: Judge,
        hearer: Hearer,
        lags: Lags,
    ) -> None:
        self._place, self._judge, self._hearer, self._lags = place, judge, hearer, lags
        self._make_seat = make_seat
        self._runs: dict[int, SparkRun] = {}
        self._lock = threading.Lock()
        self._use = ProcessUse(java_pid)
        self._telling = threading.Lock()

    def start(self, work: TaskWork) -> None:
        """Begins a run; what becomes of it is told."""
        run = SparkRun(work, self._place, self._make_seat)
        with self._lock:
            self._runs[work.run] = run
        self._lags.watch(work.run, [(topic, n) for topic, ns in work.inputs for n in ns])
        self._in_thread(f"run-{work.run}", run.live, self._started, self._ended)

    def stop(self, run: int) -> None:
        """Ends a run once what is under way is done. To kill a thread nobody can: who does not end
        so is ended with the engine, by its supervisor."""
        with self._lock:
            found = self._runs.get(run)
        if found is not None:
            self._in_thread(f"stop-{run}", found.stop)

    def tell_loads(self) -> None:
        """What every run has used since its start; one answer at a time."""
        if self._telling.acquire(blocking=False):
            self._in_thread("loads", self._tell_loads)

    def _in_thread(self, name: str, call: Callable[..., None], *arguments: object) -> None:
        threading.Thread(target=call, args=arguments, name=name, daemon=True).start()

    def _started(self, run: SparkRun, offsets: Mapping[At, int]) -> None:
        self._hearer.started(run.work.run, offsets, keeps_state=run.keeps_state)

    def _ended(self, run: SparkRun, failure: BaseException | None) -> None:
        with self._lock:
            del self._runs[run.work.run]
        self._lags.forget(run.work.run)
        verdict = STOPPED if failure is None else self._judge(failure) or traced(failure)
        self._hearer.ended(run.work.run, verdict, run.position)

    def _tell_loads(self) -> None:
        try:
            with self._lock:
                runs = dict(self._runs)
            positions = {number: run.position for number, run in runs.items()}
            # After the positions, so that what has come since the last look counts as well.
            self._lags.look()
            lags = {number: self._lags.behind(position) for number, position in positions.items()}
            counts = self._measure(runs, lags)
            reads = {number: run.reads() for number, run in runs.items()}
            self._hearer.loads(counts, lags, reads)
        finally:
            self._telling.release()

    def _measure(self, runs: Mapping[int, SparkRun], lags: Mapping[int, Lag]) -> dict[int, Counts]:
        counts = {number: run.counts() for number, run in runs.items()}
        self._use.share({number: one["busy_us"] or 0 for number, one in counts.items()})
        memory = self._use.memory_bytes()
        found: dict[int, Counts] = {}
        for number, run in runs.items():
            behind = whole(run, lags[number])
            found[number] = {
                **counts[number],
                "lag_records": behind.records,
                "lag_ms": behind.ms,
                "checkpoint_age_ms": run.checkpoint_age_ms(),
                "cpu_ms": self._use.cpu_ms(number),
                "memory_bytes": memory // len(runs) if memory else None,
                "disk_bytes": None,
            }
        return found


STOPPED = RunEnd("stopped")


def whole(run: SparkRun, lag: Lag) -> InputLag:
    """A task by its partitions. One that has none is behind nothing, and of one that does not know
    yet where it begins nobody knows."""
    if not any(numbers for _, numbers in run.work.inputs):
        return CAUGHT_UP
    return together(lag.values()) if lag else UNKNOWN


def traced(error: BaseException) -> RunEnd:
    """With where it comes from: what a seat knows is said by its sentence."""
    return judged(error)._replace(traceback=trace_of(error))


def judged(error: BaseException) -> RunEnd:
    """What ended a query that its seat has no word for."""
    text = str(error)
    if isinstance(error, LostCheckpoint):  # it would come out the same, as the next would
        return RunEnd("refused", "checkpoint-lost", text[:TEXT_CHARS])
    if isinstance(error, BadOperator | OperatorFailed):
        how = "failed" if isinstance(error, Unavailable) else "refused"
        return RunEnd(how, "operator-error", text[:TEXT_CHARS])
    if isinstance(error, PySparkException | Py4JError):
        condition = error.getCondition() if isinstance(error, PySparkException) else None
        cause = "input-gone" if any(one in text for one in _GONE) else "operator-error"
        known, explanation = deepest(text)
        return RunEnd("failed", cause, explanation[:TEXT_CHARS], known or condition or "")
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return RunEnd("failed", "defect", said[:TEXT_CHARS], type(error).__name__)


class ProcessUse:
    """What both processes use, Java's and this one, and of CPU the Python workers as well, which
    Java starts for users' functions. The CPU is charged to tasks by how long they were busy; nobody
    can tell whose it was."""

    def __init__(self, java_pid: int) -> None:
        self._pid = java_pid
        self._cpu_ms = self._measure_ms()
        self._charged: dict[int, float] = {}
        self._busy_us: dict[int, int] = {}

    def share(self, busy_us: Mapping[int, int]) -> None:
        """What was used since the last time, to those who worked meanwhile."""
        now_ms = self._measure_ms()
        # Of a worker whose daemon has ended nobody knows any more what it used.
        used_ms, self._cpu_ms = max(0, now_ms - self._cpu_ms), now_ms
        grown = {run: max(0, us - self._busy_us.get(run, 0)) for run, us in busy_us.items()}
        total = sum(grown.values())
        self._busy_us = dict(busy_us)
        self._charged = {
            run: self._charged.get(run, 0.0) + used_ms * (us / total if total else 1 / len(grown))
            for run, us in grown.items()
        }

    def cpu_ms(self, run: int) -> int:
        """The CPU time of a run since its start."""
        return round(self._charged.get(run, 0.0))

    def memory_bytes(self) -> int | None:
        """The resident memory of both processes, the JVM's and Python's."""
        sizes = [_resident(pid) for pid in (self._pid, os.getpid())]
        return None if None in sizes else sum(one or 0 for one in sizes)

    def _measure_ms(self) -> int:
        return int(time.process_time() * 1000) + _tree_ticks(self._pid) * 1000 // _TICKS_PER_S


def _tree_ticks(root: int) -> int:
    """What a process and all below it have used, with those that have ended and were waited for.
    Where there is no such file system it is nothing."""
    parents, ticks = dict[int, int](), dict[int, int]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it is just ending
            # The program's name, in brackets, may hold blanks; times are those of user and system,
            # its own and then its children's.
            fields = path.read_text().rpartition(")")[2].split()
            pid = int(path.parent.name)
            parents[pid], ticks[pid] = int(fields[1]), sum(map(int, fields[11:15]))
    found, young = 0, [root]
    while young:
        found += sum(ticks.get(pid, 0) for pid in young)
        young = [pid for pid, parent in parents.items() if parent in young]
    return found


def _resident(pid: int) -> int | None:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
