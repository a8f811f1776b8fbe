"""What the auditor costs beside a fleet in which nothing happens but the clock."""

from __future__ import annotations

import time
import urllib.request

from benchmarks.children import ChildFailed, Supervised, python
from benchmarks.figures import say
from benchmarks.installation import Installation, cpu_of, install
from infra.kafka.directory import free_port

WARM_S, MEASURED_S = 10.0, 40.0
READY_S = 90.0
LAG = "turbine_audit_lag_seconds"
LAG_MOST_S = 15.0


def quiet_cores(part: int) -> float | None:
    """CPU seconds a second, by the system's account of the process; None where there is none."""
    with install() as site:  # the topics and partitions of an installation
        site.serve("clock")
        site.serve("publisher")
        port = free_port()
        address = ("--bootstrap", site.settings.bootstrap, "--metrics-port", port)
        command = python("turbine.serve", "auditor", *address)
        site.processes["auditor"] = Supervised("auditor", command, site.directory)
        _await_caught_up(site)
        time.sleep(WARM_S)
        pid = site.processes["auditor"].pid
        before = None if pid is None else cpu_of(pid)
        since = time.monotonic()
        time.sleep(MEASURED_S / min(part, 4))
        after = None if pid is None else cpu_of(pid)
        passed = time.monotonic() - since
        lag_s = _lag_s(port)
    if before is None or after is None:
        return None
    used = after - before
    say(f"quiet: {used:.2f} CPU seconds in {passed:.0f} s, {lag_s:.1f} s behind the clock")
    if lag_s > LAG_MOST_S:
        raise ChildFailed(f"the auditor is {lag_s:.0f} s behind the clock, so it costs too little")
    return used / passed


def _lag_s(port: int) -> float:
    """How old the newest tick is that it has read, by its own metrics."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as said:
        lines = said.read().decode().splitlines()
    return next(float(one.split()[1]) for one in lines if one.startswith(f"{LAG} "))


def _await_caught_up(site: Installation) -> None:
    log, limit = site.processes["auditor"].log, time.monotonic() + READY_S
    while "caught up" not in (log.read_text() if log.exists() else ""):
        if time.monotonic() > limit:
            raise ChildFailed(f"the auditor did not catch up in {READY_S:g} s; see {log}")
        time.sleep(0.1)
