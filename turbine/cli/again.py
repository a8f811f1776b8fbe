"""`--watch`: a list that is shown again and again."""

from __future__ import annotations

import io
import sys
import time  # noqa: TID251 - a person watches by real time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout

from turbine.cli.output import tell
from turbine.failures import Code

EVERY_S = 2.0
"""What a person takes in at one look; a list is read in less."""
_CLEAR = "\x1b[H\x1b[J"


class _Frame(io.StringIO):
    """What is drawn at once; as wide as the terminal where there is one."""

    def isatty(self) -> bool:
        """Does a person look at this output?"""
        return True


def watch(
    words: Sequence[str],
    run: Callable[[], int],
    *,
    sleep: Callable[[float], None] = time.sleep,
    every_s: float = EVERY_S,
) -> int:
    """Draws what `run` says of these words until Ctrl-C, which is its usual end.

    What fails at once has failed. Later it is told in the place of the list, and looked at again: a
    broker may come back.
    """
    if words[:1] != ["get"]:
        tell("turbine: --watch is for lists, such as `turbine get jobs --watch`")
        return Code.USAGE
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
