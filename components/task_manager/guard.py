"""The guard: freezes a container's tasks when its lease runs out, whatever its supervisor does.

A process of its own that shares no loop, no lock and no queue with the supervisor, so that one who
hangs, or is stopped, does not let tasks run on (docs/adr/0010). It knows nothing but a deadline.
"""

from __future__ import annotations

import argparse
import os
import signal
import time  # noqa: TID251 - a lease is held by the holder's own clock
from collections.abc import Callable
from pathlib import Path

from tasks.deadline import Deadline, own_ms
from tasks.process_tree import die_with, name_process, signal_group

POLL_MS, POLL_LEAST_MS = 200, 10
HANG_S = 5.0
"""For a supervisor to end by itself once its tasks were ended; it hangs if it does not."""
UNIT = 1_000


class FreezeGuard:
    """Looks, freezes and thaws. Signals and time come from outside."""

    def __init__(
        self,
        deadline: Deadline,
        send: Callable[[int, signal.Signals], object] = signal_group,
    ) -> None:
        self._deadline, self._send = deadline, send

    def look(self, now_ms: int) -> bool:
        """One look; False: all was frozen for so long that it was ended."""
        deadline = self._deadline
        if deadline.holds(now_ms):
            if deadline.frozen_since_ms is not None:
                self._signal(signal.SIGCONT)
                deadline.frozen_since_ms = None
            return True
        since_ms = deadline.frozen_since_ms
        if since_ms is None:
            since_ms = deadline.frozen_since_ms = now_ms
        if now_ms - since_ms >= deadline.patience_ms:
            deadline.killed = True
            self._signal(signal.SIGKILL)
            return False
        # At every look: an engine that was started meanwhile must stand still as well.
        self._signal(signal.SIGSTOP)
        return True

    def _signal(self, number: signal.Signals) -> None:
        for group in self._deadline.groups:
            self._send(group, number)


def pause_s(deadline: Deadline, now_ms: int) -> float:
    """Until the next look: not beyond the deadline, so that it is kept to the millisecond."""
    lease_ms, poll_ms = deadline.lease_ms, deadline.poll_ms
    left_ms = poll_ms if lease_ms is None or lease_ms <= now_ms else lease_ms - now_ms
    return max(1, min(poll_ms, left_ms)) / 1000


def poll_ms_of(per_mille: int) -> int:
    """How often it looks, at the tier's scale of time."""
    return max(POLL_LEAST_MS, POLL_MS * per_mille // UNIT)


def main(arguments: list[str] | None = None) -> None:
    """Guards until the supervisor ends."""
    parser = argparse.ArgumentParser(prog="python -m components.task_manager.guard")
    parser.add_argument("--deadline", type=Path, required=True)
    parser.add_argument("--die-with", type=int, required=True, metavar="PID")
    given = parser.parse_args(arguments)
    die_with(given.die_with)
    name_process("guard")
    deadline = Deadline.open(given.deadline)
    guard = FreezeGuard(deadline)
    while guard.look(own_ms()):
        time.sleep(pause_s(deadline, own_ms()))
    time.sleep(HANG_S)
    os.kill(given.die_with, signal.SIGKILL)  # we live, so it does, and its number is its own


if __name__ == "__main__":
    main()
