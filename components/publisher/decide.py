"""Which records of the journals the world gets to see, and on which topic."""

from __future__ import annotations

from components.runtime.core.standing import standing
from events.generated.records import AlertRaised
from events.topics import ALERTS, BY_SHORT, OUTCOMES
from events.wire.codec import Read, Record, encode
from turbine_client.identity import effect_id

OUTLETS = {kind: topic for topic in (OUTCOMES, ALERTS) for kind in BY_SHORT[topic].records}


def publish(read: Read) -> tuple[str, Record] | None:
    """Where a standing record goes, and as what; None: it is nobody's business but ours."""
    record = read.record
    if record.body is None:
        return ALERTS, _alert(read)
    topic = OUTLETS.get(record.kind)
    return None if topic is None else (topic, record)


def _alert(read: Read) -> Record:
    """This build cannot read a decision that stands: its key is frozen until a build can."""
    record = read.record
    body = AlertRaised(
        subject=record.key,
        alert="unreadable-decision",
        severity="critical",
        cause=f"{record.kind} {record.id} at {read.place}:{read.offset} cannot be read by this"
        f" build; {record.key} is frozen until a build that can read it runs",
        runbook="docs/runbooks/unreadable-decision.md",
    )
    return Record(
        key=record.key,
        id=effect_id(record.id, "unreadable"),
        kind="AlertRaised",
        value=encode(body),
        body=body,
        tick_ms=record.tick_ms,
        source=standing.name,
        cause=record.id,
    )
