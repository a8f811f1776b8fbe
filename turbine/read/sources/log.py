"""Reads the log: its records, the jobs as they stood at any position or time, and its audit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from components.auditor.bulk import LogAudit, tiers_in
from components.auditor.kept import AuditStart
from components.job_service.decide import component as job_service
from components.runtime.core.audit.audit import Family
from components.runtime.core.audit.judging import AuditFinding
from components.runtime.core.component import Component
from components.runtime.core.step import Stepper
from components.runtime.core.store import Restored
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from components.shard_manager.decide import PLACEMENT
from components.shard_manager.decide import component as shard_manager
from components.shard_manager.decide import component_of as shard_manager_of
from components.state_syncer.decide import component as state_syncer
from events.topics import (
    BY_SHORT,
    CLOCK,
    CONTAINERS,
    JOURNAL,
    OPERATOR,
    TASKS,
    TIERS,
    USUAL_PREFIX,
    full_name,
    partition_of,
    place,
)
from events.wire.codec import Read
from projections.fleet import TierFleet
from projections.jobs import LAYER_KINDS, Job
from projections.syncs import Sync
from turbine.read.logics import AUDITED, audited_with
from turbine.read.sources.source import BrokerSource, Source
from turbine_client.clients import cluster_of
from turbine_client.errors import NoTopic
from turbine_client.identity import is_job_id
from turbine_client.settings import Settings, given_settings

R = TypeVar("R")

# What anyone sees of the jobs who reads the journal alone: the layers, without waiting requests and
# without what tasks keep.
journal_view: Component[Job] = replace(job_service, inputs=frozenset({JOURNAL}), folds=LAYER_KINDS)


def _nothing(row: TierFleet | None, read: Read) -> TierFleet:
    """The fold of who looks at the decisions themselves."""
    return row or TierFleet(read.record.key.partition("/")[0])


# What anyone sees who looks at decisions about tiers themselves.
chain_view: Component[Any] = replace(
    shard_manager, inputs=frozenset({TIERS}), fold=_nothing, key_of=None
)

SYNC_TOPICS = (JOURNAL, TASKS, OPERATOR)
"""What tells how running follows expected: decisions, the tasks' reports, operators' requests."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One decision of the journal, and whether it stands or is void."""

    read: Read
    stands: bool


