"""Which processes a fleet of one machine has, and how each is started."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypedDict

CONTAINER = ("container",)
LOCAL_TIER, LOCAL_REGION = "default", "local"
WORKER = ("job-service", "state-syncer", "task-service", "auto-scaler")
ADDRESS = "api.json"
"""In the settings' directory: where the process that serves the API says where it is."""
ENGINES = {
    "spark": "spark_streaming.main",
    "process": "tasks.process_engine.engine",
}
"""What containers run tasks in: Spark, or processes that only count, to try out a fleet."""


class Hosts(NamedTuple):
    """The containers of a fleet of one machine."""

    containers: int = 2
    engine: str = "spark"


@dataclass(frozen=True, slots=True)
class Member:
    """One process: the components that it runs, and its name as a static member of their group.

    A container is no component: it runs none, and is known by its own name.
    """

    components: tuple[str, ...]
    instance: str | None = None
    engine: str = ""  # of a container

    @property
    def label(self) -> str:
        """How people and files call it."""
        return self.instance or "+".join(self.components)

    @property
    def rank(self) -> int:
        """When it is to end: containers say goodbye to deciders, deciders decide by the clock."""
        if self.components == CONTAINER:
            return 0
        return 2 if self.components == ("clock",) else 1

    def command(self, directory: Path) -> list[str]:
        """The program, without the settings' flags."""
        python = [sys.executable, "-P", "-m"]
        if self.components == CONTAINER:
            place = ["--directory", str(directory / "containers" / self.label)]
            where = ["--tier", LOCAL_TIER, "--region", LOCAL_REGION]
            engine = ["--engine", ENGINES[self.engine]]
            return [*python, "turbine.ops.container", self.label, *place, *where, *engine]
        more = [] if self.instance is None else ["--instance", self.instance]
        return [*python, "turbine.serve", *self.components, *more]


# Two workers, so that one may die and the other goes on with its own partitions. Static members:
# one that is back within the session has its partitions at once, and moves nobody else's.
DECIDERS = (
    Member(("clock",)),
    Member(("publisher",)),
    Member(WORKER, "worker-0"),
    Member(WORKER, "worker-1"),
    Member(("shard-manager",)),
    Member(("capacity-manager",)),
    Member(("api",)),
    Member(("auditor",)),
)


def members(hosts: Hosts, *, webhooks: bool = False) -> tuple[Member, ...]:
    """The whole fleet of one machine, in the order in which it is started."""
    containers = (
        Member(CONTAINER, f"container-{n}", hosts.engine) for n in range(hosts.containers)
    )
    told = (Member(("webhooks",)),) if webhooks else ()
    return (*DECIDERS, *told, *containers)


class MemberState(TypedDict):
    """A process of the fleet as the file has it."""

    name: str
    components: list[str]
    pid: int | None
    starts: int
    log: str


class FleetState(TypedDict):
    """Who runs, as the supervisor wrote it last."""

    pid: int
    bootstrap: str
    members: list[MemberState]


def address_of(directory: Path) -> str | None:
    """Where the dashboard and the API of the fleet are; None while nobody serves them."""
    try:
        found: str = json.loads((directory / ADDRESS).read_text())["url"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found
