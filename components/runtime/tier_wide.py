"""The shell of a tier-wide component: all partitions of its inputs, read by hand; decisions out.

Two instances do no harm: the first valid child of a parent stands, and both read it back. So there
is no group, no claim and no lease here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import structlog

from components.runtime import metrics
from components.runtime.births import Births
from components.runtime.clients import partitions_for, producer
from components.runtime.component import Component
from components.runtime.emitter import Emitter
from components.runtime.intake import DeadLetter, Message, take_in
from components.runtime.letters import Letters
from components.runtime.loop import Stop, turn_until_stopped
from components.runtime.reading import Follower, ends_now, read_span
from components.runtime.settings import Settings
from components.runtime.step import Owner
from events.topics import BY_SHORT, CLOCK, partition_of, place

POLL_MOST = 2_000

log = structlog.get_logger(__name__)


class TierWide:
    """One instance. Used from one thread."""

    def __init__(self, settings: Settings, component: Component[Any]) -> None:
        self._settings, self._component = settings, component
        shared = {short for short in component.inputs if BY_SHORT[short].partitions is None}
        self._count = partitions_for(settings, shared | {CLOCK})
        self._births = Births(settings)
        self._emitter = Emitter(producer(settings))
        self._letters = Letters(self._emitter)
        places = [place(CLOCK, 0)]
        for short in sorted(component.inputs):
            places += [place(short, p) for p in range(BY_SHORT[short].partitions or self._count)]
        ends = ends_now(settings, places)
        self._owner: Owner[Any] = Owner(component, places, self._births.possible, ends=ends)
        self._catch_up(ends)
        self._follower = Follower(settings, {at: self._owner.seen.get(at, 0) for at in places})

    def _catch_up(self, ends: dict[str, int]) -> None:
        records = 0
        for poll in read_span(self._settings, {at: (0, end) for at, end in ends.items()}):
            records += len(poll)
            self._fold(poll)
        self._owner.pass_ends()
        log.info("caught up", component=self._component.name, records=records)

    def turn(self) -> None:
        """One poll: folds it, says what is to be said, and returns when that is acknowledged."""
        self._fold(self._follower.poll(0.2, POLL_MOST))
        for topic, record in self._owner.flush():
            alone = BY_SHORT[topic].partitions == 1
            partition = 0 if alone else partition_of(record.key, self._count)
            self._emitter.say(topic, partition, record)
            metrics.SAID.labels(self._component.name, record.kind).inc()
        self._emitter.settle()

    def close(self) -> None:
        """Nothing is owed: all that was said was acknowledged."""
        self._follower.close()
        self._births.close()

    def _fold(self, messages: Iterable[Message]) -> None:
        owner, folds = self._owner, self._component.folds
        for message in messages:
            at = message.place
            if message.topic == CLOCK:
                owner.tick(at, message.offset, message.at_ms)
                continue
            found = take_in(message, self._count, folds)
            if isinstance(found, DeadLetter):
                self._letters.bury(found)
                owner.pass_by(at, message.offset, message.at_ms)
            else:
                owner.read(found)


def serve(settings: Settings, stop: Stop, component: Component[Any]) -> int:
    """Decides until it is told to stop; the exit code."""
    return turn_until_stopped(lambda: TierWide(settings, component), stop)
