"""The one fold of everything: each record is read once, and goes to every row that it moves.

Pure but for the questions that the step asks of the log. The rows are the components' own, held by
the same step that the components run under, so that a view says what they would say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from components.auto_scaler.decide import component as auto_scaler
from components.capacity_manager.decide import component_of as capacity_manager_of
from components.runtime.core.component import Component
from components.runtime.core.progress import Possible, ReadProgress
from components.runtime.core.step import KeyState, Stepper
from components.runtime.core.store import Restored
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from components.shard_manager.decide import PLACEMENT
from components.shard_manager.decide import component_of as shard_manager_of
from components.state_syncer.decide import component as state_syncer
from events.topics import (
    CLOCK,
    CONTAINERS,
    DEAD_LETTERS,
    GRANTS,
    JOURNAL,
    LOADS,
    OPERATOR,
    TASKS,
    TIERS,
    place,
)
from events.wire.codec import Read
from projections import lists
from projections.jobs import Job
from projections.syncs import Sync
from turbine.read.sources.held import REQUESTS
from turbine.read.sources.log import chain_view, journal_view
from turbine.read.state import notes
from turbine.read.state.beside_rows import Rest
from turbine.read.state.fold_start import (
    CAPACITY,
    CHAINS,
    FLEET,
    JOBS,
    LOADED,
    NOTES,
    SYNCS,
    FoldStart,
    of_tier,
)
from turbine.read.state.notes import Loads, Notes
from turbine.read.state.view import JobView, View

TIER_TOPICS = (CONTAINERS, GRANTS, JOURNAL, OPERATOR, TIERS)

KINDS = frozenset(
    journal_view.folds
    | state_syncer.folds
    | shard_manager_of("default").folds
    | capacity_manager_of("default").folds
    | lists.FOLDED_KINDS
    | auto_scaler.says
    | {"TaskLoadReported", "CapacityReported"}
)
"""Kinds whose bodies are decoded."""


class TierHistory(Protocol):
    """What a tier's rows are begun from: the log that was read so far."""

    def kept(self, view: Component[Any], end: Mapping[str, int]) -> Restored[Any]:
        """What the component keeps of itself, that had not read beyond the end."""

    def read(
        self, topics: Iterable[str], start: Mapping[str, int], end: Mapping[str, int]
    ) -> Iterator[Message]:
        """Messages between two positions, in the order of their places."""


class FoldObserver(Protocol):
    """Is told what is folded, as it comes."""

    def decided(self, read: Read, stands: bool) -> None:
        """A decision, in the order of its chain."""

    def loaded(self, job: str, at_ms: int, loads: Loads) -> None:
        """A task of the job has reported; `loads` is from before."""

    def started(self, at_ms: int) -> None:
        """A task that has run before runs again."""


class Unwatched:
    """A watcher for folds at which nobody looks."""

    def decided(self, read: Read, stands: bool) -> None:
        """Takes no notice of a decision."""

    def loaded(self, job: str, at_ms: int, loads: Loads) -> None:
        """Takes no notice of a load report."""

    def started(self, at_ms: int) -> None:
        """Takes no notice of a task that begins again."""


