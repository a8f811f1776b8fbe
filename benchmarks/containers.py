"""Containers that run nothing: they live, hold shards and give them up as the tier's chain tells.

Arguments: bootstrap address, how many, the first one's number, and the time scale per mille. One
process plays all of them, each with the fold that a real one lives by (`projections.hold`).
"""

from __future__ import annotations

import heapq
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.writer import Writer
from components.runtime.core.step import ROOT, Stepper
from components.runtime.kafka.append_times import AppendTimes
from components.runtime.kafka.clients import partitions_of
from components.runtime.kafka.intake import DeadLetter, take_in
from components.runtime.process.garbage import collect_seldom
from components.shard_manager.decide import component as shard_manager
from events.generated.records import (
    Body,
    ContainerHeartbeat,
    ContainerStarted,
    ResourceAmount,
    ShardAdded,
    ShardDropped,
    TierDefined,
)
from events.topics import BY_SHORT, CONTAINERS, TIERS, partition_of, place
from events.wire.codec import Read, Record, encode, headers_of
from projections.hold import FOLDED_KINDS, ContainerHold, fold
from projections.timing import UNIT, Timing
from turbine_client.identity import decision_id
from turbine_client.reading import Follower, ends_now
from turbine_client.settings import Settings

TIER = "default"
CAPACITY = (ResourceAmount("cpu_cores", 16.0), ResourceAmount("memory_bytes", 64e9))
POLL_MOST = 2_000
CHAIN = place(TIERS, 0)


@dataclass(slots=True)
class Held:
    """One container: what it knows of itself, and what it runs."""

    row: ContainerHold
    running: dict[int, int]  # shard to generation
    number: int = 0


class Containers:
    """All of them. Used from one thread."""

    def __init__(self, settings: Settings, names: list[str], per_mille: int) -> None:
        self._count = partitions_of(settings)[CONTAINERS]
        self._beat_s = Timing().heartbeat_ms * per_mille / UNIT / 1000
        self._writer, self._append_times = Writer(settings), AppendTimes(settings)
        lives = [place(CONTAINERS, p) for p in range(self._count)]
        # The chain alone decides what stands; lives lie beside it.
        self._chain = Stepper(
            shard_manager, [CHAIN], self._append_times.possible, observer=self._observe
        )
        start = ends_now(settings, lives)
        self._follower = Follower(settings, start | {CHAIN: 0})
        self._held = {name: Held(ContainerHold(name, 1), {}) for name in names}
        self._of: dict[int, set[str]] = {}  # shard to the containers that may run it
        self._moved: set[str] = set()
        now = time.monotonic()
        step_s = self._beat_s / max(1, len(names))
        self._due = [(now + at * step_s, name) for at, name in enumerate(names)]
        for name in names:
            self._say(name, ContainerStarted(name, 1, TIER, "local", CAPACITY))
        self._writer.settle()

    def turn(self) -> None:
        """Beats that are due, then what came."""
        now = time.monotonic()
        while self._due and self._due[0][0] <= now:
            _, name = heapq.heappop(self._due)
            heapq.heappush(self._due, (now + self._beat_s, name))
            self._beat(name)
        wait_s = min(0.1, max(0.0, self._due[0][0] - time.monotonic())) if self._due else 0.1
        for message in self._follower.poll(wait_s, POLL_MOST):
            found = take_in(message, self._count, FOLDED_KINDS)
            if isinstance(found, DeadLetter):
                continue
            if found.place == CHAIN:
                self._chain.now_ms = max(self._chain.now_ms, found.at_ms)
                self._chain.read(found)
            elif (held := self._held.get(found.record.key)) is not None:
                self._fold(held, found)
        self._chain.settle()
        for name in sorted(self._moved):
            for body in self._follow(self._held[name]):
                self._say(name, body, CHAIN)
        self._moved.clear()
        self._writer.settle()

    def close(self) -> None:
        """Leaves the broker; who was silent for long is failed over."""
        self._follower.close()
        self._append_times.close()

    def _observe(self, read: Read, stands: bool) -> None:
        """A decision that stands concerns who is given the shard, and who had it."""
        body = read.record.body
        if not stands or body is None:
            return
        if isinstance(body, TierDefined):
            for held in self._held.values():
                self._fold(held, read)
            return
        shard, name = getattr(body, "shard", None), getattr(body, "container", "")
        if shard is None:
            return
        known = self._of.setdefault(shard, set())
        if name in self._held:
            known.add(name)
        for one in known:
            self._fold(self._held[one], read)

    def _fold(self, held: Held, read: Read) -> None:
        before = held.row.wishes
        held.row = fold(held.row, read)
        if held.row.wishes is not before:
            self._moved.add(held.row.container)

    def _follow(self, held: Held) -> Iterator[Body]:
        name, epoch, running = held.row.container, held.row.epoch, held.running
        for shard, wish in sorted(held.row.wishes.items()):
            if wish.wanted and running.get(shard) != wish.generation:
                running[shard] = wish.generation
                yield ShardAdded(name, epoch, TIER, shard, wish.generation)
            elif not wish.wanted and running.pop(shard, None) is not None:
                yield ShardDropped(name, epoch, TIER, shard, wish.generation)

    def _beat(self, name: str) -> None:
        held = self._held[name]
        held.number += 1
        sent_ms = int(time.monotonic() * 1000)
        self._say(
            name,
            ContainerHeartbeat(
                name, 1, held.number, sent_ms, "serving", len(held.running), "", len(held.running)
            ),
        )

    def _say(self, name: str, body: Body, *knows: str) -> None:
        evidence = {at: self._chain.seen.get(at, 0) for at in knows}
        value, kind = encode(body), type(body).__name__
        record = Record(name, "", kind, value, body, evidence=evidence, source="task-manager")
        self._writer.write(
            BY_SHORT[CONTAINERS].name,
            partition_of(name, self._count),
            record.key,
            record.value,
            headers=headers_of(record, CONTAINERS),
        )


def define_tier(settings: Settings, shards: int, per_mille: int = UNIT) -> None:
    """The first decision of the tier's chain."""
    body = TierDefined(TIER, shards, ("local",), f'{{"time_per_mille":{per_mille}}}')
    key, value = f"{TIER}/placement", encode(body)
    name = decision_id(ROOT, key, "TierDefined", value)
    record = Record(key, name, "TierDefined", value, body, parent=ROOT, source="operator")
    writer = Writer(settings)
    writer.write(BY_SHORT[TIERS].name, 0, key, value, headers=headers_of(record, TIERS))
    writer.settle()


def main(bootstrap: str, count: str, first: str, per_mille: str) -> None:
    stop: list[bool] = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    collect_seldom()
    names = [f"c{n}" for n in range(int(first), int(first) + int(count))]
    containers = Containers(Settings(bootstrap=bootstrap), names, int(per_mille))
    while not stop:
        containers.turn()
    containers.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
