"""`turbine`: a line is answered by the fleet's API where it can be, and run here where not.

`main` is the entry of the console script and of `python -m turbine`. What it imports, every line
waits for: no more than the table of commands.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from turbine.cli.words import LOCAL, WATCH, asked_at, globals_in, hoist, taken

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    words, asked = taken(given)
    line, local = asked_at(hoist(words)), LOCAL in asked
    if WATCH not in asked:
        return _run(line, local=local)
    from turbine.cli.again import watch

    return watch(line[globals_in(line) :], lambda: _run(line, local=local))


def _run(line: Sequence[str], *, local: bool) -> int:
    ahead = globals_in(line)
    if not local:  # an API does not know this machine's zone
        from turbine.cli.remote import ask

        try:
            code = ask(line[:ahead], line[ahead:])
        except KeyboardInterrupt:
            return INTERRUPTED
        if code is not None:
            return code
    from turbine.cli.here import run

    return run(line, local=local)
