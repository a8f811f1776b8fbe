"""`dashboard`: the page and the API of an installation, or of a log's file, to this machine."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from typer import Context, Option

from components.runtime.process.loop import StopSignal
from turbine.cli.options import chosen
from turbine.cli.output import tell, write
from turbine.read.moments import set_now
from turbine.read.sources.log_file import LogFile
from turbine_client.errors import BadRequest

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def dashboard(
    context: Context,
    *,
    open_: Path | None = None,
    port: Annotated[int, Option(min=0, max=65_535)] = 8090,
    listen: str = "127.0.0.1",
    allow_remote: bool = False,
    allow_host: list[str] | None = None,
    read_only: bool = False,
    scoreboard: Path | None = None,
) -> int:
    """Serve the dashboard and the HTTP API to this machine, until Ctrl-C.

    To change anything takes the token in the file api-token of the settings' directory; a terminal
    is shown it, and what is no terminal, such as a pod's log, only where it stands. Of a log in a
    file nothing can be changed.

    --open FILE: A log that `turbine log export` wrote.
    --port PORT: 0 takes a free one.
    --listen ADDRESS: Of this machine; not for others.
    --allow-remote: Let other machines in; --listen says where.
    --allow-host NAME: A name under which it may be asked; repeatable.
    --read-only: Nothing can be changed through it.
    --scoreboard FILE: To show, of `turbine scoreboard`.
    """
    from turbine.api.server import Serving, serve, serve_file

    names = _names(listen, allow_host or (), allow_remote=allow_remote)
    if scoreboard is not None and not scoreboard.is_file():
        raise BadRequest(
            f"--scoreboard {scoreboard} is no file; make one with `turbine scoreboard -o json`"
        )
    serving = Serving(listen, port, names=names, read_only=read_only, scoreboard=scoreboard)
    file = chosen(context).log if open_ is None else _opened(open_)
    if file is not None:
        return serve_file(file, serving, StopSignal().listen(), _tell)
    return serve(chosen(context).connected(), serving, StopSignal().listen(), _tell)


def _opened(path: Path) -> LogFile:
    found = LogFile(path)
    set_now(found.now_ms)
    return found


def _names(listen: str, given: Iterable[str], *, allow_remote: bool) -> tuple[str, ...]:
    """Under which it may be asked, beside loopback's."""
    if listen not in LOOPBACK and not allow_remote:
        raise BadRequest(
            f"--listen {listen} lets other machines read all that the log says, without a password"
            " and without TLS; add --allow-remote if that is meant, or put a proxy before it"
        )
    own = () if listen in LOOPBACK else (f"[{listen}]" if ":" in listen else listen,)
    return (*map(_name, given), *own)


def _name(given: str) -> str:
    if not given or "/" in given or given.partition("]")[2] or ":" in given.partition("[")[0]:
        raise BadRequest(f"--allow-host {given}: a name without scheme and port; write it so")
    return given.lower()


def _tell(url: str, token: Path | None) -> None:
    write(url)
    told = "" if token is None else f"to change things it asks for {_named(token)}; "
    tell(f"{told}end: Ctrl-C")


def _named(token: Path) -> str:
    """Many may read what is written to a log."""
    shown = sys.stderr.isatty()
    return f"this token: {token.read_text().strip()}" if shown else f"the token in {token}"
