"""Runs job-keyed components as a Faust agent: what Faust's stream has buffered is one poll."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import structlog

from components.runtime.core.commits import Commits
from components.runtime.core.component import Component
from components.runtime.faust.app import RAW, App, Worker, make_app
from components.runtime.faust.shell import Shell
from components.runtime.kafka.clients import partitions_for
from components.runtime.kafka.intake import Message, OffsetGap, of_faust
from components.runtime.kafka.surveying import TopicWatch, fail
from components.runtime.process.exits import (
    EXIT_FAILED_HANDLER,
    EXIT_REFUSED_WRITE,
    EXIT_UNREADABLE,
)
from events.topics import CLOCK, rows_topic
from turbine_client.emitter import WriteRefused
from turbine_client.errors import BrokerUnreachable
from turbine_client.reading import LogUnreadable
from turbine_client.settings import Settings

T = TypeVar("T")
POLL_MOST = 2_000
POLL_BYTES = 16 * 1024 * 1024
"""What one poll says waits in memory for its acknowledgements, dead letters of its size too."""
COMMIT_S = 1.0

log = structlog.get_logger(__name__)


class Hooks:
    """What Faust tells the shell. The shell lives in one thread of its own, so that a write that
    waits for the broker blocks neither heartbeats nor signals."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.commits = Commits()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="shell")
        self._stopping = False

    async def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Runs in the shell's thread; a refused write and a lost broker end the process."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, function, *arguments)
        except WriteRefused as refused:
            fail(EXIT_REFUSED_WRITE, str(refused))
            raise
        except (BrokerUnreachable, LogUnreadable) as unreadable:
            fail(EXIT_UNREADABLE, str(unreadable))
            raise

    async def assigned(self, partitions: set[int]) -> None:
        """These are ours: claim, restore, catch up."""
        self.commits.forget()
        await self.call(self.shell.assign, partitions)

    async def revoked(self) -> None:
        """They may be another's from now on; what changed is kept while it still holds."""
        await self.call(self.shell.hand_over)

    async def committable(self) -> Mapping[tuple[str, int], int]:
        """What may be committed; asked in the shell's thread, which may be changing it."""
        return await self.call(self.shell.committable)

    async def positions(self) -> Mapping[tuple[str, int], int]:
        """Where the stream is to go on."""
        return await self.call(self.shell.positions)

    async def stopping(self) -> Mapping[tuple[str, int], int]:
        """The last rows, then no more; what may be committed after them."""
        if not self._stopping:
            self._stopping = True
            await self.call(self.shell.close)
        return self.shell.committable()


def build(components: Sequence[Component[Any]], settings: Settings, instance: str | None) -> App:
    """The app of one instance; `instance` names a static member of the worker's group."""
    inputs = frozenset({CLOCK}).union(*(component.inputs for component in components))
    rows = {rows_topic(component.name).short for component in components}
    partitions = partitions_for(settings, inputs | rows)
    shell = Shell(settings, components, partitions, instance or "dynamic")
    names = [settings.topic(short) for short in sorted(inputs)]
    app = make_app(shell.group, settings, instance, names)
    app.hooks = Hooks(shell)
    TopicWatch(settings, shell.standing, remedy=shell.remedy)

    # Faust's acknowledgements are off: what may be committed is what the shell has kept.
    @app.agent(app.topic(*names, acks=False, **RAW), name=shell.group)  # type: ignore[untyped-decorator]  # Faust's are
    async def run(stream: Any) -> None:
        async for event in stream.events():
            queue = stream.channel.queue
            await app.hooks.call(shell.handle, _poll(of_faust(event.message), queue))
            while shell.behind:
                await app.hooks.call(shell.handle, _poll([], queue))

    @app.timer(COMMIT_S)  # type: ignore[untyped-decorator]  # Faust's are
    async def commit() -> None:
        if not app.should_stop:
            commits: Commits = app.hooks.commits
            moved = commits.moved(await app.hooks.committable())
            await app.commit_positions(moved)
            commits.done(moved)

    return app


def _poll(poll: list[Message | OffsetGap], queue: Any) -> list[Message | OffsetGap]:
    """With it what is buffered behind it; each event is what was fetched at once."""
    size = _bytes_of(poll)
    while not queue.empty() and len(poll) < POLL_MOST and size < POLL_BYTES:
        more = of_faust(queue.get_nowait().message)
        poll += more
        size += _bytes_of(more)
    return poll


def _bytes_of(poll: Iterable[Message | OffsetGap]) -> int:
    return sum(len(one.value or b"") for one in poll if isinstance(one, Message))


def run(components: Sequence[Component[Any]], settings: Settings, instance: str | None) -> None:
    """Runs until a signal; exits with a code that says why."""
    work(build(components, settings, instance))


def work(app: App) -> None:
    """Runs the app until a signal; whatever ends it otherwise is told in one line, too."""
    worker = Worker(app, override_logging=False, redirect_stdouts=False, quiet=True)
    worker.spinner = None  # it draws on standard output, terminal or not
    try:
        worker.execute_from_commandline()
    except SystemExit as ended:
        if ended.code:  # Faust has caught the exception and told it at length
            reason = worker.crash_reason or ended.__context__
            fail(EXIT_FAILED_HANDLER, f"Faust gave up: {reason!r}")
        raise
