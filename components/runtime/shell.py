"""The shell of a job-keyed component: partitions in, decisions out. No line about a domain.

Works in polls: fold all of a poll, decide the dirty keys, emit all of it together, await the
acknowledgements once, keep the changed rows, move the positions. Framework-free and in one thread;
`components.runtime.app` brings the polls from Faust.
"""

from __future__ import annotations

import hashlib
import time  # noqa: TID251 - how often rows are kept is a matter of real time, not of decisions
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from components.runtime import metrics
from components.runtime.births import Births
from components.runtime.clients import producer
from components.runtime.emitter import Emitter
from components.runtime.intake import DEAD_LETTERS_NAME, DeadLetter, Message, take_in
from components.runtime.reading import ends_now, read_span
from components.runtime.settings import Settings
from components.runtime.step import Component, Owner, places_of
from components.runtime.store import CLAIM, Entry, Keeper, restore
from events.lock import read_lock
from events.topics import CLOCK, PREFIX, place, rows_topic

KEEP_S = 0.25
"""How long changed rows may be unkept: it bounds what a restart has to read again."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Slot:
    """One assigned partition: its owner, what keeps it, and what was kept last."""

    owner: Owner[Any]
    keeper: Keeper[Any]
    claim_id: str
    claim: int
    kept: dict[str, int]  # positions that are safe to commit
    frozen: set[str]


class Shell:
    """Owns some partitions of one component. Used from one thread at a time."""

    def __init__(
        self, settings: Settings, component: Component[Any], partitions: int, instance: str
    ) -> None:
        self.settings, self.component, self.partitions = settings, component, partitions
        self.instance = instance
        self.slots: dict[int, Slot] = {}
        self._rows = rows_topic(component.name)
        self._births = Births(settings)
        self._emitter = Emitter(producer(settings))
        self._claims = 0
        self._keep_at = 0.0
        # What this build can read: another build tries again what froze a key.
        versions = "".join(version.sha256 for version in read_lock())
        self._build = hashlib.sha256(versions.encode()).hexdigest()[:16]

    # --- assignment

    def assign(self, partitions: Iterable[int]) -> None:
        """Owns exactly these from now on: claims, restores and catches up with the log."""
        wanted = sorted(set(partitions))
        self.slots = {p: slot for p, slot in self.slots.items() if p in wanted}
        new = [p for p in wanted if p not in self.slots or self._taken(p)]
        claims = {p: self._claim(p) for p in new}
        self._emitter.settle()
        entries = self._kept(new)
        for p in new:
            self.slots[p] = self._open(p, claims[p], entries[p])
        if new:
            self._catch_up(new)
        log.info("assigned", component=self.component.name, partitions=wanted, restored=new)

    def release(self) -> None:
        """Another may own the partitions at any moment: nothing may be said about them."""
        self.keep()

    def _claim(self, partition: int) -> str:
        self._claims += 1
        name = f"{self.instance}/{self._claims}/{time.time_ns()}"
        self._emitter.write(self._rows.name, partition, f"{CLAIM}{name}".encode(), b"{}", [])
        return name

    def _taken(self, partition: int) -> bool:
        """Did anybody claim the partition after us? Then what we hold is old."""
        at, slot = place(self._rows.short, partition), self.slots[partition]
        spans = {at: (slot.claim + 1, None)}
        claims = (m for poll in read_span(self.settings, spans) for m in poll)
        return any((m.key or b"").startswith(CLAIM.encode()) for m in claims)

    def _kept(self, partitions: list[int]) -> dict[int, list[Entry]]:
        entries: dict[int, list[Entry]] = {p: [] for p in partitions}
        spans: dict[str, tuple[int, int | None]] = {
            place(self._rows.short, p): (0, None) for p in partitions
        }
        for poll in read_span(self.settings, spans) if spans else ():
            for message in poll:
                entries[message.partition].append(_entry(message))
        return entries

    def _open(self, partition: int, name: str, entries: list[Entry]) -> Slot:
        claim = next(e.offset for e in reversed(entries) if e.key == f"{CLAIM}{name}")
        entries = [entry for entry in entries if entry.offset <= claim]
        restored = restore(self.component, entries, self._build)
        places = sorted(places_of(self.component, [partition]))
        owner: Owner[Any] = Owner(
            self.component,
            places,
            self._births.possible,
            ends=ends_now(self.settings, places),
            seen=restored.seen,
            held=restored.held,
        )
        keeper = Keeper(owner, claim, self._build, restored)
        frozen = {key for key, one in restored.held.items() if one.frozen}
        return Slot(owner, keeper, name, claim, dict(restored.seen), frozen)

    def _catch_up(self, partitions: list[int]) -> None:
        """Reads from the kept positions to the ends seen at assignment, by the plain reader: it is
        ten times as fast as the stream, which then repeats what was folded already."""
        spans: dict[str, tuple[int, int | None]] = {}
        for p in partitions:
            owner = self.slots[p].owner
            spans |= {at: (owner.seen.get(at, 0), owner.ends.get(at)) for at in owner.places}
        for poll in read_span(self.settings, spans):
            self._fold(poll)

    # --- one poll

    def handle(self, messages: Iterable[Message]) -> None:
        """Folds a poll, says what is to be said, and returns when all of it is acknowledged."""
        self._fold(messages)
        for partition, slot in sorted(self.slots.items()):
            for topic, record in slot.owner.flush():
                self._emitter.say(topic, partition, record)
                metrics.SAID.labels(self.component.name, record.kind).inc()
        self._emitter.settle()
        if time.monotonic() >= self._keep_at:
            self.keep()

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
            if not isinstance(found, DeadLetter):
                owner.read(found)
                continue
            if message.offset >= owner.seen.get(at, 0):
                self._bury(found)
            owner.pass_by(at, message.offset, message.at_ms)

    def _bury(self, letter: DeadLetter) -> None:
        message = letter.message
        self._emitter.write(
            DEAD_LETTERS_NAME, 0, message.place.encode(), message.value, letter.headers()
        )
        metrics.DEAD_LETTERS.labels(letter.reason).inc()
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
                self._write(partition, entry)
            pending.append((partition, slot, seen))
        if pending:
            self._emitter.settle()
        for partition, slot, seen in pending:
            slot.kept = seen
            metrics.observe(self.component.name, partition, slot.owner, len(slot.frozen))

    def _write(self, partition: int, entry: Entry) -> None:
        headers = [("claim", str(entry.claim).encode())]
        self._emitter.write(self._rows.name, partition, entry.key.encode(), entry.value, headers)

    def committable(self) -> Mapping[tuple[str, int], int]:
        """By full topic name and partition: up to where everything read is kept."""
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


def _entry(message: Message) -> Entry:
    headers = dict(message.headers or [])
    claim = int(headers.get("claim") or b"-1")
    return Entry((message.key or b"").decode(), message.value, claim, message.offset)
