"""What a task prints and logs: a file of its own in the container's place, of a bounded size.

tasks/JOB.INDEX.log     lines of an instant, the run, where they come from, and the text
tasks/JOB.INDEX.log.1   the ones before, once there were too many

Several processes may write to one file: each write is of whole lines, and none keeps the file open
or anything back, so a process that dies takes no line along. What cannot be written must not hurt a
task: it is counted, and told when there is room again.
"""

from __future__ import annotations

import fcntl
import os
import re
import threading
import time  # noqa: TID251 - lines are stamped with the instant at which they were written
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from tasks.core.protocol import Ended, WorkOrder

TASKS = "tasks"
FILE_BYTES_MOST = 1_000_000
"""Then the file is put aside, in place of the one before: a task has twice that of a disk."""
LINE_BYTES_MOST = 16_384
LINES_AT_ONCE = 64
"""In one write: so a file is at most a megabyte of lines larger than it may be."""
STAMP_BYTES = 24
"""At the beginning of each line: an instant in UTC, to the millisecond."""
FILES_MOST = 1_000
"""Of all tasks that ever ran here: with more, those that were written to least lately go."""
FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND
ENGINE, OUTPUT, STDOUT, STDERR, LOG = "engine", "output", "stdout", "stderr", "log"
"""Where lines come from: the engine itself, or the task by one of these ways."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RUN = r"[0-9]{1,18}\.[0-9]{1,18}"
_NAME = re.compile(r"(?P<job>.+)\.(?P<task>[0-9]{1,9})\.log(?:\.1)?")
_LINE = re.compile(
    rf"(\S{{{STAMP_BYTES}}}) ({_RUN}) (engine|output|stdout|stderr|log) (.*)".encode(), re.DOTALL
)


# --- reading


class PrintedLine(NamedTuple):
    """One line of a task's file."""

    at_ms: int
    run: str  # life.run of its container: one start of the task
    stream: str
    text: str


def file_of(directory: Path, job: str, task: int) -> Path:
    """Where the lines of a task are, in the place of a container."""
    return directory / TASKS / f"{job}.{task}.log"


def older(path: Path) -> Path:
    """What was put aside when the file was full."""
    return path.with_name(f"{path.name}.1")


def tasks_in(directory: Path, job: str) -> list[int]:
    """The tasks of a job that have lines in the place of a container."""
    named = (_NAME.fullmatch(path.name) for path in (directory / TASKS).glob(f"{job}.*.log*"))
    return sorted({int(one["task"]) for one in named if one is not None and one["job"] == job})


