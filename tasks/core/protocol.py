"""What a supervisor and its engine say to each other: orders one way, events the other. Pure.

One JSON object a line. A run is one start of a task: its number tells it from the start before, so
that what is said late of one cannot be taken for the other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from tasks.core.traces import last_lines

STOPPED, FAILED, FENCED, REFUSED = "stopped", "failed", "fenced", "refused"
"""How a run ends: in order; by an error; because another has its claim; because it never can."""
TEXT_CHARS = 2_000


class InputSpot(NamedTuple):
    """A partition of an input and an offset in it."""

    topic: str
    partition: int
    offset: int


class WorkOrder(NamedTuple):
    """All that an engine has to know to run a task."""

    run: int
    job: str
    task: int
    specs: int
    shard: int
    shard_number: int
    container: str
    epoch: int
    operator: str
    guarantee: str
    argv: tuple[str, ...]
    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    checkpoint: str
    config_json: str
    memory_bytes: int | None
    cpu_cores: float | None
    package: str
    package_version: str
    threads: int

    @property
    def name(self) -> str:
        """The task's name, `job/index`, as everywhere."""
        return f"{self.job}/{self.task}"

    @property
    def alone(self) -> bool:
        """Is it to have a process of its own?"""
        config: dict[str, object] = json.loads(self.config_json or "{}")
        return config.get("isolation") == "process"

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """The partitions that it reads, always in the same order."""
        return tuple((topic, number) for topic, numbers in self.inputs for number in numbers)

    def to_plain(self) -> dict[str, Any]:
        """The order as a JSON object."""
        return self._asdict()

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> WorkOrder:
        """The order that `to_plain` made plain."""
        inputs = tuple((topic, tuple(numbers)) for topic, numbers in plain["inputs"])
        return cls(**{**plain, "argv": tuple(plain["argv"]), "inputs": inputs})


class Started(NamedTuple):
    """A run holds its claim and reads from now on."""

    run: int
    offsets: tuple[InputSpot, ...]
    keeps_state: bool | None = None  # from one batch to the next; None: nobody knows


class Ended(NamedTuple):
    """A run is over: no process of it is left."""

    run: int
    how: str
    cause: str = ""
    explanation: str = ""
    error_class: str = ""
    offsets: tuple[InputSpot, ...] = ()
    traceback: str = ""


class Left(NamedTuple):
    """What is left to read of one partition, the age of the oldest of it, and how many of its
    records the run has read since its start; None is unknown."""

    topic: str
    partition: int
    records: int | None = None
    ms: int | None = None
    read: int | None = None


class RunLoads(NamedTuple):
    """What each run has counted since its start (`loads.ContainerLoads` knows the names), and what
    is left and was read of each of its partitions, which an older engine does not tell."""

    runs: Mapping[int, Mapping[str, int | None]]
    partitions: Mapping[int, tuple[Left, ...]] = MappingProxyType({})


Event = Started | Ended | RunLoads


def line(what: str, **more: Any) -> bytes:
    """An order or an event, as it goes through a pipe."""
    return json.dumps({"what": what, **more}, separators=(",", ":")).encode() + b"\n"


def event_of(plain: Mapping[str, Any]) -> Event | None:
    """What an engine said; None: this build does not know it."""
    match plain.get("what"):
        case "started":
            return Started(plain["run"], _spots(plain), plain.get("keeps_state"))
        case "ended":
            return Ended(
                plain["run"],
                plain["how"],
                plain.get("cause", ""),
                _sayable(plain.get("explanation", ""))[:TEXT_CHARS],
                plain.get("error_class", ""),
                _spots(plain),
                last_lines(plain.get("traceback", "")),
            )
        case "loads":
            told = plain.get("partitions", {})
            return RunLoads(
                {int(run): found for run, found in plain["runs"].items()},
                {int(run): tuple(Left(*one) for one in found) for run, found in told.items()},
            )
        case _:
            return None


def _sayable(text: str) -> str:
    """An error may quote bytes that are no text: no record could be made of it."""
    return text.encode(errors="replace").decode()


def _spots(plain: Mapping[str, Any]) -> tuple[InputSpot, ...]:
    return tuple(InputSpot(*one) for one in plain.get("offsets", ()))
