"""The process engine: a process for each task, forked from this one. It touches no Kafka itself.

It has one thread and no client of a broker, so that a fork is safe: a child gets no lock that
another thread held. What tasks import is imported here, once; a start takes milliseconds, and the
memory of it is shared. (To spawn instead would cost each task a Python and its imports: 70 to 150
ms of a core and some 40 MB.) Tasks are in this process's group, and die with it.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from traceback import format_exc
from typing import Any, NoReturn

import structlog

from components.runtime.process.exits import EXIT_STUCK
from components.runtime.process.logs import configure_logs
from components.runtime.process.secrets import secrets_of
from tasks.core.protocol import FAILED, STOPPED, Ended, InputSpot, Left, WorkOrder, line
from tasks.core.traces import last_lines
from tasks.counters import Counters
from tasks.deadline import Deadline, own_ms
from tasks.pipes import CHUNK, Orders, first_line, tell
from tasks.process_engine.task import run_task
from tasks.process_tree import die_with, name_process
from tasks.task_log import OUTPUT, Cutter, TaskLog, TaskLogs
from turbine_client.settings import Settings

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Child:
    """A task's process, as its parent sees it."""

    work: WorkOrder
    pid: int
    pipe: int
    counters: Counters
    lines: TaskLog
    output: int  # what it prints; -1: it has closed that
    cutter: Cutter = field(default_factory=Cutter)
    text: bytearray = field(default_factory=bytearray)
    last: dict[str, Any] | None = None  # how it says it ended


class ProcessEngine:
    """Starts tasks, ends them, and tells what becomes of them."""

    def __init__(self, settings: Settings, deadline: Deadline, logs: TaskLogs) -> None:
        self._settings, self._deadline, self._logs = settings, deadline, logs
        self._children: dict[int, Child] = {}  # by run
        self._selector = selectors.DefaultSelector()

    def handle(self, order: Mapping[str, Any]) -> None:
        """One order; what is unknown to this build is left to one that knows it."""
        match order.get("what"):
            case "start":
                self._start(WorkOrder.from_plain(order["work"]))
            case "stop":
                self._signal(order["run"], signal.SIGTERM)
            case "kill":
                self._signal(order["run"], signal.SIGKILL)
            case "loads":
                found = {run: measured(child) for run, child in self._children.items()}
                runs = {run: counts for run, (counts, _) in found.items()}
                left = {run: parts for run, (_, parts) in found.items()}
                tell(line("loads", runs=runs, partitions=left))
            case what:
                log.warning("an order that is not known", what=what)

    def watch(self, file: int, call: Callable[[], object]) -> None:
        """Calls it whenever something can be read there."""
        self._selector.register(file, selectors.EVENT_READ, call)

    def turn(self) -> None:
        """Waits for something to happen, and heeds it."""
        for key, _ in self._selector.select():
            key.data()

    # --- tasks

    def _start(self, work: WorkOrder) -> None:
        counters = Counters(work.places)
        ear, mouth = os.pipe()
        output, print_to = os.pipe()
        lines = self._logs.begin(work)
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._be(work, counters, (mouth, print_to), parent)
        os.close(mouth)
        os.close(print_to)
        os.set_blocking(ear, False)
        os.set_blocking(output, False)
        child = self._children[work.run] = Child(work, pid, ear, counters, lines, output)
        self.watch(ear, partial(self._hear, child))
        self.watch(output, partial(self._listen, child))

    def _be(
        self, work: WorkOrder, counters: Counters, mouths: tuple[int, int], parent: int
    ) -> NoReturn:
        """The child, from the fork to its end. It never returns into the engine's own loop."""
        mouth, print_to = mouths
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            die_with(parent)
            name_process(work.name)
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.dup2(print_to, 1)  # standard output is the engine's voice, and not the task's
            os.dup2(print_to, 2)
            ended = run_task(
                work, self._settings, self._deadline, counters, partial(_started, mouth, work.run)
            )
            os.write(mouth, line("ended", **ended._asdict()))
        except Exception as error:  # whatever it is, it must not reach the loop
            log.exception("a task failed in a way that nobody foresaw", task=work.name)
            said = Ended(
                work.run,
                FAILED,
                "defect",
                str(error),
                type(error).__name__,
                traceback=last_lines(format_exc(), secrets_of(self._settings.kafka)),
            )
            os.write(mouth, line("ended", **said._asdict()))
        os._exit(0)

    def _signal(self, run: int, number: signal.Signals) -> None:
        child = self._children.get(run)
        if child is not None:  # else it has ended, and that is told already
            os.kill(child.pid, number)

    def _hear(self, child: Child) -> None:
        """What a task says; at the end of its words it is waited for."""
        chunk = os.read(child.pipe, CHUNK)
        child.text += chunk
        *lines, rest = child.text.split(b"\n")
        child.text = bytearray(rest)
        for one in lines:
            plain = json.loads(one)
            if plain["what"] == "ended":
                child.last = plain
            else:
                tell(bytes(one) + b"\n")
        if not chunk:
            self._bury(child)

    def _listen(self, child: Child) -> bool:
        """What a task prints, into its file; False where nothing more has come."""
        try:
            chunk = os.read(child.output, CHUNK) if child.output >= 0 else b""
        except BlockingIOError:
            return False
        child.lines.write(OUTPUT, child.cutter.feed(chunk))
        if not chunk:
            self._close_output(child)
        return bool(chunk)

    def _close_output(self, child: Child) -> None:
        if child.output >= 0:
            child.lines.write(OUTPUT, child.cutter.end())
            self._selector.unregister(child.output)
            os.close(child.output)
            child.output = -1

    def _bury(self, child: Child) -> None:
        # The pipe is closed by the kernel with the rest of the process: it is all but gone.
        _, status = os.waitpid(child.pid, 0)
        while self._listen(child):
            continue
        self._close_output(child)  # it may have passed it on to a program that lives
        self._selector.unregister(child.pipe)
        os.close(child.pipe)
        del self._children[child.work.run]
        plain = child.last or {"what": "ended", **_fallen(child.work.run, status)._asdict()}
        self._logs.end(Ended(**{name: plain[name] for name in Ended._fields}))
        tell(line(**plain))


