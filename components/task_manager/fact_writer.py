"""Says a container's facts, in order, and each until the broker has it; in a thread of its own.

Facts fold as facts: one that was said twice changes nothing, so what was not acknowledged is simply
said again. Heartbeats do not come this way, and so never queue behind what is said here.
"""

from __future__ import annotations

import queue
import threading
import time  # noqa: TID251 - patience with a broker is real time
from typing import NamedTuple

import structlog

from components.runtime.kafka.emitter import Emitter
from components.runtime.process import metrics
from events.generated.records import Body
from events.topics import partition_of
from events.wire.codec import Record, encode
from turbine_client.clients import producer
from turbine_client.emitter import WriteRefused
from turbine_client.settings import Settings

AT_ONCE = 500
REFUSED_MOST = 15
"""In a row: a broker that is away for a quarter of an hour, or one that will never take it."""
PAUSE_S = 1.0
SOURCE = "task-manager"

log = structlog.get_logger(__name__)


class AddressedRecord(NamedTuple):
    """A record, and where it belongs."""

    topic: str
    record: Record


def fact(key: str, body: Body, evidence: dict[str, int]) -> Record:
    """A record of what has happened; it has no id of its own, and is known by its place."""
    kind = type(body).__name__
    return Record(key, "", kind, encode(body), body, evidence=evidence, source=SOURCE)


class Voice:
    """One thread that speaks; whoever wants something said goes on at once."""

    def __init__(self, settings: Settings, partitions: int) -> None:
        self._settings, self._partitions = settings, partitions
        self._queue: queue.Queue[AddressedRecord] = queue.Queue()
        self._emitter = self._made()
        self.failure: Exception | None = None
        threading.Thread(target=self._run, name="voice", daemon=True).start()

    def _made(self) -> Emitter:
        return Emitter(producer(self._settings), self._settings.prefix)

    def say(self, topic: str, key: str, body: Body, evidence: dict[str, int]) -> None:
        """Soon, and after all that was said before."""
        self._queue.put(AddressedRecord(topic, fact(key, body, evidence)))

    def drain(self, wait_s: float) -> bool:
        """Returns when all is acknowledged; False: not in that time."""
        limit = time.monotonic() + wait_s
        while self._queue.unfinished_tasks and time.monotonic() < limit and self.failure is None:
            time.sleep(0.01)
        return not self._queue.unfinished_tasks

    def _run(self) -> None:
        try:
            while True:
                said = [self._queue.get()]
                while len(said) < AT_ONCE and not self._queue.empty():
                    said.append(self._queue.get())
                self._insist(said)
                for _ in said:
                    self._queue.task_done()
        except Exception as error:  # noqa: BLE001 - told in the main thread, which ends the process
            self.failure = error

    def _insist(self, said: list[AddressedRecord]) -> None:
        for _ in range(REFUSED_MOST):
            try:
                for topic, record in said:
                    partition = partition_of(record.key, self._partitions)
                    self._emitter.say(topic, partition, record)
                self._emitter.settle()
            except WriteRefused as refused:
                why = refused
                log.warning("a fact was not taken, and is said again", why=str(refused))
                time.sleep(PAUSE_S)
                self._emitter = self._made()  # the last one may be lost
            else:
                for _, record in said:
                    metrics.SAID.labels(SOURCE, record.kind).inc()
                return
        raise why
