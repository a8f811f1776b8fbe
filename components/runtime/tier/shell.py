"""The shell of a tier-wide component: all partitions of its inputs, read by hand; decisions out.

Two instances do no harm: the first valid child of a parent stands, and both read it back. So there
is no group, no claim and no lease here. What is known is kept as a whole every minute, so that a
start reads the newest of these snapshots and what came since.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import structlog

from components.runtime.core.component import Component
from components.runtime.core.ground import begin_at, headless, remedy_of
from components.runtime.core.step import Stepper
from components.runtime.kafka.append_times import AppendTimes
from components.runtime.kafka.clients import partitions_for
from components.runtime.kafka.dead_letters import DeadLetterWriter, LettersRead
from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from components.runtime.kafka.surveying import Surveyor, TopicWatch
from components.runtime.process import metrics
from components.runtime.process.loop import StopSignal, turn_until_stopped
from components.runtime.tier.rows import SNAPSHOT_EVERY_S, Snapshots
from events.topics import BY_SHORT, CLOCK, DEAD_LETTERS, partition_of, place
from turbine_client.clients import producer
from turbine_client.reading import Follower, LogUnreadable, ends_now, read_span, times_now
from turbine_client.settings import Settings

POLL_MOST = 2_000
BEFORE_MS = 600_000
"""A letter about what a snapshot had not read may be older than it: whoever wrote it was ahead of
whoever kept that, but not by as much."""

log = structlog.get_logger(__name__)


class TierWide:
    """One instance. Used from one thread."""

    def __init__(
        self,
        settings: Settings,
        component: Component[Any],
        *,
        every_s: float = SNAPSHOT_EVERY_S,
    ) -> None:
        self._settings, self._component = settings, component
        shared = {short for short in component.inputs if BY_SHORT[short].partitions is None}
        self._count = partitions_for(settings, shared | {CLOCK})
        self._times = AppendTimes(settings)
        self._emitter = Emitter(producer(settings), settings.prefix)
        self._letters = DeadLetterWriter(self._emitter)
        self._known: LettersRead | None = None  # letters that lie there, once that was asked
        places = [place(CLOCK, 0)]
        for short in sorted(component.inputs):
            places += [place(short, p) for p in range(BY_SHORT[short].partitions or self._count)]
        self._snapshots = Snapshots(settings, component, self._emitter, every_s)
        kept, kept_ms = self._snapshots.shelf.open()
        # In this order: another instance may have kept what lies beyond ends that were seen before.
        ends = ends_now(settings, places)
        ground = Surveyor(settings).wait(places)
        if why := headless(ground):
            raise LogUnreadable(why)
        self._snapshots.shelf.check(kept, places, ground)
        self._snapshots.log = ground.ids
        self._owner: Stepper[Any] = Stepper(
            component, places, self._times.possible, ends=ends, seen=kept.seen, held=kept.held
        )
        begin_at(self._owner, ground)
        self._catch_up(kept_ms)
        self._follower = Follower(settings, {at: self._owner.seen.get(at, 0) for at in places})
        remedy = remedy_of(component.name)
        self._watch = TopicWatch(
            settings, lambda: (ground.ids, dict(self._owner.seen)), remedy=remedy
        )

    def _catch_up(self, kept_ms: int) -> None:
        owner, records = self._owner, 0
        # Without a snapshot a place begins where its records have not expired yet.
        spans = {at: (owner.seen.get(at, 0), end) for at, end in owner.ends.items()}
        for poll in read_span(self._settings, spans):
            records += len(poll)
            self._fold(poll, since_ms=kept_ms)
        self._letters.post()
        owner.pass_ends()
        self._snapshots.begin(kept_ms, owner.now_ms)
        name = self._component.name
        log.info("caught up", component=name, records=records, from_kept=bool(kept_ms))

    def turn(self) -> None:
        """One poll: folds it, says what is to be said, and returns when that is acknowledged."""
        self._fold(self._follower.poll(0.2, POLL_MOST))
        self._letters.post()
        for topic, record in self._owner.flush():
            alone = BY_SHORT[topic].partitions == 1
            partition = 0 if alone else partition_of(record.key, self._count)
            self._emitter.say(topic, partition, record)
            metrics.SAID.labels(self._component.name, record.kind).inc()
        self._emitter.settle()
        self._observe()
        self._snapshots.keep_if_due(self._owner)

    def close(self) -> None:
        """Keeps what is left; all that was said was acknowledged."""
        self._watch.close()
        self._snapshots.close(self._owner)
        self._follower.close()
        self._times.close()

    def _observe(self) -> None:
        frozen = sum(one.frozen for one in self._owner.held.values())
        metrics.observe(self._component.name, 0, self._owner, frozen)

    def _fold(self, messages: Iterable[Message], *, since_ms: int | None = None) -> None:
        """Folds what was read; with `since_ms`, letters that lie there since then are not written
        again."""
        owner, folds = self._owner, self._component.folds
        for message in messages:
            at = message.place
            if message.topic == CLOCK:
                owner.tick(at, message.offset, message.at_ms)
                continue
            found = take_in(message, self._count, folds)
            if isinstance(found, DeadLetter):
                if since_ms is None or found not in self._buried(since_ms):
                    self._letters.put(found)
                owner.pass_by(at, message.offset, message.at_ms)
            else:
                owner.read(found)

    def _buried(self, since_ms: int) -> LettersRead:
        """The letters that lie there since then. Asked for when the first one is due: few starts
        meet any."""
        if self._known is None:
            where = place(DEAD_LETTERS, 0)
            begin = times_now(self._settings, [where], max(0, since_ms - BEFORE_MS))[where]
            polls = read_span(self._settings, {where: (begin, None)})
            self._known = LettersRead(one for poll in polls for one in poll)
        return self._known


def serve(
    settings: Settings,
    stop: StopSignal,
    component: Component[Any],
    *,
    every_s: float = SNAPSHOT_EVERY_S,
) -> int:
    """Decides until it is told to stop; the exit code."""
    return turn_until_stopped(lambda: TierWide(settings, component, every_s=every_s), stop)
