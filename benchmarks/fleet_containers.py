"""Very many containers in one process: they beat, hold shards, start tasks, and run nothing.

Arguments: bootstrap address, how many, and the first one's number. Each beat is sent by itself when
it is due, as thousands of processes would, so that neither the broker nor who reads them gets
batches that there are not. Unlike `benchmarks.containers`, these do not read their own beats back,
and so cannot lose a lease: what a real one does with its lease costs nobody else anything.

One line on standard output, "ready", tells that all of them have said that they live.
"""

from __future__ import annotations

import heapq
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.fleet_words import HEARD, Chains, Crew
from benchmarks.writer import Writer
from components.runtime.kafka.clients import partitions_of
from components.runtime.kafka.intake import Message
from components.runtime.process.garbage import collect_seldom
from events.generated.records import Body, Position, TaskSpecsPublished
from events.topics import BY_SHORT, CONTAINERS, JOURNAL, TASKS, TIERS, partition_of, place
from events.wire.codec import TYPE_PREFIX, Record, decode, encode, headers_of
from projections.timing import Timing
from turbine_client.reading import Follower
from turbine_client.settings import Settings

TIER, REGION = "default", "local"
CHAIN = place(TIERS, 0)
POLL_MOST = 500
IDLE_S = 0.1
LOADS_S = 600.0
FIRST_LOADS_S = 60.0
"""Every shard is weighed once soon after the start; from then on reports are spread evenly."""
BEAT, LOADS, FIRST_LOADS = 0, 1, 2
_TASK_KINDS = frozenset({"TaskStarted", "TaskStopped"})


class Mouth(Writer):
    """A writer that knows how far the partitions reach to which it wrote."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.ends: dict[int, int] = {}

    def _delivered(self, error: object, message: Any) -> None:
        super()._delivered(error, message)
        if error is None and message.topic() == BY_SHORT[CONTAINERS].name:
            self.ends[message.partition()] = (message.offset() or 0) + 1


class Containers:
    """All of one process. Used from one thread."""

    def __init__(self, settings: Settings, names: Sequence[str]) -> None:
        self._count = partitions_of(settings)[CONTAINERS]
        self._mouth = Mouth(settings)
        self._crew, self._chains = Crew(frozenset(names)), Chains()
        self._known: dict[str, tuple[str, int]] = {}  # job to how far its journal was read
        self._numbers = dict.fromkeys(names, 0)
        self._read_to = Position(CHAIN, 0)
        journals = [place(JOURNAL, p) for p in range(self._count)]
        self._follower = Follower(settings, dict.fromkeys([CHAIN, *journals], 0))
        for name in names:
            self._say(self._crew.begin(name, TIER, REGION), name)
        self._mouth.settle()
        self._beat_s = Timing().heartbeat_ms / 1000
        self._due = self._schedule(names, time.monotonic())
        self._weigh_first = list(names)

    def _schedule(self, names: Sequence[str], now: float) -> list[tuple[float, str, int]]:
        """Beats and loads, each spread evenly over its period."""
        due = []
        for at, name in enumerate(names):
            share = at / len(names)
            due.append((now + share * self._beat_s, name, BEAT))
            due.append((now + share * LOADS_S, name, LOADS))
        heapq.heapify(due)
        return due

    def turn(self) -> None:
        """What is due, then what came."""
        self._say_due()
        wait_s = min(IDLE_S, max(0.0, self._due[0][0] - time.monotonic()))
        for message in self._follower.poll(wait_s, POLL_MOST):
            self._hear(message)
            self._say_due()  # beats do not wait for a long poll

    def close(self) -> None:
        """Leaves the broker, with all that was said in the log."""
        self._mouth.settle()
        self._follower.close()

    def _say_due(self) -> None:
        now = time.monotonic()
        while self._due[0][0] <= now:
            at, name, what = heapq.heappop(self._due)
            if what == BEAT:
                heapq.heappush(self._due, (at + self._beat_s, name, BEAT))
                self._beat(name)
                continue
            if what == LOADS:
                heapq.heappush(self._due, (at + LOADS_S, name, LOADS))
            self._numbers[name] += 1
            self._say(self._crew.loads(name, self._numbers[name], int(1000 * LOADS_S)), name)

    def _beat(self, name: str) -> None:
        self._numbers[name] += 1
        partition = partition_of(name, self._count)
        here = Position(place(CONTAINERS, partition), self._mouth.ends.get(partition, 0))
        sent_ms = int(time.monotonic() * 1000)
        read_to = (here, self._read_to)
        self._say(self._crew.beat(name, self._numbers[name], sent_ms, read_to), name)

    def _hear(self, message: Message) -> None:
        at, said = message.place, dict(message.headers or ())
        if at == CHAIN:
            self._read_to = Position(CHAIN, message.offset + 1)
        if not self._chains.stands(message.key, said):
            return
        kind = (said.get("ce_type") or b"").decode().removeprefix(TYPE_PREFIX)
        if kind not in HEARD:
            return
        body = decode(message.value or b"")
        if isinstance(body, TaskSpecsPublished):
            self._known[body.job] = (at, message.offset + 1)
        for word in self._crew.hear(body):
            self._tell(word, (CHAIN, message.offset + 1))
        if self._weigh_first and self._crew.held:
            self._weigh_soon()

    def _weigh_soon(self) -> None:
        now, names = time.monotonic(), self._weigh_first
        self._weigh_first = []
        for at, name in enumerate(names):
            heapq.heappush(
                self._due, (now + FIRST_LOADS_S * (at + 1) / len(names), name, FIRST_LOADS)
            )

    def _tell(self, word: Body, known: tuple[str, int]) -> None:
        """What follows from a decision, with what it follows from."""
        job = getattr(word, "job", None)
        if job is None:
            self._say(word, getattr(word, "container"), known)  # noqa: B009 - it has one
        else:
            self._say(word, job, self._known[job])

    def _say(self, body: Body, key: str, known: tuple[str, int] | None = None) -> None:
        kind, value = type(body).__name__, encode(body)
        short = TASKS if kind in _TASK_KINDS else CONTAINERS
        self._mouth.write(
            BY_SHORT[short].name,
            partition_of(key, self._count),
            key,
            value,
            headers=headers_for(short, kind, key, value, known),
        )


def headers_for(
    short: str, kind: str, key: str, value: bytes, known: tuple[str, int] | None
) -> list[tuple[str, bytes]]:
    """The headers of a fact, whose id is of what it says."""
    evidence = {} if known is None else dict([known])
    record = Record(key, "", kind, value, None, evidence=evidence, source="task-manager")
    return headers_of(record, short)


def main(bootstrap: str, count: str, first: str) -> None:
    stop: list[bool] = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    names = [f"c{n}" for n in range(int(first), int(first) + int(count))]
    containers = Containers(Settings(bootstrap=bootstrap), names)
    collect_seldom()
    print('"ready"', flush=True)
    while not stop:
        containers.turn()
    containers.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
