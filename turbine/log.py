"""Reads the log: its records, the jobs as they stood at any position or time, and its audit."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from components.job_service.decide import component as job_service
from components.runtime.births import Births
from components.runtime.clients import partitions_of
from components.runtime.component import Component
from components.runtime.intake import DeadLetter, Message, take_in
from components.runtime.reading import Unreadably, ends_now, read_span, times_now
from components.runtime.replay import Finding, audit_partition
from components.runtime.settings import BadSettings, Settings, load_settings
from components.runtime.step import Owner
from components.shard_manager.decide import PLACEMENT
from components.shard_manager.decide import component as shard_manager
from components.state_syncer.decide import component as state_syncer
from components.task_service.decide import component as task_service
from events.codec import Read
from events.topics import BY_SHORT, CLOCK, JOURNAL, OPERATOR, TASKS, partition_of, place
from projections.fleet import Fleet
from projections.jobs import Job
from projections.syncs import Sync

R = TypeVar("R")

AUDITED: tuple[Component[Any], ...] = (job_service, state_syncer, task_service)
"""The components whose decisions this build can make again."""

# What anyone sees of the jobs who reads the journal alone: the layers, without waiting requests.
journal_view: Component[Job] = replace(job_service, inputs=frozenset({JOURNAL}))

SYNC_TOPICS = (JOURNAL, TASKS, OPERATOR)
"""What tells how running follows expected: decisions, the tasks' reports, operators' requests."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One decision of the journal, and whether it stands or is void."""

    read: Read
    stands: bool


