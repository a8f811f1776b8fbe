"""The webhooks: what the world may see, posted to each receiver, at least once and in order.

A reader loop for each receiver, so that one that is slow or gone holds up nobody else. How far it
has come is committed to a consumer group of its own: a restart goes on there, and what was taken
above it is sent once more under the same id. What is given up is a dead letter before the position
passes it.
"""

from __future__ import annotations

import queue
import time  # noqa: TID251 - back-off and patience with receivers are real time
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import structlog
from confluent_kafka import Consumer, KafkaException, TopicPartition

from components.runtime.core.ground import RUNBOOK, misfit
from components.runtime.kafka.clients import partitions_for
from components.runtime.kafka.dead_letters import DeadLetterWriter
from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from components.runtime.kafka.surveying import Surveyor, TopicWatch
from components.runtime.process import metrics
from components.runtime.process.loop import StopSignal, turn_until_stopped
from components.webhooks.config import TOPICS, Hook, hooks_of
from components.webhooks.core.envelope import body_of
from components.webhooks.core.outbox import Delivery, DeliveryAnswer, Outbox
from components.webhooks.sending import Senders
from events.topics import place
from events.wire.codec import SKIPPED, Read
from turbine_client.clients import (
    consumer,
    producer,
    refresh,
    spot,
    unreachable,
)
from turbine_client.reading import (
    PATIENCE_S,
    Asker,
    Follower,
    LogUnreadable,
    committed_at,
    ends_now,
    starts_now,
)
from turbine_client.settings import BadSettings, Settings

REASON = "webhook-given-up"
TURN_S = 0.1
KEEP_S = 1.0
"""How often positions are committed: what a restart sends twice was taken within it."""
AGAIN_S = 3_600.0
"""How often those that did not change are committed as well: a broker's default is to forget what a
group without members committed seven days ago."""
GRACE_S = 3.0
"""For answers to what is on its way, when the process is told to stop."""
READ_MOST = 200
COMMITTED = {"isolation.level": "read_committed", "queued.max.messages.kbytes": 4_096}

log = structlog.get_logger(__name__)


class MessageSource(Protocol):
    """Where messages come from; `turbine_client.reading.Follower` is one."""

    def poll(self, timeout_s: float, most: int = ...) -> list[Message]: ...
    def close(self) -> None: ...


class Sender(Protocol):
    """Who asks the receiver, and tells the answer to whoever made it."""

    def send(self, delivery: Delivery) -> None: ...


class PositionStore(Protocol):
    """A keeper of positions, from which a sender goes on after a restart."""

    def keep(self, positions: Mapping[str, int]) -> None: ...
    def close(self) -> None: ...


class GroupBookmark:
    """A consumer group without members: its offsets are the positions."""

    def __init__(self, settings: Settings, hook: Hook) -> None:
        self._settings, self._hook = settings, hook
        self._client: Consumer = consumer(settings, **{"group.id": hook.group(settings)})
        self._surveyor = Surveyor(settings)
        self.ids = self._surveyor.wait([], hook.topics).ids

    def read(self, places: Iterable[str]) -> dict[str, int]:
        """What is kept of each place; below 0 where nothing is."""
        return committed_at(self._settings, self._hook.group(self._settings), places)

    def open(self, places: Iterable[str], start: str) -> dict[str, int]:
        """Where to go on. A receiver that is new begins where it shall, and that is kept at once:
        what comes before its first message is taken must not be passed over by a restart."""
        kept = self.read(places)
        self._stand(kept)
        fresh = [at for at, offset in kept.items() if offset < 0]
        first = starts_now(self._settings, kept)
        begin = ends_now(self._settings, fresh) if start == "latest" else first
        # Where the log has expired below a position there is nothing left to tell.
        found = {at: max(kept[at] if kept[at] >= 0 else begin[at], first[at]) for at in kept}
        self.keep({at: found[at] for at in kept if found[at] != kept[at]})
        return found

    def _stand(self, kept: Mapping[str, int]) -> None:
        """LogUnreadable where what is kept is of another log than this."""
        known = {at: offset for at, offset in kept.items() if offset >= 0}
        with Asker(self._settings, **{"group.id": self._hook.group(self._settings)}) as asker:
            found = asker.committed([spot(self._settings, at) for at in known])
        ground = self._surveyor.wait(known)
        for (at, offset), one in zip(known.items(), found, strict=True):
            ids = {at.partition("/")[0]: one.metadata} if one.metadata else {}
            if why := misfit(ids, {at: offset}, ground):
                raise LogUnreadable(f"{why}; {remedy_of(self._hook)}")

    def keep(self, positions: Mapping[str, int]) -> None:
        """Returns when the broker has them. One that is away for a while is waited for."""
        if not positions:
            return
        offsets = [self._spot(at, offset) for at, offset in sorted(positions.items())]
        limit = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._client.commit(offsets=offsets, asynchronous=False)
            except KafkaException as error:
                if time.monotonic() > limit:
                    raise unreachable(self._settings, error.args[0]) from None
                refresh(self._client)
            else:
                return

    def _spot(self, at: str, offset: int) -> TopicPartition:
        """With the id of the topic: a position in one that is made again means nothing."""
        one = spot(self._settings, at, offset)
        known = self.ids.get(at.partition("/")[0], "")
        return TopicPartition(one.topic, one.partition, offset, known)

    def close(self) -> None:
        """Ends the connection to the broker."""
        self._client.close()


