"""`top`: the fleet in a terminal, live, the worst first."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text
from typer import Context

from turbine.cli.options import At, chosen, open_log
from turbine.cli.output import TABLE_WIDTH, console_here, show_value, tell, write
from turbine.cli.reading import viewed
from turbine.cli.terminal import terminal
from turbine.cli.top_lines import Line, TopChoices, ago, layout, pressed
from turbine.failures import Code, Failed, named
from turbine.read.answers.fleet import Fleet, fleet
from turbine.read.answers.lines import lines_of
from turbine.read.filters import filter_of
from turbine.read.moments import given_moment, now_ms
from turbine.read.state.live import LiveLog as Views
from turbine.read.state.view import View
from turbine_client.errors import BadRequest

LOOK_S = 1.0
"""Between two frames where nobody presses a key: people read no faster."""
READY_S = 600.0
STALE_MS = 60_000
KEYS = {
    b"\x1b[A": "up",
    b"\x1b[B": "down",
    b"\x1b[5~": "page-up",
    b"\x1b[6~": "page-down",
    b"\x1b[H": "home",
    b"\x1b[F": "end",
    b"\x1bOA": "up",
    b"\x1bOB": "down",
    b"\r": "enter",
    b"\n": "enter",
    b"\x7f": "backspace",
    b"\x08": "backspace",
    b"\x1b": "escape",
}


def top(
    context: Context,
    *,
    once: bool = False,
    filter_: str = "",
    sort: Literal["worst", "lag", "rate", "tasks", "changed", "name"] = "worst",
    at: At = None,
    output: Literal["table", "json", "yaml"] = "table",
) -> int:
    """Watch the fleet: the three numbers, jobs, containers and alerts, the worst first.

    Keys: q quits, s sorts by something else, / filters, arrows and PgUp, PgDn move.

    --once: One frame, for pipes.
    --filter WORDS: As typed after /: words, !words, state=X.
    --sort: What stands first.
    -o, --output: Form of one frame; json and yaml need --once.
    """
    with named("--filter"):
        filter_of(filter_)
    moment = given_moment(at)
    look = TopChoices(sort=sort, query=filter_.strip())
    if once or at is not None:
        with viewed(open_log(context), moment) as view:
            return _print(_fleet(view, look), look, output)
    if output != "table":
        raise BadRequest(f"-o {output} is of one frame; add --once")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadRequest("top needs a terminal; --once prints one frame")
    return _watch(context, look)


def _fleet(view: View, look: TopChoices) -> Fleet:
    """What is shown of a view."""
    return fleet(view, lines_of(view), look.query, look.sort)


def _print(frame: Fleet, look: TopChoices, output: str) -> int:
    """One frame: all of it in a pipe, as wide as it is."""
    if output != "table":
        return show_value(frame, output)
    if terminal().tty:
        console = console_here()
        console.print(_styled(layout(frame, look, console.width, None, keys=False)))
        return Code.OK
    for line in layout(frame, look, TABLE_WIDTH, None, keys=False):
        write("".join(piece.text for piece in line).rstrip())
    return Code.OK


def _styled(lines: list[Line]) -> Group:
    """As rich shows it; what stands in a cell is text, and no markup."""
    return Group(
        *(
            Text.assemble(*((piece.text, piece.style) for piece in line), no_wrap=True)
            for line in lines
        )
    )


# --- live


def _watch(context: Context, look: TopChoices) -> int:
    views = Views(chosen(context).connected())
    try:
        if not views.ready(0.5):
            tell("the log is read")
        if not views.ready(READY_S):
            raise Failed(Code.TIMEOUT, f"the log is not read after {READY_S:g} s; ask again later")
        console = Console(file=sys.stdout, highlight=False)
        screen = Live(console=console, screen=True, auto_refresh=False, vertical_overflow="crop")
        with _keys() as next_key, screen as live:
            while not look.over:
                frame = _fleet(views.view(), look)
                status = freshness(views.progress().trouble, views.view().now_ms, now_ms())
                lines = layout(frame, look, console.width, console.height, status=status)
                live.update(_styled(lines), refresh=True)
                for key in next_key(LOOK_S):
                    look = pressed(look, key, len(frame.jobs))
    finally:
        views.close()
    return Code.OK


def freshness(trouble: str, tick_ms: int, wall_ms: int) -> str:
    """Live, or why not: what a person who stares at figures that do not move wants to know. A
    machine's own clock may be a little off, so a minute says nothing."""
    if trouble:
        return f"no news: {trouble}"
    if tick_ms and wall_ms - tick_ms > STALE_MS:
        return f"no tick for {ago(wall_ms - tick_ms)}"
    return "live"


@contextmanager
def _keys() -> Iterator[Callable[[float], list[str]]]:
    """Keys as they are pressed, without Enter or an echo; the terminal is left as it was."""
    where = sys.stdin.fileno()
    before = termios.tcgetattr(where)

    def next_key(patience_s: float) -> list[str]:
        ready, _, _ = select.select([where], [], [], patience_s)
        return keys_of(_read(where)) if ready else []

    try:
        tty.setcbreak(where)
        yield next_key
    finally:
        termios.tcsetattr(where, termios.TCSADRAIN, before)


def _read(where: int) -> bytes:
    return os.read(where, 1024)


def keys_of(pressed: bytes) -> list[str]:
    """Names of the keys behind what a terminal sends; several may come at once."""
    found: list[str] = []
    rest = pressed
    while rest:
        known = max((code for code in KEYS if rest.startswith(code)), key=len, default=b"")
        if known == b"\x1b" and len(rest) > 1 and rest[1:2] in (b"[", b"O"):
            return found  # a key that means nothing here, with all that belongs to it
        if known:
            found.append(KEYS[known])
            rest = rest[len(known) :]
            continue
        text = rest.decode(errors="ignore")
        if not text:
            return found
        found.append(text[0])
        rest = rest[len(text[0].encode()) :]
    return found
