"""The Spark engine as a process: `python -m spark_streaming.main --deadline FILE --die-with PID`.

It joins what must not know each other: tasks in Spark, and the seats at the broker that every
engine has its tasks take. What it is told and says is the same as of any engine (see `orders`).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from components.runtime.process.local import ask_spark
from components.runtime.process.logs import configure_logs
from components.runtime.process.secrets import secrets_of
from spark_streaming.engine import Counts, Lag, Reads, RunEnd, SparkEngine
from spark_streaming.lag import Lags
from spark_streaming.run import RunPlace, Voice
from spark_streaming.run import TaskWork as SparkWork
from spark_streaming.session import SparkOptions, start_session
from spark_streaming.source import At, java_options
from spark_streaming.stdout import Voices, tell_workers
from tasks.core.protocol import Ended, InputSpot, Left, WorkOrder, line
from tasks.core.traces import last_lines
from tasks.deadline import Deadline
from tasks.pipes import Orders, first_line, tell
from tasks.process_tree import die_with, name_process
from tasks.session import TaskSession
from tasks.task_log import TaskLogs
from turbine_client.errors import Unavailable
from turbine_client.settings import Settings

EXIT_NO_SPARK = 3
OWN = frozenset({"jars", "heap.mb", "master"})
"""Of the [spark] settings; all others are Spark's."""


class EventWriter:
    """Tells the supervisor, whole lines from many threads."""

    def __init__(self, logs: TaskLogs, secrets: Sequence[str] = ()) -> None:
        self._lock, self._logs, self._secrets = threading.Lock(), logs, secrets
        # What operators print goes where logs go: amid these lines it would end the supervisor.
        self._voice = os.dup(1)
        os.dup2(2, 1)

    def say(self, text: bytes) -> None:
        """Writes one line to the supervisor."""
        with self._lock:
            tell(text, self._voice)

    def started(self, run: int, offsets: Mapping[At, int], *, keeps_state: bool | None) -> None:
        """A run holds its claim and reads from now on."""
        said = line("started", run=run, offsets=_spots(offsets), keeps_state=keeps_state)
        self.say(said)

    def ended(self, run: int, verdict: RunEnd, offsets: Mapping[At, int]) -> None:
        """Tells that a run is over, how and why."""
        verdict = verdict._replace(traceback=last_lines(verdict.traceback, self._secrets))
        said = Ended(run=run, **verdict._asdict(), offsets=_spots(offsets))
        self._logs.end(said)
        self.say(line("ended", **said._asdict()))

    def loads(
        self, runs: Mapping[int, Counts], lags: Mapping[int, Lag], reads: Mapping[int, Reads]
    ) -> None:
        """What each run has counted, and how far behind each of its partitions is."""
        left = {
            run: [Left(*at, *one, read=reads[run].get(at)) for at, one in lag.items()]
            for run, lag in lags.items()
        }
        self.say(line("loads", runs=runs, partitions=left))


def _spots(offsets: Mapping[At, int]) -> tuple[InputSpot, ...]:
    return tuple(InputSpot(*at, offset) for at, offset in sorted(offsets.items()))


def judge(error: BaseException) -> RunEnd | None:
    """What a seat knows of an error."""
    found = TaskSession.verdict(error)
    return None if found is None else RunEnd(*found)


def options_of(spark: Mapping[str, str], scratch: Path) -> SparkOptions:
    """As the [spark] settings say."""
    named = spark.get("jars")
    jars, flags = ([*map(str, Path(named).glob("*.jar"))], []) if named else ask_spark(at_once=True)
    master = spark.get("master", "local[2]")
    more = {f"spark.{name}": value for name, value in spark.items() if name not in OWN}
    if master.startswith("local"):  # else workers are on machines that may have no Turbine
        more = {"spark.python.daemon.module": "spark_streaming.stdout", **more}
    return SparkOptions(
        jars=tuple(map(Path, sorted(jars))),
        flags=tuple(flags),
        scratch=scratch,
        master=master,
        heap_mb=int(spark.get("heap.mb", "1024")),
        more=more,
    )


