"""A task of the process engine: counts its input, each batch and its offsets in one transaction."""

from __future__ import annotations

import json
import signal
import time  # noqa: TID251 - batches are paced by real time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import KafkaException, TopicPartition

from tasks.core.process_knobs import BadKnob, Knobs, knobs_of
from tasks.core.protocol import FAILED, REFUSED, STOPPED, Ended, InputSpot, WorkOrder
from tasks.core.resets import OutOfRange
from tasks.counters import Counters
from tasks.deadline import Deadline, own_ms
from tasks.session import GONE, Over, TaskSession
from turbine_client.errors import BrokerUnreachable
from turbine_client.settings import BadSettings, Settings

POLL_S = 0.1

Say = Callable[[tuple[InputSpot, ...]], None]


class ProcessTask:
    """One run of one task. Used from one thread, the main one of its process."""

    def __init__(
        self, work: WorkOrder, settings: Settings, deadline: Deadline, counters: Counters
    ) -> None:
        self._work, self._counters = work, counters
        self._knobs: Knobs = knobs_of(work.argv)
        self._stopped = False
        self._done = 0
        config = json.loads(work.config_json or "{}")
        self._output: str | None = (config.get("output") or {}).get("topic")
        self._interval_s = (config.get("schedule") or {}).get("batch_interval_ms", 1_000) / 1000
        self._seat = TaskSession(work, settings, deadline, lambda: self._stopped)

    def stop(self, *_: object) -> None:
        """At the end of what is under way."""
        self._stopped = True

    # --- its life

    def turn(self) -> None:
        """One batch: what has come, up to a bound, and the rest of the interval."""
        began = time.monotonic()
        messages = self._read()
        if messages:
            self._count(messages)
        self._tell_lag()
        self._counters.busy(int((time.monotonic() - began) * 1e6) if messages else 0)
        while messages and not self._stopped and time.monotonic() - began < self._interval_s:
            time.sleep(min(POLL_S, max(0.0, began + self._interval_s - time.monotonic())))

    def run(self, started: Say) -> Ended:
        """Until it is told to stop, or cannot go on; how it ended."""
        seat = self._seat
        try:
            seat.take()
            if seat.position:
                self._counters.committed(own_ms())
                seat.reader.assign(
                    [TopicPartition(*at, offset) for at, offset in seat.position.items()]
                )
            if not self._stopped:
                started(seat.spots())
            while not self._stopped:
                self.turn()
        except (Over, OutOfRange, KafkaException, BrokerUnreachable) as error:
            verdict = seat.verdict(error)
            assert verdict is not None, "it knows all of these"
            return Ended(self._work.run, *verdict, offsets=seat.spots())
        return Ended(self._work.run, STOPPED, offsets=seat.spots())

    # --- reading

    def _read(self) -> list[Any]:
        """Waits for a first record, then takes what has come with it."""
        reader = self._seat.reader
        first = reader.poll(POLL_S)
        if first is None:
            return []
        good = []
        for message in (first, *reader.consume(self._knobs.batch_records - 1, 0)):
            error = message.error()
            if error is None:
                good.append(message)
            elif error.fatal() or error.code() in GONE:
                where = f"{message.topic()}/{message.partition()}"
                raise Over(FAILED, "input-gone", f"{where} cannot be read on: {error.str()}")
        return good

    def _tell_lag(self) -> None:
        lag: dict[tuple[str, int], int | None] = {}
        for at, offset in self._seat.position.items():
            _, high = self._seat.reader.get_watermark_offsets(TopicPartition(*at), cached=True)
            lag[at] = None if high < 0 else max(0, high - offset)
        self._counters.lag(lag, own_ms())

    # --- writing

    def _count(self, messages: Sequence[Any]) -> None:
        begun_ms = own_ms()
        before, after = dict[str, int](), dict[str, int]()
        read, size = Counter[tuple[str, int]](), 0
        position = dict(self._seat.position)
        for message in messages:
            at = (message.topic(), message.partition())
            read[at] += 1
            size += len(message)
            before.setdefault(f"{at[0]}/{at[1]}", position[at])
            position[at] = message.offset() + 1
            after[f"{at[0]}/{at[1]}"] = position[at]
            self._work_on()
        time.sleep(len(messages) * self._knobs.wait_us / 1e6)
        said = {
            "task": self._work.name,
            "specs": self._work.specs,
            "shard": self._work.shard,
            "container": self._work.container,
            "epoch": self._work.epoch,
            "from": before,
            "to": after,
            "records": len(messages),
            "bytes": size,
            "begun_ms": begun_ms,
            "done_ms": own_ms(),
        }
        value = json.dumps(said, separators=(",", ":")).encode()
        written = [(self._work.name, value)]
        self._seat.write(self._output, [written], position)
        self._counters.committed(own_ms())
        self._counters.add(read, size, int(self._output is not None), len(value))

    def _work_on(self) -> None:
        """What the test knobs ask for, for each record."""
        self._done += 1
        if self._knobs.fail_after is not None and self._done > self._knobs.fail_after:
            raise Over(FAILED, "operator-error", f"--fail-after {self._knobs.fail_after} records")
        if self._knobs.work_us:
            until = time.perf_counter() + self._knobs.work_us / 1e6
            while time.perf_counter() < until:
                continue


def run_task(
    work: WorkOrder, settings: Settings, deadline: Deadline, counters: Counters, started: Say
) -> Ended:
    """The whole life of a task, in a process of its own; how it ended."""
    if work.guarantee == "files":
        said = "the process engine writes no files; use a topic, or another engine"
        return Ended(work.run, REFUSED, "refused", said)
    try:
        task = ProcessTask(work, settings, deadline, counters)
    except (BadKnob, BadSettings) as bad:
        return Ended(work.run, REFUSED, "refused", str(bad))
    deaf = knobs_of(work.argv).ignore_sigterm
    signal.signal(signal.SIGTERM, signal.SIG_IGN if deaf else task.stop)
    return task.run(started)
