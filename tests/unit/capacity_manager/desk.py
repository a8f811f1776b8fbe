"""A log of one partition a topic, and instances of capacity managers that read all of it."""

from __future__ import annotations

import json
from collections import defaultdict

from components.capacity_manager.decide import component
from components.runtime.core.component import Component
from components.runtime.core.step import ROOT, Stepper
from events.generated.records import (
    Body,
    CapacityGranted,
    ClockTicked,
    ContainerHeartbeat,
    ContainerStarted,
    JobConfigChanged,
    LayerVersions,
    ResourceAmount,
    TierDefined,
)
from events.topics import CLOCK, CONTAINERS, GRANTS, JOURNAL, OPERATOR, TIERS
from events.wire.codec import Read, Record, encode
from projections.capacity import Capacity
from turbine_client.identity import decision_id

PLACES = [f"{topic}/0" for topic in (CLOCK, CONTAINERS, GRANTS, JOURNAL, OPERATOR, TIERS)]
MINUTE_MS = 60_000
VERSIONS = LayerVersions(1, 0, 0, 0)


class Desk:
    """A log of one partition a topic, and instances that read all of it."""

    def __init__(self) -> None:
        self.lines: dict[str, list[Read]] = defaultdict(list)
        self.now_ms = 1_000_000
        self.owners: list[Stepper[Capacity]] = []
        self.last: dict[tuple[str, str], str] = {}

    def instance(self, one: Component[Capacity] = component) -> Stepper[Capacity]:
        owner: Stepper[Capacity] = Stepper(one, PLACES, self.possible)
        self.owners.append(owner)
        return owner

    def possible(self, at: str, offset: int, by_ms: int) -> bool:
        return offset <= sum(read.at_ms <= by_ms for read in self.lines[at])

    def append(self, topic: str, record: Record) -> None:
        at = f"{topic}/0"
        self.lines[at].append(Read(at, topic, len(self.lines[at]), self.now_ms, record))

    def fact(self, topic: str, key: str, body: Body) -> None:
        value, kind = encode(body), type(body).__name__
        self.append(topic, Record(key, f"{kind}-{self.now_ms}-{key}", kind, value, body))

    def decision(self, topic: str, key: str, body: Body) -> str:
        """The next of its key's chain."""
        value, kind = encode(body), type(body).__name__
        parent = self.last.get((topic, key), ROOT)
        name = decision_id(parent, key, kind, value)
        self.last[topic, key] = name
        record = Record(key, name, kind, value, body, parent=parent, tick_ms=self.now_ms)
        self.append(topic, record)
        return name

    def tick(self, ms: int = 0) -> None:
        self.now_ms += ms
        self.append(CLOCK, Record("", f"t{self.now_ms}", "ClockTicked", b"", ClockTicked(1)))

    def catch_up(self, owner: Stepper[Capacity]) -> None:
        for at in PLACES:
            for read in self.lines[at][owner.seen.get(at, 0) :]:
                if at.startswith(CLOCK):
                    owner.tick(at, read.offset, read.at_ms)
                else:
                    owner.read(read)

    def turn(self) -> int:
        """All read to the end, then all speak; how much was said."""
        for owner in self.owners:
            self.catch_up(owner)
        said = [record for owner in self.owners for record in owner.flush()]
        for topic, record in said:
            self.append(topic, record)
        return len(said)

    def settle(self) -> None:
        for _ in range(50):
            if not self.turn():
                return
        raise AssertionError("no end of it")

    def bodies(self, topic: str, kind: type[Body]) -> list[Body]:
        found = (read.record.body for read in self.lines[f"{topic}/0"])
        return [body for body in found if isinstance(body, kind)]

    # --- a tier of 100 cores

    def begin(self, settings: str = '{"headroom":0}') -> None:
        self.tick()
        self.decision(TIERS, "default/placement", TierDefined("default", 4, (), settings))
        for n in range(10):
            cores = (ResourceAmount("cpu_cores", 10.0),)
            self.fact(CONTAINERS, f"c{n}", ContainerStarted(f"c{n}", 1, "default", "", cores))
            beat = ContainerHeartbeat(f"c{n}", 1, 1, 0, "serving", 0, "")
            self.fact(CONTAINERS, f"c{n}", beat)

    def job(self, name: str, tasks: int, **more: object) -> None:
        each = {"cpu_cores": 1.0, "memory_mb": 1}
        plain = {"tasks": tasks, "resources": each, "limits": {"tasks": 100}, **more}
        text = json.dumps(plain)
        body = JobConfigChanged(name, "base", "1.a", 1, VERSIONS, text, text, "ops")
        self.decision(JOURNAL, name, body)

    def grants(self) -> list[tuple[str, int | None]]:
        return [
            (body.job, body.tasks_max)
            for body in self.bodies(GRANTS, CapacityGranted)
            if isinstance(body, CapacityGranted)
        ]


def row_of(owner: Stepper[Capacity], tier: str = "default") -> Capacity:
    row = owner.held[f"{tier}/capacity"].row
    assert row is not None
    return row