def remedy_of(hook: Hook) -> str:
    """What a person does about a position that is of another log."""
    return (
        "if the log was replaced on purpose, have the webhook begin anew by `turbine webhooks"
        f" rewind {hook.name} --to earliest`, or latest; see {RUNBOOK}"
    )


class ReceiverQueue:
    """One receiver: what is read for it, sent to it, given up, and kept of it."""

    def __init__(
        self,
        hook: Hook,
        partitions: int,
        start: Mapping[str, int],
        *,
        reader: MessageSource,
        sender: Sender,
        bookmark: PositionStore,
        bury: Callable[[list[DeadLetter]], None],
    ) -> None:
        self.hook, self._partitions = hook, partitions
        self._outbox = Outbox(hook.limits, start)
        self.seen = dict(start)  # up to where each place was read; undone messages lie below
        self._reader, self._sender, self._bookmark, self._bury = reader, sender, bookmark, bury
        self._messages: dict[tuple[str, int], Message] = {}  # of what is undone
        self._letters: list[DeadLetter] = []
        self._kept = dict(start)
        self._again_at = 0.0
        self._was_down = False

    @property
    def waiting(self) -> int:
        """Messages that are not done."""
        return self._outbox.waiting

    @property
    def busy(self) -> int:
        """Messages that are with the receiver."""
        return self._outbox.busy

    def read(self) -> bool:
        """Takes in what has come, where there is room for it; whether there may be more."""
        if self._outbox.full:
            return False
        messages = self._reader.poll(0, READ_MOST)
        for message in messages:
            self.seen[message.place] = message.offset + 1
            found = take_in(message, self._partitions, self.hook.kinds or None)
            if isinstance(found, Read) and self._wants(found):
                self._messages[message.place, message.offset] = message
                self._outbox.put(_delivery(found))
            else:
                # A kind that a newer build made is nothing that this one could put into words.
                self._outbox.pass_by(message.place, message.offset)
        return len(messages) >= READ_MOST

    def _wants(self, read: Read) -> bool:
        record = read.record
        if record.body is None or record.body is SKIPPED:
            return False
        return self.hook.wants(record.kind, record.key)

    def send(self, now_ms: int) -> None:
        """Hands the deliveries that are due by now to the sender."""
        for delivery in self._outbox.due(now_ms):
            self._sender.send(delivery)

    def hear(self, delivery: Delivery, answer: DeliveryAnswer, now_ms: int) -> None:
        """Books the answer to a delivery: done, again later, or given up."""
        metrics.WEBHOOK_ATTEMPTS.labels(self.hook.name, answer.verdict).inc()
        refusal = self._outbox.answered(delivery, answer, now_ms)
        if refusal is not None:
            self._give_up(delivery, refusal.attempts, answer)
        elif answer.verdict == "taken":
            del self._messages[delivery.place, delivery.offset]
        self._tell_if_changed(answer)

    def _give_up(self, delivery: Delivery, attempts: int, answer: DeliveryAnswer) -> None:
        hook = self.hook
        times = "once" if attempts == 1 else f"{attempts} times"
        sentence = (
            f"{delivery.place} at offset {delivery.offset}: the webhook {hook.name} at"
            f" {hook.address} did not take {delivery.kind} {delivery.id}, asked {times}, the last"
            f" time: {answer.words}; put the receiver right, then `turbine webhooks rewind"
            f" {hook.name} --to {delivery.place}:{delivery.offset}` sends it again"
        )
        message = self._messages.pop((delivery.place, delivery.offset))
        self._letters.append(DeadLetter(message, REASON, sentence, by=hook.name))
        metrics.WEBHOOK_GIVEN_UP.labels(hook.name).inc()

    def _tell_if_changed(self, answer: DeliveryAnswer) -> None:
        down = self._outbox.down
        if down != self._was_down:
            self._was_down = down
            what = "the receiver takes nothing" if down else "the receiver takes again"
            log.warning(what, hook=self.hook.name, at=self.hook.address, said=answer.words)
        metrics.WEBHOOK_DOWN.labels(self.hook.name).set(down)

    def keep(self) -> None:
        """What was given up is put aside first, and then the positions are kept."""
        metrics.WEBHOOK_WAITING.labels(self.hook.name).set(self.waiting)
        letters, self._letters = self._letters, []
        if letters:
            self._bury(letters)
        now = self._outbox.positions
        if time.monotonic() >= self._again_at:
            self._kept, self._again_at = {}, time.monotonic() + AGAIN_S
        self._bookmark.keep({at: one for at, one in now.items() if self._kept.get(at) != one})
        self._kept = now

    def close(self) -> None:
        """Ends the connection to the broker."""
        self._reader.close()
        self._bookmark.close()


