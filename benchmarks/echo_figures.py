"""What the bare echo reaches at the same rate and with the same number of records."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

from confluent_kafka import Producer

from benchmarks.bulk_author import proposal
from benchmarks.children import ChildFailed, python, running
from benchmarks.configs import next_version
from benchmarks.echo import ECHO_IN, ECHO_OUT, batch, read_all
from benchmarks.figures import say, spread
from benchmarks.installation import Installation
from benchmarks.pace import due
from components.runtime.clients import producer
from components.runtime.settings import Settings
from events.codec import headers_of
from events.topics import CHANGES

WAIT_S = 60.0


@dataclass(slots=True)
class Heard:
    """When each echo was in hand, and when the broker appended it, by its key."""

    in_hand_ms: dict[str, float] = field(default_factory=dict)
    appended_ms: dict[str, int] = field(default_factory=dict)

    def listen(self, settings: Settings, stop: Event) -> None:
        """Until told to stop."""
        client = read_all(settings, ECHO_OUT.name, settings.partitions)
        while not stop.is_set():
            for message in batch(client, 0.2):
                key = message.key().decode()
                self.in_hand_ms[key] = time.time() * 1000
                self.appended_ms[key] = message.timestamp()[1]
        client.close()

    def wait(self, count: int) -> None:
        """Until that many different echoes were heard."""
        limit = time.monotonic() + WAIT_S
        while len(self.in_hand_ms) < count:
            if time.monotonic() > limit:
                raise ChildFailed(f"only {len(self.in_hand_ms)} of {count} echoes came back")
            time.sleep(0.01)


@dataclass(frozen=True, slots=True)
class Caller:
    """Sends proposals to the echo, under a key for each, and keeps when the broker had them."""

    client: Producer
    partitions: int
    appended_ms: dict[str, int] = field(default_factory=dict)

    def call(self, key: str, number: int) -> None:
        """One message of the size and with the headers that a change has."""
        record = proposal("latency-000", number, next_version(number), 0, 300_000)
        self.client.produce(
            ECHO_IN.name,
            value=record.value,
            key=key.encode(),
            partition=number % self.partitions,
            headers=headers_of(record, CHANGES["base"]),
            on_delivery=self._delivered,
        )
        self.client.poll(0)

    def _delivered(self, error: object, message: object) -> None:
        assert error is None, str(error)
        found: Any = message
        self.appended_ms[found.key().decode()] = found.timestamp()[1]


def measure_echo(
    site: Installation, rate_per_s: float, paced: int, at_once: int
) -> dict[str, float]:
    """Times at the pace, then records a second at once."""
    say(f"the echo: {paced} records at {rate_per_s:g}/s, then {at_once} at once")
    settings = site.settings
    heard, stop = Heard(), Event()
    ear = Thread(target=heard.listen, args=(settings, stop), daemon=True)
    ear.start()
    client = producer(settings, **{"queue.buffering.max.messages": 1_000_000})
    caller = Caller(client, settings.partitions)
    command = python("benchmarks.echo", settings.bootstrap, settings.partitions)
    try:
        with running("echo", command, site.directory):
            caller.call("first", 0)
            heard.wait(1)
            begun = {}
            for number in due(rate_per_s, paced):
                begun[f"paced-{number}"] = time.time() * 1000
                caller.call(f"paced-{number}", number)
            heard.wait(1 + paced)
            for number in range(at_once):
                caller.call(f"once-{number}", number)
            client.flush(WAIT_S)
            heard.wait(1 + paced + at_once)
    finally:
        stop.set()
        ear.join()
    took = [heard.in_hand_ms[key] - begun_ms for key, begun_ms in begun.items()]
    first = min(ms for key, ms in caller.appended_ms.items() if key.startswith("once"))
    last = max(ms for key, ms in heard.appended_ms.items() if key.startswith("once"))
    return spread("echo", took) | {"echo_per_s": at_once / ((last - first) / 1000)}
