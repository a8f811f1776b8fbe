"""Outcomes as the server has them: of a record that was read, with a sentence. Pure."""

from __future__ import annotations

from events.sentences import sentence
from events.wire.codec import Read
from turbine.read.plain import JsonObject
from turbine_client.verdicts import Outcome


def outcome_of(read: Read) -> Outcome:
    """What a record says, as the world gets to see it; its body has to be there."""
    record = read.record
    assert record.body is not None
    return Outcome(
        kind=record.kind,
        job=record.key,
        id=record.id,
        change_id=record.change_id,
        body=record.body,
        place=read.place,
        offset=read.offset,
        at_ms=read.at_ms,
    )


def with_summary(outcome: Outcome) -> JsonObject:
    """An outcome as JSON, with its sentence before its body."""
    plain = outcome.to_plain()
    body = plain.pop("body")
    return plain | {"summary": sentence(outcome.body), "body": body}
