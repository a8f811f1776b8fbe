"""When a difference that the audit found is an alert, and on which chain that lies.

Each logic has a chain of its own in the journal, `audit/LOGIC`: an auditor that spoke on the chain
of a job would void what others are about to say of it, and be part of what it judges. The alert is
raised once and never cleared: what is in the log stays there, and what mends it is another logic.
docs/adr/0016 argues it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from components.runtime.core.audit.judging import AuditFinding
from components.runtime.core.component import Component
from events.generated.records import AlertRaised, Body
from events.job_config.strict_json import Json, canonical_json
from events.topics import JOURNAL
from events.wire.codec import Read

ALERT = "audit-differs"
PREFIX = "audit/"
RUNBOOK = "docs/runbooks/audit-differs.md"
CAUSE_MOST = 1_000
"""Of the sentence, in characters: it may quote what is in the log."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """What the log says of one logic's alert."""

    key: str
    raised: bool = False


def key_of_logic(logic: str) -> str:
    """The key of its chain. No job is called so: their names have no slash."""
    return f"{PREFIX}{logic}"


def fold(row: Alarm | None, read: Read) -> Alarm:
    """The alert stands as soon as one is read that stands."""
    row = row or Alarm(read.record.key)
    body = read.record.body
    told = isinstance(body, AlertRaised) and body.alert == ALERT
    return replace(row, raised=row.raised or told)


def alert_of(finding: AuditFinding) -> AlertRaised:
    """What people are told of the first difference of a logic."""
    read, record = finding.read, finding.read.record
    position = f"{read.place}:{read.offset}"
    details: dict[str, Json] = {
        "position": position,
        "kind": record.kind,
        "id": record.id,
        "key": record.key,
        "byte": finding.byte,
        "field": finding.field,
    }
    return AlertRaised(
        subject=finding.component,
        alert=ALERT,
        severity="critical",
        cause=f"{record.kind} at {position} does not come out again by {record.logic}:"
        f" {finding.sentence[:CAUSE_MOST]}",
        runbook=RUNBOOK,
        details_json=canonical_json(details),
    )


def component_of(found: Mapping[str, AuditFinding]) -> Component[Alarm]:
    """The auditor, once it has found these, by key. What an audit finds is a function of the log,
    but of all of it: it comes in here beside the row."""

    def decide(row: Alarm, _now_ms: int) -> Iterator[Body]:
        if not row.raised and row.key in found:
            yield alert_of(found[row.key])

    return Component(
        name="auditor",
        logic="auditor/1",
        output=JOURNAL,
        inputs=frozenset({JOURNAL}),
        folds=frozenset({"AlertRaised"}),
        says=frozenset({"AlertRaised"}),
        fold=fold,
        decide=decide,
        effects=lambda _: (),
        wake_ms=lambda *_: None,
        dump=lambda row: row.raised,
        load=lambda plain: Alarm("", bool(plain)),
    )


component = component_of({})
