"""How long a live job stands still while its number of tasks changes, without state and with it."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from benchmarks.exactly_once_watch import Feed, Found, count_numbers
from benchmarks.figures import Result, say, share
from benchmarks.spark_fleet import SparkFleet, config_of, spark_fleet, until
from turbine_client.settings import Settings

NAMES, INPUTS, RATE = ("east", "west"), 4, 400
TURNS, QUICK_TURNS = 4, 1
"""Of two changes each: from 2 tasks to 4 and to 1, and back to 2 before the next."""
KEYS, QUICK_KEYS = 100_000, 5_000
BEFORE_S, AFTER_S, ALL_S = 3.0, 3.0, 240.0


def measure(quick: bool) -> Result:
    """The same twice: a job that passes records on, and one that knows which it has had."""
    turns = QUICK_TURNS if quick else TURNS
    topics = {"plain": INPUTS, "plain-out": INPUTS, "known": INPUTS, "known-out": INPUTS}
    with spark_fleet(NAMES, topics) as fleet:
        stateless = Change(fleet, "plain", {})
        gaps, totals, found = stateless.play(turns, 0)
        say(f"stateless: still for {max(gaps):.2f} s at most")
        arguments = ["--within", "6 hours"]
        operator = "spark_streaming.operators.doubles:deduplicated"
        more = {"operator": operator, "arguments": arguments}
        stateful = Change(fleet, "known", more)
        state_gaps, state_totals, state_found = stateful.play(1, QUICK_KEYS if quick else KEYS)
        say(f"stateful: still for {max(state_gaps):.2f} s at most")
    figures = {
        "stateless_downtime_s_p50": share(gaps, 0.5),
        "stateless_downtime_s_p99": share(gaps, 0.99),
        "stateless_total_s_max": max(totals),
        "stateful_downtime_s_100k": max(state_gaps),
        "stateful_total_s_max": max(state_totals),
        "missing": found.missing + state_found.missing,
        "doubled": found.doubled + state_found.doubled,
        "changes": 3 * turns + 3,
    }
    notes = [
        f"2, 4, 1 and 2 tasks of {INPUTS} partitions under {RATE} records/s, triggers of 0.1 s",
        "downtime: the longest time in which nothing of a partition came out, around each change",
        f"stateful: doubles are left out; {QUICK_KEYS if quick else KEYS} keys are known at first",
        "and all of them are sent again after the last change",
    ]
    return Result("rescale", figures, {}, notes)


@dataclass(slots=True)
class Change:
    """A job whose tasks change in number."""

    fleet: SparkFleet
    job: str
    more: Mapping[str, Any]
    seen: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    def play(self, turns: int, keys: int) -> tuple[list[float], list[float], Found]:
        """All changes; the gaps, how long each took, and how the numbers came out."""
        client = {"bootstrap.servers": self.fleet.site.settings.bootstrap}
        self.fleet.submit(self.job, self.config(2))
        feed = Feed(client, self.job, INPUTS, RATE)
        feed.burst(range(1, keys + 1))
        gaps, totals = [], []
        with self.listening(client):
            until(lambda: sum(map(len, self.seen.values())) >= keys, "all keys are known", ALL_S)
            feed.start()
            for tasks in [4, 1, 2] * turns:
                time.sleep(BEFORE_S)
                begin_ms = int(time.time() * 1000)
                totals.append(self.fleet.submit(self.job, self.config(tasks)))
                time.sleep(AFTER_S)
                gaps += self.gaps(begin_ms)
                say(f"{self.job} to {tasks}: still for {max(gaps[-INPUTS:]):.2f} s")
            feed.close()
            sent = feed.numbers
            feed.burst(range(1, keys + 1))
            until(lambda: sum(map(len, self.seen.values())) >= sent, "all came out", ALL_S)
            self.await_read(client, feed)
        return gaps, totals, count_numbers(client, f"{self.job}-out", INPUTS, sent)

    def config(self, tasks: int) -> dict[str, Any]:
        """The job with so many tasks."""
        checkpoints = self.fleet.site.directory / "checkpoints"
        base = config_of(self.job, INPUTS, f"{self.job}-out", tasks, checkpoints)
        return {**base, "schedule": {"batch_interval_ms": 100}, **self.more}

    @contextmanager
    def listening(self, client: Mapping[str, str]) -> Iterator[None]:
        """Notes when each input partition's records came out, by the broker's time."""
        over = threading.Event()

        def listen() -> None:
            committed = {"group.id": "listen", "isolation.level": "read_committed"}
            reader = Consumer({**client, **committed})
            reader.assign([TopicPartition(f"{self.job}-out", p, 0) for p in range(INPUTS)])
            while not over.is_set():
                for message in reader.consume(5_000, 0.1):
                    number = int(message.value() or b"0")
                    self.seen[number % INPUTS].append(message.timestamp()[1])
            reader.close()

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def gaps(self, since_ms: int) -> list[float]:
        """Of each partition the longest silence that ended after that."""
        found = []
        for times in self.seen.values():
            ordered = sorted(times)
            found.append(
                max((b - a for a, b in pairwise(ordered) if b >= since_ms), default=0) / 1000
            )
        return found

    def await_read(self, client: Mapping[str, str], feed: Feed) -> None:
        """Until the group has read all of the input, what is left out as well."""
        group = Settings().job_group(self.job)
        asker = Consumer({**client, "group.id": group, "enable.auto.commit": False})
        spots = [TopicPartition(self.job, p) for p in range(INPUTS)]

        def read() -> bool:
            found = {one.partition: one.offset for one in asker.committed(spots, timeout=10)}
            return found == feed.ends

        until(read, "all is read", ALL_S, 0.5)
        asker.close()
