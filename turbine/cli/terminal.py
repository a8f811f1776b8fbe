"""Where a command writes, and how wide and plain: this process's terminal, or that of who asks from
elsewhere. What a command prints depends on nothing else of where it runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol

COLUMNS_USUAL = 80
TOLD = ("TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""What of the environment Rich draws by."""


class Stream(Protocol):
    """What a command writes on."""

    def write(self, text: str, /) -> object:
        """Takes text as it is."""

    def flush(self) -> object:
        """Brings what was written before the reader."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Two streams, and what is at the other end of the first."""

    out: Stream
    err: Stream
    tty: bool = False
    columns: int = COLUMNS_USUAL
    environment: Mapping[str, str] = field(default_factory=dict)


_elsewhere: ContextVar[Terminal | None] = ContextVar("terminal", default=None)


def terminal() -> Terminal:
    """Where this command line writes."""
    found = _elsewhere.get()
    if found is not None:
        return found
    given = {name: os.environ[name] for name in TOLD if name in os.environ}  # noqa: TID251 - of the terminal, and not of the fleet
    return Terminal(sys.stdout, sys.stderr, sys.stdout.isatty(), _columns(), given)


@contextmanager
def writing_to(elsewhere: Terminal) -> Iterator[None]:
    """What runs within writes there."""
    token = _elsewhere.set(elsewhere)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def _columns() -> int:
    """As wide as a person says, or as the terminal is."""
    said = os.environ.get("COLUMNS", "")  # noqa: TID251 - of the terminal, and not of the fleet
    if said.isascii() and said.isdigit() and int(said):
        return int(said)
    for stream in (0, 1, 2):
        try:
            found = os.get_terminal_size(stream).columns
        except (OSError, ValueError):
            continue
        if found:
            return found
    return COLUMNS_USUAL
