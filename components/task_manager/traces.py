"""What of a traceback goes into the log: its last lines, without what nobody may read. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from components.runtime.settings import SECRETS

TRACE_BYTES = 4_096
"""Of a record that lies in the log for ever; the rest is in the task's own file."""
SECRET_CHARS_LEAST = 4
"""What is shorter stands in half of all words."""
HIDDEN = "(not shown)"


def secrets_of(settings: Mapping[str, str]) -> tuple[str, ...]:
    """The values of a client's settings that nobody may read, the longest first."""
    found = {
        value
        for key, value in settings.items()
        if any(word in key.lower() for word in SECRETS) and len(value) >= SECRET_CHARS_LEAST
    }
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


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
