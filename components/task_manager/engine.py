"""An engine as its supervisor sees it: a child with pipes, in a process group of its own.

What an engine has to do, whoever writes it: `python -m MODULE --deadline FILE --die-with PID` reads
orders on standard input and writes events to standard output, one JSON object a line (`orders`);
its first line in is the settings, with its name and a directory that is gone when it ends; its
first line out is `ready`. All its processes stay in its
group and die with it, and each looks at the deadline before it begins an effect. It keeps the
descriptors that it inherits: they hold the container's lock until the last process is gone.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Protocol

import structlog

from components.task_manager.place import ContainerDirectory
from tasks.core.protocol import Event, WorkOrder, event_of, line
from tasks.deadline import Deadline
from tasks.process_tree import end_group
from turbine_client.settings import Settings

SHARED = "engine"
"""The name of the engine that tasks share."""
CHUNK = 65_536
WAITING_BYTES_MOST = 64 * 1024 * 1024
"""Of orders to an engine that does not read: it is frozen, for frozen_ms at most, or hangs."""

log = structlog.get_logger(__name__)


class Engine(Protocol):
    """What a supervisor asks of an engine. No call waits for it: it may be frozen."""

    def start(self, work: WorkOrder) -> None: ...
    def stop(self, run: int) -> None: ...
    def kill(self, run: int) -> None: ...
    def ask_loads(self) -> None: ...
    def hear(self) -> list[Event]: ...
    @property
    def ready(self) -> bool: ...
    def ended(self) -> str | None: ...
    def end(self) -> None: ...


class EngineProcess:
    """An engine that runs as a process; made anew after its end."""

    def __init__(
        self,
        module: str,
        settings: Settings,
        place: ContainerDirectory,
        deadline: Deadline,
        *,
        name: str = SHARED,
        more_fds: Sequence[int] = (),
    ) -> None:
        self._deadline = deadline
        self._scratch = place.scratch(name)
        command = [sys.executable, "-P", "-m", module, "--deadline", str(place.deadline)]
        self._child = subprocess.Popen(  # noqa: S603 - the operator names the module
            [*command, "--die-with", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[place.lock, *more_fds],
            process_group=0,
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._in, self._out = self._child.stdin.fileno(), self._child.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        # From here on the guard freezes it; before, it has no orders and so no effects.
        deadline.join(self._child.pid)
        self._waiting, self._text = bytearray(), b""
        self.ready = False
        self._write(
            line(
                "settings",
                name=name,
                scratch=str(self._scratch),
                bootstrap=settings.bootstrap,
                prefix=settings.prefix,
                kafka=dict(settings.kafka),
                spark=dict(settings.spark),
            )
        )

    @property
    def pid(self) -> int:
        """Of the engine itself; its tasks are in the group of the same number."""
        return self._child.pid

    def start(self, work: WorkOrder) -> None:
        """Tells the engine to begin a run of this work."""
        self._write(line("start", work=work.to_plain()))

    def stop(self, run: int) -> None:
        """Ends a run in order."""
        self._write(line("stop", run=run))

    def kill(self, run: int) -> None:
        """Ends a run at once."""
        self._write(line("kill", run=run))

    def ask_loads(self) -> None:
        """The answer is an event."""
        self._write(line("loads"))

    def hear(self) -> list[Event]:
        """What it has said since; also sends on what it had no room for."""
        self._send()
        found: list[Event] = []
        for plain in self._lines():
            if plain.get("what") == "ready":
                self.ready = True
            elif (event := event_of(plain)) is not None:
                found.append(event)
        return found

    def ended(self) -> str | None:
        """How it ended; None: it lives. It is not reaped yet, so that its number stays its own."""
        if len(self._waiting) > WAITING_BYTES_MOST:
            return "it does not read its orders"
        try:
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return "it was reaped by somebody else"
        if found is None:
            return None
        how = "by signal" if found.si_code != os.CLD_EXITED else "with code"
        return f"it ended {how} {found.si_status}"

    def end(self) -> None:
        """Kills all of it; returns when nothing is left."""
        self.ready = False
        end_group(self.pid)
        self._deadline.leave(self.pid)
        shutil.rmtree(self._scratch, ignore_errors=True)  # it may be there for its start alone
        self._child.returncode = 0  # it was reaped with its group
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()

    def _write(self, text: bytes) -> None:
        self._waiting += text
        self._send()

    def _send(self) -> None:
        while self._waiting:
            try:
                del self._waiting[: os.write(self._in, self._waiting[:CHUNK])]
            except BlockingIOError:
                return  # its pipe is full
            except BrokenPipeError:
                self._waiting.clear()  # it has ended, which is heard of elsewhere
                return

    def _lines(self) -> list[dict[str, object]]:
        while True:
            try:
                chunk = os.read(self._out, CHUNK)
            except BlockingIOError:
                break
            self._text += chunk
            if len(chunk) < CHUNK:
                break
        *lines, self._text = self._text.split(b"\n")
        return [plain for one in lines if (plain := _plain(one)) is not None]


def _plain(text: bytes) -> dict[str, object] | None:
    """A line of the engine; what is none must not end who listens."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        log.warning("the engine said what is no event", text=text[:200].decode(errors="replace"))
        return None
    return found
