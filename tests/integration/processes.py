"""Components as real processes on a broker of their own, and waiting for what must be seen."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from events.topics import TOPICS, USUAL_PREFIX, topics_under
from infra.kafka.broker import Broker, start_broker
from infra.kafka.directory import free_port
from infra.topics import apply_topics
from infra.waiting import WAIT_S, until, within
from turbine_client.clients import admin
from turbine_client.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PARTITIONS = 4
SESSION_MS, HEARTBEAT_MS = "10000", "600"
"""A machine that stands still for as long as a session has every worker evicted, and these are not
started again; tests that wait for a session to run out wait this long. Heartbeats are how a member
hears of a rebalance."""


@dataclass(slots=True)
class Process:
    """One component as a process; ended by the fleet at the latest."""

    name: str
    component: str
    child: subprocess.Popen[bytes]
    log: Path
    port: int
    kept: bool = False  # started again when it ends: see `Fleet.revive`

    @property
    def pid(self) -> int:
        return self.child.pid

    @property
    def alive(self) -> bool:
        return self.child.poll() is None

    def text(self) -> str:
        """All that it wrote to standard error."""
        return self.log.read_text(errors="replace")

    def lines(self) -> list[dict[str, object]]:
        """Its log; what is no JSON is left out, as tracebacks of other processes would be."""
        return [json.loads(line) for line in self.text().splitlines() if line.startswith("{")]

    def said(self, event: str) -> int:
        """How often it logged that event."""
        return sum(line.get("event") == event for line in self.lines())

    def awaits(self, event: str) -> None:
        """Returns once it has logged that event; else all that it wrote is to be read."""
        try:
            until(lambda: self.said(event) or not self.alive, f"{self.name} {event}")
        except AssertionError as late:
            raise AssertionError(f"{late}; it wrote:\n{self.text()}") from None
        assert self.alive, self.text()

    def partitions(self) -> list[int]:
        """What it was assigned last."""
        told = [line for line in self.lines() if line.get("event") == "assigned"]
        found: list[int] = told[-1]["partitions"] if told else []  # type: ignore[assignment]  # a log line is JSON
        return found

    def why(self) -> str:
        """The sentence with which it ended, in its log or, before there is one, to its terminal."""
        ends = [line for line in self.lines() if line.get("event") == "fail-stop"]
        told = [line for line in self.text().splitlines() if line.startswith("turbine: ")]
        return str(ends[-1]["why"]) if ends else "".join(told[-1:])

    def ends(self, wait_s: float = WAIT_S) -> int:
        """Its exit code, once it has ended by itself."""
        try:
            return self.child.wait(within(wait_s))
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} still runs after {within(wait_s):g} s") from None

    def stop(self, wait_s: float = WAIT_S) -> int:
        """Asks it to end; its exit code."""
        self.child.send_signal(signal.SIGTERM)
        return self.ends(wait_s)

    def kill(self) -> None:
        """As a crash does."""
        self.child.kill()
        self.child.wait()

    def freeze(self) -> None:
        self.child.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.child.send_signal(signal.SIGCONT)

    def rss_mb(self) -> float:
        """Resident memory now."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric over all label sets that have these labels."""
        url = f"http://127.0.0.1:{self.port}/metrics"
        with urllib.request.urlopen(url, timeout=within(WAIT_S)) as answer:
            text = answer.read().decode()
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        return sum(
            float(line.rsplit(" ", 1)[1])
            for line in text.splitlines()
            if line.startswith((name + "{", name + " ")) and all(one in line for one in wanted)
        )


@dataclass(frozen=True, slots=True)
class SharedBroker:
    """A broker that is not yours to stop: a local process, or a container."""

    bootstrap: str


