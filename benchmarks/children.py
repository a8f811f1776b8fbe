"""Processes of a benchmark: none outlives it, and those that are supervised come back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
LAUNCH = ROOT / "benchmarks" / "launch.py"
RESTART_S = 0.5
"""A supervisor's first back-off; a process that fell is not expected to fall again at once."""
STOP_S = 15.0


class ChildFailed(RuntimeError):
    """A process of the benchmark ended badly; the sentence names it and where its words lie."""


def python(module: str, *arguments: object) -> list[str]:
    """The command that runs one of our modules."""
    return [sys.executable, "-m", module, *map(str, arguments)]


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """The caller's, without settings of another installation, and with our rooms to import."""
    # Values are handed on, not read: which names the caller's shell has is nobody's business here.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TURBINE_")}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def start(
    command: Sequence[str],
    directory: Path,
    log: IO[bytes],
    *,
    piped: bool = False,
    more: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """A process that dies with this thread; its standard error goes to the log."""
    pipe = subprocess.PIPE if piped else subprocess.DEVNULL
    shim = [sys.executable, "-I", "-S", str(LAUNCH), str(os.getpid())]
    return subprocess.Popen(
        [*shim, *command],
        stdin=pipe,
        stdout=pipe,
        stderr=log,
        cwd=directory,
        env=environment(more or {}),
        # Ctrl-C in a terminal is for the benchmark, which then ends its processes in order.
        start_new_session=True,
    )


def end(process: subprocess.Popen[bytes]) -> int:
    """Asks the process to end, and ends it at the deadline; its exit code."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    return process.wait()


@contextmanager
def running(
    name: str,
    command: Sequence[str],
    directory: Path,
    *,
    more: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A process with pipes to and from it, for as long as the block."""
    with (directory / f"{name}.log").open("ab") as log:
        process = start(command, directory, log, piped=True, more=more)
        try:
            yield process
        finally:
            end(process)


def answers(name: str, process: subprocess.Popen[bytes], directory: Path) -> Iterator[Any]:
    """The JSON lines that the process writes to its end; a bad end raises."""
    assert process.stdout is not None
    for line in process.stdout:
        yield json.loads(line)
    code = process.wait()
    if code:
        raise ChildFailed(f"{name} ended with code {code}; it said: {_tail(directory, name)}")


def ask(
    name: str,
    command: Sequence[str],
    directory: Path,
    *,
    more: Mapping[str, str] | None = None,
) -> Any:
    """Runs a process to its end; the last JSON line that it wrote."""
    with running(name, command, directory, more=more) as process:
        said = list(answers(name, process, directory))
    if not said:
        raise ChildFailed(f"{name} ended without an answer; it said: {_tail(directory, name)}")
    return said[-1]


def _tail(directory: Path, name: str) -> str:
    text = (directory / f"{name}.log").read_text(errors="replace")
    return text[-2_000:].strip() or "nothing"


class Supervised:
    """A process that is started again whenever it ends, as by a supervisor, until `stop`."""

    def __init__(self, name: str, command: Sequence[str], directory: Path) -> None:
        self.name, self.killed, self.fell = name, 0, 0
        self.log = directory / f"{name}.log"
        self._command, self._directory = command, directory
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        # The thread lasts as long as its process: the kernel's "parent" is the thread that forked.
        self._thread = threading.Thread(target=self._keep, name=f"supervisor of {name}")
        self._thread.daemon = True
        self._thread.start()

    @property
    def pid(self) -> int | None:
        """The process of the moment, if there is one."""
        with self._lock:
            process = self._process
            return process.pid if process is not None and process.poll() is None else None

    def _keep(self) -> None:
        with self.log.open("ab") as log:
            while not self._stopped.is_set():
                with self._lock:
                    kills = self.killed
                    process = self._process = start(self._command, self._directory, log)
                process.wait()
                if not self._stopped.is_set() and self.killed == kills:
                    self.fell += 1
                self._stopped.wait(RESTART_S)

    def kill(self) -> bool:
        """SIGKILL, as a machine that dies would; False where there was nobody to kill."""
        with self._lock:
            process = self._process
            if process is None or process.poll() is not None:
                return False
            self.killed += 1
            process.send_signal(signal.SIGKILL)
            return True

    def abandon(self) -> None:
        """From now on it is not started again, however it ends."""
        self._stopped.set()

    def stop(self) -> None:
        """Ends it for good."""
        self._stopped.set()
        with self._lock:
            process = self._process
        if process is not None:
            end(process)
        self._thread.join(STOP_S)
