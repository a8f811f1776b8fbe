"""The clock: a tick a second in every partition that needs to know how late it is.

The only timer of the control plane. The time a tick tells is the broker's append time, so that
the clock's own machine cannot be wrong; its number is for people. Two clocks do no harm.
"""

from __future__ import annotations

import time  # noqa: TID251 - the one component whose business it is

from components.runtime.clients import partitions_for, producer
from components.runtime.emitter import Emitter
from components.runtime.loop import Stop, turn_until_stopped
from components.runtime.settings import Settings
from components.runtime.surveying import Surveyor, Watch
from events.codec import encode
from events.records import ClockTicked
from events.topics import BY_SHORT, CLOCK, CONTAINERS

PERIOD_S = 1.0
TICKED = (CLOCK, CONTAINERS)


class Clock:
    """One instance. Used from one thread."""

    def __init__(self, settings: Settings, stop: Stop) -> None:
        self._partitions = partitions_for(settings, TICKED)
        self._stop = stop
        # It goes on from nowhere; but a topic that is made again may have other partitions.
        ids = Surveyor(settings).wait([], TICKED).ids
        Watch(settings, lambda: (ids, {}), remedy="the next start ticks in what there is")
        # A tick that is late is worth nothing: it must not be sent when the broker comes back.
        self._emitter = Emitter(producer(settings, **{"delivery.timeout.ms": 5_000}))

    def turn(self) -> None:
        """One tick in every partition, then the rest of the second."""
        number = int(time.time() / PERIOD_S)
        value = encode(ClockTicked(number=number))
        headers = [("ce_type", b"ClockTicked"), ("ce_id", f"tick-{number}".encode())]
        for topic in TICKED:
            for partition in range(self._partitions):
                self._emitter.write(BY_SHORT[topic].name, partition, b"clock", value, headers)
        self._emitter.forgive()
        self._stop.wait(PERIOD_S - time.time() % PERIOD_S)

    def close(self) -> None:
        """A clock that stops owes nothing."""


def serve(settings: Settings, stop: Stop) -> int:
    """Ticks until it is told to stop; the exit code."""
    return turn_until_stopped(lambda: Clock(settings, stop), stop)
