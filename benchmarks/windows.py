"""Are windowed counts of recorded loads those of a brute force, whatever is killed and rescaled?"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.children import ChildFailed
from benchmarks.figures import Result, say, share
from benchmarks.spark_fleet import SparkFleet, config_of, make_topics, spark_fleet, until
from benchmarks.windows_load import (
    END,
    KEYS,
    LATE_MS,
    MINUTES,
    PARTITIONS,
    SLIDE_MS,
    WAITED_MS,
    WINDOW_MS,
    Compared,
    Event,
    Piece,
    Window,
    brute_force,
    closing,
    compare,
    events_of,
    out_of_order,
    piece_of,
    recordings,
    steps,
    too_late,
)
from components.runtime.kafka.inputs import committed_of, ends_of
from turbine_client.publish import Publisher
from turbine_client.settings import Settings

NAME, PER_MILLE, HEAP_MB = "solo", 250, 640
RUNS, QUICK_RUNS, SEED = 5, 1, 23
PACE = 200
"""Events a second: calm parts come out in many batches, each of which ends windows, and what comes
while nobody reads comes out in a large one."""
READY_S, END_S, READ_S = 180.0, 180.0, 60.0
HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one run came out."""

    piece: str
    events: int
    late: int
    windows: int
    kills: int
    rescales: int
    seconds: float
    compared: Compared

    def sentence(self, number: int) -> str:
        """For people."""
        said = "equal" if self.compared.equal else f"NOT EQUAL: {self.compared}"
        return (
            f"run {number}, {self.piece}: {self.events} events, {self.late} of them late, in"
            f" {self.windows} windows by key, {self.rescales} rescales, {self.kills} kills,"
            f" {self.seconds:.0f} s: {said}"
        )


class Play:
    """One run: a job of its own, its topics, and what goes in and comes out."""

    def __init__(self, fleet: SparkFleet, number: int, whole: Piece, seed: int) -> None:
        self._fleet, self._dice = fleet, random.Random(seed)
        self._job, self._in, self._out = (
            f"{what}-{number}" for what in ("windows", "events", "counts")
        )
        self._client = {"bootstrap.servers": fleet.site.settings.bootstrap}
        make_topics(self._client["bootstrap.servers"], dict.fromkeys((self._in, self._out), 4))
        now_ms = int(time.time() * 1000)
        self._begin_ms = now_ms - now_ms % HOUR_MS - 12 * HOUR_MS
        self._piece = piece_of(whole, self._dice)
        self._events = events_of(self._piece, self._begin_ms, self._dice)
        self._source = Producer(self._client | {"enable.idempotence": True, "linger.ms": 5})
        self._written: list[tuple[Window, int]] = []
        self._reader = reader_of(self._client, self._out)

    def run(self) -> Verdict:
        """All of it; the job is gone at the end."""
        began = time.monotonic()
        fleet, job = self._fleet, self._job
        fleet.submit(job, self._config(2), wait_s=READY_S)
        planned = list(steps(self._dice))
        parts = iter(parted(self._events, 2 * len(planned) + 1))
        for tasks, victim, after_s in planned:
            self._feed(next(parts))
            feed = threading.Thread(target=self._feed, args=(next(parts),), daemon=True)
            feed.start()
            self._rescale_and_kill(tasks, victim, after_s)
            feed.join()
        self._feed(next(parts))
        windows = brute_force(self._messages())
        self._close()
        compared = compare(windows, [one for one in self._out_now() if one[0][0] != END])
        self._reader.close()
        with Publisher(fleet.site.settings) as publisher:
            publisher.delete(job, reason="the run is over")
        events, kills = len(self._events), len(planned)
        late = out_of_order(self._events)
        seconds = time.monotonic() - began
        name = self._piece.name
        return Verdict(name, events, late, len(windows), kills, kills, seconds, compared)

    def _config(self, tasks: int) -> dict[str, Any]:
        return config_of(
            self._in,
            PARTITIONS,
            self._out,
            tasks,
            self._fleet.site.directory / "checkpoints",
            operator="spark_streaming.operators.windows:counted",
            arguments=[
                *("--window", f"{WINDOW_MS // 1000} seconds"),
                *("--slide", f"{SLIDE_MS // 1000} seconds"),
                *("--late", f"{WAITED_MS // 1000} seconds", "--time", "at_ms"),
            ],
            inputs=[{"topic": self._in, "partitions": PARTITIONS, "format": "json"}],
            schedule={"batch_interval_ms": 200},
        )

    # --- what is done to it

    def _rescale_and_kill(self, tasks: int, victim: str, after_s: float) -> None:
        """The kill may meet the plan at any of its steps, or the tasks that it has started."""
        fleet = self._fleet
        version = fleet.ask(self._job, self._config(tasks))
        time.sleep(after_s)
        find = fleet.engine if victim == "python" else fleet.java
        until(lambda: find(NAME) is not None, f"there is a {victim} to kill", READY_S)
        os.kill(find(NAME) or 0, signal.SIGKILL)
        until(lambda: fleet.runs(self._job, version), f"{tasks} tasks run", READY_S)

    # --- what goes in

    def _feed(self, events: Sequence[Event]) -> None:
        began, sent = time.monotonic(), 0
        while sent < len(events):
            due = int(PACE * (time.monotonic() - began))
            self._put(events[sent:due])
            sent = due
            time.sleep(0.02)

    def _put(self, events: Iterable[Event]) -> None:
        """Returns when the broker has them."""
        for one in events:
            self._source.produce(self._in, one.value, one.key, one.partition)
        if self._source.flush(READ_S):
            raise ChildFailed("the broker does not take the events")

    def _messages(self) -> list[tuple[str, str]]:
        """All that is in the input, as the broker has it."""
        reader, found = reader_of(self._client, self._in), list[tuple[str, str]]()
        limit = time.monotonic() + READ_S
        while len(found) < len(self._events):
            if time.monotonic() > limit:
                raise ChildFailed(f"{self._in} has {len(found)} of {len(self._events)} events")
            found += messages_of(reader)
        reader.close()
        return found

    # --- what comes out

    def _close(self) -> None:
        """All windows end; then come events that are too late for any, which must change nothing,
        and what ends all that those might have begun."""
        self._end_windows(1)
        self._end_windows(2)
        self._put(too_late(self._begin_ms, self._dice))
        until(self._all_read, f"{self._job}: what is too late is read", END_S, 0.2)
        self._end_windows(3)

    def _end_windows(self, number: int) -> None:
        """Returns when the windows of the closing events before these have come out, and with them
        all that began earlier."""
        self._put(closing(self._begin_ms, number))
        wanted = (number - 1) * PARTITIONS * WINDOW_MS // SLIDE_MS
        what = f"{self._job}: the windows before closing {number} are over"
        until(lambda: self._all_read() and self._closed() >= wanted, what, END_S, 0.2)

    def _closed(self) -> int:
        """The windows of closing events that have come out."""
        return sum(count for (key, _), count in self._out_now() if key == END)

    def _all_read(self) -> bool:
        settings = self._fleet.site.settings
        spots = [(self._in, number) for number in range(PARTITIONS)]
        group = Settings().job_group(self._job)
        committed = committed_of(settings, {group: spots})[group]
        return committed == ends_of(settings, spots)

    def _out_now(self) -> list[tuple[Window, int]]:
        """All that was committed so far."""
        while found := messages_of(self._reader):
            for key, value in found:
                plain = json.loads(value)
                begin = datetime.fromisoformat(plain["window_start"]).timestamp()
                self._written.append(((key, round(begin * 1000)), plain["count"]))
        return self._written


