"""`--watch` and `--local`: a list that is shown again and again, times of this machine's zone."""

from __future__ import annotations

import io
import sys
import time  # noqa: TID251 - a person watches by real time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout

from turbine.cli.failures import Code, Failed

LOCAL, WATCH = "--local", "--watch"
EVERY_S = 2.0
"""What a person takes in at one look; a list is read in less."""
_CLEAR = "\x1b[H\x1b[J"


def taken(arguments: Sequence[str]) -> tuple[list[str], frozenset[str]]:
    """The line without these two, which may stand anywhere in it, and which of them stood there."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    rest = [one for one in arguments[:end] if one not in (LOCAL, WATCH)]
    return [*rest, *arguments[end:]], frozenset({LOCAL, WATCH}.intersection(arguments[:end]))


def check_watched(arguments: list[str]) -> None:
    """Refuses what is no list that can be looked at again."""
    if arguments[:1] != ["get"]:
        raise Failed(Code.USAGE, f"{WATCH} is for lists, such as `turbine get jobs {WATCH}`")


class _Frame(io.StringIO):
    """What is drawn at once; as wide as the terminal where there is one."""

    def isatty(self) -> bool:
        """Is a person looking?"""
        return True


def watch(
    run: Callable[[], int], *, sleep: Callable[[float], None] = time.sleep, every_s: float = EVERY_S
) -> int:
    """Draws what `run` says until Ctrl-C, which is its usual end.

    What fails at once has failed. Later it is told in the place of the list, and looked at again: a
    broker may come back.
    """
    first = True
    try:
        while True:
            code = _draw(run)
            if code == Code.INTERRUPTED:
                return Code.OK
            if first and code != Code.OK:
                return code
            first = False
            sleep(every_s)
    except KeyboardInterrupt:
        return Code.OK


def _draw(run: Callable[[], int]) -> int:
    if not sys.stdout.isatty():
        return run()
    frame = _Frame()
    with redirect_stdout(frame), redirect_stderr(frame):
        code = run()
    sys.stdout.write(_CLEAR + frame.getvalue())
    sys.stdout.flush()
    return code
