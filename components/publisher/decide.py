"""Which records of the journals the world gets to see, and on which topic."""

from __future__ import annotations

from components.runtime.component import Component
from events.codec import Read, Record, encode
from events.identity import effect_id
from events.records import AlertRaised
from events.topics import ALERTS, BY_SHORT, JOURNAL, OUTCOMES, TIERS, place

OUTLETS = {kind: topic for topic in (OUTCOMES, ALERTS) for kind in BY_SHORT[topic].records}

# The publisher decides nothing: it follows the chains, and the step tells it what stands.
component: Component[None] = Component(
    name="publisher",
    logic="publisher/1",
    output=JOURNAL,
    inputs=frozenset({JOURNAL, TIERS}),
    folds=frozenset(OUTLETS),
    says=frozenset(),
    fold=lambda row, _: row,
    decide=lambda *_: (),
    effects=lambda _: (),
    wake_ms=lambda *_: None,
    dump=lambda _: None,
    load=lambda _: None,
)


def places_of(partition: int) -> tuple[str, ...]:
    """What is followed together, and kept in one partition of the rows: a journal's partition, and
    beside the first one the tiers', which is the only one of its topic."""
    journal = place(JOURNAL, partition)
    return (journal,) if partition else (journal, place(TIERS, 0))


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
        source=component.name,
        cause=record.id,
    )