class Log:
    """The log of one installation, read-only. A call reads for itself and leaves nothing open.

    Of the installation that the settings name, or of another source, such as a file.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        source: Source | None = None,
        bootstrap: str | None = None,
    ) -> None:
        self.source = source or BrokerSource(given_settings(settings, bootstrap))
        self.counts = self.source.counts()
        if JOURNAL not in self.counts:
            raise NoTopic(
                f"{self.source.name} has no topic {self.topic(JOURNAL)};"
                " create it with `turbine topics apply`"
            )

    @property
    def settings(self) -> Settings:
        """Of the installation, for who writes or follows; NoInstallation of a file."""
        return self.source.settings

    @property
    def cluster(self) -> str:
        """Which log it is: another one may have the same positions."""
        if self.source.at_hand:
            return self.source.name
        return f"{cluster_of(self.settings)}/{self.settings.prefix}"

    @property
    def prefix(self) -> str:
        """What topics begin with: a file has no names of a broker's, and the usual ones."""
        return USUAL_PREFIX if self.source.at_hand else self.settings.prefix

    def topic(self, short: str) -> str:
        """The full name of a topic."""
        return full_name(self.prefix, short)

    def places(self, topics: Iterable[str], *, key: str | None = None) -> list[str]:
        """All places of these topics (short names), or those where a key's records lie."""
        wanted = sorted(topics)
        missing = [topic for topic in wanted if topic not in self.counts]
        if missing:
            raise NoTopic(
                f"{self.source.name} has no topic {self.topic(missing[0])};"
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
        return self.source.ends(sorted(places))

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
        for part, committed in ((wanted - world, False), (world, True)):
            spans = {
                at: ((start or {}).get(at, 0), None if end is None else end.get(at, 0))
                for at in self.places(part, key=key)
            }
            for poll in self.source.spans(spans, committed=committed) if spans else ():
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
        return self.source.times(self.places(topics), at_ms + 1)

    def moment(self, at_ms: int, topics: Iterable[str], what: str) -> dict[str, int]:
        """The same, where `what` named the time; BadMoment where the log does not tell of it."""
        self.source.check(at_ms, what)
        return self.at(at_ms, topics)

    # --- folds

    def jobs(self, *, end: Mapping[str, int] | None = None) -> dict[str, Job]:
        """Every job as the journal tells it, up to the end now or to a position vector."""
        kept = self._framed("jobs", journal_view, end)
        owner = self._fold(journal_view, None, end, journal_view.folds, None, kept=kept)
        return {key: one.row for key, one in sorted(owner.held.items()) if one.row is not None}

    def job(self, name: str, *, end: Mapping[str, int] | None = None) -> Job | None:
        """One job as the journal tells it; None where the journal says nothing of it."""
        held = self._fold(journal_view, name, end, journal_view.folds, None).held.get(name)
        return None if held is None else held.row

    def syncs(
        self,
        *,
        job: str | None = None,
        end: Mapping[str, int] | None = None,
        observer: Callable[[Read, bool], None] | None = None,
    ) -> dict[str, Sync]:
        """How far each job's running config has followed its expected one; of one job if it is
        named. `observer` is told of each record that was read, and whether it stands.

        A topic that the vector does not name is not read, and nothing is waited for on it.
        """
        topics = [
            topic
            for topic in SYNC_TOPICS
            if topic in self.counts
            and (topic == JOURNAL or end is None or any(at.startswith(f"{topic}/") for at in end))
        ]
        view = replace(state_syncer, inputs=frozenset(topics))
        owner = self._fold(view, job, end, view.folds, observer)
        # Alerts about a logic lie in the journal too, under a key that no job can have.
        return {
            key: one.row
            for key, one in sorted(owner.held.items())
            if one.row is not None and is_job_id(key)
        }

    def fleet(self, tier: str, *, end: Mapping[str, int] | None = None) -> TierFleet | None:
        """A tier's containers and shards, as its chain and the containers' words tell them.

        Goes on from the newest snapshot that has not read beyond `end`; where there is none, from
        the first of what has not expired.
        """
        view, places = shard_manager_of(tier), self.places(shard_manager.inputs)
        kept = self._framed(f"fleet/{tier}", view, end)
        if not kept.seen:
            kept = self.source.kept(view, places, end)
        owner = self._fold(view, None, end, view.folds, None, kept=kept)
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
        self._fold(
            journal_view, job, end, kinds, lambda read, stands: heard.append(Standing(read, stands))
        )
        return heard

    def heard(
        self,
        component: Component[Any],
        job: str,
        observer: Callable[[Read, bool], None],
        *,
        end: Mapping[str, int] | None = None,
    ) -> None:
        """Tells `observer` of each record about a job that a component reads, in causal order, with
        whether it stands; who wants the component's row folds what stands."""
        self._fold(replace(component, fold=_unmoved), job, end, component.folds, observer)

    def _fold(
        self,
        view: Component[R],
        job: str | None,
        end: Mapping[str, int] | None,
        kinds: frozenset[str] | None,
        observer: Callable[[Read, bool], None] | None,
        *,
        kept: Restored[R] | None = None,
    ) -> Stepper[R]:
        append_times, kept = self.source.append_times(), kept or Restored[R]()
        # Of one job alone its own places are read: what a decision rests on elsewhere, as where its
        # tier's room was shared out, nobody here will ever have read.
        places = self.places(view.inputs, key=job)
        owner = Stepper(
            view,
            places,
            append_times.possible,
            seen=kept.seen,
            held=kept.held,
            observer=observer,
        )
        try:
            for read in self.read(view.inputs, kinds=kinds, start=kept.seen, end=end, key=job):
                owner.read(read)
            owner.flush()
        finally:
            append_times.close()
        return owner

    def _framed(self, name: str, view: Component[R], end: Mapping[str, int] | None) -> Restored[R]:
        """For a position of the past: rows that somebody kept, who followed the log; none here."""
        del name, view, end  # what an heir of this one looks for it by
        return Restored()

    # --- audit

    def families(self) -> tuple[Family, ...]:
        """The components whose decisions can be made again, with those of all its tiers."""
        return audited_with(
            tiers_in(self.source, self.counts[JOURNAL]) if TIERS in self.counts else ()
        )

    def audit(self) -> Iterator[AuditFinding]:
        """Makes every decision again from its evidence; a finding for each."""
        with self.open_audit(self.families()) as audit:
            yield from audit.run()

    def open_audit(
        self,
        families: Sequence[Family],
        *,
        kept: AuditStart | None = None,
        since: Mapping[str, int] | None = None,
    ) -> LogAudit:
        """An audit of all of it, or of what came since one was kept; closed by whoever opens it."""
        self.places(self.audited())
        return LogAudit(self.source, families, self.counts[JOURNAL], kept=kept, since=since)

    def audited(self) -> list[str]:
        """The topics that an audit reads, whatever tiers there are."""
        inputs = (one.inputs for family in AUDITED for one in family)
        return sorted(frozenset[str]().union([CLOCK], *inputs))

    # --- tiers

    def chain(self, tier: str, *, end: Mapping[str, int] | None = None) -> list[Standing]:
        """All decisions about where a tier's shards are, each with whether it stands.

        Nothing but the chain is read: what a row knows beside it is `fleet`'s to tell.
        """
        return self.chain_of(f"{tier}/{PLACEMENT}", end=end)

    def chain_of(self, key: str, *, end: Mapping[str, int] | None = None) -> list[Standing]:
        """All decisions about one side of a tier: where its shards are, or its capacity."""
        return self._chains(key, None, end)

    def of_tiers(
        self, kinds: frozenset[str], *, end: Mapping[str, int] | None = None
    ) -> list[Standing]:
        """Decisions about all tiers, each with whether it stands; those of these kinds decoded."""
        return self._chains(None, kinds, end)

    def _chains(
        self, key: str | None, kinds: frozenset[str] | None, end: Mapping[str, int] | None
    ) -> list[Standing]:
        heard = list[Standing]()

        def observe(read: Read, stands: bool) -> None:
            heard.append(Standing(read, stands))

        self._fold(chain_view, key, end, kinds, observe)
        return heard

    def spoken(
        self,
        spans: Iterable[tuple[int, int]],
        kinds: frozenset[str],
        *,
        end: Mapping[str, int] | None = None,
    ) -> Iterator[Read]:
        """What containers said in some spans of the log's time, before `end`."""
        for since_ms, until_ms in spans:
            first, last = self.at(since_ms, [CONTAINERS]), self.at(until_ms, [CONTAINERS])
            if end is not None:
                last = {at: min(offset, end.get(at, 0)) for at, offset in last.items()}
            yield from self.read([CONTAINERS], kinds=kinds, start=first, end=last)


def _unmoved(row: str | None, read: Read) -> str:
    """The fold of who is told of all that is read."""
    return row or read.record.key
