"""The shard manager as it is seen from outside: its CPU, its memory, and how far behind it is."""

from __future__ import annotations

import time
import urllib.request
from pathlib import Path

from benchmarks.children import ChildFailed, Supervised, python
from benchmarks.installation import READY_S, Installation
from events.topics import CONTAINERS, OPERATOR, TIERS, place
from infra.kafka.directory import free_port
from turbine_client.reading import ends_now

NAME = "shard-manager"
_READ = "turbine_records_read{"


def records_read(text: str) -> int:
    """How many records a process has read, whatever became of them, by what it tells Prometheus.

    What is impossible is void as well, and must not count twice.
    """
    return sum(
        int(float(line.rsplit(" ", 1)[1]))
        for line in text.splitlines()
        if line.startswith(_READ)
        and f'component="{NAME}"' in line
        and 'became="impossible"' not in line
    )


def most_mb(status: str) -> float:
    """The most memory that was resident, by the text of a process's status; 0 where it is not
    told."""
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


class Measured:
    """One shard manager that begins with an empty log: what it has read is all there was."""

    def __init__(self, site: Installation) -> None:
        self._site, self._port = site, free_port()
        address = site.settings.bootstrap
        command = python(
            "turbine.serve", NAME, "--bootstrap", address, "--metrics-port", self._port
        )
        self.process = site.processes[NAME] = Supervised(NAME, command, site.directory)
        counts = ((CONTAINERS, site.settings.partitions), (OPERATOR, site.settings.partitions))
        self._places = [place(TIERS, 0)]
        self._places += [place(short, p) for short, count in counts for p in range(count)]

    def await_ready(self) -> None:
        """Returns when it follows the log."""
        limit = time.monotonic() + READY_S
        log = self.process.log
        while not (log.exists() and "caught up" in log.read_text()):
            if time.monotonic() > limit:
                raise ChildFailed(f"the shard manager did not begin in {READY_S:g} s; see {log}")
            time.sleep(0.1)

    def lag(self) -> int:
        """Records that lie in its topics and that it has not read. Its own word comes first, so
        that it is not made smaller by what it reads meanwhile."""
        url = f"http://127.0.0.1:{self._port}/metrics"
        with urllib.request.urlopen(url, timeout=30) as answer:
            read = records_read(answer.read().decode())
        return sum(ends_now(self._site.settings, self._places).values()) - read

    def peak_mb(self) -> float:
        """The most memory that it has had; 0 where the system does not tell."""
        try:
            return most_mb(Path(f"/proc/{self.process.pid}/status").read_text())
        except OSError:
            return 0.0

    def await_level(self, most: int, limit_s: float) -> float:
        """Seconds until it is no more than so many records behind."""
        since = time.monotonic()
        while self.lag() > most:
            if time.monotonic() - since > limit_s:
                raise ChildFailed(f"the shard manager is {self.lag()} records behind for good")
            time.sleep(0.5)
        return time.monotonic() - since
