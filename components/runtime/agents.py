"""Runs a job-keyed component as a Faust agent: what Faust's stream has buffered is one poll."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import faust
import structlog

from components.runtime import faust_app
from components.runtime.clients import partitions_of
from components.runtime.emitter import Refused
from components.runtime.faust_app import RAW, App, die, make_app
from components.runtime.intake import of_faust
from components.runtime.settings import BadSettings, Settings
from components.runtime.shell import Shell
from components.runtime.step import Component
from events.topics import BY_SHORT, CLOCK, rows_topic

T = TypeVar("T")
POLL_MOST = 2_000
COMMIT_S = 1.0

log = structlog.get_logger(__name__)


class Hooks:
    """What Faust tells the shell. The shell lives in one thread of its own, so that a write that
    waits for the broker blocks neither heartbeats nor signals."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="shell")
        self._stopping = False

    async def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Runs in the shell's thread; a refused write ends the process."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, function, *arguments)
        except Refused as refused:
            die(faust_app.EXIT_REFUSED_WRITE, str(refused))
            raise

    async def assigned(self, partitions: set[int]) -> None:
        """These are ours: claim, restore, catch up."""
        await self.call(self.shell.assign, partitions)

    async def revoked(self) -> None:
        """They may be another's from now on; what changed is kept while it still holds."""
        await self.call(self.shell.keep)

    async def stopping(self) -> None:
        """The last rows, then no more."""
        if not self._stopping:
            self._stopping = True
            await self.call(self.shell.close)


def build(component: Component[Any], settings: Settings, instance: str | None) -> App:
    """The app of one instance; `instance` names a static member of the component's group."""
    partitions = _partitions(component, settings)
    shell = Shell(settings, component, partitions, instance or "dynamic")
    names = [BY_SHORT[short].name for short in sorted(component.inputs | {CLOCK})]
    app = make_app(f"turbine-{component.name}", settings, instance, names)
    app.hooks = Hooks(shell)

    # Faust's acknowledgements are off: what may be committed is what the shell has kept.
    @app.agent(app.topic(*names, acks=False, **RAW), name=component.name)  # type: ignore[untyped-decorator]  # Faust's are
    async def run(stream: Any) -> None:
        async for event in stream.events():
            poll = [of_faust(event.message)]
            queue = stream.channel.queue
            while not queue.empty() and len(poll) < POLL_MOST:
                poll.append(of_faust(queue.get_nowait().message))
            await app.hooks.call(shell.handle, poll)

    @app.timer(COMMIT_S)  # type: ignore[untyped-decorator]  # Faust's are
    async def commit() -> None:
        if not app.should_stop:
            await app.commit_positions(shell.committable())

    return app


def run(component: Component[Any], settings: Settings, instance: str | None) -> None:
    """Runs until a signal; exits with a code that says why."""
    app = build(component, settings, instance)
    worker = faust.Worker(app, override_logging=False, redirect_stdouts=False, quiet=True)
    worker.spinner = None  # it draws on standard output, terminal or not
    worker.execute_from_commandline()


def _partitions(component: Component[Any], settings: Settings) -> int:
    """P, as the log has it: all per-job topics of the component must agree on it."""
    found = partitions_of(settings)
    needed = sorted(component.inputs | {CLOCK, rows_topic(component.name).short})
    missing = [short for short in needed if short not in found]
    if missing:
        raise BadSettings(
            f"the broker has no topic turbine.{missing[0]}; create them with `turbine topics apply`"
        )
    counts = {found[short] for short in needed}
    if len(counts) > 1:
        told = ", ".join(f"{short}: {found[short]}" for short in needed)
        raise BadSettings(f"per-job topics must have equally many partitions, but have {told}")
    return counts.pop()
