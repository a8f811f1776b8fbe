"""Hears each task's committed outputs as they become visible, and when."""

from __future__ import annotations

import json
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from confluent_kafka import Consumer, TopicPartition

from tasks.deadline import own_ms

POLL_S = 0.1
MOST = 500


class Output(NamedTuple):
    """One committed output of a task: a batch of its input."""

    task: str
    specs: int
    shard: int
    container: str
    epoch: int
    begun_ms: int  # by its author, with its input in hand
    done_ms: int
    heard_ms: int  # it was visible then at the latest, to who reads what is committed
    at_ms: int  # appended
    records: int
    since: Mapping[str, int]
    until: Mapping[str, int]


def output_of(plain: Mapping[str, Any], heard_ms: int, at_ms: int) -> Output:
    """As its author wrote it."""
    return Output(
        task=plain["task"],
        specs=plain["specs"],
        shard=plain["shard"],
        container=plain["container"],
        epoch=plain["epoch"],
        begun_ms=plain["begun_ms"],
        done_ms=plain["done_ms"],
        heard_ms=heard_ms,
        at_ms=at_ms,
        records=plain["records"],
        since=plain["from"],
        until=plain["to"],
    )


class Heard:
    """A thread that reads all outputs, each task's in the order of the log."""

    def __init__(self, bootstrap: str, topics: Iterable[str], partitions: int) -> None:
        self.outputs: dict[str, list[Output]] = defaultdict(list)
        self._client = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "exclusivity",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "fetch.wait.max.ms": 20,
            }
        )
        self._client.assign([TopicPartition(t, p, 0) for t in topics for p in range(partitions)])
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heard", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Hears no more."""
        self._stop.set()
        self._thread.join()
        self._client.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            for message in self._client.consume(MOST, POLL_S):
                if message.error() is not None:
                    continue  # the broker is away for a moment; what is missing shows in the sums
                plain = json.loads(message.value() or b"{}")
                one = output_of(plain, own_ms(), message.timestamp()[1])
                self.outputs[one.task].append(one)

    def first_since(self, task: str, at_ms: int) -> Output | None:
        """The first committed output that was begun at that time or later."""
        return first_since(self.outputs.get(task, []), at_ms)

    def silence_ms(self, task: str, since_ms: int, until_ms: int) -> int:
        """The longest time in which no effect of it became visible, between these two."""
        return silence_ms(self.outputs.get(task, []), since_ms, until_ms)

    def counted(self) -> int:
        """Records of all outputs so far."""
        return sum(one.records for found in list(self.outputs.values()) for one in found)


def silence_ms(outputs: list[Output], since_ms: int, until_ms: int) -> int:
    """Of one task's outputs. A task that runs on for a while after a fault, and stops then, was
    away for as long as it had no effect, and not from the fault to its next one."""
    at = bisect_left(outputs, since_ms, key=lambda one: one.heard_ms)
    longest, last_ms = 0, since_ms
    for one in outputs[at:]:
        longest, last_ms = max(longest, one.heard_ms - last_ms), one.heard_ms
        if one.heard_ms >= until_ms:
            break
    return longest


def first_since(outputs: list[Output], at_ms: int) -> Output | None:
    """Of one task's: an effect that was begun before tells nothing about what came after."""
    at = bisect_left(outputs, at_ms, key=lambda one: one.begun_ms)
    return outputs[at] if at < len(outputs) else None
