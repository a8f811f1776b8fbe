"""How soon a dead container's tasks write again, in a Spark that runs already or in a new one."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from benchmarks.exactly_once_watch import Feed
from benchmarks.figures import Result, say, share
from benchmarks.spark_fleet import SparkFleet, config_of, spark_fleet, until
from events.generated.records import ContainerFailedOver
from events.topics import CONTAINERS, place
from events.wire.codec import TYPE_PREFIX, decode
from turbine.read.sources.log import Log
from turbine_client.reading import ends_now, read_span

JOB, INPUTS, TASKS, RATE = "copy", 4, 4, 200
PER_MILLE = 250
"""All times a quarter: detection is not what is measured here."""
TURNS, QUICK_TURNS = 5, 1
HEAP_MB = 512


def measure(quick: bool) -> Result:
    """Warm: the other container has a Spark. Cold: nobody has, and a new container comes."""
    turns = QUICK_TURNS if quick else TURNS
    topics = {"in": INPUTS, "out": INPUTS}
    warm, cold = [], []
    with spark_fleet(("a", "b"), topics, per_mille=PER_MILLE, heap_mb=HEAP_MB) as fleet:
        fleet.submit(JOB, config(fleet))
        with outputs(fleet) as out:
            for turn in range(turns):
                warm.append(moved(fleet, out))
                say(f"warm {turn + 1}: {warm[-1]:.2f} s")
            for turn in range(turns):
                cold.append(begun_anew(fleet, out, f"new-{turn}"))
                say(f"cold {turn + 1}: {cold[-1]:.2f} s")
    figures = {
        "first_output_s_warm": share(warm, 0.5),
        "first_output_s_warm_max": max(warm),
        "first_output_s_cold": share(cold, 0.5),
        "first_output_s_cold_max": max(cold),
        "turns": turns,
    }
    notes = [
        f"{TASKS} tasks; from the fail-over's record to the last task's first committed output",
        "cold: no other container lives, and a new one is started when the record stands",
    ]
    return Result("failover", figures, {}, notes)


def config(fleet: SparkFleet) -> dict[str, Any]:
    """A job with a task for each partition."""
    checkpoints = fleet.site.directory / "checkpoints"
    schedule = {"batch_interval_ms": 100}
    return config_of("in", INPUTS, "out", TASKS, checkpoints, schedule=schedule)


@dataclass(slots=True)
class Outputs:
    """When which input came out: what is written to an input's partition comes out of its task."""

    reader: Consumer
    at_ms: list[tuple[int, int]] = field(default_factory=list)  # when, and the input's partition

    def hear(self) -> None:
        """What was committed meanwhile."""
        for message in self.reader.consume(5_000, 0.05):
            _, written_ms = message.timestamp()
            self.at_ms.append((written_ms, int(message.value() or b"0") % INPUTS))

    def all_since(self, since_ms: int) -> int | None:
        """When each partition had come out again; None: not yet."""
        self.hear()
        first: dict[int, int] = {}
        for at_ms, partition in self.at_ms:
            if at_ms > since_ms:
                first.setdefault(partition, at_ms)
        return max(first.values()) if len(first) == INPUTS else None


@contextmanager
def outputs(fleet: SparkFleet) -> Iterator[Outputs]:
    """Input at a steady rate, and a reader of what is committed."""
    client = {"bootstrap.servers": fleet.site.settings.bootstrap}
    feed = Feed(client, "in", INPUTS, RATE)
    reader = Consumer({**client, "group.id": "out", "isolation.level": "read_committed"})
    reader.assign([TopicPartition("out", p, 0) for p in range(INPUTS)])
    feed.start()
    try:
        yield Outputs(reader)
    finally:
        feed.close()
        reader.close()


def moved(fleet: SparkFleet, out: Outputs) -> float:
    """Kills the container with more tasks; its own next life is not awaited."""
    victim = busiest(fleet)
    end = kill(fleet, victim)
    over_ms = failed_over(fleet, victim, end)
    until(lambda: out.all_since(over_ms), "all write again")
    took_ms = (out.all_since(over_ms) or 0) - over_ms
    fleet.keep(victim, HEAP_MB)
    until(lambda: fleet.java(victim), f"{victim} is back")
    return took_ms / 1000


def begun_anew(fleet: SparkFleet, out: Outputs, name: str) -> float:
    """Kills all containers; a new one comes once that is known."""
    ends = {one: kill(fleet, one) for one in list(fleet.site.processes) if one in fleet.names}
    over_ms = max(failed_over(fleet, one, end) for one, end in ends.items())
    fleet.names = (name,)
    fleet.keep(name, HEAP_MB)
    until(lambda: out.all_since(over_ms), "all write again")
    return ((out.all_since(over_ms) or 0) - over_ms) / 1000


def busiest(fleet: SparkFleet) -> str:
    """The container with the most shards."""
    row = Log(fleet.site.settings).fleet("default")
    assert row is not None
    return max(fleet.names, key=lambda name: len(row.holdings.get(name, ())))


def kill(fleet: SparkFleet, name: str) -> dict[str, int]:
    """All of its processes, for good; where the log ended then."""
    settings = fleet.site.settings
    places = [place(CONTAINERS, p) for p in range(settings.partitions)]
    family = fleet.family(name)
    process = fleet.site.processes.pop(name)
    end = ends_now(settings, places)
    process.abandon()
    for pid in family:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return end


def failed_over(fleet: SparkFleet, name: str, since: dict[str, int]) -> int:
    """When the record stood by which the container was given up."""
    found = list[int]()

    def stands() -> bool:
        spans = {at: (offset, None) for at, offset in since.items()}
        for poll in read_span(fleet.site.settings, spans):
            for message in poll:
                said = dict(message.headers or ())
                if said.get("ce_type") != f"{TYPE_PREFIX}ContainerFailedOver".encode():
                    continue
                body = decode(message.value or b"")
                if isinstance(body, ContainerFailedOver) and body.container == name:
                    found.append(message.at_ms)
        return bool(found)

    until(stands, f"{name} is given up")
    return found[0]
