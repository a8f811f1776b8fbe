"""What the bare echo reaches at the same rate and with the same number of records."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

from benchmarks.bulk_author import proposal
from benchmarks.children import ChildFailed, python, running
from benchmarks.configs import next_version
from benchmarks.echo import ECHO_IN, ECHO_OUT, batch, read_all
from benchmarks.figures import say, spread
from benchmarks.installation import Installation
from benchmarks.pace import due
from benchmarks.throughput import await_growth, send
from events.topics import CHANGES, place
from events.wire.codec import headers_of
from turbine_client.clients import producer
from turbine_client.reading import ends_now, read_span
from turbine_client.settings import Settings

WAIT_S = 60.0


def measure_echo(
    site: Installation, rate_per_s: float, paced: int, at_once: int
) -> dict[str, float]:
    """Times at the pace, then records a second when they all come at once."""
    say(f"the echo: {paced} records at {rate_per_s:g}/s, then {at_once} at once")
    command = python("benchmarks.echo", site.settings.bootstrap, site.settings.partitions)
    with running("echo", command, site.directory):
        took = _at_pace(site.settings, rate_per_s, paced)
        return spread("echo", took) | {"echo_per_s": _at_once(site, at_once)}


@dataclass(slots=True)
class Ear:
    """When each echo was in hand, by its key."""

    heard_ms: dict[str, float] = field(default_factory=dict)
    stop: Event = field(default_factory=Event)

    def listen(self, settings: Settings) -> None:
        """Until told to stop."""
        client = read_all(settings, ECHO_OUT.name, settings.partitions)
        while not self.stop.is_set():
            for message in batch(client, 0.2):
                self.heard_ms[message.key().decode()] = time.time() * 1000
        client.close()

    def wait(self, count: int) -> None:
        """Until that many different echoes were heard."""
        limit = time.monotonic() + WAIT_S
        while len(self.heard_ms) < count:
            if time.monotonic() > limit:
                raise ChildFailed(f"only {len(self.heard_ms)} of {count} echoes came back")
            time.sleep(0.01)


def _at_pace(settings: Settings, rate_per_s: float, count: int) -> list[float]:
    """Milliseconds from sending to hearing, of messages with the bytes of a change."""
    ear, client, begun_ms = Ear(), producer(settings), dict[str, float]()
    thread = Thread(target=ear.listen, args=(settings,), daemon=True)
    thread.start()

    def call(key: str, number: int) -> None:
        record = proposal("latency-000", number, next_version(number), 0, 300_000)
        headers: list[Any] = list(headers_of(record, CHANGES["base"]))
        begun_ms[key] = time.time() * 1000
        partition = number % settings.partitions
        client.produce(ECHO_IN.name, record.value, key, partition, headers=headers)
        client.poll(0)

    try:
        call("first", 0)
        ear.wait(1)
        for number in due(rate_per_s, count):
            call(f"paced-{number}", number)
        ear.wait(1 + count)
    finally:
        ear.stop.set()
        thread.join()
    return [ear.heard_ms[key] - ms for key, ms in begun_ms.items() if key != "first"]


def _at_once(site: Installation, count: int) -> float:
    """Records a second, from the first append of a call to the last append of an echo."""
    partitions = range(site.settings.partitions)
    calls, echoes = ([place(one.short, p) for p in partitions] for one in (ECHO_IN, ECHO_OUT))
    before = ends_now(site.settings, calls + echoes)
    send(site, ECHO_IN.name, count)
    await_growth(site, echoes, sum(before[at] for at in echoes) + count)
    first = min(_appended_ms(site.settings, calls, before))
    last = max(_appended_ms(site.settings, echoes, before))
    return count / ((last - first) / 1000)


def _appended_ms(settings: Settings, places: list[str], start: dict[str, int]) -> list[int]:
    spans: dict[str, tuple[int, int | None]] = {at: (start[at], None) for at in places}
    return [message.at_ms for poll in read_span(settings, spans) for message in poll]
