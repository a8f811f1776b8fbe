"""What a view tells beside rows of jobs and tiers: alerts, who spoke last, dead letters. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from immutables import Map

from components.runtime.kafka.intake import Message, records_of
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    CapacityReported,
    ContainerStarted,
    TierDefined,
)
from events.wire.codec import Read
from turbine.read.state.view import AlertView, Spoken

CLEARED_KEPT = 100
"""Alerts that are over: what was wrong in the night is asked for in the morning."""
REASONS_KEPT = 100
"""Of dead letters: they are our own words, but anyone may write a header."""
OTHER = "other"


@dataclass(frozen=True, slots=True)
class Rest:
    """As far as was read."""

    at_ms: int = 0  # the greatest append time
    now_ms: int = 0  # the greatest tick
    records: int = 0
    alerts: Map[str, AlertView] = Map()
    cleared: tuple[AlertView, ...] = ()
    defined: Map[str, TierDefined] = Map()
    reported: Map[str, tuple[CapacityReported, int]] = Map()
    started: Map[str, ContainerStarted] = Map()  # of each container the newest life
    spoken: Map[str, Spoken] = Map()
    letters: Map[str, int] = Map()

    def decided(self, read: Read) -> Rest:
        """After a decision that stands."""
        rest, body = self._spoke(read), read.record.body
        match body:
            case AlertRaised():
                return rest._raised(read, body)
            case AlertCleared():
                return rest._cleared(read, body)
            case TierDefined():
                return replace(rest, defined=rest.defined.set(body.tier, body))
            case CapacityReported():
                reported = rest.reported.set(body.tier, (body, read.at_ms))
                return replace(rest, reported=reported)
            case _:
                return rest

    def began(self, read: Read) -> Rest:
        """After a word of a container."""
        body = read.record.body
        if not isinstance(body, ContainerStarted):
            return self
        known = self.started.get(body.container)
        if known is not None and known.epoch >= body.epoch:
            return self
        return replace(self, started=self.started.set(body.container, body))

    def _spoke(self, read: Read) -> Rest:
        record = read.record
        before = self.spoken.get(record.source)
        count = 1 if before is None else before.records + 1
        now = Spoken(read.at_ms, record.tick_ms, f"{read.place}:{read.offset}", count)
        if before is not None and (before.at_ms, before.position) > (now.at_ms, now.position):
            now = replace(before, records=count)
        return replace(self, spoken=self.spoken.set(record.source, now))

    def _raised(self, read: Read, body: AlertRaised) -> Rest:
        record = read.record
        one = AlertView(
            subject=body.subject,
            kind=body.alert,
            severity=body.severity,
            cause=body.cause,
            runbook=body.runbook,
            details_json=body.details_json,
            since_ms=read.at_ms,
            id=record.id,
            position=f"{read.place}:{read.offset}",
            source=record.source,
        )
        before = self.alerts.get(one.key)
        if before is not None:  # what it says has changed; it has been open all the time
            one = replace(one, since_ms=before.since_ms)
        return replace(self, alerts=self.alerts.set(one.key, one))

    def _cleared(self, read: Read, body: AlertCleared) -> Rest:
        over = self.alerts.get(f"{body.subject}/{body.alert}")
        if over is None:
            return self
        over = replace(over, cleared_ms=read.at_ms, explanation=body.explanation)
        # In the order of the log's times, whichever partition was read first.
        every = sorted((over, *self.cleared), key=lambda one: (one.cleared_ms or 0, one.id))
        kept = tuple(reversed(every))[:CLEARED_KEPT]
        return replace(self, alerts=self.alerts.delete(over.key), cleared=kept)

    def lettered(self, message: Message) -> Rest:
        """After a dead letter, which may be about several records."""
        reason = dict(message.headers or []).get("dead_letter_reason") or b"unknown"
        name = reason.decode(errors="replace")
        if name not in self.letters and len(self.letters) >= REASONS_KEPT:
            name = OTHER
        count = self.letters.get(name, 0) + records_of(message)
        return replace(self, letters=self.letters.set(name, count))
