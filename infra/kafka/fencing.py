"""Ends the registration of a broker that crashed, before its data is served again.

After kill -9 the controller still has the broker for alive, and lets it lead under its former
registration until that has not been heard of for a session. A transaction that was being committed
is taken up meanwhile; where the session runs out amid it, the broker has no leader to send the end
of the transaction to, takes the partitions for deleted, and tells nobody. Who reads only what is
committed then waits there for ever: the group's offsets cannot be read any more. So a controller
runs first, alone, until the session is over, and a broker that then starts is a new one.
"""

import re
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from infra.kafka.readiness import BrokerStart, failed, lines_from

SESSION_MS = 200
"""Nobody can be heard of in it: no broker runs."""
END_WAIT_S = 10.0
PAUSE_S = 0.02

_ACTIVE = "Becoming the active controller"
_REGISTERED = re.compile(r" RegisterBrokerRecord\(brokerId=1, .*\bfenced=(true|false)")
_CHANGED = re.compile(r" BrokerRegistrationChangeRecord\(brokerId=1, .*\bfenced=(-?\d)")
# What a change of a registration says: it is alive, it is not, or nothing about that.
_ALIVE, _FENCED = "-1", "1"


def fence(
    spawn: Callable[[Path], subprocess.Popen[bytes]],
    properties: Path,
    start: BrokerStart,
    wait_s: float,
) -> None:
    """Returns when the former life is over for the controller, which has ended again."""
    process, log = spawn(properties), start.directory / "broker.log"
    deadline = time.monotonic() + wait_s
    try:
        while not is_fenced(lines_from(log, start.log_from)):
            if process.poll() is not None:
                raise failed(start, f"ended with {process.returncode} before it was well again")
            if time.monotonic() > deadline:
                raise failed(start, f"was not well again within {wait_s:g} s")
            time.sleep(PAUSE_S)
        process.terminate()
        with suppress(subprocess.TimeoutExpired):  # it ends as well without an order
            process.wait(END_WAIT_S)
    finally:
        process.kill()
        process.wait()


def is_fenced(lines: list[str]) -> bool:
    """Does a controller decide, and no broker count as alive? As its log tells, which it begins
    with all that it knew."""
    alive = active = False
    for line in lines:
        active = active or _ACTIVE in line
        if registered := _REGISTERED.search(line):
            alive = registered[1] == "false"
        elif changed := _CHANGED.search(line):
            alive = (alive or changed[1] == _ALIVE) and changed[1] != _FENCED
    return active and not alive
