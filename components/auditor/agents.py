"""The auditor: makes every decision again as it comes, and raises an alert where one differs.

A reader loop over all places. It catches up in slices of the log's time, then follows. What it has
come to is kept in a file every minute; without one it begins where the log does. Two auditors do no
harm: what both say has one id, and the second one is void.
"""

from __future__ import annotations

import time  # noqa: TID251 - how often rows are kept, and how late we are, is real time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import structlog

from components.auditor.bulk import Families, LogAudit, tiers_in
from components.auditor.decide import Alarm, component_of, key_of_logic
from components.auditor.kept import AuditStart, Misfit, keep, open_kept
from components.runtime.core.audit.audit import Family
from components.runtime.core.audit.judging import VERDICTS, AuditFinding
from components.runtime.core.ground import RUNBOOK, headless, outside
from components.runtime.core.step import KeyState, Stepper
from components.runtime.kafka.append_times import AppendTimes
from components.runtime.kafka.clients import partitions_for
from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from components.runtime.kafka.origin import BrokerOrigin
from components.runtime.kafka.surveying import Surveyor, TopicWatch
from components.runtime.process import metrics
from components.runtime.process.loop import StopSignal, turn_until_stopped
from events.topics import CLOCK, JOURNAL, TIERS, partition_of, place
from turbine_client.clients import (
    cluster_of,
    producer,
)
from turbine_client.reading import Follower, LogUnreadable, ends_now, read_span, starts_now
from turbine_client.settings import Settings

POLL_MOST = 5_000
GATHERED = {"fetch.wait.max.ms": 1_000, "fetch.min.bytes": 256 * 1024}
"""Nobody waits for a verdict, and to be woken for each tick would be most of the work."""
KEEP_S = 60.0
KEEP_SHARE = 0.02
"""Of the time, for keeping: many keys are kept less often."""
LATE_S = 30.0
"""How often the log is read again for decisions that what is held does not reach."""
REMEDY = f"the next start audits the log that there is, from its beginning; see {RUNBOOK}"
ALARM_S = 2.0
"""How often it is looked whether an alert stands that was raised."""

log = structlog.get_logger(__name__)


class Auditor:
    """One instance. Used from one thread."""

    def __init__(
        self, settings: Settings, families: Families, path: Path, every_s: float = KEEP_S
    ) -> None:
        self._settings, self._path, self._every_s = settings, path, every_s
        self._families = families
        self._count = partitions_for(settings, {CLOCK, JOURNAL})
        self._surveyor = Surveyor(settings)
        self._alarms = Alarms(settings, self._count)
        self._begin()
        self._watch = TopicWatch(settings, self._standing, remedy=REMEDY)

    def _standing(self) -> tuple[Mapping[str, str], Mapping[str, int]]:
        """Which topics are read, and how far; asked from another thread."""
        return self._ids, dict(self._audit.hearing.seen)

    def _begin(self) -> None:
        """From where it was kept, or else from the log's beginning."""
        self._read = 0  # records that are not ticks, since something was kept
        origin = BrokerOrigin(self._settings)
        self._tiers = tiers_in(origin, self._count)
        families = self._families(self._tiers)
        inputs = {short for family in families for one in family for short in one.inputs}
        places = [place(TIERS, 0), *(place(JOURNAL, p) for p in range(self._count))]
        ground = self._surveyor.wait(places, inputs | {CLOCK})
        if why := headless(ground):
            raise LogUnreadable(why)
        self._ids = ground.ids
        # A file is kept of one log: of this cluster, and of the topics that there are now.
        self._log = " ".join([cluster_of(self._settings), *sorted(self._ids.values())])
        kept = self._open(families)
        self._audit = LogAudit(origin, families, self._count, kept=kept)
        self._slices: Iterator[list[Message]] | None = self._audit.slices()
        self._follower: Follower | None = None
        self._keep_at = self._late_at = time.monotonic() + self._every_s
        for name in (one[0].name for one in families):
            for verdict in VERDICTS:
                metrics.AUDITED.labels(name, verdict)
        log.info("audit begins", from_kept=kept is not None, tiers=sorted(self._tiers))

    def _open(self, families: Sequence[Family]) -> AuditStart | None:
        try:
            kept = open_kept(self._path, families, self._count, self._log)
            self._check(kept)
        except Misfit as misfit:
            log.warning("audited from the beginning", why=str(misfit))
            return None
        else:
            return kept

    def _check(self, kept: AuditStart | None) -> None:
        """Misfit where the log ends before what was read of it."""
        seen = kept.seen if kept is not None else {}
        for at, end in ends_now(self._settings, seen).items():
            if seen[at] > end:
                raise Misfit(outside(at, seen[at], 0, end))

    def turn(self) -> None:
        """One slice or one poll: judges what can be, and tells what differs."""
        messages = self._next()
        if self._has_new_tier(messages):
            self._leave()
            self._begin()
            return
        for finding in self._audit.take(messages):
            self._tell(finding)
        self._read += sum(one.topic != CLOCK for one in messages)
        now = time.monotonic()
        keeps = now >= self._keep_at and self._read > 0
        if now >= self._late_at or keeps:  # what is late is not among what is kept
            for finding in self._audit.catch_up():
                self._tell(finding)
            self._late_at = time.monotonic() + LATE_S
        self._alarms.turn(self._audit.hearing.now_ms)
        metrics.AUDIT_LAG.set(max(0.0, time.time() - self._audit.hearing.now_ms / 1000))
        metrics.AUDIT_WAITING.set(self._audit.audit.waiting)
        if keeps:
            self._keep()

    @property
    def verdicts(self) -> Mapping[str, Mapping[str, int]]:
        """By component, since the beginning of what was kept."""
        return self._audit.counts

    @property
    def alarmed(self) -> bool:
        """Is there an alert to be raised that does not stand yet?"""
        return bool(self._alarms.pending)

    def _next(self) -> list[Message]:
        if self._slices is not None:
            found = next(self._slices, None)
            if found is not None:
                return found
            self._slices = None
            counts = self._audit.counts.values()
            log.info("caught up", verdicts=sum(one.total() for one in counts))
        if self._follower is None:
            self._follower = Follower(self._settings, self._audit.positions(), **GATHERED)
        return self._follower.poll(0.5, POLL_MOST)

    def _has_new_tier(self, messages: Iterable[Message]) -> bool:
        """Its row rests on what was read before it was there, too."""
        named = {(one.key or b"").rpartition(b"/")[0] for one in messages if one.topic == TIERS}
        if named <= {tier.encode() for tier in self._tiers}:
            return False
        return tiers_in(BrokerOrigin(self._settings), self._count) != self._tiers

    def _tell(self, finding: AuditFinding) -> None:
        metrics.AUDITED.labels(finding.component, finding.verdict).inc()
        if finding.verdict == "differs":
            self._alarms.found(finding)

    def _keep(self) -> None:
        since = time.monotonic()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        keep(self._path, self._audit.audit, self._audit.counts, self._log)
        self._read, took = 0, time.monotonic() - since
        self._keep_at = time.monotonic() + max(self._every_s, took / KEEP_SHARE)

    def close(self) -> None:
        """Keeps what is left, unless an alert is under way or a verdict is late: then it is found
        again."""
        self._watch.close()
        late = any(desk.late for desk in self._audit.audit.desks.values())
        if not self._alarms.pending and not late:
            self._keep()
        self._leave()
        self._alarms.close()

    def _leave(self) -> None:
        if self._follower is not None:
            self._follower.close()
        self._audit.close()