def seat_maker(
    settings: Settings, deadline: Deadline
) -> Callable[[SparkWork, Callable[[], bool]], TaskSession]:
    """Every task's own, under the container's deadline."""

    def make(work: SparkWork, stopped: Callable[[], bool]) -> TaskSession:
        assert isinstance(work, WorkOrder)
        return TaskSession(
            work, settings, deadline, stopped, **{"linger.ms": 5, "compression.type": "lz4"}
        )

    return make


def voice_of(spark: SparkSession, voices: Voices, logs: TaskLogs) -> Voice:
    """What a thread, and Spark on its behalf, prints for a task goes into the task's file."""

    def voice(work: SparkWork) -> AbstractContextManager[None]:
        log = logs.of(work.run)
        tell_workers(spark, log)
        return voices.of(log)

    return voice


def inherited() -> list[int]:
    """The descriptors that hold the container's lock: it is free only when Java is gone, too."""
    return [
        int(one.name) for one in Path("/proc/self/fd").iterdir() if _is_inherited(int(one.name))
    ]


def _is_inherited(file: int) -> bool:
    try:
        return file > 2 and os.get_inheritable(file)
    except OSError:  # the one by which they were listed
        return False


def _handle(engine: SparkEngine, logs: TaskLogs, order: Mapping[str, object]) -> None:
    match order:
        case {"what": "start", "work": dict(plain)}:
            work = WorkOrder.from_plain(plain)
            logs.begin(work)
            engine.start(work)
        case {"what": "stop" | "kill", "run": int(run)}:
            engine.stop(run)
        case {"what": "loads"}:
            engine.tell_loads()
        case _:
            sys.stderr.write(f"an order that is not known: {order.get('what')}\n")


def main(arguments: list[str] | None = None) -> int:
    """Serves one supervisor until it ends."""
    parser = argparse.ArgumentParser(prog="python -m spark_streaming.main", description=__doc__)
    parser.add_argument("--deadline", type=Path, required=True)
    parser.add_argument("--die-with", type=int, required=True, metavar="PID")
    given = parser.parse_args(arguments)
    kept = inherited()
    die_with(given.die_with)
    configure_logs()
    first = json.loads(first_line())
    name_process(first["name"])
    settings = Settings(
        first["bootstrap"], first["prefix"], kafka=first["kafka"], spark=first["spark"]
    )
    logs, voices = TaskLogs(given.deadline.parent), Voices()
    mouth = EventWriter(logs, secrets_of({**settings.kafka, **settings.spark}))
    voices.install()
    scratch = Path(first["scratch"])
    scratch.mkdir(parents=True)
    try:
        spark, java = start_session(
            options_of(settings.spark, scratch), partial(die_with, os.getpid()), kept
        )
    except Unavailable as failed:
        sys.stderr.write(f"turbine: {failed}\n")
        return EXIT_NO_SPARK
    threading.Thread(target=_follow, args=(java.wait,), daemon=True).start()
    kafka = {"bootstrap.servers": settings.bootstrap, **settings.kafka}
    java_kafka = java_options(settings.bootstrap, settings.kafka)
    place = RunPlace(spark, java_kafka, scratch, voice_of(spark, voices, logs))
    make = seat_maker(settings, Deadline.open(given.deadline))
    engine = SparkEngine(place, java.pid, make, judge, mouth, Lags(kafka))
    orders = Orders()
    mouth.say(line("ready"))
    while True:
        orders.read(partial(_handle, engine, logs))


def _follow(wait: Callable[[], int]) -> None:
    """Without its Java process the engine is over, whatever its threads wait for."""
    code = wait()
    sys.stderr.write(f"turbine: Spark's Java process ended with code {code}\n")
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
