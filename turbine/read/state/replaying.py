"""The log's history once more: its decisions in the order of their times, folded as they come.

Time is passed through in windows, so that no more than some thousand records are held at once.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from components.runtime.core.component import Component
from components.runtime.core.step import Stepper
from components.runtime.kafka.origin import Born
from components.state_syncer.decide import component as state_syncer
from events.topics import JOURNAL, TIERS
from events.wire.codec import Read
from projections.syncs import Sync
from turbine.read.sources.log import SYNC_TOPICS, Log, Standing, chain_view
from turbine.read.state.running import standing

WINDOW = 20_000
"""Records of a window, about: what is read together is put in order in memory."""
WINDOWS_MOST = 2_000
"""Each is a question to the broker; there is no more to gain from so many."""


@dataclass(frozen=True, slots=True)
class Happening:
    """A decision, whether it stands, and how the jobs are with it."""

    read: Read
    stands: bool
    jobs: Mapping[str, int]

    def read_standing(self) -> Standing:
        """The decision, as other commands know it."""
        return Standing(self.read, self.stands)


@dataclass(slots=True)
class Replay:
    """One replay: `happenings` once, the counts meanwhile and afterwards."""

    log: Log
    job: str | None = None
    since: Mapping[str, int] = field(default_factory=dict)
    """From there on decisions are told; all before is folded in silence."""
    records: int = 0
    total: int = 0
    at_ms: int = 0
    stands: Counter[bool] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    jobs: Counter[str] = field(default_factory=Counter)
    _states: dict[str, str] = field(default_factory=dict)
    _heard: deque[tuple[Read, bool]] = field(default_factory=deque)

    def happenings(self) -> Iterator[Happening]:
        """Every decision of the log, as the folds come to it."""
        append_times = self.log.source.append_times()
        try:
            owners = self._owners(append_times)
            for window in self._windows():
                for read in sorted(window, key=_order):
                    yield from self._pass(owners, read)
            for owner in owners.values():
                owner.settle()
            yield from self._told(owners)
        finally:
            append_times.close()

    def _owners(self, append_times: Born) -> dict[str, Stepper[Any]]:
        """By topic: who folds it. A log of jobs alone has no tiers."""
        topics = [topic for topic in SYNC_TOPICS if topic in self.log.counts]
        jobs: Component[Sync] = replace(state_syncer, inputs=frozenset(topics))
        parts = [(topics, jobs)]
        if TIERS in self.log.counts and self.job is None:
            parts.append(([TIERS], chain_view))
        out: dict[str, Stepper[Any]] = {}
        for read, view in parts:
            places = self.log.places(read, key=self.job)
            owner = Stepper(
                view, places, append_times.possible, observer=lambda *one: self._heard.append(one)
            )
            out |= dict.fromkeys(read, owner)
        return out

    def _pass(self, owners: Mapping[str, Stepper[Any]], read: Read) -> Iterator[Happening]:
        owner = owners[read.topic]
        self.records += 1
        self.at_ms = max(self.at_ms, read.at_ms)
        owner.read(read)
        if owner.blocked:
            owner.settle()
        yield from self._told(owners)

    def _told(self, owners: Mapping[str, Stepper[Any]]) -> Iterator[Happening]:
        while self._heard:
            read, stands = self._heard.popleft()
            held = owners[JOURNAL].held.get(read.record.key)
            if read.topic != TIERS and held is not None and held.row is not None:
                self._count(held.row)
            if read.record.parent and read.offset >= self.since.get(read.place, 0):
                self.stands[stands] += 1
                self.kinds[read.record.kind] += 1
                yield Happening(read, stands, +self.jobs)

    def _count(self, sync: Sync) -> None:
        """How the jobs are, by one word each."""
        was, word = self._states.get(sync.name), word_of(sync)
        if was != word:
            self._states[sync.name] = word
            self.jobs[word] += bool(word)
            if was:
                self.jobs[was] -= 1

    def _windows(self) -> Iterator[Iterator[Read]]:
        owned = [*(topic for topic in SYNC_TOPICS if topic in self.log.counts)]
        owned += [TIERS] if TIERS in self.log.counts and self.job is None else []
        places = self.log.places(owned, key=self.job)
        source = self.log.source
        starts, ends = source.starts(places), source.ends(places)
        self.total = sum(max(0, ends[at] - starts[at]) for at in places)
        begin = dict.fromkeys(places, 0)
        for until_ms in self._times(owned, starts):
            end = source.times(places, until_ms)
            yield self.log.read(owned, start=begin, end=end, key=self.job)
            begin = end
        yield self.log.read(owned, start=begin, key=self.job)

    def _times(self, topics: list[str], starts: Mapping[str, int]) -> list[int]:
        """Where one window ends and the next begins."""
        count = min(WINDOWS_MOST, self.total // WINDOW)
        if not count:
            return []
        first = {at: offset + 1 for at, offset in starts.items()}
        known = [one.at_ms for one in self.log.messages(topics, end=first, key=self.job)]
        last = [one.at_ms for one in self._last(topics)]
        low, high = min(known, default=0), max(last, default=0)
        return [low + (high - low) * step // count for step in range(1, count)]

    def _last(self, topics: list[str]) -> Iterator[Any]:
        ends = self.log.ends(self.log.places(topics, key=self.job))
        before = {at: max(0, end - 1) for at, end in ends.items()}
        yield from self.log.messages(topics, start=before, key=self.job)


def word_of(sync: Sync) -> str:
    """How a job is; "" where it never was."""
    if not sync.versions.base:
        return ""
    return standing(sync, alive=sync.alive)


def _order(read: Read) -> tuple[int, bool, str, int]:
    """By time. Of one millisecond, what decisions are about stands before them."""
    return read.at_ms, read.topic in (JOURNAL, TIERS), read.place, read.offset
