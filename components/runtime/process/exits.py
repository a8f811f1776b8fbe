"""With which codes our processes end when they cannot go on, and why each has its own.

A process that cannot go on ends at once and says why in one line; its supervisor starts it again
after a while. 2 is for settings that a person has to correct, 76 is `turbine.serve`'s own.
"""

from __future__ import annotations

import os
import sys

import structlog

EXIT_FAILED_HANDLER = 70  # a defect: an exception that nobody foresaw
EXIT_REFUSED_WRITE = 71  # the broker did not take a write, or did not say so in time
EXIT_FAILED_JOIN = 72  # the group does not let this member in
EXIT_STUCK = 73  # no partitions for too long, or a client that does not return
EXIT_UNREADABLE = 74  # the log, or what was kept of it, cannot be read
EXIT_STOP_DEADLINE = 75  # told to stop, and could not in time
EXIT_EVICTED = 77  # another owns the partitions

STOP_DEADLINE_S = 20.0
"""From the signal to the end, broker or no broker; supervisors wait a little longer."""

log = structlog.get_logger(__name__)


def die(code: int, sentence: str) -> None:
    """Ends the process at once: nothing is committed, so nothing is lost."""
    log.critical("fail-stop", code=code, why=sentence)
    leave(code)


def leave(code: int) -> None:
    """Ends the process without waiting for threads that wait for a broker."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def too_late(deadline_s: float) -> str:
    """Why a process that was told to stop ended in the middle of something."""
    return (
        f"could not stop in {deadline_s:g} s, the broker did not answer; what it did not"
        " acknowledge is made up for at the next start"
    )