class Alarms:
    """Alerts that are to be raised, until they stand."""

    def __init__(self, settings: Settings, partitions: int) -> None:
        self._settings, self._count = settings, partitions
        self._append_times = AppendTimes(settings)
        self._emitter = Emitter(producer(settings), settings.prefix)
        self.pending: dict[str, AuditFinding] = {}  # by key
        self._standing: set[str] = set()
        self._next_at = 0.0

    def found(self, finding: AuditFinding) -> None:
        """One alert for each logic: of the first difference."""
        key = key_of_logic(finding.read.record.logic)
        if key not in self._standing and key not in self.pending:
            at = f"{finding.read.place}:{finding.read.offset}"
            log.error("a decision differs", logic=finding.read.record.logic, at=at)
            self.pending[key] = finding

    def turn(self, now_ms: int) -> None:
        """Raises what does not stand yet. It is a rare thing, so the chain is read when it is
        needed, and not kept."""
        if not self.pending or time.monotonic() < self._next_at:
            return
        for key in sorted(self.pending):
            owner = self._chain(key, now_ms)
            held = owner.held[key]
            if held.row is not None and held.row.raised:
                self._standing.add(key)
                del self.pending[key]
                continue
            for topic, record in owner.would_emit(key, max(now_ms, held.tick_ms)):
                self._emitter.say(topic, partition_of(key, self._count), record)
                metrics.SAID.labels(owner.component.name, record.kind).inc()
        self._emitter.settle()
        self._next_at = time.monotonic() + ALARM_S

    def _chain(self, key: str, now_ms: int) -> Stepper[Alarm]:
        at = place(JOURNAL, partition_of(key, self._count))
        first, end = (ask(self._settings, [at])[at] for ask in (starts_now, ends_now))
        held = {key: KeyState(Alarm(key))}
        component = component_of(self.pending)
        owner = Stepper(component, [at], self._append_times.possible, held=held)
        for poll in read_span(self._settings, {at: (first, end)}):
            for message in poll:
                if message.key != key.encode():
                    owner.pass_by(at, message.offset, message.at_ms)
                    continue
                found = take_in(message, self._count, component.folds)
                if not isinstance(found, DeadLetter):
                    owner.read(found)
        owner.now_ms = now_ms
        owner.settle()
        return owner

    def close(self) -> None:
        """Ends all connections to the broker."""
        self._append_times.close()


def serve(settings: Settings, stop: StopSignal, families: Families) -> int:
    """Audits until it is told to stop; the exit code."""
    path = settings.directory / "auditor" / "audit.jsonl"
    return turn_until_stopped(lambda: Auditor(settings, families, path), stop)
