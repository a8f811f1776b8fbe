"""The clock: a tick a second in every partition in which something goes on, and some elsewhere.

The only timer of the control plane. The time a tick tells is the broker's append time, so that
the clock's own machine cannot be wrong; its number is for people. Two clocks do no harm.
"""

from __future__ import annotations

import time  # noqa: TID251 - the one component whose business it is

from confluent_kafka import KafkaException

from components.clock.core.pace import TICKED, WATCHED, Spot, TickPace
from components.runtime.core.ground import RUNBOOK
from components.runtime.kafka.clients import partitions_for
from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.surveying import Surveyor, TopicWatch
from components.runtime.process.loop import StopSignal, turn_until_stopped
from events.generated.records import ClockTicked
from events.topics import place
from events.wire.codec import Record, encode
from turbine_client.clients import (
    consumer,
    producer,
    spot,
)
from turbine_client.settings import Settings

KEY = SOURCE = "clock"
PERIOD_S = 1.0
ASK_S = 0.5
"""For where the log ends: a tick is late by as much at most, and then all partitions get one."""
REMEDY = f"the next start ticks in what there is; see {RUNBOOK}"
_NEXT_MS = -1  # the instant that means the next offset, in the broker's protocol


class Clock:
    """One instance. Used from one thread."""

    def __init__(self, settings: Settings, stop: StopSignal) -> None:
        partitions = partitions_for(settings, TICKED)
        self._pace = TickPace(partitions, _second())
        self._watched = [(topic, one) for topic in WATCHED for one in range(partitions)]
        self._settings, self._client = settings, consumer(settings)
        self._stop = stop
        # It goes on from nowhere; but a topic that is made again may have other partitions.
        ids = Surveyor(settings).wait([], TICKED).ids
        self._watch = TopicWatch(settings, lambda: (ids, {}), remedy=REMEDY)
        # A tick that is late is worth nothing: it must not be sent when the broker comes back.
        quick = producer(settings, **{"delivery.timeout.ms": 5_000})
        self._emitter = Emitter(quick, settings.prefix)

    def turn(self) -> None:
        """One tick in every partition that is due, then the rest of the second."""
        number = _second()
        ends = self._ends()
        if ends is None:
            self._pace.lose(number)
        else:
            self._pace.look(ends, number)
        body = ClockTicked(number=number)
        tick = Record(KEY, f"tick-{number}", "ClockTicked", encode(body), body, source=SOURCE)
        for topic, partition in self._pace.due(number):
            self._emitter.say(topic, partition, tick)
        self._emitter.forgive()
        self._stop.wait(PERIOD_S - time.time() % PERIOD_S)

    def _ends(self) -> dict[Spot, int] | None:
        """The next offset of each watched place; None where the broker does not tell all."""
        asked = [spot(self._settings, place(*one), _NEXT_MS) for one in self._watched]
        try:
            found = self._client.offsets_for_times(asked, timeout=ASK_S)
        except KafkaException:
            return None
        if any(one.error is not None for one in found):
            return None
        return {at: one.offset for at, one in zip(self._watched, found, strict=True)}

    def close(self) -> None:
        """A clock that stops owes nothing."""
        self._watch.close()
        self._client.close()


def _second() -> int:
    return int(time.time() / PERIOD_S)


def serve(settings: Settings, stop: StopSignal) -> int:
    """Ticks until it is told to stop; the exit code."""
    return turn_until_stopped(lambda: Clock(settings, stop), stop)