@dataclass(slots=True)
class Fleet:
    """A broker with our topics, and the processes that were started on it."""

    broker: Broker | SharedBroker
    directory: Path
    address: str = ""  # where clients connect; the broker's own by default
    prefix: str = USUAL_PREFIX
    processes: list[Process] = field(default_factory=list)
    started: int = 0

    @property
    def settings(self) -> Settings:
        return Settings(self.broker.bootstrap, self.prefix, PARTITIONS)

    @property
    def environment(self) -> dict[str, str]:
        """For a process that is to know this fleet, and no other that our own is told of."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith("TURBINE_")}
        return clean | {
            "TURBINE_BOOTSTRAP": self.address or self.broker.bootstrap,
            "TURBINE_PREFIX": self.prefix,
            "TURBINE_PARTITIONS": str(PARTITIONS),
            "PYTHONPATH": str(ROOT),
        }

    def start(
        self, name: str, instance: str | None = None, *, port: int = 0, **environment: str
    ) -> Process:
        """Starts a component; `environment` adds to and replaces TURBINE_* variables."""
        self.started += 1
        log = self.directory / f"{self.started}-{instance or name}.log"
        given = ["--instance", instance] if instance else []
        given += ["--metrics-port", str(port)] if port else []
        ours = {
            # A static member that has gone is in its group until its session has run out.
            "TURBINE_KAFKA__SESSION_TIMEOUT_MS": SESSION_MS,
            "TURBINE_KAFKA__HEARTBEAT_INTERVAL_MS": HEARTBEAT_MS,
        }
        with log.open("wb") as out:
            child = subprocess.Popen(
                [sys.executable, "-m", "turbine.serve", name, *given],
                cwd=self.directory,
                env=self.environment | ours | environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        process = Process(instance or name, name, child, log, port)
        self.processes.append(process)
        return process

    def worker(
        self, instance: str | None = None, *, metrics: bool = False, **environment: str
    ) -> Process:
        """A job service that has its partitions."""
        port = free_port() if metrics else 0
        process = self.start("job-service", instance, port=port, **environment)
        process.awaits("assigned")
        return process

    def workers(self, *instances: str, **environment: str) -> list[Process]:
        """Job services that share the partitions, each with some of them."""
        started = [self.start("job-service", name, **environment) for name in instances]
        until(lambda: _shared_out(started), "every worker has its share")
        return started

    def publisher(self) -> Process:
        """A publisher that has caught up."""
        process = self.start("publisher")
        process.awaits("caught up")
        return process

    def revive(self) -> list[tuple[str, int, str]]:
        """As a supervisor would: starts again what has ended; who, with which code, and why."""
        ended = []
        for process in [one for one in self.processes if one.kept and not one.alive]:
            process.kept = False
            ended.append((process.name, process.ends(), process.why()))
            instance = process.name if process.name != process.component else None
            self.start(process.component, instance, port=process.port)
            self.processes[-1].kept = True
        return ended

    def end(self, component: str) -> None:
        """Kills what is left of a component, frozen or not."""
        for process in self.processes:
            if process.component == component:
                process.kept = False
                if process.alive:
                    process.kill()

    def close(self) -> None:
        """No process is left behind, frozen ones neither."""
        for process in self.processes:
            if process.alive:
                process.kill()
        if isinstance(self.broker, Broker):
            self.broker.kill()
        left = [process.pid for process in self.processes if _exists(process.pid)]
        assert not left, f"processes {left} outlive their fleet"


def _shared_out(workers: list[Process]) -> bool:
    assert all(worker.alive for worker in workers), [worker.text() for worker in workers]
    owned = [worker.partitions() for worker in workers]
    return all(owned) and sorted(chain(*owned)) == list(range(PARTITIONS))


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def stands_still(pid: int) -> bool:
    """Was it stopped by a signal, and not continued yet?"""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] == "T"
    return False


def lives(pid: int) -> bool:
    """Is it there, and no mere entry that nobody has asked about yet?"""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    return False


def processes_in(directory: Path) -> list[str]:
    """All processes of this machine that name the directory on their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it ended while we looked
            continue
        if str(directory) in line:
            found.append(line)
    return found


@contextmanager
def fleet_on(
    directory: Path, *, port: int | None = None, topics: bool = True, **settings: str
) -> Iterator[Fleet]:
    """A broker with our topics, four partitions each; a setting's dots are underscores."""
    extra = {key.replace("_", "."): value for key, value in settings.items()}
    broker = start_broker(directory / "broker", port=port, extra=extra)
    fleet = Fleet(broker, directory)
    try:
        if topics:
            client = {"bootstrap.servers": broker.bootstrap}
            apply_topics(client, TOPICS, PARTITIONS, wait_s=WAIT_S)
        yield fleet
    finally:
        fleet.close()


@contextmanager
def fleet_at(broker: SharedBroker, directory: Path, prefix: str) -> Iterator[Fleet]:
    """A fleet on a broker that others use as well. Its topics are deleted in the end."""
    fleet, named = Fleet(broker, directory, prefix=prefix), topics_under(prefix)
    try:
        apply_topics({"bootstrap.servers": broker.bootstrap}, named, PARTITIONS, wait_s=WAIT_S)
        yield fleet
    finally:
        fleet.close()
        client = admin(fleet.settings)  # it has to outlive its question
        for one in client.delete_topics([one.name for one in named]).values():
            one.result(WAIT_S)
