"""The shell of job-keyed components: partitions in, decisions out. No line about a domain.

Works in polls: fold all of a poll, decide the dirty keys, emit all of it together, await the
acknowledgements once, keep the changed rows, move the positions. Framework-free and in one thread;
`components.runtime.faust.agents` brings the polls from Faust. Several components in one process
read each record once; they know nothing of each other, and meet through the log as if from afar.
"""

from __future__ import annotations

import time  # noqa: TID251 - how often rows are kept is a matter of real time, not of decisions
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from components.runtime.core.component import Component, places_of
from components.runtime.core.ground import Ground, begin_at, misfit, remedy_of
from components.runtime.core.step import Stepper
from components.runtime.core.store import Keeper
from components.runtime.faust.rows import KeptRows, Opened
from components.runtime.kafka.append_times import AppendTimes
from components.runtime.kafka.dead_letters import DeadLetterWriter
from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.gaps import Gaps
from components.runtime.kafka.intake import (
    DeadLetter,
    Message,
    OffsetGap,
    take_in,
    void_request,
)
from components.runtime.kafka.surveying import Surveyor
from components.runtime.process import metrics
from events.topics import CLOCK
from turbine_client.clients import (
    PACKED,
    producer,
)
from turbine_client.reading import LogUnreadable, committed_now, ends_now, read_span
from turbine_client.settings import Settings

KEEP_S = 0.25
"""How often it is looked which rows are to be kept; the keeper says which have waited enough."""
KEEP_SHARE = 0.1
"""Of the time, for keeping. Under load a row is kept once for several of its changes."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Slot:
    """One component's half of an assigned partition: its owner, what keeps it, what was kept."""

    owner: Stepper[Any]
    keeper: Keeper[Any]
    rows: KeptRows[Any]
    frozen: set[str]
    observed: int = -1  # records that it had read when it was observed last

    @property
    def name(self) -> str:
        """The name of the component that the half belongs to."""
        return self.owner.component.name


@dataclass(slots=True)
class AssignedPartition:
    """One assigned partition: a slot of each component."""

    slots: list[Slot]
    buried: dict[str, int]  # below these positions every dead letter is written

    @property
    def seen(self) -> dict[str, int]:
        """Positions up to which all who read there have read, also where nothing was."""
        owners = [slot.owner for slot in self.slots]
        return _least({at: one.seen.get(at, 0) for at in one.places} for one in owners)


