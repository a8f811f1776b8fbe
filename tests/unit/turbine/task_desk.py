"""A job whose tasks are played by hand, and what `logs` of the command line reads of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from events.generated.records import (
    Body,
    ContainerStarted,
    Generation,
    TaskFailed,
    TaskStarted,
)
from events.topics import CONTAINERS, JOURNAL, OPERATOR, TASKS, TIERS, place
from events.wire.codec import Read, Record, encode
from projections.fleet import TierFleet as Tier
from projections.jobs import Job
from projections.syncs import Sync
from tests.unit.shard_manager.fleets import LIVES, placed
from tests.unit.state_syncer.fleet import Fleet
from tests.unit.turbine.lines import Ended, run
from tests.unit.turbine.test_task_lines import put
from turbine.failures import Code
from turbine.ops import lines_door
from turbine_client.settings import Settings

printed = partial(put, job="orders")
NOWHERE = lines_door.DoorAddress()
NOW_MS = 1_000
"""Lines of these tests are of the first second, and so are records."""


class Told(Fleet):
    """A job, `orders`, and what its tasks said of themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = NOW_MS
        self.words: list[Read] = []

    def tell(self, topic: str, body: Body, name: str = "") -> None:
        super().tell(topic, body, name)
        if topic == TASKS:
            record = Record(
                "orders", f"t{len(self.words)}", type(body).__name__, encode(body), body
            )
            self.words.append(Read(f"{TASKS}/0", TASKS, len(self.words), self.now_ms, record))

    def broke(
        self, task: int, container: str = "c1", *, attempt: int = 2, traceback: str = ""
    ) -> TaskFailed:
        """A task failed, and is tried again after a second."""
        body = TaskFailed(
            job="orders",
            task=task,
            generation=Generation(2, 1),
            container=container,
            epoch=1,
            cause="operator-error",
            explanation="talks failed with\n no number",
            attempt=attempt,
            error_class="ZeroDivisionError",
            pause_ms=1_000,
            traceback=traceback,
        )
        self.tell(TASKS, body)
        return body

    def began(self, task: int, container: str = "c1", *, attempt: int = 1) -> None:
        body = TaskStarted("orders", task, Generation(2, 1), container, 1, attempt=attempt)
        self.tell(TASKS, body)


@dataclass(slots=True)
class Desk:
    """Stands in for a Log of that job and its tier."""

    directory: Path
    job: Told = field(default_factory=lambda: Told().runs())  # type: ignore[arg-type,return-value]  # it returns itself
    tier: Tier | None = None
    starts: list[Read] = field(default_factory=list)
    settings: Settings = field(default_factory=Settings)
    counts: Mapping[str, int] = field(
        default_factory=lambda: dict.fromkeys((JOURNAL, TASKS, OPERATOR, TIERS, CONTAINERS), 1)
    )
    looked: int = 0  # for hosts

    def places(self, topics: list[str], *, key: str) -> list[str]:
        assert key
        return [place(topic, 0) for topic in topics]

    def ends(self, places: list[str]) -> dict[str, int]:
        return dict.fromkeys(places, len(self.job.words))

    def jobs(self, **_: Any) -> dict[str, Job]:
        return {}

    def syncs(
        self, *, job: str, end: Mapping[str, int], observer: Callable[[Read, bool], None]
    ) -> dict[str, Sync]:
        assert end
        for one in self.job.words:
            observer(one, True)
        return {"orders": self.job.row} if job == "orders" else {}

    def fleet(self, tier: str) -> Tier | None:
        assert tier == "default"
        return self.tier

    def spoken(self, spans: list[tuple[int, int]], kinds: frozenset[str]) -> Iterator[Read]:
        assert kinds == {"ContainerStarted"}
        self.looked += 1
        yield from (
            one for one in self.starts if any(since < one.at_ms <= by for since, by in spans)
        )

    def read(self, topics: list[str], *, kinds: frozenset[str], key: str) -> Iterator[Read]:
        assert (topics, kinds) == ([CONTAINERS], {"ContainerStarted"})
        yield from (one for one in self.starts if one.record.key == key)

    # --- the tier

    def has_tier(self) -> None:
        """Two containers hold its shards."""
        self.tier = placed(2, 4).fleet

    def began_on(
        self, host: str, name: str, at_ms: int, door: lines_door.DoorAddress = NOWHERE
    ) -> None:
        """A container's life, as the log tells it."""
        body = ContainerStarted(
            name, 1, "default", "local", (), host, logs_url=door.url, logs_key=door.key
        )
        record = Record(name, "s", "ContainerStarted", encode(body), body)
        self.starts.append(Read(LIVES, CONTAINERS, len(self.starts), at_ms, record))

    # --- what is asked

    def ask(self, *words: str) -> Ended:
        return run("logs", *words, "--directory", str(self.directory))

    def rows(self, *words: str) -> list[dict[str, Any]]:
        ended = self.ask(*words, "-o", "json")
        assert ended.code == Code.OK, ended
        return [json.loads(one) for one in ended.out.splitlines()]
