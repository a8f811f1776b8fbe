"""A whole Turbine on loopback for one benchmark: broker, topics and components as processes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.children import ChildFailed, Supervised, python
from benchmarks.figures import say
from events.topics import DEFAULT_PARTITIONS, TOPICS, Topic, place
from infra.kafka.broker import temporary_broker
from infra.topics import apply_topics
from turbine_client.errors import BrokerUnreachable
from turbine_client.reading import ends_now
from turbine_client.settings import Settings

READY_S = 90.0
PAUSE_S = 0.05


@dataclass(slots=True)
class Installation:
    """What runs, and where it keeps its logs."""

    settings: Settings
    directory: Path
    broker_pid: int | None = None
    processes: dict[str, Supervised] = field(default_factory=dict)

    def serve(self, *components: str, instance: str = "") -> Supervised:
        """Starts components as one process under a supervisor."""
        name = instance or components[0]
        more = ["--instance", instance] if instance else []
        command = python(
            "turbine.serve", *components, *more, "--bootstrap", self.settings.bootstrap
        )
        self.processes[name] = Supervised(name, command, self.directory)
        return self.processes[name]

    @property
    def workers(self) -> list[Supervised]:
        """The workers, by name."""
        return [one for name, one in sorted(self.processes.items()) if name[-1].isdigit()]

    def await_assigned(self) -> None:
        """Returns when the workers own all partitions between them, and each owns some."""
        limit = time.monotonic() + READY_S
        while time.monotonic() < limit:
            owned = [assigned(worker.log) for worker in self.workers]
            if all(owned) and sum(map(len, owned)) == self.settings.partitions:
                return
            time.sleep(PAUSE_S)
        told = ", ".join(f"{one.name}: {one.log}" for one in self.workers)
        raise ChildFailed(f"the workers did not share the partitions in {READY_S:g} s; see {told}")

    def cpu_s(self) -> dict[str, float]:
        """CPU seconds that each process has used so far; empty where the system does not tell."""
        pids = {name: one.pid for name, one in self.processes.items()} | {"broker": self.broker_pid}
        used = {name: cpu_of(pid) for name, pid in pids.items() if pid is not None}
        return {name: seconds for name, seconds in used.items() if seconds is not None}

    def stop(self) -> None:
        """Ends all components; the broker is whoever's who started it."""
        for one in self.processes.values():
            one.stop()


def assigned(log: Path) -> list[int]:
    """The partitions that a worker owns, by the last word in its log about it."""
    owned: list[int] = []
    for line in log.read_text(errors="replace").splitlines() if log.exists() else []:
        try:
            said = json.loads(line)
        except ValueError:
            continue  # a traceback, or a line that is still being written
        if isinstance(said, dict) and said.get("event") == "assigned":
            owned = said["partitions"]
    return owned


def cpu_of(pid: int) -> float | None:
    """CPU seconds of a process; None where there is no such process, or no Linux."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The program's name, in brackets, may hold blanks; user and system time are the 14th and 15th.
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def install(
    *,
    workers: int = 0,
    bootstrap: str | None = None,
    topics: Sequence[Topic] = TOPICS,
    partitions: int = DEFAULT_PARTITIONS,
) -> Iterator[Installation]:
    """An installation with this many workers (none: topics alone), gone at the end.

    `bootstrap` names a broker that is there already; else one is started in a new directory.
    """
    scratch = TemporaryDirectory(prefix="turbine-benchmark-")
    own = nullcontext() if bootstrap else temporary_broker()
    with scratch as name, own as broker:
        address = bootstrap or (broker.bootstrap if broker else "")
        apply_topics({"bootstrap.servers": address}, topics, partitions, wait_s=READY_S)
        settings = Settings(bootstrap=address, partitions=partitions, directory=Path(name))
        site = Installation(settings, Path(name), broker.pid if broker else None)
        _await_leaders(settings, topics)
        say(f"broker at {address}, {partitions} partitions")
        try:
            if workers:
                _start_all(site, workers)
            yield site
        finally:
            site.stop()


def _await_leaders(settings: Settings, topics: Sequence[Topic]) -> None:
    """Returns when the leader of each new partition answers for it.

    Metadata names leaders a moment before they serve. Who writes in that moment may lose its first
    records although they are acknowledged (see `benchmarks.writer`).
    """
    places = [
        place(one.short, p) for one in topics for p in range(one.partitions or settings.partitions)
    ]
    limit = time.monotonic() + READY_S
    while True:
        try:
            ends_now(settings, places)
        except BrokerUnreachable:
            if time.monotonic() > limit:
                raise
            time.sleep(PAUSE_S)
        else:
            return


def _start_all(site: Installation, workers: int) -> None:
    site.serve("clock")
    site.serve("publisher")
    for number in range(workers):
        site.serve("job-service", instance=f"job-service-{number}")
    site.await_assigned()
    say(f"clock, publisher and {workers} workers run")
