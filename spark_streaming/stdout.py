"""Whose words a thread says: what it prints and logs goes to the file of its task.

An engine runs its tasks in threads of one process, which has one standard output. A thread says for
whom it works; what all others say goes where it went before.

Spark's Python workers serve many tasks in turn, and it is Spark that knows for whom one works now.
This module is their daemon (`spark.python.daemon.module`): Spark's own, whose workers ask.
"""

from __future__ import annotations

import io
import logging
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from py4j.protocol import Py4JError
from pyspark import daemon
from pyspark.sql import SparkSession
from pyspark.taskcontext import TaskContext

from tasks.task_log import LOG, STDERR, STDOUT, Cutter, TaskLog

WHOSE = "turbine.whose"
"""The property of a Spark job by which its workers are told the run and the file."""


class Voices(threading.local):
    """For whom this thread works now; each thread sees its own."""

    def __init__(self) -> None:
        self._given: TaskLog | None = None
        self._last: TaskLog | None = None  # whose the beginnings of lines are
        self._cutters = {STDOUT: Cutter(), STDERR: Cutter()}

    @property
    def log(self) -> TaskLog | None:
        """The file of the task that this thread works for now."""
        return self._given

    @contextmanager
    def of(self, log: TaskLog | None) -> Iterator[None]:
        """Within it, all that this thread says is that task's."""
        before, self._given = self._given, log
        try:
            yield
        finally:
            self._end_lines()
            self._given = before

    def write(self, log: TaskLog, stream: str, text: str) -> None:
        """To the task's file, by whole lines."""
        if log is not self._last:
            self._end_lines()
            self._last = log
        log.write(stream, self._cutters[stream].feed(text.encode(errors="replace")))

    def _end_lines(self) -> None:
        for stream, cutter in self._cutters.items():
            rest = cutter.end()
            if self._last is not None:
                self._last.write(stream, rest)
        self._last = None

    def install(self) -> None:
        """From now on, for `print`, `warnings`, tracebacks and `logging` of this process; once."""
        if isinstance(sys.stdout, SplitStream):
            return
        sys.stdout = SplitStream(self, STDOUT, sys.stdout)
        sys.stderr = SplitStream(self, STDERR, sys.stderr)
        root = logging.getLogger()
        for handler in root.handlers:
            handler.addFilter(lambda _: self.log is None)
        root.addHandler(Handler(self))


class SplitStream(io.TextIOBase):
    """A standard stream that asks who speaks."""

    def __init__(self, voices: Voices, name: str, other: TextIO) -> None:
        self._voices, self._name, self._other = voices, name, other

    def write(self, text: str) -> int:
        """To the task's file by whole lines, or to the other stream."""
        log = self._voices.log
        if log is None:
            return self._other.write(text)
        self._voices.write(log, self._name, text)
        return len(text)

    def flush(self) -> None:
        """Of the other stream: a task's lines are written at once."""
        self._other.flush()

    def writable(self) -> bool:
        """Whether it can be written to: always, as standard streams can."""
        return True

    def fileno(self) -> int:
        """The descriptor of the stream beneath."""
        return self._other.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a class has none of its own
        """The encoding by the name that files have for it."""
        return "utf-8"

    @property
    def buffer(self) -> Any:
        """The buffer of the stream beneath: bytes belong to no task."""
        return self._other.buffer


class Handler(logging.Handler):
    """What a task logs, for people: a line, and below it the traceback if there is one."""

    def __init__(self, voices: Voices) -> None:
        super().__init__()
        self._voices = voices

    def emit(self, record: logging.LogRecord) -> None:
        """Only where the thread works for a task."""
        log = self._voices.log
        if log is None:
            return
        try:
            text = said(record)
        except Exception:  # noqa: BLE001 - logging's own rule: a bad record ends nobody
            self.handleError(record)
            return
        log.say(text, LOG)


def said(record: logging.LogRecord) -> str:
    """A record in words: structlog's are events with fields, all others are sentences."""
    if isinstance(record.msg, dict):
        fields = [f"{name}={value}" for name, value in record.msg.items() if name != "event"]
        text = " ".join([str(record.msg.get("event", "")), *fields])
    else:
        text = record.getMessage()
    text = f"{record.levelname} {record.name}: {text}"
    if record.exc_info and record.exc_info[0] is not None:
        text += "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
    return text


# --- workers


def tell_workers(spark: SparkSession, log: TaskLog | None) -> None:
    """For whom they work in all that this thread, and a query that it starts, has Spark do."""
    whose = "" if log is None else f"{log.run} {log.path}"
    with suppress(Py4JError, OSError):  # Java is gone, and the engine goes with it
        spark.sparkContext.setLocalProperty(WHOSE, whose)


class WorkerVoices(Voices):
    """For whom the worker works is Spark's to say."""

    def __init__(self) -> None:
        super().__init__()
        self._whose = ""

    @property
    def log(self) -> TaskLog | None:
        """The file of the task whose function is called now."""
        context = TaskContext.get()
        whose = context.getLocalProperty(WHOSE) if context is not None else None
        if whose and whose != self._whose:
            run, _, path = whose.partition(" ")
            self._whose, self._given = whose, TaskLog(Path(path), run)
        return self._given if whose else None


def main() -> None:
    """Spark's daemon, whose workers say for whom they work."""
    serve = daemon.worker

    def worker(sock: socket.socket, authenticated: bool) -> int:
        logging.getLogger().setLevel(logging.INFO)
        WorkerVoices().install()
        return serve(sock, authenticated)

    daemon.worker = worker
    daemon.manager()


if __name__ == "__main__":
    main()