class Log:
    """The log of one installation, read-only. A call reads for itself and leaves nothing open."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or load_settings()
        self.counts = partitions_of(self.settings)
        if JOURNAL not in self.counts:
            raise BadSettings(
                f"the broker has no topic turbine.{JOURNAL}; create it with `turbine topics apply`"
            )

    def places(self, topics: Iterable[str], *, key: str | None = None) -> list[str]:
        """All places of these topics (short names), or those where a key's records lie."""
        wanted = sorted(topics)
        missing = [topic for topic in wanted if topic not in self.counts]
        if missing:
            raise BadSettings(
                f"the broker has no topic turbine.{missing[0]};"
                " see `turbine topics plan` for all that are missing"
            )
        return [
            place(topic, p)
            for topic in wanted
            for p in range(self.counts[topic])
            if key is None or p == partition_of(key, self.counts[topic])
        ]

    def ends(self, places: Iterable[str]) -> dict[str, int]:
        """The next offset of each place now."""
        return ends_now(self.settings, sorted(places))

    # --- records

    def messages(
        self,
        topics: Iterable[str],
        *,
        start: Mapping[str, int] | None = None,
        end: Mapping[str, int] | None = None,
        key: str | None = None,
    ) -> Iterator[Message]:
        """Messages as they lie in the log, each place in its order, up to `end` or the end now.

        With a key, only the places where its records lie are read, and all that lies there.
        """
        wanted = set(topics)
        # What the publisher said in a transaction that it did not commit was never said; all other
        # writers have no transactions, and a foreign one that stays open must not hide them.
        world = {topic for topic in wanted if topic in BY_SHORT and BY_SHORT[topic].kind == "world"}
        for part, isolation in ((wanted - world, "read_uncommitted"), (world, "read_committed")):
            spans = {
                at: ((start or {}).get(at, 0), None if end is None else end.get(at, 0))
                for at in self.places(part, key=key)
            }
            polls = read_span(self.settings, spans, **{"isolation.level": isolation})
            for poll in polls if spans else ():
                yield from poll

    def read(
        self,
        topics: Iterable[str],
        *,
        kinds: frozenset[str] | None = None,
        start: Mapping[str, int] | None = None,
        end: Mapping[str, int] | None = None,
        key: str | None = None,
    ) -> Iterator[Read]:
        """Records, those of one key if it is given; what cannot be read is left out here, and
        lies in the dead letters."""
        partitions = self.counts[JOURNAL]
        for message in self.messages(topics, start=start, end=end, key=key):
            found = take_in(message, partitions, kinds)
            if not isinstance(found, DeadLetter) and key in (None, found.record.key):
                yield found

    def at(self, at_ms: int, topics: Iterable[str]) -> dict[str, int]:
        """The position vector of a time: all that was appended up to that millisecond."""
        return times_now(self.settings, self.places(topics), at_ms + 1)

    # --- folds

    def jobs(self, *, end: Mapping[str, int] | None = None) -> dict[str, Job]:
        """Every job as the journal tells it, up to the end now or to a position vector."""
        owner = self._follow(None, end, journal_view.folds, None)
        return {key: one.row for key, one in sorted(owner.held.items()) if one.row is not None}

    def job(self, name: str, *, end: Mapping[str, int] | None = None) -> Job | None:
        """One job as the journal tells it; None where the journal says nothing of it."""
        held = self._follow(name, end, journal_view.folds, None).held.get(name)
        return None if held is None else held.row

    def syncs(
        self,
        *,
        job: str | None = None,
        end: Mapping[str, int] | None = None,
        heed: Callable[[Read, bool], None] | None = None,
    ) -> dict[str, Sync]:
        """How far each job's running config has followed its expected one; of one job if it is
        named. `heed` is told of each record that was read, and whether it stands.

        A topic that the vector does not name is not read, and nothing is waited for on it.
        """
        topics = [
            topic
            for topic in SYNC_TOPICS
            if topic in self.counts
            and (topic == JOURNAL or end is None or any(at.startswith(f"{topic}/") for at in end))
        ]
        view = replace(state_syncer, inputs=frozenset(topics))
        owner = self._fold(view, job, end, view.folds, heed)
        return {key: one.row for key, one in sorted(owner.held.items()) if one.row is not None}

    def fleet(self, tier: str, *, end: Mapping[str, int] | None = None) -> Fleet | None:
        """A tier's containers and shards, as its chain and the containers' words tell them."""
        owner = self._fold(shard_manager, None, end, shard_manager.folds, None)
        held = owner.held.get(f"{tier}/{PLACEMENT}")
        return None if held is None else held.row

    def decisions(
        self,
        *,
        job: str | None = None,
        end: Mapping[str, int] | None = None,
        kinds: frozenset[str] | None = None,
    ) -> list[Standing]:
        """The journal's decisions, each with whether it stands; those of one job if it is named.

        Only bodies of these kinds are decoded: all of them by default.
        """
        heard = list[Standing]()
        self._follow(job, end, kinds, lambda read, stands: heard.append(Standing(read, stands)))
        return heard

    def _follow(
        self,
        job: str | None,
        end: Mapping[str, int] | None,
        kinds: frozenset[str] | None,
        heed: Callable[[Read, bool], None] | None,
    ) -> Owner[Job]:
        return self._fold(journal_view, job, end, kinds, heed)

    def _fold(
        self,
        view: Component[R],
        job: str | None,
        end: Mapping[str, int] | None,
        kinds: frozenset[str] | None,
        heed: Callable[[Read, bool], None] | None,
    ) -> Owner[R]:
        births = Births(self.settings)
        owner = Owner(view, self.places(view.inputs), births.possible, heed=heed)
        try:
            for read in self.read(view.inputs, kinds=kinds, end=end, key=job):
                owner.read(read)
            owner.flush()
        finally:
            births.close()
        return owner

    # --- audit

    def audit(self, components: Iterable[Component[Any]] = AUDITED) -> Iterator[Finding]:
        """Makes every decision again from its evidence; a finding for each."""
        births = Births(self.settings)
        try:
            for component in components:
                for partition in range(self.counts[JOURNAL]):
                    yield from self._audit(component, partition, births)
        finally:
            births.close()

    def _audit(
        self, component: Component[Any], partition: int, births: Births
    ) -> Iterator[Finding]:
        clock = place(CLOCK, partition)
        times: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        ticks: set[int] = set()
        reads: list[Read] = []
        spans: dict[str, tuple[int, int | None]] = {
            place(topic, partition): (0, None) for topic in component.inputs | {CLOCK}
        }
        for poll in read_span(self.settings, spans):
            for message in poll:
                offsets, at_ms = times[message.place]
                offsets.append(message.offset)
                at_ms.append(max(message.at_ms, at_ms[-1] if at_ms else 0))
                if message.place == clock:
                    ticks.add(message.at_ms)
                    continue
                found = take_in(message, self.counts[JOURNAL], component.folds | component.says)
                if not isinstance(found, DeadLetter):
                    reads.append(found)

        def possible(at: str, offset: int, by_ms: int) -> bool | None:
            if at not in times:
                return births.possible(at, offset, by_ms)
            offsets, at_ms = times[at]
            count = bisect_right(at_ms, by_ms)
            # Offsets may have gaps (an author's own transactions leave markers), so what is asked
            # is whether the last record below the offset was there.
            below = bisect_right(offsets, offset - 1)
            return below <= count and (offset <= offsets[-1] + 1 if offsets else offset == 0)

        yield from audit_partition(component, reads, ticks, possible, partition)


def topic_of(name: str) -> str:
    """A topic's short name, from its short or full name; a sentence where it is neither."""
    short = name.removeprefix("turbine.")
    for found in (short, f"{short}.v1"):
        if found in BY_SHORT:
            return found
    raise Unreadably(f"there is no topic {name}; it is one of {', '.join(sorted(BY_SHORT))}")