def line_of(text: bytes) -> PrintedLine | None:
    """A line as it was written, without its end; None: it is none of ours."""
    found = _LINE.fullmatch(text)
    if found is None:
        return None
    stamp, run, stream, said = (part.decode(errors="replace") for part in found.groups())
    try:
        at = datetime.fromisoformat(stamp)
        return PrintedLine((at - _EPOCH) // timedelta(milliseconds=1), run, stream, said)
    except (ValueError, TypeError):  # no time, or one without a zone
        return None


# --- writing


class Cutter:
    """Makes lines of what comes in pieces; a line that is too long is cut, with a mark."""

    def __init__(self) -> None:
        self._rest, self._over = bytearray(), 0

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that end in this piece."""
        *ended, rest = piece.split(b"\n")
        found = []
        for one in ended:
            self._take(one)
            found.append(self._line())
        self._take(rest)
        return found

    def end(self) -> list[bytes]:
        """What is left where nothing more will come."""
        return [self._line()] if self._rest else []

    def _take(self, piece: bytes) -> None:
        room = LINE_BYTES_MOST - len(self._rest)
        self._rest += piece[:room]
        self._over += max(0, len(piece) - room)

    def _line(self) -> bytes:
        mark = f" [cut: {self._over} bytes more]".encode() if self._over else b""
        line = bytes(self._rest) + mark
        self._rest, self._over = bytearray(), 0
        return line


class TaskLog:
    """The file of one task, for one of its runs; used from any thread."""

    def __init__(self, path: Path, run: str) -> None:
        self.path, self.run = path, run
        self._lost, self._why, self._torn = 0, "", False
        self._lock = threading.Lock()  # of what was lost

    def write(self, stream: str, lines: Sequence[bytes]) -> None:
        """Whole lines, all with the instant of now."""
        if not lines:
            return
        head = f"{_stamp(time.time_ns() // 1_000_000)} {self.run}"
        with self._lock:
            if self._lost:
                told = f"{head} {ENGINE} lines lost here: {self._lost} ({self._why})\n"
                if not self._append(told.encode()):
                    self._lost += len(lines)
                    return
                self._lost = 0
            for at in range(0, len(lines), LINES_AT_ONCE):
                some = lines[at : at + LINES_AT_ONCE]
                text = b"".join(f"{head} {stream} ".encode() + line + b"\n" for line in some)
                self._lost += 0 if self._append(text) else len(some)

    def say(self, text: str, stream: str = ENGINE) -> None:
        """A text as a whole, by default what the engine has to say of the task."""
        cutter = Cutter()
        self.write(stream, [*cutter.feed(text.encode(errors="replace")), *cutter.end()])

    def _append(self, text: bytes) -> bool:
        """False: it cannot be written now."""
        text = b"\n" + text if self._torn else text
        left = memoryview(text)
        try:
            file = self._open()
            try:
                while left:
                    left = left[os.write(file, left) :]
            finally:
                os.close(file)
        except OSError as bad:
            self._why = bad.strerror or str(bad)
            self._torn = self._torn or len(left) < len(text)
            return False
        self._torn = False
        return True

    def _open(self) -> int:
        """The file, or a new one where that is full."""
        try:
            file = os.open(self.path, FLAGS, 0o644)
        except FileNotFoundError:  # the first one of this place
            self.path.parent.mkdir(exist_ok=True)
            file = os.open(self.path, FLAGS, 0o644)
        if os.fstat(file).st_size < FILE_BYTES_MOST:
            return file
        try:
            _put_aside(self.path, file)
        finally:
            os.close(file)
        return os.open(self.path, FLAGS, 0o644)


def _stamp(at_ms: int) -> str:
    when = _EPOCH + timedelta(milliseconds=at_ms)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _put_aside(path: Path, file: int) -> None:
    """Once, by the first of those who find it full."""
    fcntl.flock(file, fcntl.LOCK_EX)  # let go of with the file
    with suppress(FileNotFoundError):  # another has just done so
        if os.fstat(file).st_ino == path.stat().st_ino:
            path.replace(older(path))


class TaskLogs:
    """Those of one engine: of each run its task's."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._runs: dict[int, TaskLog] = {}

    def begin(self, work: WorkOrder) -> TaskLog:
        """The file of the run's task, with a line about its start."""
        path = file_of(self._place, work.job, work.task)
        found = self._runs[work.run] = TaskLog(path, f"{work.epoch}.{work.run}")
        runs = list(self._runs.values())  # at once: threads end theirs meanwhile
        prune(self._place / TASKS, {one.path for one in runs})
        found.say(
            f"starts, generation {work.specs} and {work.shard} of its shard, package"
            f" {work.package} {work.package_version}"
        )
        return found

    def of(self, run: int) -> TaskLog | None:
        """The file of a run, from its beginning to its end."""
        return self._runs.get(run)

    def end(self, ended: Ended) -> None:
        """Writes how the run ended, as the last line of it."""
        found = self._runs.pop(ended.run, None)
        if found is not None:
            known = "" if ended.error_class in ended.explanation else ended.error_class
            found.say(": ".join(filter(None, (ended.how, ended.cause, known, ended.explanation))))


def prune(directory: Path, kept: set[Path]) -> None:
    """Makes room for the file of one more task."""
    with suppress(OSError):  # somebody tidies up at the same time
        files = list(directory.iterdir())
        if len(files) < FILES_MOST:
            return
        spare = sorted(
            (path for path in files if path not in kept), key=lambda path: path.stat().st_mtime
        )
        for path in spare[: len(files) - FILES_MOST + 1]:
            path.unlink()
