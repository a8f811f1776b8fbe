"""Serves the API and the page over HTTP to this machine, until it is told to stop. A shell."""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
import time  # noqa: TID251 - patience with a broker is real time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn

from components.runtime.process.garbage import collect_seldom
from components.runtime.process.loop import StopSignal
from turbine.api.app import make_app
from turbine.api.desk import Desk
from turbine.api.feed import Feed
from turbine.api.guard import LOOPBACK, GuardRules, RequestGuard
from turbine.api.writing import LogWriter
from turbine.ops.members import ADDRESS
from turbine.read.sources.log import Log
from turbine.read.sources.log_file import LogFile
from turbine.read.state.live import LiveLog
from turbine_client.settings import BadSettings, Settings

PORT = 8090
TOKEN_FILE = "api-token"  # noqa: S105 - its name, and not what is in it
BACKLOG = 128
READY_S = 60.0
"""A log that takes longer to be read is shown as far as it was read."""
STOP_S = 3
"""Streams are open as long as anybody looks; they are closed when it ends."""


@dataclass(frozen=True, slots=True)
class Serving:
    """How an API is served."""

    host: str = "127.0.0.1"
    port: int = PORT
    any_port: bool = False  # another one where this is taken: of a fleet beside others
    names: tuple[str, ...] = ()  # under which it may be asked, beside loopback's
    read_only: bool = False
    scoreboard: Path | None = None


def bind(serving: Serving) -> socket.socket:
    """The door, open but with nobody behind it yet; BadSettings where there can be none."""
    found = _bound(serving.host, serving.port)
    if isinstance(found, OSError) and serving.any_port:
        found = _bound(serving.host, 0)
    if isinstance(found, OSError):
        raise BadSettings(
            f"nothing can listen at {serving.host}:{serving.port} ({found.strerror}); name another"
            " --port, or 0 for any"
        )
    return found


def _bound(host: str, port: int) -> socket.socket | OSError:
    door = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((host, port))
        door.listen(BACKLOG)
    except OSError as error:
        door.close()
        return error
    return door


def url_of(door: socket.socket) -> str:
    """Where it is to be asked."""
    host, port = door.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def token_in(directory: Path) -> str:
    """The token of writers, made when it is needed first; only its owner may read it."""
    path = directory / TOKEN_FILE
    directory.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(file, secrets.token_urlsafe(24).encode())
        os.close(file)
    token = path.read_text().strip()
    if len(token) < 16:
        raise BadSettings(f"{path} holds no token; delete it, and it is made anew")
    return token


@contextmanager
def opened(
    settings: Settings, serving: Serving, stop: StopSignal
) -> Iterator[tuple[Desk, GuardRules]]:
    """What an installation's API is answered from; nothing of it is left open."""
    log = Log(settings)
    live, writer = LiveLog(settings), LogWriter(settings)
    feed = Feed(log, live).start()
    await_views(live, stop)
    why = "it was started with --read-only" if serving.read_only else ""
    token = token_in(settings.directory)
    try:
        desk = Desk(log, live, feed, writer, serving.scoreboard, places=settings.directory)
        with closing(desk.freshness):
            yield desk, GuardRules(token, (*LOOPBACK, *serving.names), read_only=why)
    finally:
        feed.close()
        writer.close()
        live.close()


def await_views(live: LiveLog, stop: StopSignal) -> None:
    """Else whoever is first would be shown an empty fleet."""
    limit_s = time.monotonic() + READY_S
    while not live.ready(0.2) and not stop.wanted and time.monotonic() < limit_s:
        continue


@contextmanager
def opened_file(file: LogFile, serving: Serving) -> Iterator[tuple[Desk, GuardRules]]:
    """What an exported log's API is answered from. Nothing can be asked of what is over."""
    log = Log(source=file)
    with TemporaryDirectory(prefix="turbine-views-") as directory:
        views = LiveLog(directory=Path(directory), log=log)
        try:
            views.ready(READY_S)
            writer, feed = LogWriter(None), Feed(log, views)
            desk = Desk(log, views, feed, writer, serving.scoreboard, lambda: file.now_ms)
            desk.file, why = file.path.name, f"{file.name} is over"
            yield desk, GuardRules("", (*LOOPBACK, *serving.names), read_only=why)
        finally:
            views.close()


class _ApiServer(uvicorn.Server):
    """Leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals stay with who started the server."""
        yield


def serve_app(app: RequestGuard, door: socket.socket, stop: StopSignal, feed: Feed) -> int:
    """Answers until it is told to stop; 1 where it ended by itself."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        http="h11",
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=STOP_S,
    )
    server = _ApiServer(config)
    ended = threading.Event()

    def run() -> None:
        try:
            server.run(sockets=[door])
        finally:
            ended.set()
            stop.set()

    thread = threading.Thread(target=run, name="http")
    thread.start()
    stop.wait(None)
    failed = ended.is_set()
    feed.end()
    server.should_exit = True
    thread.join()
    return 1 if failed else 0


def serve(
    settings: Settings,
    serving: Serving,
    stop: StopSignal,
    tell: Callable[[str, Path | None], None] | None = None,
) -> int:
    """Serves the log of an installation; `tell` is given the address and the token's file."""
    door = bind(serving)
    address = settings.directory / ADDRESS
    try:
        with opened(settings, serving, stop) as (desk, rules):
            desk.summary()  # the lines of all jobs are made before anybody waits for them
            # What was read is held for good: to look through it for cycles would stop all answers.
            collect_seldom()
            write_address(address, url_of(door))
            if tell is not None:
                tell(url_of(door), None if rules.read_only else settings.directory / TOKEN_FILE)
            return serve_app(make_app(desk, rules), door, stop, desk.feed)
    finally:
        door.close()
        forget_address(address)


def serve_file(
    file: LogFile, serving: Serving, stop: StopSignal, tell: Callable[[str, Path | None], None]
) -> int:
    """Serves a log that was exported to a file; nothing else has to run."""
    door = bind(serving)
    try:
        with opened_file(file, serving) as (desk, rules):
            collect_seldom()
            tell(url_of(door), None)
            return serve_app(make_app(desk, rules), door, stop, desk.feed)
    finally:
        door.close()


def forget_address(path: Path) -> None:
    """Unless it is that of another server, which came later."""
    try:
        own = json.loads(path.read_text())["pid"] == os.getpid()
    except (OSError, ValueError, KeyError):
        return
    if own:
        path.unlink(missing_ok=True)


def write_address(path: Path, url: str) -> None:
    """Whole or not at all: others look there."""
    written = path.with_suffix(".new")
    written.write_text(json.dumps({"url": url, "pid": os.getpid()}) + "\n")
    written.replace(path)
