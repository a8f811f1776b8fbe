"""A fleet of real containers: what several benchmarks and tests start, hurt and measure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, but not re-exported
    AdminClient,
    NewTopic,
)

from benchmarks.children import ChildFailed, Supervised, python
from benchmarks.containers import TIER
from benchmarks.figures import say
from benchmarks.installation import Installation, install
from components.runtime.process.local import ask_spark
from events.topics import CONTAINERS
from infra import waiting
from projections.syncs import RUNNING
from turbine.ops.members import ENGINES, WORKER
from turbine.ops.tiers import define
from turbine.read.sources.log import Log
from turbine_client.publish import Accepted, Publisher

KEEPERS = tuple(name for name in WORKER if name != "auto-scaler")
"""Without who would size the jobs: their sizes are what is tried."""
PARTITIONS, SHARDS, REGION = 4, 16, "local"
READY_S = 120.0
PAUSE_S = 0.05


@dataclass(slots=True)
class SparkFleet:
    """All of it, while it runs."""

    site: Installation
    names: tuple[str, ...]
    kind: str = "spark"  # of engine

    @property
    def places(self) -> Path:
        """Where the containers are."""
        return self.site.directory / "places"

    def start(self, per_mille: int, heap_mb: int) -> None:
        """Components, containers, and a tier for them."""
        site = self.site
        site.serve("clock")
        site.serve(*KEEPERS, instance="worker-0")
        for name in self.names:
            self.keep(name, heap_mb)
        self._await_lives()
        site.serve("shard-manager", instance="shards")
        told = {"time_per_mille": per_mille, "moves_max": 1000, "load_max": 1000}
        define(Log(site.settings), TIER, SHARDS, (REGION,), told)
        site.await_assigned()

    def keep(self, name: str, heap_mb: int) -> None:
        """A container that is started again whenever it ends."""
        told = self.site.directory / "containers.toml"
        told.write_text(f'[spark]\n"heap.mb" = {heap_mb}\nmaster = "local[2]"\n')
        command = python(
            "turbine.ops.container",
            *(name, "--directory", self.places / name, "--engine", ENGINES[self.kind]),
            *("--bootstrap", self.site.settings.bootstrap, "--config", told),
        )
        self.site.processes[name] = Supervised(name, command, self.site.directory)

    def _await_lives(self) -> None:
        log = Log(self.site.settings)
        kinds = frozenset({"ContainerHeartbeat"})

        def all_live() -> bool:
            found = {one.record.key for one in log.read([CONTAINERS], kinds=kinds)}
            return found >= set(self.names)

        until(all_live, "all containers live", pause_s=0.2)

    def submit(self, job: str, config: Mapping[str, Any], *, wait_s: float = READY_S) -> float:
        """Asks for a config; seconds until it runs, by the log."""
        began = time.monotonic()
        version = self.ask(job, config)
        until(lambda: self.runs(job, version), f"{job} runs", wait_s)
        return time.monotonic() - began

    def ask(self, job: str, config: Mapping[str, Any]) -> int:
        """Asks for a config; the version of the base layer that it has become."""
        with Publisher(self.site.settings) as publisher:
            verdict = publisher.change(job, dict(config), create=True, wait_s=30)
        if not isinstance(verdict, Accepted):
            raise ChildFailed(f"{job} is not accepted: {verdict}")
        return verdict.version

    def runs(self, job: str, version: int) -> bool:
        """Is that version of the base layer in effect, and does nothing wait?"""
        row = Log(self.site.settings).syncs(job=job).get(job)
        if row is None or row.running is None or row.plan:
            return False
        return row.running.state == RUNNING and row.running.versions.base >= version

    # --- processes

    def supervisor(self, name: str) -> int:
        """The process of the container itself."""
        until(lambda: self.site.processes[name].pid is not None, f"{name} lives")
        pid = self.site.processes[name].pid
        assert pid is not None
        return pid

    def engine(self, name: str) -> int | None:
        """Spark's Python, if it lives."""
        supervisor = self.site.processes[name].pid
        found = children(supervisor) if supervisor is not None else {}
        return next((pid for pid, comm in found.items() if comm == "engine"), None)

    def java(self, name: str) -> int | None:
        """Spark's Java, if it lives."""
        engine = self.engine(name)
        found = children(engine) if engine is not None else {}
        return next((pid for pid, comm in found.items() if comm == "java"), None)

    def family(self, name: str) -> list[int]:
        """Every process of a container, the supervisor first."""
        supervisor = self.site.processes[name].pid
        found, todo = list[int](), [supervisor] if supervisor is not None else []
        while todo:
            one = todo.pop()
            found.append(one)
            todo += children(one)
        return found


def children(pid: int) -> dict[int, str]:
    """Of a process, by number and name."""
    found = dict[int, str]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            head, _, rest = path.read_text().rpartition(") ")
            if int(rest.split()[1]) == pid and rest[0] != "Z":
                found[int(path.parent.name)] = head.partition(" (")[2]
    return found


def until(
    holds: Callable[[], object], what: str, wait_s: float = READY_S, pause_s: float = PAUSE_S
) -> float:
    """Waits until it is so; how long that took."""
    return waiting.until(holds, what, wait_s, pause_s, ChildFailed)


def make_topics(bootstrap: str, topics: Mapping[str, int]) -> None:
    """By name and partitions."""
    admin = AdminClient({"bootstrap.servers": bootstrap})  # its futures end with it
    wanted = [NewTopic(name, count) for name, count in topics.items()]
    for done in admin.create_topics(wanted).values():
        done.result()


@contextmanager
def spark_fleet(
    names: Sequence[str],
    topics: Mapping[str, int],
    *,
    per_mille: int = 1_000,
    heap_mb: int = 768,
    kind: str = "spark",
) -> Iterator[SparkFleet]:
    """A fleet that runs no job yet; no process of it is left at the end."""
    if kind == "spark":
        ask_spark(at_once=False)
    with install(partitions=PARTITIONS) as site:
        if topics:
            make_topics(site.settings.bootstrap, topics)
        fleet = SparkFleet(site, tuple(names), kind)
        fleet.start(per_mille, heap_mb)
        say(f"{len(names)} containers, engine {kind}")
        yield fleet


def config_of(
    topic: str, partitions: int, output: str, tasks: int, checkpoints: Path, **more: Any
) -> dict[str, Any]:
    """A job that passes on what it reads."""
    return {
        "operator": "spark_streaming.operators.rows:passed",
        "inputs": [{"topic": topic, "partitions": partitions}],
        "output": {"topic": output},
        "package": {"name": "bench", "version": "1.0.0"},
        "checkpoint": {"root": str(checkpoints)},
        "tasks": tasks,
        **more,
    }