def parted(events: Sequence[Event], count: int) -> list[Sequence[Event]]:
    """In their order, in parts of one size."""
    edges = [len(events) * at // count for at in range(count + 1)]
    return [events[begin:end] for begin, end in pairwise(edges)]


def reader_of(client: dict[str, str], topic: str) -> Consumer:
    """From the beginning, what is committed."""
    reader = Consumer(client | {"group.id": "windows", "isolation.level": "read_committed"})
    reader.assign([TopicPartition(topic, p, 0) for p in range(PARTITIONS)])
    return reader


def messages_of(reader: Consumer) -> list[tuple[str, str]]:
    """Keys and values of what has come."""
    found = list[tuple[str, str]]()
    for message in reader.consume(10_000, 0.3):
        if message.error() is not None:
            raise ChildFailed(f"the input cannot be read: {message.error()}")
        found.append(((message.key() or b"").decode(), (message.value() or b"").decode()))
    return found


def play(runs: int, seed: int = SEED) -> Iterator[Verdict]:
    """So many runs in one fleet, each of another piece of the next recording."""
    known = recordings()
    with spark_fleet([NAME], {}, per_mille=PER_MILLE, heap_mb=HEAP_MB) as fleet:
        for number in range(1, runs + 1):
            verdict = Play(fleet, number, known[(number - 1) % len(known)], seed + number).run()
            say(verdict.sentence(number))
            yield verdict


def measure(quick: bool, runs: int | None = None) -> Result:
    """The same again and again."""
    found = list(play(runs or (QUICK_RUNS if quick else RUNS)))
    figures = {
        "runs": len(found),
        "equal": sum(one.compared.equal for one in found),
        "unequal": sum(not one.compared.equal for one in found),
        "events": sum(one.events for one in found),
        "late": sum(one.late for one in found),
        "windows": sum(one.windows for one in found),
        "missing": sum(one.compared.missing for one in found),
        "doubled": sum(one.compared.doubled for one in found),
        "wrong": sum(one.compared.wrong for one in found),
        "kills": sum(one.kills for one in found),
        "rescales": sum(one.rescales for one in found),
        "run_s_p50": share([one.seconds for one in found], 0.5),
    }
    notes = [
        f"{MINUTES} minutes of a recorded load each, {KEYS} keys, late by up to {LATE_MS} ms",
        f"windows of {WINDOW_MS} ms every {SLIDE_MS} ms; {WAITED_MS} ms are waited for the late",
        "once all windows are over, events come that are too late for any: they change nothing",
        *(one.sentence(number) for number, one in enumerate(found, 1)),
    ]
    return Result("windows", figures, {}, notes)
