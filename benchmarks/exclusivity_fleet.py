"""A fleet that can be hurt: containers that reach their broker through relays, jobs, input."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, but not re-exported
    AdminClient,
    NewTopic,
)

from benchmarks.children import ChildFailed, Supervised, python, running
from benchmarks.containers import TIER, define_tier
from benchmarks.exclusivity_watch import Watch
from benchmarks.figures import say
from benchmarks.installation import Installation, install
from events.generated.records import DrainRequested, UndrainRequested
from events.topics import CONTAINERS, partition_of
from infra.kafka.broker import start_broker
from infra.kafka.directory import HOST, Ports, free_port, write_ports
from turbine.ops.tiers import ask, new_id
from turbine.read.sources.log import Log
from turbine_client.publish import Publisher

PARTITIONS, PER_MILLE, SHARDS = 4, 100, 40
LIVES = 0
"""The partition in which all containers live: what checks grants reads one, that of the chain."""
COMPONENTS = ("job-service", "state-syncer", "task-service")
WORKERS, MANAGERS = 2, ("shards-a", "shards-b")
BATCH_MS = 400
KAFKA = {"fetch.wait.max.ms": "500"}
"""An answer comes with the first record all the same; without one the broker is asked less often,
which is most of the load of many small tasks."""
OUTPUTS = 8
"""Partitions of an output topic. A reader of what is committed stops at a transaction that is open:
so no two tasks write to the same one, or each would wait for the other's."""
READY_S = 90.0


@dataclass(frozen=True, slots=True)
class Shape:
    """How many of each."""

    containers: int = 5
    jobs: int = 6
    tasks: int = 5  # of each job, and partitions of its input
    per_s: float = 90.0  # inputs, of all jobs


def names_in(partition: int, count: int) -> list[str]:
    """Names of containers whose lives are in that partition."""
    found: list[str] = []
    number = 0
    while len(found) < count:
        number += 1
        if partition_of(f"c{number}", PARTITIONS) == partition:
            found.append(f"c{number}")
    return found


def job_names(jobs: int, tasks: int) -> list[str]:
    """Names of jobs whose tasks write to different partitions."""
    found: list[str] = []
    number = 0
    while len(found) < jobs:
        number += 1
        at = {partition_of(f"j{number}/{task}", OUTPUTS) for task in range(tasks)}
        if len(at) == tasks:
            found.append(f"j{number}")
    return found


def listeners(ports: Ports, links: Mapping[str, tuple[int, int]]) -> dict[str, str]:
    """A listener for each container, that sends it to its relay for all that it asks further.

    A broker tells a client to go on at the address that the listener advertises: so no answer has
    to be rewritten, and all of the client's connections go through the relay.
    """
    own = f"PLAINTEXT://{HOST}:{ports.broker}"
    behind = [f"{name.upper()}://{HOST}:{target}" for name, (_, target) in links.items()]
    told = [f"{name.upper()}://{HOST}:{port}" for name, (port, _) in links.items()]
    protocols = ["PLAINTEXT", "CONTROLLER", *(name.upper() for name in links)]
    return {
        "listeners": ",".join([own, *behind, f"CONTROLLER://{HOST}:{ports.controller}"]),
        "advertised.listeners": ",".join([own, *told]),
        "listener.security.protocol.map": ",".join(f"{one}:PLAINTEXT" for one in protocols),
        "inter.broker.listener.name": "PLAINTEXT",
    }


def _free_ports(count: int) -> list[int]:
    found: set[int] = set()
    while len(found) < count:
        found.add(free_port())
    return sorted(found)


@dataclass(slots=True)
class Links:
    """The relays, and how they are told."""

    process: Popen[bytes]
    ports: Mapping[str, int]

    def hold(self, container: str, *ways: str, reset: bool = False) -> None:
        """Holds these ways of a container's; none: all passes again."""
        assert self.process.stdin is not None
        order = {"port": self.ports[container], "hold": ways, "reset": reset}
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()
        self.await_answer()

    def await_answer(self) -> None:
        """Returns when the relays have done what they were told."""
        assert self.process.stdout is not None
        if not self.process.stdout.readline():
            raise ChildFailed("the relays ended; see relays.log")