def _started(mouth: int, run: int, offsets: tuple[InputSpot, ...]) -> None:
    os.write(mouth, line("started", run=run, offsets=offsets, keeps_state=False))


def _fallen(run: int, status: int) -> Ended:
    """How a process ended that could not say so."""
    code = os.waitstatus_to_exitcode(status)
    if code == EXIT_STUCK:
        return Ended(run, FAILED, "stuck", "a call to the broker did not return; see the log")
    if code >= 0:
        return Ended(run, FAILED, "ended", f"its process ended with code {code}")
    if -code == signal.SIGTERM:  # it was told to stop before it could listen
        return Ended(run, STOPPED)
    more = ", perhaps because memory ran out" if -code == signal.SIGKILL else ""
    return Ended(run, FAILED, "killed", f"its process was killed by signal {-code}{more}")


def measured(child: Child) -> tuple[dict[str, int | None], list[Left]]:
    """What the task counted, by name and by partition, and what the system says that it used; what
    is unknown is None. A task that counts keeps nothing on a disk."""
    used: dict[str, int | None] = {"cpu_ms": None, "memory_bytes": None, "disk_bytes": 0}
    with suppress(OSError):  # it is just ending, or there is no such file system
        # The program's name, in brackets, may hold blanks; user and system time follow it.
        fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        used["cpu_ms"] = (int(fields[11]) + int(fields[12])) * 1000 // _TICKS_PER_S
        pages = Path(f"/proc/{child.pid}/statm").read_text().split()[1]
        used["memory_bytes"] = int(pages) * _PAGE_BYTES
    counts, left = child.counters.read(own_ms())
    return {**counts, **used}, left


def main(arguments: list[str] | None = None) -> None:
    """Serves one supervisor until it ends."""
    parser = argparse.ArgumentParser(prog="python -m tasks.process_engine.engine")
    parser.add_argument("--deadline", type=Path, required=True)
    parser.add_argument("--die-with", type=int, required=True, metavar="PID")
    given = parser.parse_args(arguments)
    die_with(given.die_with)
    configure_logs()
    # Settings come as the first line, and not as arguments: they hold passwords.
    first = json.loads(first_line())
    name_process(first["name"])
    settings = Settings(first["bootstrap"], first["prefix"], kafka=first["kafka"])
    logs = TaskLogs(given.deadline.parent)
    engine = ProcessEngine(settings, Deadline.open(given.deadline), logs)
    orders = Orders()
    engine.watch(0, partial(orders.read, engine.handle))
    tell(line("ready"))
    while True:
        engine.turn()


if __name__ == "__main__":
    main()