class Shell:
    """Owns some partitions of its components. Used from one thread at a time."""

    def __init__(
        self,
        settings: Settings,
        components: Sequence[Component[Any]],
        partitions: int,
        instance: str,
    ) -> None:
        self.settings, self.components, self.partitions = settings, components, partitions
        self.group = group_of(settings, (component.name for component in components))
        self.shares: dict[int, AssignedPartition] = {}
        self._folds = frozenset[str]().union(*(component.folds for component in components))
        self._append_times = AppendTimes(settings)
        self._emitter = Emitter(producer(settings), settings.prefix)
        self._keeping = Emitter(producer(settings, **PACKED), settings.prefix)
        self._rows = [KeptRows(settings, one, instance, self._keeping) for one in components]
        self._keep_at = 0.0
        self._surveyor = Surveyor(settings)
        self._ids: Mapping[str, str] = {}
        self._letters = DeadLetterWriter(self._emitter)
        self._gaps = Gaps(settings)
        self.remedy = remedy_of(*(component.name for component in components))

    # --- assignment

    def assign(self, partitions: Iterable[int]) -> None:
        """Owns exactly these from now on: claims, restores and catches up with the log."""
        wanted = sorted(set(partitions))
        for gone in self.shares.keys() - wanted:
            for slot in self.shares.pop(gone).slots:
                metrics.forget(slot.name, gone)
        new = [p for p in wanted if p not in self.shares or self._taken(p)]
        if new:
            claims = [rows.claim(new) for rows in self._rows]
            self._keeping.settle()
            opened = [rows.open(claim) for rows, claim in zip(self._rows, claims, strict=True)]
            places = {p: self._places(p) for p in new}
            ground = self._stand(places, opened)
            ends = ends_now(self.settings, [at for p in new for at in places[p]])
            committed = committed_now(self.settings, self.group, list(ends))
            for p in new:
                slots = [
                    self._slot(component, p, rows, found[p], ends)
                    for component, rows, found in zip(
                        self.components, self._rows, opened, strict=True
                    )
                ]
                for slot in slots:
                    begin_at(slot.owner, ground)
                share = self.shares[p] = AssignedPartition(slots, {})
                # What is read again, for rows that are lost or were not kept: its dead letters are
                # not written again, since a position was committed only after they were.
                share.buried = {
                    at: max(share.seen.get(at, 0), committed.get(at, 0)) for at in places[p]
                }
            self._catch_up(new)
        for p in new:
            for slot in self.shares[p].slots:
                _observe(p, slot)
        names = [component.name for component in self.components]
        log.info("assigned", components=names, partitions=wanted, restored=new)

    def _stand(
        self, places: Mapping[int, list[str]], opened: list[dict[int, Opened[Any]]]
    ) -> Ground:
        """LogUnreadable where what was kept is not of this log; what that is, is kept with it."""
        every = frozenset(at for one in places.values() for at in one)
        ground = self._surveyor.wait(every)
        if why := misfit(self._ids, {}, ground):
            raise LogUnreadable(f"{why}; {self.remedy}")
        for rows, found in zip(self._rows, opened, strict=True):
            rows.stand(found, ground, self.remedy)
        self._ids = ground.ids
        return ground

    def standing(self) -> tuple[Mapping[str, str], Mapping[str, int]]:
        """Which topics are read, and how far, by place; asked from any thread."""
        shares, ids = tuple(self.shares.values()), self._ids
        owners = [slot.owner for share in shares for slot in share.slots if slot.owner.ready]
        return ids, _least(dict(owner.seen) for owner in owners)

    def _places(self, partition: int) -> list[str]:
        found = (places_of(component, [partition]) for component in self.components)
        return sorted(frozenset[str]().union(*found))

    def _taken(self, partition: int) -> bool:
        slots = self.shares[partition].slots
        return any(slot.rows.taken(partition, slot.keeper.claim) for slot in slots)

    def _slot(
        self,
        component: Component[Any],
        partition: int,
        rows: KeptRows[Any],
        opened: Opened[Any],
        ends: Mapping[str, int],
    ) -> Slot:
        restored = opened.restored
        places = sorted(places_of(component, [partition]))
        owner: Stepper[Any] = Stepper(
            component,
            places,
            self._append_times.possible,
            ends={at: ends[at] for at in places},
            seen=restored.seen,
            held=restored.held,
        )
        keeper = Keeper(owner, opened.claim, rows.build, restored)
        frozen = {key for key, one in restored.held.items() if one.frozen}
        return Slot(owner, keeper, rows, frozen)

    def _catch_up(self, partitions: list[int]) -> None:
        """Reads from the kept positions to the ends seen at assignment, by the plain reader: it is
        ten times as fast as the stream, which then repeats what was folded already."""
        spans: dict[str, tuple[int, int | None]] = {}
        owners = [slot.owner for p in partitions for slot in self.shares[p].slots]
        for owner in owners:
            for at in owner.places:
                first, end = owner.seen.get(at, 0), owner.ends.get(at)
                if at.startswith(f"{CLOCK}/"):
                    first = max(0, first - 1)  # so that it is known how late it is
                spans[at] = (min(first, spans.get(at, (first, end))[0]), end)
        for poll in read_span(self.settings, spans):
            self._fold(poll)
        self._letters.post()
        for owner in owners:
            owner.pass_ends()

    # --- one poll

    def handle(self, poll: Sequence[Message | OffsetGap]) -> None:
        """Folds a poll and a piece of what waits, says what is to be said, and returns when all of
        it is acknowledged."""
        self._fold(self._gaps.sift(poll))
        self._fold(self._gaps.piece())
        self._letters.post()
        said = Counter[tuple[str, str]]()
        for partition, share in sorted(self.shares.items()):
            for slot in share.slots:
                for topic, record in slot.owner.flush():
                    self._emitter.say(topic, partition, record)
                    said[slot.name, record.kind] += 1
        for labels, count in said.items():
            metrics.SAID.labels(*labels).inc(count)
        self._emitter.settle()
        if time.monotonic() >= self._keep_at:
            self.keep()

    @property
    def behind(self) -> bool:
        """Is there more to fold, of what came with a poll?"""
        return self._gaps.open

    def _fold(self, messages: Iterable[Message]) -> None:
        for message in messages:
            share = self.shares.get(message.partition)
            if share is None:
                continue
            at = message.place
            owners = [slot.owner for slot in share.slots if at in slot.owner.places]
            if message.topic == CLOCK:
                for owner in owners:
                    owner.tick(at, message.offset, message.at_ms)
                continue
            found = take_in(message, self.partitions, self._folds)
            letter = found if isinstance(found, DeadLetter) else void_request(message, found)
            if letter is not None and message.offset >= share.buried.get(at, 0):
                share.buried[at] = message.offset + 1
                self._letters.put(letter)
            for owner in owners:
                if isinstance(found, DeadLetter):
                    owner.pass_by(at, message.offset, message.at_ms)
                else:
                    owner.read(found)

    # --- keeping

    def keep(self, *, everything: bool = False) -> None:
        """Writes the rows that have waited for long enough, or all that changed, and positions."""
        since = time.monotonic()
        for partition, share in sorted(self.shares.items()):
            for slot in share.slots:
                owner, keeper = slot.owner, slot.keeper
                if not owner.ready:
                    continue
                slot.frozen |= {key for key in owner.changed if owner.held[key].frozen}
                _observe_moved(partition, slot)
                for entry in keeper.entries() if everything else keeper.due():
                    slot.rows.write(partition, entry)
        self._keeping.settle()
        now = time.monotonic()
        self._keep_at = now + max(KEEP_S, (now - since) / KEEP_SHARE)

    def committable(self) -> Mapping[tuple[str, int], int]:
        """By full topic name and partition: up to where everything was read, and all that follows
        from it was said. Rows need not be kept so far: a restart begins at their own positions."""
        # Asked once a second, also where nothing is said for long: a client that nobody polls
        # cannot tell that its login is refused by now.
        self._keeping.raise_failures()
        self._emitter.raise_failures()
        self._emitter.settle()  # letters that were found while catching up
        return self.positions()

    def positions(self) -> Mapping[tuple[str, int], int]:
        """Up to where everything was read."""
        return _named(self.settings, {p: share.seen for p, share in self.shares.items()})

    def hand_over(self) -> None:
        """Keeps all that changed: whoever comes next has nothing to read again."""
        self.keep(everything=True)

    def close(self) -> None:
        """Keeps what is left, and ends the connection to the broker."""
        self.hand_over()
        self._append_times.close()


def group_of(settings: Settings, names: Iterable[str]) -> str:
    """The consumer group of workers that serve these components."""
    return settings.group("+".join(sorted(names)))


def _least(positions: Iterable[Mapping[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in positions:
        for at, offset in one.items():
            found[at] = min(offset, found.get(at, offset))
    return found


def _named(
    settings: Settings, positions: Mapping[int, Mapping[str, int]]
) -> dict[tuple[str, int], int]:
    return {
        (settings.topic(at.partition("/")[0]), partition): offset
        for partition, found in positions.items()
        for at, offset in found.items()
    }


def _observe(partition: int, slot: Slot) -> None:
    metrics.observe(slot.name, partition, slot.owner, len(slot.frozen))


def _observe_moved(partition: int, slot: Slot) -> None:
    counts = slot.owner.counts
    read = counts.folded + counts.void + counts.repeated
    if read != slot.observed:
        slot.observed = read
        _observe(partition, slot)
