"""The shell of a job-keyed component: partitions in, decisions out. No line about a domain.

Works in polls: fold all of a poll, decide the dirty keys, emit all of it together, await the
acknowledgements once, keep the changed rows, move the positions. Framework-free and in one thread;
`components.runtime.agents` brings the polls from Faust.
"""

from __future__ import annotations

import time  # noqa: TID251 - how often rows are kept is a matter of real time, not of decisions
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from components.runtime import metrics
from components.runtime.births import Births
from components.runtime.clients import producer
from components.runtime.emitter import Emitter
from components.runtime.intake import (
    DEAD_LETTERS_NAME,
    DeadLetter,
    Gap,
    Message,
    take_in,
    void_request,
)
from components.runtime.logs import Pace
from components.runtime.reading import committed_now, ends_now, read_span
from components.runtime.rows import Opened, Rows
from components.runtime.settings import Settings
from components.runtime.step import Component, Owner, places_of
from components.runtime.store import Keeper
from events.topics import CLOCK, PREFIX

KEEP_S = 0.25
"""How long changed rows may be unkept: it bounds what a restart has to read again."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Slot:
    """One assigned partition: its owner, what keeps it, and what was kept last."""

    owner: Owner[Any]
    keeper: Keeper[Any]
    kept: dict[str, int]  # positions that are safe to commit
    buried: dict[str, int]  # below these positions every dead letter is written
    frozen: set[str]


class Shell:
    """Owns some partitions of one component. Used from one thread at a time."""

    def __init__(
        self, settings: Settings, component: Component[Any], partitions: int, instance: str
    ) -> None:
        self.settings, self.component, self.partitions = settings, component, partitions
        self.group = f"turbine-{component.name}"
        self.slots: dict[int, Slot] = {}
        self._births = Births(settings)
        self._emitter = Emitter(producer(settings))
        self._rows = Rows(settings, component, instance, self._emitter)
        self._keep_at = 0.0
        self._told = Pace(5)

    # --- assignment

    def assign(self, partitions: Iterable[int]) -> None:
        """Owns exactly these from now on: claims, restores and catches up with the log."""
        wanted = sorted(set(partitions))
        for gone in self.slots.keys() - wanted:
            del self.slots[gone]
            metrics.forget(self.component.name, gone)
        new = [p for p in wanted if p not in self.slots or self._taken(p)]
        if new:
            claims = self._rows.claim(new)
            self._emitter.settle()
            opened = self._rows.open(claims)
            places = sorted(places_of(self.component, new))
            ends = ends_now(self.settings, places)
            buried = committed_now(self.settings, self.group, places)
            for p in new:
                self.slots[p] = self._slot(p, opened[p], ends, buried)
            self._catch_up(new)
        for p in new:
            self._observe(p)
        log.info("assigned", component=self.component.name, partitions=wanted, restored=new)

    def _taken(self, partition: int) -> bool:
        return self._rows.taken(partition, self.slots[partition].keeper.claim)

    def _slot(
        self,
        partition: int,
        opened: Opened[Any],
        ends: Mapping[str, int],
        committed: Mapping[str, int],
    ) -> Slot:
        restored = opened.restored
        places = sorted(places_of(self.component, [partition]))
        owner: Owner[Any] = Owner(
            self.component,
            places,
            self._births.possible,
            ends={at: ends[at] for at in places},
            seen=restored.seen,
            held=restored.held,
        )
        keeper = Keeper(owner, opened.claim, self._rows.build, restored)
        frozen = {key for key, one in restored.held.items() if one.frozen}
        # Rows that are lost are folded again from the log; their dead letters are not written
        # again, since a position was committed only after they were.
        buried = {at: max(restored.seen.get(at, 0), committed.get(at, 0)) for at in places}
        return Slot(owner, keeper, dict(restored.seen), buried, frozen)

    def _catch_up(self, partitions: list[int]) -> None:
        """Reads from the kept positions to the ends seen at assignment, by the plain reader: it is
        ten times as fast as the stream, which then repeats what was folded already."""
        spans: dict[str, tuple[int, int | None]] = {}
        for p in partitions:
            owner = self.slots[p].owner
            spans |= {at: (owner.seen.get(at, 0), owner.ends.get(at)) for at in owner.places}
        for poll in read_span(self.settings, spans):
            self._fold(poll)
        for p in partitions:
            owner = self.slots[p].owner
            for at, end in owner.ends.items():
                # The last offsets below an end may be no records: the marker of an author's
                # transaction, or a beginning that has expired. The owner would wait for them.
                if owner.seen.get(at, 0) < end:
                    owner.pass_by(at, end - 1, 0)

    # --- one poll

    def handle(self, poll: Sequence[Message | Gap]) -> None:
        """Folds a poll, says what is to be said, and returns when all of it is acknowledged."""
        self._fold(self._filled(poll))
        for partition, slot in sorted(self.slots.items()):
            for topic, record in slot.owner.flush():
                self._emitter.say(topic, partition, record)
                metrics.SAID.labels(self.component.name, record.kind).inc()
        self._emitter.settle()
        if time.monotonic() >= self._keep_at:
            self.keep()

    def _filled(self, poll: Sequence[Message | Gap]) -> Iterator[Message]:
        """The poll without its gaps. A place that has one is read again as a whole, from there to
        the end of the poll: so it stays in order, and all gaps together cost one reader."""
        spans: dict[str, tuple[int, int]] = {}
        for one in poll:
            if isinstance(one, Gap):
                spans[one.place] = (spans.get(one.place, (one.first, 0))[0], one.end)
            elif one.place in spans:
                spans[one.place] = (spans[one.place][0], one.offset + 1)
        for one in poll:
            if isinstance(one, Message) and not spans.get(one.place, (one.offset + 1, 0))[0] <= (
                one.offset
            ):
                yield one
        for read in read_span(self.settings, spans) if spans else ():
            yield from read

    def _fold(self, messages: Iterable[Message]) -> None:
        folds = self.component.folds
        for message in messages:
            slot = self.slots.get(message.partition)
            if slot is None:
                continue
            owner, at = slot.owner, message.place
            if message.topic == CLOCK:
                owner.tick(at, message.offset, message.at_ms)
                continue
            found = take_in(message, self.partitions, folds)
            letter = found if isinstance(found, DeadLetter) else void_request(message, found)
            if letter is not None and message.offset >= slot.buried.get(at, 0):
                slot.buried[at] = message.offset + 1
                self._bury(letter)
            if isinstance(found, DeadLetter):
                owner.pass_by(at, message.offset, message.at_ms)
            else:
                owner.read(found)

    def _bury(self, letter: DeadLetter) -> None:
        message = letter.message
        self._emitter.write(
            DEAD_LETTERS_NAME, 0, message.place.encode(), letter.value(), letter.headers()
        )
        metrics.DEAD_LETTERS.labels(letter.reason).inc()
        # A flood of them must not fill the disk that the log lies on; the letters have it all.
        if self._told.fits():
            log.warning("dead letter", id=letter.id, reason=letter.reason, sentence=letter.sentence)

    # --- keeping

    def keep(self) -> None:
        """Writes the changed rows and the positions; what is kept may be committed."""
        self._keep_at = time.monotonic() + KEEP_S
        pending = []
        for partition, slot in sorted(self.slots.items()):
            owner = slot.owner
            if not owner.ready or not (owner.changed or _far(owner.seen, slot.kept)):
                continue
            slot.frozen |= {key for key in owner.changed if owner.held[key].frozen}
            seen = dict(owner.seen)
            for entry in slot.keeper.entries():
                self._rows.write(partition, entry)
            pending.append((partition, slot, seen))
        if pending:
            self._emitter.settle()
        for partition, slot, seen in pending:
            slot.kept = seen
            self._observe(partition)

    def _observe(self, partition: int) -> None:
        slot = self.slots[partition]
        metrics.observe(self.component.name, partition, slot.owner, len(slot.frozen))

    def committable(self) -> Mapping[tuple[str, int], int]:
        """By full topic name and partition: up to where everything read is kept."""
        # Asked once a second, also where nothing is said for long: a client that nobody polls
        # cannot tell that its login is refused by now.
        self._emitter.heed()
        return {
            (PREFIX + at.partition("/")[0], partition): offset
            for partition, slot in self.slots.items()
            for at, offset in slot.kept.items()
        }

    def close(self) -> None:
        """Keeps what is left."""
        self.keep()
        self._births.close()


def _far(seen: Mapping[str, int], kept: Mapping[str, int]) -> bool:
    """Positions alone are kept when something other than a few ticks was passed."""
    return any(
        offset - kept.get(at, 0) > (60 if at.startswith(CLOCK) else 0)
        for at, offset in seen.items()
    )