@dataclass(slots=True)
class Fleet:
    """All of it, while it runs."""

    site: Installation
    links: Links
    shape: Shape
    names: list[str]
    jobs: list[str]
    feed: Feed
    watch: Watch = field(init=False)
    containers: dict[str, Supervised] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.watch = Watch(self.roots)

    @property
    def places(self) -> Path:
        """Where the containers are; their processes name it on their command lines."""
        return self.site.directory / "places"

    @property
    def tasks(self) -> list[str]:
        """The names of all tasks."""
        return [f"{job}/{task}" for job in self.jobs for task in range(self.shape.tasks)]

    def roots(self) -> dict[str, int]:
        """The supervisors of the moment."""
        found = {name: one.pid for name, one in list(self.containers.items())}
        return {name: pid for name, pid in found.items() if pid is not None}

    def start(self) -> None:
        """Components and containers, a tier and its jobs."""
        site = self.site
        site.serve("clock")
        for name in MANAGERS:
            site.serve("shard-manager", instance=name)
        for number in range(WORKERS):
            site.serve(*COMPONENTS, instance=f"worker-{number}")
        self.watch.start()
        settings = site.directory / "containers.toml"
        lines = [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in KAFKA.items()]
        settings.write_text("\n".join(["[kafka]", *lines, ""]))
        for name in self.names:
            command = python(
                "turbine.ops.container",
                *(name, "--directory", self.places / name, "--config", settings),
                *("--bootstrap", f"{HOST}:{self.links.ports[name]}"),
            )
            self.containers[name] = Supervised(name, command, site.directory)
        # Before the tier is there: its shards come to all of them, and not to the first one.
        self._await_lives()
        define_tier(site.settings, SHARDS, PER_MILLE)
        site.await_assigned()
        with Publisher(site.settings) as publisher:
            for job in self.jobs:
                publisher.change(job, self._config(job), create=True, wait_s=0)
        say(f"{len(self.names)} containers, {len(self.jobs)} jobs, {len(self.tasks)} tasks")

    def _await_lives(self) -> None:
        log, limit = Log(self.site.settings), time.monotonic() + READY_S
        kinds = frozenset({"ContainerHeartbeat"})
        missing = set(self.names)
        while missing := missing - {one.record.key for one in log.read([CONTAINERS], kinds=kinds)}:
            if time.monotonic() > limit:
                raise ChildFailed(f"{', '.join(sorted(missing))}: no life in {READY_S:g} s")
            time.sleep(0.2)

    def _config(self, job: str) -> dict[str, Any]:
        return {
            "operator": "examples.counts:count",
            "inputs": [{"topic": f"in-{job}", "partitions": self.shape.tasks}],
            "output": {"topic": f"out-{job}"},
            "package": {"name": "counts", "version": "1.0.0"},
            "checkpoint": {"root": "/checkpoints"},
            "tasks": self.shape.tasks,
            "tier": TIER,
            "schedule": {"batch_interval_ms": BATCH_MS},
        }

    def drain(self, container: str) -> None:
        """Asks for it to be emptied."""
        body = DrainRequested(new_id(), container, "benchmark", "its shards are to move")
        ask(Log(self.site.settings), container, body)

    def undrain(self, container: str) -> None:
        """Asks for it to be used again."""
        body = UndrainRequested(new_id(), container, "benchmark", "it was emptied")
        ask(Log(self.site.settings), container, body)

    def stop(self) -> None:
        """Ends all containers at once, each with all that it started."""
        if self.containers:
            with ThreadPoolExecutor(len(self.containers)) as pool:
                list(pool.map(Supervised.stop, self.containers.values()))


@contextmanager
def fleet_of(shape: Shape) -> Iterator[Fleet]:
    """A fleet that has started nothing yet; nothing of it is left at the end."""
    names, jobs = names_in(LIVES, shape.containers), job_names(shape.jobs, shape.tasks)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(TemporaryDirectory(prefix="turbine-broker-")))
        broker, controller, *free = _free_ports(2 + 2 * len(names))
        links = {name: (free[2 * at], free[2 * at + 1]) for at, name in enumerate(names)}
        ports = Ports(broker, controller)
        write_ports(scratch, ports)  # so that it takes these
        server = start_broker(scratch, extra=listeners(ports, links))
        stack.callback(server.stop)
        site = stack.enter_context(install(bootstrap=server.bootstrap, partitions=PARTITIONS))
        site.broker_pid = server.pid
        pairs = [f"{port}:{target}" for port, target in links.values()]
        command = python("benchmarks.exclusivity_relay", *pairs)
        relays = stack.enter_context(running("relays", command, site.directory))
        link = Links(relays, {name: port for name, (port, _) in links.items()})
        link.await_answer()
        make_topics(server.bootstrap, shape, jobs)
        fleet = Fleet(site, link, shape, names, jobs, Feed(server.bootstrap, shape, jobs))
        stack.callback(fleet.stop)
        stack.callback(fleet.watch.close)
        stack.callback(fleet.feed.close)
        yield fleet


def make_topics(bootstrap: str, shape: Shape, jobs: Sequence[str]) -> None:
    """Inputs, one partition for each task, and outputs."""
    topics = [NewTopic(f"in-{job}", shape.tasks) for job in jobs]
    topics += [
        NewTopic(f"out-{job}", OUTPUTS, config={"message.timestamp.type": "LogAppendTime"})
        for job in jobs
    ]
    admin = AdminClient({"bootstrap.servers": bootstrap})  # its futures end with it
    for done in admin.create_topics(topics).values():
        done.result()


class Feed:
    """Writes numbered inputs at a steady rate, and knows which of them the broker has."""

    def __init__(self, bootstrap: str, shape: Shape, jobs: Sequence[str]) -> None:
        self._shape = shape
        self._spots = [(f"in-{job}", p) for p in range(shape.tasks) for job in jobs]
        self._client = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 20,
                "log_level": 2,  # it outlives its broker by a moment
            }
        )
        self.ends: Counter[tuple[str, int]] = Counter()  # next offsets, by what was acknowledged
        self.written = self.lost = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def start(self) -> None:
        """From now on."""
        self._thread.start()

    def close(self) -> None:
        """No more; returns when all that was written is acknowledged."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._client.flush(READY_S)

    def _run(self) -> None:
        began, number = time.monotonic(), 0
        while not self._stop.is_set():
            while number < (time.monotonic() - began) * self._shape.per_s:
                topic, partition = self._spots[number % len(self._spots)]
                self._client.produce(
                    topic, str(number), partition=partition, on_delivery=self._delivered
                )
                number += 1
            self._client.poll(0.01)
            self._stop.wait(0.01)

    def _delivered(self, error: object, message: Any) -> None:
        if error is not None or message.offset() is None:
            self.lost += 1
            return
        self.written += 1
        spot = message.topic(), message.partition()
        self.ends[spot] = max(self.ends[spot], message.offset() + 1)