def _delivery(read: Read) -> Delivery:
    record = read.record
    lane = f"{read.topic}/{record.key}"
    return Delivery(read.place, read.offset, lane, record.id, record.kind, body_of(read))


class Webhooks:
    """All receivers of one process. Used from one thread; answers come from others."""

    def __init__(self, settings: Settings, hooks: Iterable[Hook]) -> None:
        self._settings = settings
        self._partitions = partitions_for(settings, TOPICS.values())
        self._emitter = Emitter(producer(settings), settings.prefix)
        self._buried = DeadLetterWriter(self._emitter)
        self._answers: queue.SimpleQueue[tuple[ReceiverQueue, Delivery, DeliveryAnswer]] = (
            queue.SimpleQueue()
        )
        self._keep_at = 0.0
        self._lines = [self._line(hook) for hook in hooks]

    def _line(self, hook: Hook) -> ReceiverQueue:
        bookmark = GroupBookmark(self._settings, hook)
        places = [place(topic, p) for topic in hook.topics for p in range(self._partitions)]
        start = bookmark.open(places, hook.start)

        def answered(delivery: Delivery, answer: DeliveryAnswer) -> None:
            self._answers.put((line, delivery, answer))

        line = ReceiverQueue(
            hook,
            self._partitions,
            start,
            reader=Follower(self._settings, start, **COMMITTED),
            sender=Senders(hook, answered),
            bookmark=bookmark,
            bury=self._bury,
        )
        TopicWatch(self._settings, lambda: (bookmark.ids, dict(line.seen)), remedy=remedy_of(hook))
        log.info("webhook", hook=hook.name, at=hook.address, topics=list(hook.topics))
        return line

    def turn(self) -> None:
        """Reads and sends for each receiver, and waits a moment for answers."""
        more = False
        for line in self._lines:
            more = line.read() or more
            line.send(_now_ms())
        self._hear(0 if more else TURN_S)
        if time.monotonic() >= self._keep_at:
            self._keep()

    def _hear(self, wait_s: float) -> None:
        """All answers that are there; waits for the first of them."""
        try:
            line, delivery, answer = self._answers.get(timeout=wait_s)
        except queue.Empty:
            return
        line.hear(delivery, answer, _now_ms())
        while not self._answers.empty():
            line, delivery, answer = self._answers.get()
            line.hear(delivery, answer, _now_ms())

    def _keep(self) -> None:
        for line in self._lines:
            line.keep()
        self._keep_at = time.monotonic() + KEEP_S

    def _bury(self, letters: list[DeadLetter]) -> None:
        for letter in letters:
            self._buried.bury(letter)
        self._emitter.settle()

    def close(self) -> None:
        """Waits a little for what is on its way, and keeps how far all came."""
        limit = time.monotonic() + GRACE_S
        while any(line.busy for line in self._lines) and time.monotonic() < limit:
            self._hear(TURN_S)
        self._keep()
        for line in self._lines:
            line.close()


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def serve(settings: Settings, stop: StopSignal) -> int:
    """Tells all receivers until it is told to stop; the exit code."""
    hooks = hooks_of(settings)
    if not hooks:
        raise BadSettings(
            "there are no webhooks; write [webhooks.NAME] with url and secret_file into the"
            " settings, and see docs/webhooks.md"
        )
    return turn_until_stopped(lambda: Webhooks(settings, hooks), stop)
