"""A journal of one job for tests: decisions as the job service would have made and chained them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.job_service.decide import component, decide
from events.generated.records import Body, ConfigChangeProposed, JobDeleteRequested
from events.topics import CHANGES, JOURNAL, OPERATOR, place
from events.wire.codec import Read, Record, encode
from projections.jobs import Job, fold
from tests.unit.turbine.logs import log_of_reads
from turbine.read.sources.log import Log, Standing
from turbine_client.identity import change_id, decision_id

NOW = 1_800_000_000_000
CLICKS: Mapping[str, Any] = {
    "operator": "clicks.count:run",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "clicks", "version": "1.4.2"},
    "checkpoint": {"root": "/checkpoints"},
    "tasks": 2,
}


def read_of(topic: str, offset: int, record: Record, at_ms: int = NOW) -> Read:
    """A record where it lies."""
    return Read(place(topic, 0), topic, offset, at_ms, record)


@dataclass(slots=True)
class Journal:
    """Asks, lets the job service decide, and keeps what was said."""

    job: Job = field(default_factory=lambda: Job("clicks"))
    asked: list[Read] = field(default_factory=list)
    decisions: list[Standing] = field(default_factory=list)
    last: str = "root"

    def propose(
        self, set_: Mapping[str, Any], layer: str = "base", *, now: int = NOW, **more: Any
    ) -> Standing:
        """A change of one layer, and the verdict on it."""
        name = more.pop("name", "") or change_id(now + 60_000, f"c{len(self.asked)}")
        body = ConfigChangeProposed(
            name, "clicks", more.pop("author", "ana"), set_json=json.dumps(set_), **more
        )
        return self._ask(CHANGES[layer], name, body, now)

    def delete(self, reason: str, *, now: int = NOW) -> Standing:
        """A deletion, and the verdict on it."""
        name = change_id(now + 60_000, f"c{len(self.asked)}")
        body = JobDeleteRequested(name, "clicks", "ana", reason)
        return self._ask(OPERATOR, name, body, now)

    def _ask(self, topic: str, name: str, body: Body, now: int) -> Standing:
        record = Record("clicks", name, type(body).__name__, encode(body), body)
        offset = sum(one.topic == topic for one in self.asked)
        read = read_of(topic, offset, record, now)
        self.asked.append(read)
        self.job = fold(self.job, read)
        for said in decide(self.job, now):
            found = self.say(said, self.last, stands=True)
        return found

    def log(self) -> Log:
        """A log with all of it."""
        return log_of_reads([*self.asked, *(one.read for one in self.decisions)])

    def say(self, body: Body, parent: str, *, stands: bool) -> Standing:
        """A decision on that parent."""
        value = encode(body)
        name = decision_id(parent, "clicks", type(body).__name__, value)
        record = Record(
            "clicks",
            name,
            type(body).__name__,
            value,
            body,
            parent=parent,
            evidence={one.place: one.offset + 1 for one in self.asked},
            tick_ms=NOW,
            logic=component.logic,
            source=component.name,
            cause=getattr(body, "change_id", None) or "",
        )
        at_ms = max([NOW, *(one.at_ms for one in self.asked)])
        one = Standing(read_of(JOURNAL, len(self.decisions), record, at_ms), stands)
        self.decisions.append(one)
        if stands:
            self.job, self.last = fold(self.job, one.read), name
        return one