class Folding:
    """All rows as far as was read. Used from one thread; the views that it makes from any."""

    def __init__(
        self,
        counts: Mapping[str, int],
        possible: Possible,
        behind: TierHistory,
        watch: FoldObserver | None = None,
        start: FoldStart | None = None,
    ) -> None:
        self.counts, self._asked, self._behind = counts, possible, behind
        self._partitions = counts[JOURNAL]
        self._watch: FoldObserver = watch or Unwatched()
        start = self._start = start or FoldStart()
        self.seen: dict[str, int] = dict(start.seen)
        self._times = ReadProgress(self.seen, possible)  # of requests
        self.last: dict[str, Message] = {}  # of each place, the message that was read last
        self.rest: Rest = start.rest
        self.notes: dict[str, Notes] = start.rows(NOTES)
        self.loads: dict[str, Loads] = start.rows(LOADED)
        self._changed: dict[str, set[str]] = {NOTES: set(), LOADED: set()}
        self.unkept: dict[str, set[str]] = {}
        self.jobs: Stepper[Job] = self._owner(JOBS, journal_view)
        self.syncs: Stepper[Sync] = self._owner(SYNCS, state_syncer)
        self.chains: Stepper[Any] = self._owner(CHAINS, chain_view)
        self.tiers: dict[str, tuple[Stepper[Any], Stepper[Any]]] = {}
        for tier in start.tiers:
            self.tiers[tier] = (
                self._owner(of_tier(FLEET, tier), shard_manager_of(tier)),
                self._owner(of_tier(CAPACITY, tier), capacity_manager_of(tier)),
            )

    def _owner(
        self, name: str, component: Component[Any], kept: Restored[Any] | None = None
    ) -> Stepper[Any]:
        """With the rows of that name, or with those that the component kept."""
        topics = component.inputs.intersection(self.counts)
        places = [place(topic, p) for topic in sorted(topics) for p in range(self.counts[topic])]
        observers = {JOBS: self._decided, SYNCS: self._synced, CHAINS: self._of_tier}
        observer = observers.get(name)
        found: dict[str, KeyState[Any]] = self._start.rows(name) if kept is None else kept.held
        seen = self._start.seen if kept is None else kept.seen
        known = {at: seen[at] for at in places if at in seen}
        view = replace(component, inputs=topics)
        return Stepper(view, places, self._possible, seen=known, held=found, observer=observer)

    # --- reading

    def take(self, messages: Iterable[Message]) -> None:
        """What was read next, each place in its order; then settles."""
        at_ms, now_ms, count = self.rest.at_ms, self.rest.now_ms, 0
        for message in messages:
            where = message.place
            if message.offset < self.seen.get(where, 0):
                continue
            self.seen[where] = message.offset + 1
            self.last[where] = message
            at_ms, count = max(at_ms, message.at_ms), count + 1
            if message.topic == CLOCK:
                now_ms = max(now_ms, message.at_ms)
            elif message.topic in REQUESTS:
                self._times.note(where, message.offset, message.at_ms)
            elif message.topic == DEAD_LETTERS:
                self.rest = self.rest.lettered(message)
            else:
                self._put(message)
        records = self.rest.records + count
        self.rest = replace(self.rest, at_ms=at_ms, now_ms=now_ms, records=records)
        self._settle()

    def _possible(self, where: str, offset: int, by_ms: int) -> bool | None:
        """As the log would answer; of requests that were read that is known."""
        read = where.partition("/")[0] in REQUESTS and offset <= self.seen.get(where, 0)
        if read and self._times.was_there(where, offset, by_ms):
            return True
        return self._asked(where, offset, by_ms)

    def _put(self, message: Message) -> None:
        found = take_in(message, self._partitions, KINDS)
        if isinstance(found, DeadLetter):
            return  # it lies in the dead letters
        for owner in self._owners_of(message.topic):
            owner.read(found)
        key = found.record.key
        if message.topic == CONTAINERS:
            self.rest = self.rest.began(found)
        if message.topic == LOADS:
            before = self.loads.get(key, notes.UNLOADED)
            self._watch.loaded(key, message.at_ms, before)
            self.loads[key] = notes.loaded(before, found)
            self._changed[LOADED].add(key)

    def _owners_of(self, topic: str) -> Iterator[Stepper[Any]]:
        if topic == JOURNAL:
            yield self.jobs
        if topic in (JOURNAL, TASKS, OPERATOR):
            yield self.syncs
        if topic == TIERS:
            yield self.chains
        if topic in TIER_TOPICS:
            for fleet, capacity in self.tiers.values():
                if topic in fleet.component.inputs:
                    yield fleet
                yield capacity

    def _settle(self) -> None:
        """Looks again at what was held back, and begins the tiers that were made."""
        for _, owner in self.owners():
            owner.settle()
        for tier in sorted(self.rest.defined.keys() - self.tiers.keys()):
            self.begin(tier)

    def owners(self) -> Iterator[tuple[str, Stepper[Any]]]:
        """All of them, by the names that their rows are kept under."""
        yield from ((JOBS, self.jobs), (SYNCS, self.syncs), (CHAINS, self.chains))
        for tier, (fleet, capacity) in self.tiers.items():
            yield of_tier(FLEET, tier), fleet
            yield of_tier(CAPACITY, tier), capacity

    def begin(self, tier: str) -> None:
        """A tier's rows rest on what was said before it was made, which is read once more; or on
        what its managers keep, where that has expired."""
        pair = []
        for what, component in (
            (FLEET, shard_manager_of(tier)),
            (CAPACITY, capacity_manager_of(tier)),
        ):
            kept = self._behind.kept(component, self.seen)
            owner = self._owner(of_tier(what, tier), component, kept)
            for message in self._behind.read(owner.component.inputs, kept.seen, self.seen):
                found = take_in(message, self._partitions, KINDS)
                if not isinstance(found, DeadLetter):
                    owner.read(found)
            owner.settle()
            pair.append(owner)
        self.tiers[tier] = (pair[0], pair[1])

    # --- what is noted

    def _note(self, job: str, now: Notes) -> None:
        self.notes[job] = now
        self._changed[NOTES].add(job)

    def _decided(self, read: Read, stands: bool) -> None:
        if stands:
            key = read.record.key
            self._note(key, notes.decided(self.notes.get(key, notes.NOTHING), read))
            self.rest = self.rest.decided(read)
        self._watch.decided(read, stands)

    def _synced(self, read: Read, stands: bool) -> None:
        key = read.record.key
        before = self.notes.get(key, notes.NOTHING)
        now = notes.synced(before, read, stands=stands)
        if now is not before:
            self._note(key, now)
            if notes.begins_again(before, read):
                self._watch.started(read.at_ms)

    def _of_tier(self, read: Read, stands: bool) -> None:
        if stands:
            self.rest = self.rest.decided(read)
        self._watch.decided(read, stands)

    # --- a view

    def changed(self) -> set[str]:
        """Jobs about which anything has since the last look; all that has is to be kept."""
        found = self.jobs.changed | self.syncs.changed | self._changed[NOTES]
        found |= self._changed[LOADED]
        for name, owner in self.owners():
            self.unkept.setdefault(name, set()).update(owner.changed)
            owner.changed.clear()
            owner.dirty.clear()
        for name, jobs in self._changed.items():
            self.unkept.setdefault(name, set()).update(jobs)
            jobs.clear()
        return found

    def job(self, name: str) -> JobView | None:
        """One job, as its rows stand."""
        one, sync = self.jobs.held.get(name), self.syncs.held.get(name)
        if one is None or one.row is None:
            return None
        return JobView(
            one.row,
            None if sync is None else sync.row,
            self.notes.get(name, notes.NOTHING),
            self.loads.get(name, notes.UNLOADED),
        )

    def view(self, jobs: Mapping[str, JobView]) -> View:
        """As it stands, with these jobs."""
        rest = self.rest
        return View(
            at=dict(self.seen),
            at_ms=rest.at_ms,
            now_ms=rest.now_ms,
            jobs=jobs,
            tiers=self._rows(0, PLACEMENT),
            capacity=self._rows(1, CAPACITY),
            defined=rest.defined,
            reported=rest.reported,
            started=rest.started,
            alerts=rest.alerts,
            cleared=rest.cleared,
            spoken=rest.spoken,
            letters=rest.letters,
            records=rest.records,
        )

    def _rows(self, at: int, what: str) -> Mapping[str, Any]:
        """Of each tier there is one."""
        found = {tier: pair[at].held.get(f"{tier}/{what}") for tier, pair in self.tiers.items()}
        return {tier: one.row for tier, one in sorted(found.items()) if one and one.row}
