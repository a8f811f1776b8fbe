"""What of a traceback goes into the log: its last lines, without what nobody may read. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from components.runtime.process.secrets import HIDDEN

TRACE_BYTES = 4_096
"""Of a record that lies in the log for ever; the rest is in the task's own file."""


def last_lines(trace: str, secrets: Iterable[str] = ()) -> str:
    """As much of its end as a record takes: whole lines, the last of which says what went wrong."""
    for secret in secrets:
        trace = trace.replace(secret, HIDDEN)
    lines = trace.rstrip().encode(errors="replace").split(b"\n")
    kept, room = list[bytes](), TRACE_BYTES
    for line in reversed(lines):
        if len(line) + 1 > room:
            break
        kept.append(line)
        room -= len(line) + 1
    if not kept:  # one line that is longer than all: what it is stands at its beginning
        kept = [lines[-1][: TRACE_BYTES - 1]]
    return b"\n".join(reversed(kept)).decode(errors="ignore")
